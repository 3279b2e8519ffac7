@testable import EnrollStore
import EnrollCore
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollTesting
import Foundation
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
    #expect(try kept() == documents)
    let others = [
      ProviderName(issuer: "https://id.example/", trust: "system"),
      ProviderName(issuer: "https://id.example", trust: "file /tmp/ca.pem"),
    ]
    for other in others { #expect(try folder.open(clock: clock).providerDocuments(other) == nil) }
    store.keepProviderDocuments(name) { $0.keys = nil }
    #expect(try kept()?.metadata == documents.metadata)
    #expect(try kept()?.keys == nil)
    #expect(try folder.names(".provider").count == 1)
    #expect(try folder.names(".temp").isEmpty)
  }

  @Test("asking makes no store, and a store in memory keeps nothing")
  func nothing() throws {
    #expect(try kept() == nil)
    #expect(try folder.names().isEmpty)
    let memory = MemoryTokenStore(clock: clock)
    memory.keepProviderDocuments(name) { $0 = documents }
    #expect(memory.providerDocuments(name) == nil)
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
      #expect(try kept() == nil)
      try folder.open(clock: clock).keepProviderDocuments(name) { $0.metadata = documents.metadata }
      #expect(try kept()?.metadata == documents.metadata)
    }
    #expect(try StoreDiagnosis.examine(path: folder.store)?.setAsideCount == 0)
  }

  @Test("a diagnosis names it, tidying clears what was half written of it, new keys leave it behind")
  func known() throws {
    let store = try folder.filled(clock: clock)
    store.keepProviderDocuments(name) { $0 = documents }
    let files = try #require(try StoreDiagnosis.examine(path: folder.store)).files
    #expect(files.filter { $0.kind == .provider && $0.problem == nil }.count == 1)

    let half = try folder.only(".provider") + ".temp"
    #expect(
      FileManager.default.createFile(
        atPath: half, contents: Data([1]), attributes: [.posixPermissions: 0o600]))
    _ = try folder.open(clock: clock).accounts()
    #expect(!FileManager.default.fileExists(atPath: half))

    try store.replaceKeys(.file, newDataKey: true)
    #expect(try folder.names(".provider").isEmpty)
    store.keepProviderDocuments(name) { $0 = documents }
    #expect(try kept() == documents)
  }

  @Test("nobody waits for the store's lock to keep it")
  func busy() throws {
    let store = try folder.filled(clock: clock)
    let held = open(folder.store + "/store.lock", O_RDWR | O_CREAT, 0o600)
    defer { close(held) }
    #expect(flock(held, LOCK_EX) == 0)
    store.keepProviderDocuments(name) { $0 = documents }
    #expect(try kept() == nil)
  }

  @Test("what is longer than a provider's documents ever are is not kept")
  func limits() throws {
    let store = try folder.open(clock: clock)
    store.keepProviderDocuments(name) {
      $0 = documents
      $0.metadata?.body = [UInt8](repeating: 0x20, count: 2 << 20)
    }
    #expect(try kept() == nil)
  }
}
