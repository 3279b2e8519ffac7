import EnrollRules
import Expectations
import Testing

@Suite("A server's clock, as its answers tell it (R25)")
struct ServerClockTests {
  /// The offset that is used after each answer.
  private func heard(_ told: [Int64], knowing known: Int64? = nil) -> [Int64?] {
    var clock = ServerClock(offsetSeconds: known)
    return told.map {
      clock.hear(offsetSeconds: $0)
      return clock.offsetSeconds
    }
  }

  @Test("the first answer is believed, and small differences are followed")
  func first() {
    expect(ServerClock().offsetSeconds, is: nil)
    expect(heard([7200]), is: [7200])
    expect(heard([0, 300, 600, 301], knowing: nil), is: [0, 300, 600, 301])
    expect(heard([-300, -600], knowing: 0), is: [-300, -600])
  }

  @Test("a jump counts when the next answer agrees")
  func jump() {
    expect(heard([301, 301], knowing: 0), is: [0, 301])
    expect(heard([-7200, -7199, -7198], knowing: 0), is: [0, -7199, -7198])
    // A second answer with nearly the same offset confirms the first one.
    expect(heard([3600, 3899], knowing: 0), is: [0, 3899])
  }

  @Test("one answer that jumps changes nothing, however often single ones come")
  func alone() {
    expect(heard([7200, 0, 7200, 0, 7200], knowing: 0), is: [0, 0, 0, 0, 0])
    // No answer confirms the answer before it.
    expect(heard([3600, -3600, 7200, -7200], knowing: 0), is: [0, 0, 0, 0])
  }

  @Test("what one process doubted, the next may confirm")
  func kept() {
    var clock = ServerClock(offsetSeconds: 0, doubtedOffsetSeconds: 3600)
    clock.hear(offsetSeconds: 3590)
    expect(clock, is: ServerClock(offsetSeconds: 3590))
  }

  @Test("absurd differences are no crash")
  func absurd() {
    expect(heard([.max, .min, .min], knowing: 0), is: [0, 0, .min])
  }
}
