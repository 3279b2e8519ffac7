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

@Suite("What a store keeps of a provider")
struct ProviderFileTests {
  private let folder = TestFolder()
  private let clock = FakeClock()
  private let name = ProviderName(issuer: "https://id.example", trust: "system")

  private var documents: ProviderDocuments {
    let fresh = Expiry(lifetimeSeconds: 300, from: clock.moment())
    return ProviderDocuments(
      metadata: KeptDocument(
        url: "https://id.example/d", body: Array(#"{"issuer":"\u00e9 é"}"#.utf8), tag: "\"t\"",
        freshness: fresh,
        pause: Expiry(lifetimeSeconds: 60, from: clock.moment())),
      keys: KeptDocument(url: "https://id.example/k", body: [], tag: nil, freshness: fresh))
  }

  private func kept() throws -> ProviderDocuments? {
    try folder.open(clock: clock).providerDocuments(name)
  }

  @Test("another process finds it, and only under the same issuer and trust")
  func found() throws {
    let store = try folder.open(clock: clock)
    store.keepProviderDocuments(name) { $0 = documents }
    try expect(kept(), is: documents)
    let others = [
      ProviderName(issuer: "https://id.example/", trust: "system"),
      ProviderName(issuer: "https://id.example", trust: "file /tmp/ca.pem"),
    ]
    for other in others { try expect(folder.open(clock: clock).providerDocuments(other), is: nil) }
    store.keepProviderDocuments(name) { $0.keys = nil }
    try expect(kept()?.metadata, is: documents.metadata)
    try expect(kept()?.keys, is: nil)
    try expect(folder.names(".provider").count, is: 1)
    #expect(try folder.names(".temp").isEmpty)
  }

  @Test("asking makes no store, and a store in memory keeps nothing")
  func nothing() throws {
    try expect(kept(), is: nil)
    #expect(try folder.names().isEmpty)
    let memory = MemoryTokenStore(clock: clock)
    memory.keepProviderDocuments(name) { $0 = documents }
    expect(memory.providerDocuments(name), is: nil)
  }

  @Test("a file that is damaged, of another store, or no file at all counts for none, and is replaced")
  func damaged() throws {
    let store = try folder.open(clock: clock)
    store.keepProviderDocuments(name) { $0 = documents }
    let path = try folder.only(".provider")
    let whole = try folder.bytes(path)
    let stranger = TestFolder()
    try stranger.open().keepProviderDocuments(name) { $0 = documents }
    var flipped = whole
    flipped[whole.count / 2] ^= 1
    for bytes in try [[], Array(whole.prefix(100)), flipped, stranger.bytes(stranger.only(".provider"))] {
      try folder.overwrite(path, bytes)
      try expect(kept(), is: nil)
      try folder.open(clock: clock).keepProviderDocuments(name) { $0.metadata = documents.metadata }
      try expect(kept()?.metadata, is: documents.metadata)
    }
    try expect(StoreDiagnosis.examine(path: folder.store)?.setAsideCount, is: 0)
  }

  @Test("a diagnosis names it, tidying clears what was half written of it, new keys leave it behind")
  func known() throws {
    let store = try folder.filled(clock: clock)
    store.keepProviderDocuments(name) { $0 = documents }
    let files = try #require(try StoreDiagnosis.examine(path: folder.store)).files
    expect(files.filter { $0.kind == .provider && $0.problem == nil }.count, is: 1)

    let half = try folder.only(".provider") + ".temp"
    #expect(
      FileManager.default.createFile(
        atPath: half, contents: Data([1]), attributes: [.posixPermissions: 0o600]))
    _ = try folder.open(clock: clock).accounts()
    #expect(!FileManager.default.fileExists(atPath: half))

    try store.replaceKeys(.file, newDataKey: true)
    #expect(try folder.names(".provider").isEmpty)
    store.keepProviderDocuments(name) { $0 = documents }
    try expect(kept(), is: documents)
  }

  @Test("nobody waits for the store's lock to keep it")
  func busy() throws {
    let store = try folder.filled(clock: clock)
    let held = open(folder.store + "/store.lock", O_RDWR | O_CREAT, 0o600)
    defer { close(held) }
    expect(flock(held, LOCK_EX), is: 0)
    store.keepProviderDocuments(name) { $0 = documents }
    try expect(kept(), is: nil)
  }

  @Test("what is longer than a provider's documents ever are is not kept")
  func limits() throws {
    let store = try folder.open(clock: clock)
    store.keepProviderDocuments(name) {
      $0 = documents
      $0.metadata?.body = [UInt8](repeating: 0x20, count: 2 << 20)
    }
    try expect(kept(), is: nil)
  }
}
