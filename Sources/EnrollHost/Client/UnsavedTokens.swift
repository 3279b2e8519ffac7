// Renewed tokens that could not be saved before their client closed. The refresh token in the store is used up, so the
// session depends on these tokens. The process keeps them and retries until the disk accepts them.

import EnrollRules
import EnrollSteps
import EnrollPosix

/// The engines of closed clients that still have unsaved tokens.
final class UnsavedTokens: @unchecked Sendable {
  // Unchecked: `entries` and `isTrying` are only touched with `condition` held.
  private static let perProcess = PerProcess { UnsavedTokens() }
  static var shared: UnsavedTokens { perProcess.value }

  private static let pauseNanoseconds: Int64 = 500_000_000

  /// The account that the tokens belong to.
  struct Location: Sendable {
    let store: any TokenStore
    /// The path of the store; nil if the store is not a directory.
    let path: String?
    let account: AccountName

    func isSame(as other: Location) -> Bool {
      guard account == other.account else { return false }
      if let path, let its = other.path { return ASCII.equals(path, its) }
      return store === other.store
    }
  }

  private final class Entry: Sendable {
    let engine: Engine
    let location: Location
    /// The lock that each attempt to save holds, so that only one attempt runs at a time.
    let trying = Mutex()

    init(_ engine: Engine, _ location: Location) {
      self.engine = engine
      self.location = location
    }
  }

  private let condition = Condition()
  private var entries: [Entry] = []
  private var isTrying = false

  /// Adds the engine of a closed client, if it has unsaved tokens. May be called more than once.
  func add(_ engine: Engine, at location: Location) {
    guard engine.renewedTokens.hasUnsaved else { return }
    let starts = condition.locked { () -> Bool in
      if !entries.contains(where: { $0.engine === engine }) { entries.append(Entry(engine, location)) }
      defer { isTrying = true }
      return !isTrying
    }
    // If no thread can be started, the tokens are saved by callers of ``wait(for:until:_:)`` and ``save(for:)``
    // instead.
    if starts, !BackgroundThread.start({ self.retry() }) { condition.locked { isTrying = false } }
  }

  private func retry() {
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

  /// Tries once to save the tokens.
  /// - Throws: why the store refused the tokens.
  private func attempt(_ entry: Entry) throws(EnrollError) {
    entry.trying.lock()
    defer { entry.trying.unlock() }
    var failure: EnrollError?
    do throws(EnrollError) { try entry.engine.renewedTokens.storeUnsaved() } catch { failure = error }
    if !entry.engine.renewedTokens.hasUnsaved {
      condition.locked {
        entries.removeAll { $0 === entry }
        condition.wakeAll()
      }
    } else if let failure {
      throw failure
    }
  }

  /// Saves the tokens of this account before another client renews, because the refresh token in the store is used up.
  /// - Throws: why the store refuses the tokens.
  func save(for location: Location) throws(EnrollError) {
    for entry in condition.locked({ entries.filter { $0.location.isSame(as: location) } }) {
      try attempt(entry)
    }
  }

  /// Waits until the engine's tokens are saved, at most until the system's clock reaches `end`, or until `abandoned` is
  /// cancelled.
  /// - Returns: whether the tokens are saved.
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

  /// Discards the unsaved tokens of this engine. Saving them would call the host's code, which the host no longer
  /// allows.
  func discard(_ engine: Engine) {
    let entry = condition.locked { () -> Entry? in
      let entry = entries.first { $0.engine === engine }
      entries.removeAll { $0.engine === engine }
      return entry
    }
    entry?.trying.lock()
    engine.renewedTokens.forgetUnsaved()
    entry?.trying.unlock()
  }
}
