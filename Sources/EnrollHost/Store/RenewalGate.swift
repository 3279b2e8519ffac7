// The turn at renewal as the threads of one process see it: one holds it or polls for it, the others are parked
// (reliability.md, Renewal across threads and processes). Whoever waits goes by the account's epoch, so that a waiter leaves as
// soon as somebody else's renewal, or a logout, has changed the tokens.

import CPosix
import EnrollCore

/// What the gate asks of its account.
protocol RenewalGround: AnyObject {
  /// The epoch of the committed record; nil without a record.
  /// - Parameter fresh: look at the disk now. Otherwise what was known within the last second will do.
  func tokenEpoch(fresh: Bool) throws(EnrollError) -> UInt64?

  /// The lock that keeps other processes out, not yet taken; nil where no other process can come.
  func openTurnLock() throws(EnrollError) -> FileLock?
}

/// One account's turns in this process.
final class RenewalGate: @unchecked Sendable {
  // Unchecked: all mutable state is only touched with `condition` held.
  private let condition = Condition()
  private var isOccupied = false
  private var changes: UInt64 = 0

  /// The account's record changed in this process: waiters look again.
  func noteChange() {
    condition.lock()
    changes &+= 1
    condition.wakeAll()
    condition.unlock()
  }

  /// See `TokenStore.renewalTurn`.
  func turn(
    epoch: UInt64, deadline: Instant, clock: any Clock, ground: any RenewalGround,
    _ body: () throws(EnrollError) -> Void
  ) throws(EnrollError) -> RenewalTurn {
    if let end = try park(epoch: epoch, deadline: deadline, clock: clock, ground: ground) { return end }
    defer { leave() }
    let lock = try ground.openTurnLock()
    defer { lock?.close() }
    if let end = try poll(lock, epoch: epoch, deadline: deadline, clock: clock, ground: ground) { return end }
    try body()
    return .taken
  }

  /// Waits until no other thread of this process holds or polls.
  /// - Returns: nil when the gate is ours.
  private func park(
    epoch: UInt64, deadline: Instant, clock: any Clock, ground: any RenewalGround
  ) throws(EnrollError) -> RenewalTurn? {
    condition.lock()
    defer { condition.unlock() }
    while isOccupied {
      let seen = changes
      condition.unlock()
      let result: Result<UInt64?, EnrollError>
      do {
        result = .success(try ground.tokenEpoch(fresh: false))
      } catch {
        result = .failure(error)
      }
      condition.lock()
      guard try result.get() == epoch else { return .overtaken }
      guard isOccupied else { break }
      guard seen == changes else { continue }
      guard let limit = Patience.left(until: deadline, by: clock) else { return .deadlinePassed }
      condition.wait(atMost: limit)
    }
    isOccupied = true
    return nil
  }

  private func leave() {
    condition.lock()
    isOccupied = false
    changes &+= 1
    condition.wakeAll()
    condition.unlock()
  }

  /// Waits until no other process holds the turn: every millisecond for a quarter of a second, then ever more rarely.
  /// - Returns: nil when the turn is ours.
  private func poll(
    _ lock: FileLock?, epoch: UInt64, deadline: Instant, clock: any Clock, ground: any RenewalGround
  ) throws(EnrollError) -> RenewalTurn? {
    var pause = PollingPause(longest: 100_000_000)
    while true {
      guard try ground.tokenEpoch(fresh: true) == epoch else { return .overtaken }
      if try lock?.tryLock() ?? true {
        // What the last holder did before it let go.
        return try ground.tokenEpoch(fresh: true) == epoch ? nil : .overtaken
      }
      let left = deadline.since(clock.instant())
      guard left > 0 else { return .deadlinePassed }
      Pause.nanoseconds(min(pause.next(), left))
    }
  }
}

/// Pauses between two looks at a lock that another process holds.
struct PollingPause {
  private let longest: Int64
  private var interval: Int64 = 1_000_000
  private var waited: Int64 = 0

  init(longest: Int64) { self.longest = longest }

  mutating func next() -> Int64 {
    if waited >= 250_000_000 { interval = min(interval * 2, longest) }
    waited += interval
    return interval
  }
}
