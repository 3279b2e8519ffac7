// A token store that fails when a test asks for it.

package import EnrollRules
package import EnrollSteps
import EnrollHost
import EnrollPosix
package import EnrollStore

/// A memory store whose updates fail as planned, before or after they took effect, and whose reads fail on demand.
package final class FailingTokenStore: TokenStore {
  /// How an update fails.
  package enum Refusal: Sendable {
    /// The update fails before it changes anything.
    case before
    /// The change was made in memory, but could not be saved.
    case unsaved
    /// The change took effect, but it is unknown whether it is durable: the sync of the folder failed.
    case after
  }

  private let base: MemoryTokenStore
  private let planned = Guarded<[Refusal?]>([], by: Mutex())
  private let kept = Guarded(false, by: Mutex())
  private let unreadable = Guarded<@Sendable (AccountName) -> Bool>({ _ in false }, by: Mutex())
  private let refusesRemoval = Guarded(false, by: Mutex())
  private let hasNoOutbox = Guarded(false, by: Mutex())
  private let isFull = Guarded(false, by: Mutex())
  private let reserved = Guarded(0, by: Mutex())
  private let isReplaced = Guarded(false, by: Mutex())
  private let listed = Guarded(0, by: Mutex())
  private let waiting = Guarded<(@Sendable () -> Void)?>(nil, by: Mutex())

  package init(_ base: MemoryTokenStore) { self.base = base }

  /// Makes the next `times` updates fail, after `spared` updates that still succeed.
  package func refuse(_ refusal: Refusal, times: Int, after spared: Int = 0) {
    planned.withLock { $0 = Array(repeating: nil, count: spared) + Array(repeating: refusal, count: times) }
  }

  /// Whether this process holds the renewal lock, so that other processes cannot renew.
  package var isRenewalLockKept: Bool { kept.withLock { $0 } }

  /// Makes all reads fail from now on, or succeed again.
  package func refuseReads(_ isUnreadable: Bool) { unreadable.withLock { $0 = { _ in isUnreadable } } }

  /// Makes only the reads of this account fail from now on.
  package func refuseReads(of account: AccountName) { unreadable.withLock { $0 = { $0 == account } } }

  /// Makes every removal of an account fail from now on, or succeed again.
  package func refuseRemoval(_ isRefused: Bool) { refusesRemoval.withLock { $0 = isRefused } }

  /// Makes the outbox unavailable from now on, for reads and changes, or available again.
  package func refuseOutbox(_ isRefused: Bool) { hasNoOutbox.withLock { $0 = isRefused } }

  /// Makes reserving space fail from now on, or succeed again.
  package func refuseSpace(_ isFull: Bool) { self.isFull.withLock { $0 = isFull } }

  /// How many times space was reserved.
  package var reservations: Int { reserved.withLock { $0 } }

  /// How many times all accounts were listed.
  package var listings: Int { listed.withLock { $0 } }

  /// Runs `body` while the next caller waits for the renewal lock.
  package func whileWaiting(_ body: @escaping @Sendable () -> Void) { waiting.withLock { $0 = body } }

  /// From now on plays another store, which has another identity and no record of this account.
  package func replace(_ account: AccountName) throws(EnrollError) {
    isReplaced.withLock { $0 = true }
    try base.remove(account)
  }

  /// Puts the first store back.
  package func putBack() { isReplaced.withLock { $0 = false } }

  package func identity() -> String { isReplaced.withLock { $0 } ? "another" : "the first" }

  /// How many planned failures of updates are left.
  package var left: Int { planned.withLock { $0.count } }

  package func update(
    _ account: AccountName, _ change: (inout AccountRecord) throws(EnrollError) -> Void
  ) throws(EnrollError) -> AccountRecord {
    let refusal = planned.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    if refusal == .before { throw EnrollError(.storeIO, "write failed") }
    let record = try base.update(account) { record throws(EnrollError) in
      try change(&record)
      if refusal == .unsaved { throw EnrollError(.storeIO, "write failed") }
    }
    if refusal == .after { throw EnrollError(.storeIO, "sync failed") }
    return record
  }

  package func read(_ account: AccountName) throws(EnrollError) -> AccountRecord? {
    if unreadable.withLock({ $0 })(account) { throw EnrollError(.storeIO, "read failed") }
    return try base.read(account)
  }

  package func withRenewalLock(
    _ account: AccountName, epoch: UInt64, deadline: Instant, cancellation: (any Cancellation)?,
    _ body: () throws(EnrollError) -> Void
  ) throws(EnrollError) -> RenewalLockResult {
    let others = waiting.withLock { waiting in
      defer { waiting = nil }
      return waiting
    }
    others?()
    return try base.withRenewalLock(
      account, epoch: epoch, deadline: deadline, cancellation: cancellation, body)
  }
  package func reserveSpace(_ account: AccountName) throws(EnrollError) {
    if isFull.withLock({ $0 }) { throw EnrollError(.storeFull, "no space to reserve") }
    reserved.withLock { $0 += 1 }
    try base.reserveSpace(account)
  }
  package func requireSpace(_ account: AccountName) throws(EnrollError) {
    if isFull.withLock({ $0 }) { throw EnrollError(.storeFull, "no space") }
  }
  package func keepRenewalLock(_ account: AccountName, _ isKept: Bool) { kept.withLock { $0 = isKept } }
  package func accounts() throws(EnrollError) -> [AccountName] { try base.accounts() }
  package func accountsWithAttempts() throws(EnrollError) -> [AccountName] {
    listed.withLock { $0 += 1 }
    return try base.accountsWithAttempts()
  }
  package func remove(_ account: AccountName) throws(EnrollError) {
    if refusesRemoval.withLock({ $0 }) { throw EnrollError(.storeIO, "unlink failed") }
    try base.remove(account)
  }
  package func installationID() throws(EnrollError) -> String { try base.installationID() }
  package func resetInstallationID() throws(EnrollError) { try base.resetInstallationID() }
  package func updateOutbox(
    _ change: (inout [OutboxEntry]) throws(EnrollError) -> Void
  ) throws(EnrollError) -> [OutboxEntry] {
    if hasNoOutbox.withLock({ $0 }) { throw EnrollError(.busy, "another process has held the store's lock") }
    return try base.updateOutbox(change)
  }
}
