import EnrollMCP
import Expectations
import Testing

@Suite("Pauses before a stream is opened again")
struct StreamPauseTests {
  @Test("a stream that was of use is opened again after the server's time, and not at once")
  func ofUse() {
    var pause = StreamPause()
    for (asked, expected) in [
      (nil, 1_000), (0, 1_000), (99, 1_000), (500, 500), (5_000, 5_000), (90_000, 90_000),
      (3_600_000, 3_600_000), (3_600_001, 3_600_000), (.max, 3_600_000),
    ]
      as [(Int64?, Int64)]
    {
      expect(pause.next(wasOfUse: true, asked: asked), is: expected)
    }
  }

  @Test("each attempt without use doubles the bridge's own pause, and not the server's")
  func withoutUse() {
    var pause = StreamPause()
    let pauses = (0..<9).map { _ in pause.next(wasOfUse: false, asked: nil) }
    expect(pauses, is: [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
    expect(pause.failures, is: 9)
    var asked = StreamPause()
    expect(
      (0..<5).map { _ in asked.next(wasOfUse: false, asked: 5_000) },
      is: [5_000, 5_000, 5_000, 8_000, 16_000])
    var long = StreamPause()
    expect((0..<3).map { _ in long.next(wasOfUse: false, asked: 90_000) }, is: [90_000, 90_000, 90_000])
    var short = StreamPause()
    expect((0..<3).map { _ in short.next(wasOfUse: false, asked: 500) }, is: [500, 2_000, 4_000])
  }

  @Test("a stream of use begins the count anew")
  func anew() {
    var pause = StreamPause()
    for _ in 0..<4 { _ = pause.next(wasOfUse: false, asked: nil) }
    expect(pause.next(wasOfUse: true, asked: nil), is: 1_000)
    expect(pause.failures, is: 0)
    expect(pause.next(wasOfUse: false, asked: nil), is: 1_000)
  }
}
