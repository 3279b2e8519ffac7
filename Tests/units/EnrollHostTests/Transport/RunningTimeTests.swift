import Expectations
import Testing

@testable import EnrollHost

/// Tests that time in which a process is stopped does not count toward a timeout.
@Suite struct RunningTimeTests {
  private static let second: Int64 = 1_000_000_000

  @Test("looks that follow each other count all the time between them")
  func running() {
    var time = RunningTime(limit: .init(2_000), now: 0)
    time.update(at: 900_000_000)
    time.update(at: 1_800_000_000)
    #expect(!time.isOver)
    expect(time.nextWaitMilliseconds, is: 200)
    time.update(at: 2 * Self.second)
    #expect(time.isOver)
    expect(time.nextWaitMilliseconds, is: 0)
  }

  @Test("of a gap between two looks no more than a second counts")
  func stopped() {
    var time = RunningTime(limit: .init(30_000), now: 0)
    time.update(at: 3_600 * Self.second)
    #expect(!time.isOver)
    #expect(!time.hasRun(.init(1_001)))
    #expect(time.hasRun(.init(1_000)))
    expect(time.nextWaitMilliseconds, is: 1_000)
  }

  @Test("a clock that goes back counts nothing")
  func backwards() {
    var time = RunningTime(limit: .init(1_000), now: 5 * Self.second)
    time.update(at: 0)
    #expect(!time.isOver)
  }
}
