// A store whose disk refuses when a test says so.

package import EnrollCore
import EnrollHost
import EnrollPosix
package import EnrollStore

/// A memory store whose updates fail as often as planned, before or after they took place, and whose reads fail on demand.
package final class FussyStore: TokenStore {
  /// The fate of an update.
  package enum Refusal: Sendable {
    /// Nothing changed.
    case before
    /// The change was made, and could not be saved.
    case unsaved
    /// It took place, and whether it lasts is not known: the sync of the folder failed.
    case after
  }

  private let base: MemoryTokenStore
  private let planned = Guarded<[Refusal?]>([], by: Mutex())
  private let kept = Guarded(false, by: Mutex())
  private let unreadable = Guarded<@Sendable (AccountName) -> Bool>({ _ in false }, by: Mutex())
  private let isStubborn = Guarded(false, by: Mutex())
  private let hasNoOutbox = Guarded(false, by: Mutex())
  private let isFull = Guarded(false, by: Mutex())
  private let reserved = Guarded(0, by: Mutex())
  private let isReplaced = Guarded(false, by: Mutex())
  private let waiting = Guarded<(@Sendable () -> Void)?>(nil, by: Mutex())

  package init(_ base: MemoryTokenStore) { self.base = base }

  /// The next `times` updates, once `spared` have passed.
  package func refuse(_ refusal: Refusal, times: Int, after spared: Int = 0) {
    planned.withLock { $0 = Array(repeating: nil, count: spared) + Array(repeating: refusal, count: times) }
  }

  /// Whether other processes would be kept out of turns.
  package var isTurnKept: Bool { kept.withLock { $0 } }

  /// Whether reads fail from now on.
  package func refuseReads(_ isUnreadable: Bool) { unreadable.withLock { $0 = { _ in isUnreadable } } }

  /// Only that account's reads fail from now on.
  package func refuseReads(of account: AccountName) { unreadable.withLock { $0 = { $0 == account } } }

  /// Whether no account can be removed from now on.
  package func refuseRemoval(_ isRefused: Bool) { isStubborn.withLock { $0 = isRefused } }

  /// Whether the outbox can be neither read nor changed from now on.
  package func refuseOutbox(_ isRefused: Bool) { hasNoOutbox.withLock { $0 = isRefused } }

  /// Whether there is no space to reserve from now on.
  package func refuseSpace(_ isFull: Bool) { self.isFull.withLock { $0 = isFull } }

  /// How often space was reserved.
  package var reservations: Int { reserved.withLock { $0 } }

  /// Runs `body` while the next one waits for its turn at renewal.
  package func whileWaiting(_ body: @escaping @Sendable () -> Void) { waiting.withLock { $0 = body } }

  /// Another store, empty, is in its place from now on.
  package func replace(_ account: AccountName) throws(EnrollError) {
    isReplaced.withLock { $0 = true }
    try base.remove(account)
  }

  /// The first one is in its place again.
  package func putBack() { isReplaced.withLock { $0 = false } }

  package func identity() -> String { isReplaced.withLock { $0 } ? "another" : "the first" }

  /// How often it will still refuse.
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

  package func renewalTurn(
    _ account: AccountName, epoch: UInt64, deadline: Instant, cancellation: (any Cancellation)?,
    _ body: () throws(EnrollError) -> Void
  ) throws(EnrollError) -> RenewalTurn {
    let others = waiting.withLock { waiting in
      defer { waiting = nil }
      return waiting
    }
    others?()
    return try base.renewalTurn(account, epoch: epoch, deadline: deadline, cancellation: cancellation, body)
  }
  package func reserveSpace(_ account: AccountName) throws(EnrollError) {
    if isFull.withLock({ $0 }) { throw EnrollError(.storeFull, "no space to reserve") }
    reserved.withLock { $0 += 1 }
    try base.reserveSpace(account)
  }
  package func requireSpace(_ account: AccountName) throws(EnrollError) {
    if isFull.withLock({ $0 }) { throw EnrollError(.storeFull, "no space") }
  }
  package func keepTurn(_ account: AccountName, _ isKept: Bool) { kept.withLock { $0 = isKept } }
  package func accounts() throws(EnrollError) -> [AccountName] { try base.accounts() }
  package func accountsWithAttempts() throws(EnrollError) -> [AccountName] { try base.accountsWithAttempts() }
  package func remove(_ account: AccountName) throws(EnrollError) {
    if isStubborn.withLock({ $0 }) { throw EnrollError(.storeIO, "unlink failed") }
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
