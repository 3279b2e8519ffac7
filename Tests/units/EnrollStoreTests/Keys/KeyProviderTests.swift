// Tests each provider of the store's key: when a store opens and when it stays locked. An empty store must
// never replace a locked store.

@testable import EnrollPosix
@testable import EnrollStore
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Expectations
import Foundation
import StoreSupport
import Testing

/// The error that `body` throws.
func failure(_ body: () throws(EnrollError) -> Void) -> EnrollError? {
  do { try body() } catch { return error }
  return nil
}

extension TestFolder {
  /// A store with one record. `keys` is the provider of the store's key.
  @discardableResult
  func filled(_ keys: KeyPlan) throws(EnrollError) -> FileTokenStore {
    let store = try open(keys: keys)
    try store.update(.default) { $0.registrationType = "SOCIAL" }
    return store
  }

  /// Whether a new process with these keys reads the record of ``filled(_:)``.
  func reads(_ keys: KeyPlan) -> Bool {
    (try? open(keys: keys).read(.default)?.registrationType) == "SOCIAL"
  }

  func failure(_ keys: KeyPlan) -> EnrollError? {
    do { _ = try open(keys: keys).read(.default) } catch { return error }
    return nil
  }

  /// Every file and its contents.
  func content() throws -> [String: [UInt8]] {
    var all: [String: [UInt8]] = [:]
    for name in try names() { all[name] = try bytes(store + "/" + name) }
    return all
  }
}

@Suite
struct KeyProviderTests {
  private let folder = TestFolder()

  @Test("a secret store's secret opens the store in another process, and the keys file alone does not")
  func hostSecretStore() throws {
    let secretStore = FakeSecretStore()
    try folder.filled(KeyPlan(.host(secretStore)))
    #expect(folder.reads(KeyPlan(.host(secretStore))))
    expect(secretStore.items.count, is: 1)
    #expect(try !folder.names().contains("key"), "there is no key file")
    expect(folder.failure(KeyPlan(.host(FakeSecretStore())))?.code, is: .storeLocked)
  }

  @Test(
    "a locked secret store is storeLocked with words, changes nothing, and the same process goes on once it is unlocked"
  )
  func lockedKeeper() throws {
    let secretStore = FakeSecretStore()
    try folder.filled(KeyPlan(.host(secretStore)))
    let before = try folder.content()
    secretStore.isLocked = true
    let store = try folder.open(keys: KeyPlan(.host(secretStore)))
    for _ in 0..<3 {
      let failed = failure { () throws(EnrollError) in _ = try store.read(.default) }
      expect(failed?.code, is: .storeLocked)
      expect(failed?.message.contains("unlock"), is: true)
      expect(
        code { () throws(EnrollError) in try store.update(.default) { $0.tokenEpoch += 1 } }, is: .storeLocked
      )
      expect(code { () throws(EnrollError) in _ = try store.accounts() }, is: .storeLocked)
      expect(code { () throws(EnrollError) in _ = try store.installationID() }, is: .storeLocked)
    }
    try expect(folder.content(), is: before)
    secretStore.isLocked = false
    try expect(store.read(.default)?.registrationType, is: "SOCIAL")
  }

  @Test("a secret store that locks itself later does not stop a process that has the key")
  func locksLater() throws {
    let secretStore = FakeSecretStore()
    let store = try folder.filled(KeyPlan(.host(secretStore)))
    secretStore.isLocked = true
    try store.update(.default) { $0.tokenEpoch += 1 }
    try expect(store.read(.default)?.registrationType, is: "SOCIAL")
  }

  @Test("a new store waits for a locked secret store: nothing is made")
  func newStoreWaits() throws {
    let secretStore = FakeSecretStore()
    secretStore.isLocked = true
    let store = try folder.open(keys: KeyPlan(.host(secretStore)))
    expect(
      code { () throws(EnrollError) in try store.update(.default) { $0.tokenEpoch += 1 } }, is: .storeLocked)
    #expect(try folder.names(".record").isEmpty && !folder.names().contains("keys"))
    secretStore.isLocked = false
    try store.update(.default) { $0.tokenEpoch += 1 }
  }

  @Test(
    "a secret store that lost its item is storeLocked and names the item; another secret in its place is not the store's"
  )
  func lostItem() throws {
    let secretStore = FakeSecretStore()
    try folder.filled(KeyPlan(.host(secretStore)))
    let (name, secret) = try #require(secretStore.items.first.map { ($0.key, $0.value) })
    let before = try folder.content()
    secretStore.items = [:]
    let lost = try #require(folder.failure(KeyPlan(.host(secretStore))))
    #expect(lost.code == .storeLocked && lost.message.contains(name))
    secretStore.items = [name: Secret([UInt8](repeating: 7, count: 32))]
    expect(folder.failure(KeyPlan(.host(secretStore)))?.code, is: .storeKey)
    secretStore.items = [name: Secret([1, 2, 3])]
    expect(folder.failure(KeyPlan(.host(secretStore)))?.code, is: .storeKey)
    try expect(folder.content(), is: before)
    secretStore.items = [name: secret]
    #expect(folder.reads(KeyPlan(.host(secretStore))))
  }

  @Test("a secret store that does not return what was saved protects no store")
  func forgetfulKeeper() throws {
    final class Sieve: SecretStore {
      func load(_ name: SecretName) throws(EnrollError) -> Secret? { nil }
      func save(_ secret: Secret, as name: SecretName) throws(EnrollError) {}
      func remove(_ name: SecretName) throws(EnrollError) {}
    }
    let store = try folder.open(keys: KeyPlan(.host(Sieve())))
    expect(code { () throws(EnrollError) in try store.update(.default) { $0.tokenEpoch += 1 } }, is: .storeIO)
    #expect(try !folder.names().contains("keys"))
  }

  @Test("the passphrase opens the store; another, none and an empty one say what to do and change nothing")
  func passphrase() async throws {
    try await aside { [self] in
      let right = KeyPlan(.passphrase, passphrase: Secret("correct horse"))
      try folder.filled(right)
      #expect(folder.reads(right))
      let before = try folder.content()
      let wrong = try #require(folder.failure(KeyPlan(.passphrase, passphrase: Secret("correct horsf"))))
      #expect(wrong.code == .storeKey && wrong.message.contains("ask the user again"))
      let none = try #require(folder.failure(KeyPlan(.passphrase)))
      #expect(none.code == .storeLocked && none.message.contains("ask the user"))
      try expect(folder.content(), is: before)
      let empty = TestFolder()
      let store = try empty.open(keys: KeyPlan(.passphrase, passphrase: Secret("")))
      expect(
        code { () throws(EnrollError) in try store.update(.default) { $0.tokenEpoch += 1 } },
        is: .invalidArgument)
    }
  }

  @Test(
    "the passphrase's slot says scrypt at N = 2^17, and a slot that is cheaper or dearer than ours is damaged"
  )
  func scryptCost() async throws {
    try await aside {
      let provider = PassphraseKeyProvider(Secret("p"))
      let slot = KeySlot(storeID: "s", keyID: "k")
      let key = Secret([UInt8](repeating: 3, count: 64))
      var wrapped = try provider.wrap(key, slot: slot)
      expect(wrapped["scryptCost"]?.integer, is: 17)
      try expect(provider.unwrap(wrapped, slot: slot), is: key)
      // The key is derived as RFC 7914 says, with the same parameters.
      let salt = try #require(wrapped["scryptSalt"]?.string.flatMap { Base64URL.decode($0) })
      let derived = try Scrypt.derive(password: Secret("p"), salt: salt, n: 1 << 17, r: 8, p: 1, count: 32)
      try expect(KeyWrapping.unwrap(wrapped, under: derived, slot: slot, provider: "passphrase"), is: key)
      for cost: Int64 in [13, 19, -1, .max] {
        wrapped["scryptCost"] = .integer(cost)
        expect(
          code { () throws(EnrollError) in _ = try provider.unwrap(wrapped, slot: slot) }, is: .storeCorrupt)
      }
    }
  }

  @Test("a slot of another store or key does not open")
  func movedSlot() throws {
    let secretStore = FakeSecretStore()
    let provider = SecretStoreKeyProvider(name: "host", title: "the secret store", store: secretStore)
    let key = Secret([UInt8](repeating: 3, count: 64))
    let wrapped = try provider.wrap(key, slot: KeySlot(storeID: "s", keyID: "k"))
    try expect(provider.unwrap(wrapped, slot: KeySlot(storeID: "s", keyID: "k")), is: key)
    expect(
      code { () throws(EnrollError) in
        _ = try provider.unwrap(wrapped, slot: KeySlot(storeID: "s", keyID: "l"))
      }, is: .storeCorrupt)
    expect(
      code { () throws(EnrollError) in
        _ = try provider.unwrap(wrapped, slot: KeySlot(storeID: "t", keyID: "k"))
      }, is: .storeLocked)
  }

  @Test("a program that looks for the key in another place is told where it is")
  func mismatch() throws {
    try folder.filled(KeyPlan(.host(FakeSecretStore())))
    let before = try folder.content()
    let failed = try #require(folder.failure(.file))
    expect(failed.code, is: .storeKey)
    #expect(failed.message.contains("kept by host") && failed.message.contains("with file"))
    try expect(folder.content(), is: before)
  }

  @Test("how long a key is remembered is bounded")
  func sessionLimit() {
    for seconds: Int64 in [-1, KeyPlan.longestSessionSeconds + 1, .max] {
      expect(folder.failure(KeyPlan(.file(), sessionCacheSeconds: seconds))?.code, is: .invalidArgument)
    }
  }
}

@Suite
struct KeyChoiceTests {
  private let folder = TestFolder()

  /// Whether there is a session bus. Without a session bus, no machine has a Secret Service.
  private static let hasBus =
    ProcessInfo.processInfo.environment["DBUS_SESSION_BUS_ADDRESS"] != nil
    || FileManager.default.fileExists(
      atPath: (ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] ?? "/nonexistent") + "/bus")

  @Test("the best that is present is chosen, and the diagnosis says which and why", .enabled(if: !hasBus))
  func choice() throws {
    try folder.filled(.automatic)
    let diagnosis = try #require(try StoreDiagnosis.examine(path: folder.store, keys: .automatic))
    expect(diagnosis.keyProviders, is: ["file"])
    expect(diagnosis.problem, is: nil)
    expect(diagnosis.keyDecision?.provider, is: "file")
    let reason = diagnosis.keyDecision?.reason ?? ""
    #expect(reason.contains("no secret-service") && reason.contains("session bus"), "\(reason)")
    expect(diagnosis.keyCandidates.map(\.name), is: ["passphrase", "secret-service", "file"])
    expect(diagnosis.keyCandidates.last?.presence, is: .present)
  }

  @Test("a passphrase that was given is used")
  func passphrase() async throws {
    try await aside { [self] in
      let typed = KeyPlan(.automatic, passphrase: Secret("p"))
      try folder.filled(typed)
      let diagnosis = try #require(try StoreDiagnosis.examine(path: folder.store, keys: typed))
      expect(diagnosis.keyProviders, is: ["passphrase"])
      expect(diagnosis.keyDecision?.provider, is: "passphrase")
    }
  }

  @Test("a store that is there is opened by who has its key, never by who would be chosen")
  func presentStore() async throws {
    try await aside { [self] in
      let typed = KeyPlan(.automatic, passphrase: Secret("p"))
      try folder.filled(KeyPlan(.passphrase, passphrase: Secret("p")))
      let without = try #require(folder.failure(.automatic))
      #expect(without.code == .storeLocked && without.message.contains("ask the user"))
      try expect(folder.names().contains("key"), is: false, "no key file was made beside it")
      #expect(folder.reads(typed))
      let other = TestFolder()
      try other.filled(.file)
      #expect(other.reads(typed), "the key file opens it, though a passphrase would be chosen")
    }
  }

  @Test("what was chosen by hand is what the diagnosis says")
  func explicit() throws {
    let secretStore = FakeSecretStore()
    try folder.filled(KeyPlan(.host(secretStore)))
    let diagnosis = try #require(
      try StoreDiagnosis.examine(path: folder.store, keys: KeyPlan(.host(secretStore))))
    expect(diagnosis.keyProviders, is: ["host"])
    expect(diagnosis.keyDecision?.provider, is: "host")
    secretStore.isLocked = true
    let locked = try #require(
      try StoreDiagnosis.examine(path: folder.store, keys: KeyPlan(.host(secretStore))))
    expect(locked.problem?.code, is: .storeLocked)
    expect(locked.accountCount, is: 1)
  }
}

@Suite
struct SessionKeyTests {
  private let folder = TestFolder()

  /// A session memory that a test can read.
  private final class Memory: SessionKeyMemory {
    let items = Guarded<[String: Secret]>([:], by: Mutex())
    func presence() -> KeyPresence { .present }
    func recall(_ name: String) -> Secret? { items.withLock { $0[name] } }
    func remember(_ secret: Secret, as name: String, seconds: Int64) { items.withLock { $0[name] = secret } }
    func forget(_ name: String) { items.withLock { $0[name] = nil } }
  }

  @Test(
    "an opened key is remembered, so that the next process does not ask; what is not ours is not taken for a key"
  )
  func remembered() throws {
    let memory = Memory()
    let secretStore = FakeSecretStore()
    let provider = SecretStoreKeyProvider(name: "host", title: "the secret store", store: secretStore)
    func plan() -> KeyPlan { KeyPlan(.custom(SessionKeyCache(provider, in: memory, seconds: 60))) }
    try folder.filled(plan())
    secretStore.isLocked = true
    #expect(folder.reads(plan()), "from memory")
    expect(memory.items.withLock { $0.count }, is: 1)
    memory.items.withLock { for name in $0.keys { $0[name] = Secret([UInt8](repeating: 1, count: 72)) } }
    expect(folder.failure(plan())?.code, is: .storeLocked, "rubbish is no key")
    secretStore.isLocked = false
    #expect(folder.reads(plan()))
    memory.items.withLock { $0 = [:] }
    secretStore.isLocked = true
    expect(folder.failure(plan())?.code, is: .storeLocked, "what is forgotten is asked for again")
  }

  @Test("moving a store away forgets what was remembered")
  func forgotten() throws {
    let memory = Memory()
    let provider = SecretStoreKeyProvider(name: "host", title: "the secret store", store: FakeSecretStore())
    let store = try folder.filled(KeyPlan(.custom(SessionKeyCache(provider, in: memory, seconds: 60))))
    expect(memory.items.withLock { $0.count }, is: 1)
    try store.replaceKeys(.file)
    #expect(memory.items.withLock { $0.isEmpty })
    #expect(folder.reads(.file))
  }

  private static let kernel = KernelKeyring().presence()

  @Test("the kernel's keyring remembers, forgets, and lets go by itself", .enabled(if: kernel == .present))
  func kernelKeyring() throws {
    let keyring = KernelKeyring()
    let name = "enrollkit-test:" + UUID().uuidString
    expect(keyring.recall(name), is: nil)
    keyring.remember(Secret("first"), as: name, seconds: 60)
    expect(keyring.recall(name), is: Secret("first"))
    keyring.remember(Secret("second"), as: name, seconds: 60)
    expect(keyring.recall(name), is: Secret("second"))
    // The kernel's own list must show a user key, only for this user, with an expiry.
    let keys = try String(contentsOfFile: "/proc/keys", encoding: .utf8).split(separator: "\n")
    let line = try #require(keys.first { $0.contains(name) })
    let words = line.split(separator: " ")
    expect(words[3], isNot: "perm", "it ends: \(line)")
    expect(words[4], is: "3f3f0000", "\(line)")
    keyring.forget(name)
    expect(keyring.recall(name), is: nil)
    keyring.remember(Secret("third"), as: name, seconds: 0)
    expect(keyring.recall(name), is: nil, "nothing is remembered without an end")
  }

  @Test(
    "a passphrase need not be typed twice while the kernel remembers the key",
    .enabled(if: kernel == .present))
  func kernelSession() async throws {
    try await aside { [self] in
      let typed = KeyPlan(.passphrase, passphrase: Secret("p"), sessionCacheSeconds: 60)
      let store = try folder.filled(typed)
      #expect(folder.reads(KeyPlan(.passphrase, sessionCacheSeconds: 60)), "not asked again")
      expect(folder.failure(KeyPlan(.passphrase))?.code, is: .storeLocked, "unless it is to be asked")
      try store.replaceKeys(KeyPlan(.passphrase, passphrase: Secret("q"), sessionCacheSeconds: 60))
      let again = folder.failure(KeyPlan(.passphrase, passphrase: Secret("p")))
      expect(again?.code, is: .storeKey, "the old passphrase is no more")
      try store.replaceKeys(.file)
    }
  }
}
