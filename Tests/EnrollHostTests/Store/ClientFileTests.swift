@testable import EnrollStore
@testable import EnrollCore
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollTesting
import Foundation
import Testing

@Suite("Registered clients in the store")
struct ClientFileTests {
  private let folder = TestFolder()
  private let clock = FakeClock()
  private let client = RegisteredClient(
    clientID: ClientID("id-1"), clientSecret: Secret("s3cret-s3cret"), scopes: ["a"],
    managementToken: Secret("m4nage-m4nage"), registeredAt: UnixTime(seconds: 5))

  private func name(_ resource: String = "https://api.example") throws -> RegistrationName {
    RegistrationName(
      issuer: Issuer("https://id.example"), redirectURI: "com.example.app:/cb",
      resource: try ResourceIdentifier(resource, allowsLoopbackHTTP: false), trust: "system")
  }

  private func kept(_ name: RegistrationName) throws -> RegisteredClient? {
    try folder.open(clock: clock).updateRegisteredClient(name) { (_: inout RegisteredClient?) in }
  }

  @Test("another process finds it, under its own name alone; nothing of it is readable")
  func found() throws {
    #expect(try kept(name()) == nil)
    try folder.open(clock: clock).updateRegisteredClient(try name()) { $0 = client }
    #expect(try kept(name()) == client)
    #expect(try kept(name("https://other.example")) == nil)
    let text = String(decoding: try folder.bytes(folder.only(".client")), as: UTF8.self)
    for secret in ["id-1", "s3cret", "m4nage", "api.example"] { #expect(!text.contains(secret)) }
    #expect(try folder.names(".temp").isEmpty)
  }

  @Test("it is no account, and forgotten where the change says so")
  func forgotten() throws {
    let store = try folder.open(clock: clock)
    try store.updateRegisteredClient(try name()) { $0 = client }
    #expect(try store.accounts().isEmpty)
    try store.updateRegisteredClient(try name()) { $0 = nil }
    #expect(try folder.names(".client").isEmpty)
  }

  @Test("a change that fails leaves it as it was")
  func failing() throws {
    let store = try folder.open(clock: clock)
    try store.updateRegisteredClient(try name()) { $0 = client }
    let name = try name()
    let code = code { () throws(EnrollError) in
      try store.updateRegisteredClient(name) { (kept: inout RegisteredClient?) throws(EnrollError) in
        kept = nil
        throw EnrollError(.server, "refused")
      }
    }
    #expect(code == .server)
    #expect(try kept(name) == client)
  }

  @Test("whoever comes while another one registers waits for it, and finds its client")
  func exclusive() throws {
    let name = try name()
    let registered = Guarded(0, by: Mutex())
    let pool = WorkerPool(threads: 4)
    for _ in 0..<4 {
      let accepted = pool.submit {
        _ = try? folder.open(clock: clock).updateRegisteredClient(name) { kept in
          guard kept == nil else { return }
          registered.withLock { $0 += 1 }
          kept = client
        }
      }
      #expect(accepted)
    }
    pool.drain()
    #expect(registered.withLock { $0 } == 1)
  }

  @Test("while one registers, the lock of all clients is held, and no other of the store")
  func lock() throws {
    let store = try folder.open(clock: clock)
    try store.updateRegisteredClient(try name()) { (_: inout RegisteredClient?) throws(EnrollError) in
      let place = try StoreFolder(folder.store, system: PosixFileSystem(), allowsNetworkFilesystem: false)
      for (name, isFree) in [(StoreNames.clientLock, false), (StoreNames.lock, true)] {
        let lock = try FileLock(name, in: place)
        defer { lock.close() }
        let taken = try lock.tryLock()
        #expect(taken == isFree)
      }
    }
  }

  @Test("a new data key seals it anew, and the older key is needed no more")
  func newKey() throws {
    let store = try folder.open(clock: clock)
    try store.updateRegisteredClient(try name()) { $0 = client }
    let before = try folder.bytes(folder.only(".client"))
    try store.replaceKeys(.file, newDataKey: true)
    #expect(try folder.bytes(folder.only(".client")) != before)
    #expect(try kept(name()) == client)
    let (keys, _) = try #require(
      try KeysFile.read(StoreFolder(folder.store, system: PosixFileSystem(), allowsNetworkFilesystem: false)))
    #expect(keys.slots.count == 1)
  }

  @Test("a damaged file is told once, set aside, and the next call finds none")
  func damaged() throws {
    try folder.open(clock: clock).updateRegisteredClient(try name()) { $0 = client }
    let path = try folder.only(".client")
    var bytes = try folder.bytes(path)
    bytes[bytes.count / 2] ^= 1
    try folder.overwrite(path, bytes)
    let code = code { () throws(EnrollError) in
      do { _ = try kept(name()) } catch { throw error as? EnrollError ?? EnrollError(.internal, "") }
    }
    #expect(code == .storeCorrupt)
    #expect(try kept(name()) == nil)
  }

  @Test("the diagnosis of a store knows the file")
  func diagnosis() throws {
    try folder.open(clock: clock).updateRegisteredClient(try name()) { $0 = client }
    let files = try #require(try StoreDiagnosis.examine(path: folder.store)).files
    #expect(files.map(\.kind) == [.client])
    #expect(files.first?.problem == nil)
  }
}
