import EnrollRules
import Expectations
import Testing

@Suite("Waiting before another try (R33)")
struct RetryPolicyTests {
  private func delay(_ attempt: Int, _ retryAfter: Int64? = nil, jitter: UInt8) -> Double {
    Double(
      RetryPolicy.delayNanoseconds(attempt: attempt, retryAfterSeconds: retryAfter, jitter: jitter)) / 1e9
  }

  static let waits: [(Int, Double)] = [
    (1, 0.5), (2, 1), (3, 2), (7, 32), (8, 60), (30, 60), (.max, 60), (0, 0.5), (.min, 0.5),
  ]

  @Test("doubles from half a second to a minute, jitter takes up to half of it", arguments: waits)
  func doubling(attempt: Int, most: Double) {
    #expect(abs(delay(attempt, jitter: 255) - most) < 0.001)
    #expect(abs(delay(attempt, jitter: 0) - most / 2) < 0.001)
    #expect(delay(attempt, jitter: 128) > most * 0.7 && delay(attempt, jitter: 128) < most * 0.8)
  }

  @Test("the server's wish is a lower bound, and capped at an hour", arguments: [UInt8(0), 100, 255])
  func retryAfter(jitter: UInt8) {
    #expect(delay(1, 10, jitter: jitter) >= 10 && delay(1, 10, jitter: jitter) <= 11.001)
    #expect(delay(8, 1, jitter: 255) >= 59.9)
    let longest = delay(1, .max, jitter: jitter)
    #expect(longest >= 3600 && longest <= 3961)
    expect(delay(1, -5, jitter: jitter), is: delay(1, jitter: jitter))
    expect(delay(1, 0, jitter: jitter), is: delay(1, jitter: jitter))
  }
}
