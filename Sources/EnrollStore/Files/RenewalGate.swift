// The turn at renewal as the threads of one process see it: one holds it or polls for it, the others are parked
// (reliability.md, Renewal across threads and processes). Waiters watch the account's epoch: a waiter leaves as soon as another
// renewal, or a logout, has changed the tokens.

import CPosix
import EnrollCore
import EnrollPosix

/// The operations of an account that the gate needs.
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
  /// Whether other processes are kept out after the turn, too.
  private var keepsTurn = false
  /// The lock of a turn that is over and kept.
  private var kept: FileLock?

  /// The account's record changed in this process: waiters look again.
  func noteChange() {
    condition.lock()
    changes &+= 1
    condition.wakeAll()
    condition.unlock()
  }

  /// See `TokenStore.renewalTurn`.
  func turn(
    epoch: UInt64, deadline: Instant, cancellation: (any Cancellation)?, clock: any Clock,
    ground: any RenewalGround, _ body: () throws(EnrollError) -> Void
  ) throws(EnrollError) -> RenewalTurn {
    let wait = Wait(
      epoch: epoch, deadline: deadline, cancellation: cancellation, clock: clock, ground: ground)
    let hook = cancellation?.onCancel { self.noteChange() }
    defer { if let hook { cancellation?.removeHook(hook) } }
    if let end = try park(wait) { return end }
    defer { leave() }
    let earlier = takeKept()
    var isHeld = earlier != nil
    let lock: FileLock?
    if let earlier { lock = earlier } else { lock = try ground.openTurnLock() }
    defer { if !isHeld || !keepAfterTurn(lock) { lock?.close() } }
    if let end = try poll(lock, wait) { return end }
    isHeld = true
    try body()
    return .taken
  }

  /// The condition that one thread waits for, and its timeout.
  private struct Wait {
    let epoch: UInt64
    let deadline: Instant
    let cancellation: (any Cancellation)?
    let clock: any Clock
    let ground: any RenewalGround

    var isCancelled: Bool { cancellation?.isCancelled ?? false }

    /// - Throws: `.cancelled`.
    func requireWanted() throws(EnrollError) {
      if isCancelled { throw EnrollError(.cancelled, "the wait for another renewal was cancelled") }
    }
  }

  // MARK: Turns that are kept

  /// Whether other processes stay kept out when the turn ends.
  var isKept: Bool {
    condition.lock()
    defer { condition.unlock() }
    return keepsTurn
  }

  /// From now on other processes are kept out between turns, too; or no longer.
  /// - Returns: whether a turn that was kept has ended by this.
  func keep(_ isKept: Bool) -> Bool {
    condition.lock()
    keepsTurn = isKept
    let ended = isKept || isOccupied ? nil : kept
    if ended != nil { kept = nil }
    condition.unlock()
    ended?.close()
    return ended != nil
  }

  /// Called by whoever occupies the gate.
  private func takeKept() -> FileLock? {
    condition.lock()
    defer { condition.unlock() }
    defer { kept = nil }
    return kept
  }

  /// - Returns: false where the turn just ends.
  private func keepAfterTurn(_ lock: FileLock?) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    if keepsTurn { kept = lock }
    return keepsTurn
  }

  /// Waits until no other thread of this process holds or polls.
  /// - Returns: nil when the gate is ours.
  private func park(_ wait: Wait) throws(EnrollError) -> RenewalTurn? {
    defer { CallTimeout.report(.proceeding) }
    condition.lock()
    defer { condition.unlock() }
    while isOccupied {
      CallTimeout.report(.waiting)
      try wait.requireWanted()
      let seen = changes
      condition.unlock()
      let result: Result<UInt64?, EnrollError>
      do {
        result = .success(try wait.ground.tokenEpoch(fresh: false))
      } catch {
        result = .failure(error)
      }
      condition.lock()
      guard try result.get() == wait.epoch else { return .overtaken }
      guard isOccupied else { break }
      guard seen == changes else { continue }
      guard let limit = Timeout.left(until: wait.deadline, by: wait.clock) else { return .deadlinePassed }
      condition.wait(atMost: limit)
    }
    isOccupied = true
    return nil
  }

  private func leave() {
    condition.lock()
    isOccupied = false
    changes &+= 1
    let ended = keepsTurn ? nil : kept
    if ended != nil { kept = nil }
    condition.wakeAll()
    condition.unlock()
    ended?.close()
  }

  /// Waits until no other process holds the turn, with the pauses of ``PollingPause``.
  /// - Returns: nil when the turn is ours.
  private func poll(_ lock: FileLock?, _ wait: Wait) throws(EnrollError) -> RenewalTurn? {
    defer { CallTimeout.report(.proceeding) }
    var pause = PollingPause(longest: 100_000_000)
    while true {
      try wait.requireWanted()
      guard try wait.ground.tokenEpoch(fresh: true) == wait.epoch else { return .overtaken }
      if try lock?.tryLock() ?? true {
        // The last holder may have changed the account before it released the lock.
        return try wait.ground.tokenEpoch(fresh: true) == wait.epoch ? nil : .overtaken
      }
      CallTimeout.report(.waiting)
      let left = wait.deadline.since(wait.clock.instant())
      guard left > 0 else { return .deadlinePassed }
      condition.locked {
        if !wait.isCancelled { condition.wait(atMost: min(pause.next(), left)) }
      }
    }
  }
}

/// Pauses between two looks at a lock that another process holds: a millisecond at first, 4 milliseconds as long as a provider
/// usually takes to answer, then ever longer. So the last process goes on within milliseconds of the first.
struct PollingPause {
  private static let eagerNanoseconds: Int64 = 250_000_000
  private static let usualNanoseconds: Int64 = 5_000_000_000

  private let longest: Int64
  private var interval: Int64 = 1_000_000
  private var waited: Int64 = 0

  init(longest: Int64) { self.longest = longest }

  mutating func next() -> Int64 {
    if waited >= Self.usualNanoseconds {
      interval = min(interval * 2, longest)
    } else if waited >= Self.eagerNanoseconds {
      interval = min(4_000_000, longest)
    }
    waited += interval
    return interval
  }
}
