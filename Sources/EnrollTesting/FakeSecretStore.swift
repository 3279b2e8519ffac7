// A secret store in memory, which a test can lock. It replaces a Keychain, a Keystore or a keyring.

public import EnrollRules
public import EnrollSteps
public import EnrollCrypto
import EnrollHost
import EnrollPosix

/// Keeps its secrets in memory while the object exists.
public final class FakeSecretStore: SecretStore {
  private struct State {
    var items: [String: Secret] = [:]
    var isLocked = false
    var absence: String?
    var loads = 0
  }

  private let state = Guarded(State(), by: Mutex())

  public init() {}

  /// Whether the store is locked: every call then throws `.storeLocked`.
  public var isLocked: Bool {
    get { state.withLock { $0.isLocked } }
    set { state.withLock { $0.isLocked = newValue } }
  }

  /// Why the store is absent; nil if it is present.
  public var absence: String? {
    get { state.withLock { $0.absence } }
    set { state.withLock { $0.absence = newValue } }
  }

  /// The current secrets by the text of their names.
  public var items: [String: Secret] {
    get { state.withLock { $0.items } }
    set { state.withLock { $0.items = newValue } }
  }

  /// How many times a secret was loaded.
  public var loadCount: Int { state.withLock { $0.loads } }

  /// Whether the store can be used now, as the test has set it.
  public func presence() -> KeyPresence {
    if let absence { return .absent(absence) }
    return isLocked ? .locked("the fake keeper is locked") : .present
  }

  public func load(_ name: SecretName) throws(EnrollError) -> Secret? {
    try requireUnlocked()
    return state.withLock {
      $0.loads += 1
      return $0.items[name.text]
    }
  }

  public func save(_ secret: Secret, as name: SecretName) throws(EnrollError) {
    try requireUnlocked()
    state.withLock { $0.items[name.text] = secret }
  }

  public func remove(_ name: SecretName) throws(EnrollError) {
    try requireUnlocked()
    state.withLock { $0.items[name.text] = nil }
  }

  private func requireUnlocked() throws(EnrollError) {
    if isLocked { throw EnrollError(.storeLocked, "the fake keeper is locked: unlock it", field: "keys") }
  }
}
