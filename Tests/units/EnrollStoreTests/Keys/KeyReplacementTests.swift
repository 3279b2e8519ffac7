// The replacement of keys loses nothing, even when it is interrupted at any step or other processes use the
// store at the same time.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollStore
import EnrollTesting
import Expectations
import Foundation
import StoreSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct KeyReplacementTests {
  private let folder = TestFolder()

  private enum Place: String, CaseIterable { case own, elsewhere, host, passphrase }

  private func plan(_ place: Place, _ secretStore: FakeSecretStore) -> KeyPlan {
    switch place {
    case .own: .file
    case .elsewhere: KeyPlan(.file(path: folder.path + "/elsewhere"))
    case .host: KeyPlan(.host(secretStore))
    case .passphrase: KeyPlan(.passphrase, passphrase: Secret("p"))
    }
  }

  @Test(
    "a store moves from any provider to any other: the new one opens it, the old one does not, nothing stays behind"
  )
  func moves() async throws {
    try await aside { [self] in
      let secretStore = FakeSecretStore()
      try folder.filled(.file)
      var at = Place.own
      for next in [Place.host, .passphrase, .own, .elsewhere, .host, .elsewhere, .own] {
        let before = plan(at, secretStore)
        let provider = try folder.open(keys: before).replaceKeys(plan(next, secretStore))
        expect(provider, is: next == .elsewhere || next == .own ? "file" : next.rawValue)
        #expect(folder.reads(plan(next, secretStore)), "\(at) to \(next)")
        expect(folder.failure(before), isNot: nil, "\(at) to \(next)")
        try expect(folder.names().contains("key"), is: next == .own, "\(at) to \(next)")
        expect(secretStore.items.count, is: next == .host ? 1 : 0, "\(at) to \(next)")
        at = next
      }
    }
  }

  @Test("the same provider wraps anew: what guarded the key before opens nothing any more")
  func wrapsAnew() throws {
    try folder.filled(.file)
    let keyFile = try folder.bytes(folder.store + "/key")
    let keysFile = try folder.bytes(folder.store + "/keys")
    try folder.open().replaceKeys(.file)
    #expect(folder.reads(.file))
    let newKeyFile = try folder.bytes(folder.store + "/key")
    #expect(newKeyFile != keyFile && newKeyFile.count == keyFile.count)
    try expect(folder.bytes(folder.store + "/keys"), isNot: keysFile)
    try folder.overwrite(folder.store + "/key", keyFile)
    expect(folder.failure(.file)?.code, is: .storeKey)
  }

  @Test("a key file that stores share keeps the keys of the others")
  func sharedKeyFile() throws {
    let shared = KeyPlan(.file(path: folder.path + "/shared"))
    try folder.filled(shared)
    let other = TestFolder()
    try other.filled(shared)
    try folder.open(keys: shared).replaceKeys(shared)
    #expect(folder.reads(shared) && other.reads(shared))
    try folder.open(keys: shared).replaceKeys(.file)
    #expect(folder.reads(.file) && other.reads(shared))
  }

  @Test(
    "a store that cannot be opened, or has no keys, is not moved; nor is one to a provider that is locked or absent"
  )
  func refused() throws {
    let secretStore = FakeSecretStore()
    expect(code { () throws(EnrollError) in try folder.open().replaceKeys(.file) }, is: .notFound)
    try folder.filled(KeyPlan(.host(secretStore)))
    let before = try folder.content().filter { $0.key != "keys.lock" }
    secretStore.isLocked = true
    let store = try folder.open(keys: KeyPlan(.host(secretStore)))
    expect(code { () throws(EnrollError) in try store.replaceKeys(.file) }, is: .storeLocked)
    secretStore.isLocked = false
    let other = FakeSecretStore()
    other.isLocked = true
    expect(code { () throws(EnrollError) in try store.replaceKeys(KeyPlan(.host(other))) }, is: .storeLocked)
    other.isLocked = false
    other.absence = "no such thing here"
    let absent = failure { () throws(EnrollError) in try store.replaceKeys(KeyPlan(.host(other))) }
    #expect(absent?.code == .storeLocked && absent?.message.contains("no such thing here") == true)
    try expect(folder.content().filter { $0.key != "keys.lock" }, is: before)
    #expect(folder.reads(KeyPlan(.host(secretStore))))
  }

  @Test("a new data key seals every file, and the old one is gone from the keys file")
  func newDataKey() throws {
    let store = try folder.filled(.file)
    let alice = try AccountName("alice")
    try store.update(alice) { $0.registrationType = "ALICE" }
    try store.setPIN(Secret("1234"), alice)
    let id = try store.installationID()
    let entry = OutboxEntry(
      issuer: "https://id.example", endpoint: nil,
      message: .revocation(.init(clientID: "c", token: Secret("t"), hint: "h")), queued: UnixTime(seconds: 1))
    try store.updateOutbox { $0.append(entry) }
    let before = try folder.content()

    try store.replaceKeys(.file, newDataKey: true)
    let after = try folder.content()
    for (name, bytes) in before where name.hasSuffix(".record") || name == "outbox" || name == "installation"
    {
      expect(Array(after[name]?[8..<40] ?? []), isNot: Array(bytes[8..<40]), "\(name) was sealed anew")
    }
    expect(after.keys.sorted(), is: (before.keys + ["keys.lock"]).sorted(), "files keep their names")
    let keys = String(decoding: after["keys"] ?? [], as: UTF8.self)
    expect(keys.components(separatedBy: "\"provider\"").count, is: 2, "one slot: \(keys)")

    // After the replacement, the store must still read its records, but not files from before the replacement.
    for again in [store, try folder.open()] {
      try expect(again.read(.default)?.registrationType, is: "SOCIAL")
      try expect(again.installationID(), is: id)
      try expect(again.updateOutbox { _ in }, is: [entry])
      try expect(again.usePIN(Secret("1234"), alice, to: .unlock).outcome, is: .unlocked)
      try expect(again.read(alice)?.registrationType, is: "ALICE")
    }
    let record = try #require(before.keys.first { $0.hasSuffix(".record") })
    try folder.overwrite(folder.store + "/" + record, before[record] ?? [])
    let old = failure { () throws(EnrollError) in _ = try folder.open().accounts() }
    expect(old?.code, is: .storeKey)
  }

  @Test("another process goes on while keys are replaced: what it saves afterwards opens")
  func otherProcess() throws {
    let other = try folder.filled(.file)
    let fresh = try AccountName("fresh")
    let mover = try folder.open()
    try mover.replaceKeys(.file, newDataKey: true)
    // `other` plays a process that has the old key in memory. It saves a new account first, because an existing record
    // would show that the key was replaced.
    try other.update(fresh) { $0.registrationType = "NEW" }
    try other.update(.default) { $0.tokenEpoch += 1 }
    try other.updateOutbox { $0 = [] }
    let again = try folder.open()
    try expect(again.read(.default)?.registrationType, is: "SOCIAL")
    try expect(again.read(fresh)?.registrationType, is: "NEW")
    // The key moves to a provider that `other` does not know. `other` has the sealing key in memory, and continues.
    try mover.replaceKeys(KeyPlan(.host(FakeSecretStore())))
    try other.update(.default) { $0.tokenEpoch += 1 }
    try expect(mover.read(.default)?.registrationType, is: "SOCIAL")
  }

  @Test(
    "a process that opens the store while its keys are replaced finds the new ones", arguments: [false, true])
  func opensMeanwhile(newDataKey: Bool) throws {
    try folder.filled(.file)
    let folder = folder
    let isReplaced = Atomic<Bool>(false)
    // The old keys file is opened before it is replaced, and is read after that.
    let system = FaultyFileSystem(after: { call in
      guard call.operation == .open, call.name == "keys",
        !isReplaced.exchange(true, ordering: .relaxed)
      else { return }
      _ = try? folder.open().replaceKeys(.file, newDataKey: newDataKey)
    })
    try expect(folder.open(system: system).read(.default)?.registrationType, is: "SOCIAL")
  }

  @Test("a file that cannot be opened keeps the older keys where they are")
  func damagedStays() throws {
    let store = try folder.filled(.file)
    let path = try folder.only(".record")
    let whole = try folder.bytes(path)
    var damaged = whole
    damaged[damaged.count - 1] ^= 1
    try folder.overwrite(path, damaged)
    let other = try AccountName("other")
    try store.update(other) { $0.registrationType = "OTHER" }
    try store.replaceKeys(.file, newDataKey: true)
    try expect(folder.bytes(path), is: damaged, "left as it is")
    try expect(folder.open().read(other)?.registrationType, is: "OTHER")
    try folder.overwrite(path, whole)
    #expect(folder.reads(.file), "mended by hand, it opens with the older key")
  }

  @Test("of many that replace keys at once each succeeds, and the store opens")
  func manyAtOnce() async throws {
    try await aside { [self] in
      try folder.filled(.file)
      let folder = folder
      together(4) { index in
        let failed = code { () throws(EnrollError) in
          try folder.open().replaceKeys(.file, newDataKey: index % 2 == 0)
        }
        expect(failed, is: nil)
      }
      #expect(folder.reads(.file))
    }
  }
}
