@testable import EnrollStore
@testable import EnrollRules
@testable import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollPosix
import EnrollTesting
import Expectations
import Foundation
import StoreSupport
import Testing

@Suite("Registered clients in the store")
struct ClientFileTests {
  private let folder = TestFolder()
  private let clock = FakeClock()
  private let client = RegisteredClient(
    clientID: ClientID("id-1"), clientSecret: Secret("s3cret-s3cret"),
    registeredAt: UnixTime(seconds: 5))

  private func name(_ resource: String = "https://api.example") throws -> RegistrationName {
    RegistrationName(
      issuer: Issuer("https://id.example"), redirectURI: "com.example.app:/cb",
      resource: try ResourceIdentifier(resource, allowsLoopbackHTTP: false), trust: "system")
  }

  private func names(_ suffix: String) -> [String] { (try? folder.names(suffix)) ?? [] }

  private func kept(_ name: RegistrationName) throws -> RegisteredClient? {
    try folder.open(clock: clock).updateRegisteredClient(name) { (_: inout RegisteredClient?) in }
  }

  @Test("another process finds it, under its own name alone; nothing of it is readable")
  func found() throws {
    try expect(kept(name()), is: nil)
    try folder.open(clock: clock).updateRegisteredClient(try name()) { $0 = client }
    try expect(kept(name()), is: client)
    try expect(kept(name("https://other.example")), is: nil)
    let text = String(decoding: try folder.bytes(folder.only(".client")), as: UTF8.self)
    for secret in ["id-1", "s3cret", "api.example"] { #expect(!text.contains(secret)) }
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
    expect(code, is: .server)
    try expect(kept(name), is: client)
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
    expect(registered.withLock { $0 }, is: 1)
  }

  @Test("while one registers, its own lock is held, and neither another client's nor the store's")
  func lock() throws {
    let (own, other) = (try name(), try name("https://other.example"))
    let store = try folder.open(clock: clock)
    try store.updateRegisteredClient(own) { (kept: inout RegisteredClient?) throws(EnrollError) in
      expect(names(".register").count, is: 1)
      let place = try StoreFolder(folder.store, system: PosixFileSystem(), allowsNetworkFilesystem: false)
      let turn = names(".register").first ?? ""
      for (name, isFree) in [(turn, false), (StoreNames.lock, true)] {
        let lock = try FileLock(name, in: place)
        defer { lock.close() }
        let taken = try lock.tryLock()
        expect(taken, is: isFree)
      }
      let end = SystemClock.now().advanced(bySeconds: 20)
      try CallTimeout.until(end, cancellation: nil) { () throws(EnrollError) in
        try folder.open(clock: clock).updateRegisteredClient(other) { $0 = client }
        try store.updateRegisteredClient(other) { $0 = nil }
      }
      let seen = try store.registeredClient(own)
      expect(seen, is: nil)
      kept = client
    }
    try expect(kept(own), is: client)
  }

  @Test("the store's keys are replaced while one registers, and its client is sealed with the new one")
  func newKeyMeanwhile() throws {
    let name = try name()
    var later = client
    later.secretExpiresAt = UnixTime(seconds: 9)
    let store = try folder.open(clock: clock)
    try store.updateRegisteredClient(name) { $0 = client }
    try store.updateRegisteredClient(name) { (kept: inout RegisteredClient?) throws(EnrollError) in
      try folder.open(clock: clock).replaceKeys(.file, newDataKey: true)
      kept = later
    }
    try expect(kept(name), is: later)
    let file = try #require(try StoreDiagnosis.examine(path: folder.store)?.files.first)
    expect(file.generation, is: 3)
  }

  @Test(
    "on a full disk the client takes the space that was reserved for it; the space is reserved for the change only"
  )
  func reserve() throws {
    struct Disk {
      var isFull = false
      var tookReserve = false
    }
    let name = try name()
    let disk = Guarded(Disk(), by: Mutex())
    let system = FaultyFileSystem(before: { call in
      guard call.name?.hasSuffix(".client.temp") == true else { return nil }
      return disk.withLock { disk in
        if call.operation == .rename { disk.tookReserve = true }
        return call.operation == .open && disk.isFull && !disk.tookReserve ? .error(ENOSPC) : nil
      }
    })
    let store = try folder.open(clock: clock, system: system)
    try store.updateRegisteredClient(name) { (kept: inout RegisteredClient?) throws(EnrollError) in
      try store.reserveSpace(name)
      disk.withLock { $0.isFull = true }
      kept = client
    }
    #expect(disk.withLock { $0.tookReserve })
    #expect(try folder.names(".reserve").isEmpty)
    try expect(kept(name), is: client)
    try store.updateRegisteredClient(name) { (kept: inout RegisteredClient?) throws(EnrollError) in
      try store.reserveSpace(name)
    }
    #expect(try folder.names(".reserve").isEmpty)
    expect(code { () throws(EnrollError) in try store.reserveSpace(name) }, is: .internal)
  }

  @Test("a client that is registered while the folder is replaced is kept in the one that is there now")
  func replacedFolder() throws {
    let name = try name()
    let aside = folder.path + "/aside"
    let store = try folder.open(clock: clock)
    try store.unlock()
    try store.updateRegisteredClient(name) { (kept: inout RegisteredClient?) throws(EnrollError) in
      try store.reserveSpace(name)
      do {
        try FileManager.default.moveItem(atPath: folder.store, toPath: aside)
        try FileManager.default.copyItem(atPath: aside, toPath: folder.store)
        chmod(folder.store, 0o700)
      } catch { Issue.record(error) }
      kept = client
    }
    try expect(kept(name), is: client)
    try expect(store.registeredClient(name), is: client)
  }

  @Test("while the folder is away, a client that was registered is not kept, and the call says so")
  func folderAway() throws {
    let name = try name()
    let store = try folder.open(clock: clock)
    try store.unlock()
    let code = code { () throws(EnrollError) in
      try store.updateRegisteredClient(name) { (kept: inout RegisteredClient?) throws(EnrollError) in
        do {
          try FileManager.default.moveItem(atPath: folder.store, toPath: folder.path + "/aside")
        } catch { Issue.record(error) }
        kept = client
      }
    }
    expect(code, is: .storeIO)
    #expect(!FileManager.default.fileExists(atPath: folder.store))
  }

  @Test("a full disk says so before a client is registered")
  func full() throws {
    let name = try name()
    let system = FaultyFileSystem(before: { $0.operation == .allocate ? .error(ENOSPC) : nil })
    let store = try folder.open(clock: clock, system: system)
    let code = code { () throws(EnrollError) in
      try store.updateRegisteredClient(name) { (_: inout RegisteredClient?) throws(EnrollError) in
        try store.reserveSpace(name)
      }
    }
    expect(code, is: .storeFull)
    #expect(try folder.names(".reserve").isEmpty)
  }

  @Test(
    "what a process left behind when it died is removed at the next registration, and not while another registers"
  )
  func leftBehind() throws {
    let name = try name()
    let store = try folder.open(clock: clock)
    try store.updateRegisteredClient(name) { $0 = client }
    let path = try folder.only(".client")
    for end in [".temp", ".reserve"] { try Data([1]).write(to: URL(fileURLWithPath: path + end)) }
    for end in [".temp", ".reserve"] { chmod(path + end, 0o600) }
    try store.updateRegisteredClient(name) { (_: inout RegisteredClient?) throws(EnrollError) in
      #expect(names(".temp").isEmpty)
      try store.reserveSpace(name)
      let place = try StoreFolder(folder.store, system: PosixFileSystem(), allowsNetworkFilesystem: false)
      place.removeLeftovers(names(""))
      expect(names(".reserve").count, is: 1)
    }
    #expect(try folder.names(".reserve").isEmpty)
  }

  @Test("a new data key seals it anew, and the older key is needed no more")
  func newKey() throws {
    let store = try folder.open(clock: clock)
    try store.updateRegisteredClient(try name()) { $0 = client }
    let before = try folder.bytes(folder.only(".client"))
    try store.replaceKeys(.file, newDataKey: true)
    try expect(folder.bytes(folder.only(".client")), isNot: before)
    try expect(kept(name()), is: client)
    let (keys, _) = try #require(
      try KeysFile.read(StoreFolder(folder.store, system: PosixFileSystem(), allowsNetworkFilesystem: false)))
    expect(keys.slots.count, is: 1)
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
    expect(code, is: .storeCorrupt)
    try expect(kept(name()), is: nil)
  }

  @Test("the diagnosis of a store knows the file")
  func diagnosis() throws {
    try folder.open(clock: clock).updateRegisteredClient(try name()) { $0 = client }
    let files = try #require(try StoreDiagnosis.examine(path: folder.store)).files
    expect(files.map(\.kind), is: [.client])
    expect(files.first?.problem, is: nil)
  }
}
