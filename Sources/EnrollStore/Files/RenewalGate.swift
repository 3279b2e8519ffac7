// The renewal lock within one process: one thread holds the lock or polls for it, the other threads sleep
// (reliability.md, Renewal across threads and processes). Waiting threads watch the account's epoch: a thread stops
// waiting as soon as another renewal, or a logout, has changed the tokens.

import CPosix
import EnrollRules
import EnrollSteps
import EnrollPosix

/// The operations of an account that the gate needs.
protocol RenewableAccount: AnyObject {
  /// The epoch of the committed record; nil without a record.
  /// - Parameter fresh: whether the disk is read now; if false, the value may be up to a second old.
  func tokenEpoch(fresh: Bool) throws(EnrollError) -> UInt64?

  /// Opens the lock that excludes other processes, without locking it; nil if no other process uses the store.
  func openRenewalLock() throws(EnrollError) -> FileLock?
}

/// The renewal lock of one account in this process.
final class RenewalGate: @unchecked Sendable {
  // Unchecked: all mutable state is only touched with `condition` held.
  private let condition = Condition()
  private var isInUse = false
  private var changes: UInt64 = 0
  /// Whether the lock stays held after the renewal, so that other processes cannot renew.
  private var keepsLock = false
  /// The lock of the last renewal, while it stays held after that renewal.
  private var kept: FileLock?

  /// Wakes the waiting threads, because this process changed the account's record.
  func noteChange() {
    condition.lock()
    changes &+= 1
    condition.wakeAll()
    condition.unlock()
  }

  /// See `TokenStore.withRenewalLock`.
  func withLock(
    epoch: UInt64, deadline: Instant, cancellation: (any Cancellation)?, clock: any Clock,
    account: any RenewableAccount, _ body: () throws(EnrollError) -> Void
  ) throws(EnrollError) -> RenewalLockResult {
    let wait = Wait(
      epoch: epoch, deadline: deadline, cancellation: cancellation, clock: clock, account: account)
    let hook = cancellation?.onCancel { self.noteChange() }
    defer { if let hook { cancellation?.removeHook(hook) } }
    if let end = try waitForThread(wait) { return end }
    defer { release() }
    let earlier = reclaimLock()
    var isHeld = earlier != nil
    let lock: FileLock?
    if let earlier { lock = earlier } else { lock = try account.openRenewalLock() }
    defer { if !isHeld || !keepLock(lock) { lock?.close() } }
    if let end = try waitForProcess(lock, wait) { return end }
    isHeld = true
    try body()
    return .acquired
  }

  /// The wait of one thread: the epoch that the thread expects, and the limits of the wait.
  private struct Wait {
    let epoch: UInt64
    let deadline: Instant
    let cancellation: (any Cancellation)?
    let clock: any Clock
    let account: any RenewableAccount

    var isCancelled: Bool { cancellation?.isCancelled ?? false }

    /// - Throws: `.cancelled`.
    func checkCancellation() throws(EnrollError) {
      if isCancelled { throw EnrollError(.cancelled, "the wait for another renewal was cancelled") }
    }
  }

  // MARK: A lock that is kept

  /// Whether the lock stays held when the renewal ends.
  var isKept: Bool {
    condition.lock()
    defer { condition.unlock() }
    return keepsLock
  }

  /// Sets whether the lock stays held between renewals.
  /// - Returns: whether this call released a lock that was kept.
  func keep(_ isKept: Bool) -> Bool {
    condition.lock()
    keepsLock = isKept
    let ended = isKept || isInUse ? nil : kept
    if ended != nil { kept = nil }
    condition.unlock()
    ended?.close()
    return ended != nil
  }

  /// The lock of the last renewal, if it is still held. Called by the thread that has the gate.
  private func reclaimLock() -> FileLock? {
    condition.lock()
    defer { condition.unlock() }
    defer { kept = nil }
    return kept
  }

  /// Keeps the lock, if it has to stay held after the renewal.
  /// - Returns: false if the lock is not kept.
  private func keepLock(_ lock: FileLock?) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    if keepsLock { kept = lock }
    return keepsLock
  }

  /// Waits until no other thread of this process holds the lock or polls for it.
  /// - Returns: nil once this thread has the gate.
  private func waitForThread(_ wait: Wait) throws(EnrollError) -> RenewalLockResult? {
    defer { CallTimeout.report(.proceeding) }
    condition.lock()
    defer { condition.unlock() }
    while isInUse {
      CallTimeout.report(.waiting)
      try wait.checkCancellation()
      let seen = changes
      condition.unlock()
      let result: Result<UInt64?, EnrollError>
      do {
        result = .success(try wait.account.tokenEpoch(fresh: false))
      } catch {
        result = .failure(error)
      }
      condition.lock()
      guard try result.get() == wait.epoch else { return .superseded }
      guard isInUse else { break }
      guard seen == changes else { continue }
      guard let limit = Timeout.left(until: wait.deadline, by: wait.clock) else { return .deadlinePassed }
      condition.wait(atMost: limit)
    }
    isInUse = true
    return nil
  }

  private func release() {
    condition.lock()
    isInUse = false
    changes &+= 1
    let ended = keepsLock ? nil : kept
    if ended != nil { kept = nil }
    condition.wakeAll()
    condition.unlock()
    ended?.close()
  }

  /// Waits until no other process holds the lock, with the pauses of ``PollingPause``.
  /// - Returns: nil once this process holds the lock.
  private func waitForProcess(_ lock: FileLock?, _ wait: Wait) throws(EnrollError) -> RenewalLockResult? {
    defer { CallTimeout.report(.proceeding) }
    var pause = PollingPause(longest: 100_000_000)
    while true {
      try wait.checkCancellation()
      guard try wait.account.tokenEpoch(fresh: true) == wait.epoch else { return .superseded }
      if try lock?.tryLock() ?? true {
        // The last holder may have changed the account before it released the lock.
        return try wait.account.tokenEpoch(fresh: true) == wait.epoch ? nil : .superseded
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

/// Pauses between two attempts to lock a file that another process holds: one millisecond at first; 4 milliseconds
/// after a quarter of a second, until the usual time of a provider's answer has passed; then doubled up to a limit. The
/// last waiting process therefore continues within milliseconds of the first.
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
