// Renewed tokens that could not be written to disk before their clients closed: the refresh token in the store is spent, so
// these tokens are the session. The process keeps them and retries until the disk takes them.

import EnrollCore
import EnrollPosix

/// The engines of closed clients that still have such tokens.
final class UnsavedTokens: @unchecked Sendable {
  // Unchecked: `entries` and `isTrying` are only touched with `condition` held.
  private static let perProcess = PerProcess { UnsavedTokens() }
  static var ofProcess: UnsavedTokens { perProcess.value }

  private static let pauseNanoseconds: Int64 = 500_000_000

  /// Whose tokens they are.
  struct Place: Sendable {
    let store: any TokenStore
    /// nil for a store that is no directory.
    let path: String?
    let account: AccountName

    func isSame(as other: Place) -> Bool {
      guard account == other.account else { return false }
      if let path, let its = other.path { return ASCII.equals(path, its) }
      return store === other.store
    }
  }

  private final class Entry: Sendable {
    let engine: Engine
    let place: Place
    /// One try at a time.
    let trying = Mutex()

    init(_ engine: Engine, _ place: Place) {
      self.engine = engine
      self.place = place
    }
  }

  private let condition = Condition()
  private var entries: [Entry] = []
  private var isTrying = false

  /// Takes over from a client that is closed, if it has such tokens. May be called again.
  func take(_ engine: Engine, of place: Place) {
    guard engine.hasUnsaved else { return }
    let starts = condition.locked { () -> Bool in
      if !entries.contains(where: { $0.engine === engine }) { entries.append(Entry(engine, place)) }
      defer { isTrying = true }
      return !isTrying
    }
    // Without a thread to be had, those who wait and those who renew try.
    if starts, !PlainThread.start({ self.tryOn() }) { condition.locked { isTrying = false } }
  }

  private func tryOn() {
    while true {
      let present = condition.locked { () -> [Entry] in
        if entries.isEmpty { isTrying = false }
        return entries
      }
      if present.isEmpty { return }
      for entry in present { try? attempt(entry) }
      condition.locked { if !entries.isEmpty { condition.wait(atMost: Self.pauseNanoseconds) } }
    }
  }

  /// - Throws: why the store did not take them.
  private func attempt(_ entry: Entry) throws(EnrollError) {
    entry.trying.lock()
    defer { entry.trying.unlock() }
    var failure: EnrollError?
    do throws(EnrollError) { try entry.engine.storeUnsaved() } catch { failure = error }
    if !entry.engine.hasUnsaved {
      condition.locked {
        entries.removeAll { $0 === entry }
        condition.wakeAll()
      }
    } else if let failure {
      throw failure
    }
  }

  /// For another client of the same account, before it renews: what is in the store is spent.
  /// - Throws: why the store does not take them.
  func store(of place: Place) throws(EnrollError) {
    for entry in condition.locked({ entries.filter { $0.place.isSame(as: place) } }) { try attempt(entry) }
  }

  /// Waits until the engine's tokens are stored, but no longer than until `end` of the machine's clock or `abandoned`.
  /// - Returns: whether they are.
  func wait(for engine: Engine, until end: Instant, _ abandoned: CancellationFlag) -> Bool {
    let hook = abandoned.onCancel { self.condition.locked { self.condition.wakeAll() } }
    defer { abandoned.removeHook(hook) }
    while true {
      let left = end.since(SystemClock.now())
      let entry = condition.locked { () -> Entry? in
        guard let entry = entries.first(where: { $0.engine === engine }) else { return nil }
        if isTrying, left > 0, !abandoned.isCancelled {
          condition.wait(atMost: min(left, Self.pauseNanoseconds))
        }
        return entry
      }
      guard let entry else { return true }
      if left <= 0 || abandoned.isCancelled { return false }
      if !condition.locked({ isTrying }) {
        try? attempt(entry)
        Pause.nanoseconds(Self.pauseNanoseconds)
      }
    }
  }

  /// The tokens go with the client: its host's own code takes part in storing them, and is not to be called any more.
  func giveUp(_ engine: Engine) {
    let entry = condition.locked { () -> Entry? in
      let entry = entries.first { $0.engine === engine }
      entries.removeAll { $0.engine === engine }
      return entry
    }
    entry?.trying.lock()
    engine.forgetUnsaved()
    entry?.trying.unlock()
  }
}
