// Disks that are full or read-only, and a user who may not: the real ones, where the machine lets us make them.

@testable import EnrollStore
import EnrollCore
import EnrollCrypto
import EnrollHost
import EnrollTesting
import Expectations
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RealDiskTests {
  private static let isRoot = geteuid() == 0

  private static func open(_ disk: SmallDisk) throws(EnrollError) -> FileTokenStore {
    try FileTokenStore(path: disk.store, clock: FakeClock())
  }

  /// Everything that saves, by name.
  private static let changes: [(name: String, make: @Sendable (FileTokenStore) throws(EnrollError) -> Void)] =
    [
      ("update", { store throws(EnrollError) in try store.update(.default) { $0.tokenEpoch += 1 } }),
      (
        "first save",
        { store throws(EnrollError) in try store.update(try AccountName("b")) { $0.tokenEpoch += 1 } }
      ),
      ("reserve", { store throws(EnrollError) in try store.reserveSpace(.default) }),
      (
        "outbox",
        { store throws(EnrollError) in
          try store.updateOutbox {
            $0.append(
              OutboxEntry(
                issuer: "i", endpoint: nil, message: .profile(account: "a"), queued: UnixTime(seconds: 1)))
          }
        }
      ),
      ("installation", { store throws(EnrollError) in _ = try store.installationID() }),
      ("PIN", { store throws(EnrollError) in try store.setPIN(Secret("2468"), .default) }),
      ("new key", { store throws(EnrollError) in try store.replaceKeys(.file, newDataKey: true) }),
    ]

  @Test(
    "on a full disk everything that saves says so and changes nothing, reading goes on, and erasing makes room",
    .enabled(if: SmallDisk.isPossible, Comment(rawValue: SmallDisk.wanted)))
  func full() async throws {
    try await aside {
      let disk = try SmallDisk()
      let store = try Self.open(disk)
      try store.update(.default) { $0.registrationType = "SOCIAL" }
      disk.fill()
      for (name, make) in Self.changes {
        expect(code { () throws(EnrollError) in try make(store) }, is: .storeFull, "\(name)")
        try expect(Self.open(disk).read(.default)?.registrationType, is: "SOCIAL", "\(name)")
      }
      disk.free()
      for (name, make) in Self.changes {
        expect(code { () throws(EnrollError) in try make(store) }, is: nil, "\(name)")
      }
      disk.fill()
      try store.remove(.default)
      try expect(Self.open(disk).read(.default), is: nil)
    }
  }

  @Test(
    "a new store on a full disk is refused as full, and made once there is room",
    .enabled(if: SmallDisk.isPossible, Comment(rawValue: SmallDisk.wanted)))
  func fullFromTheStart() throws {
    let disk = try SmallDisk()
    disk.fill()
    let make = { () throws(EnrollError) in try Self.open(disk).update(.default) { $0.tokenEpoch += 1 } }
    expect(code { () throws(EnrollError) in _ = try make() }, is: .storeFull)
    disk.free()
    _ = try make()
  }

  /// Fills a disk while a refresh token is on its way.
  private final class FillingTransport: Transport {
    private let provider: FakeProvider
    private let disk: SmallDisk

    init(_ provider: FakeProvider, _ disk: SmallDisk) {
      self.provider = provider
      self.disk = disk
    }

    func send(
      _ request: HTTPRequest, cancellation: (any Cancellation)?
    ) throws(EnrollError) -> HTTPResponse {
      let response = try provider.send(request, cancellation: cancellation)
      if String(decoding: request.body, as: UTF8.self).contains("grant_type=refresh_token") { disk.fill() }
      return response
    }
  }

  @Test(
    "a disk that is full before a renewal costs no refresh token; one that fills up during it costs nothing",
    .enabled(if: SmallDisk.isPossible, Comment(rawValue: SmallDisk.wanted)))
  func renewal() throws {
    let disk = try SmallDisk()
    let clock = FakeClock()
    let provider = try FakeProvider(clock: clock)
    var options = ClientOptions(
      configuration: try Configuration(
        issuer: provider.issuer, clientID: "native", redirectURI: "com.example.app:/callback",
        requiresConfirmation: false), store: .custom(try FileTokenStore(path: disk.store, clock: clock)))
    options.transport = FillingTransport(provider, disk)
    options.clock = clock
    let client = try Client(options)
    let begun = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    guard case .openURL(let url) = begun.action else { throw EnrollError(.internal, "no URL") }
    _ = try client.resume(provider.signIn(at: url), until: .distantFuture, cancellation: nil)
    let asked = provider.count(.token)
    let ask = { () throws(EnrollError) in
      try client.access(minimumLifetimeSeconds: 0, until: .distantFuture, cancellation: nil)
    }

    clock.advance(seconds: 3550)
    disk.fill()
    guard case .stale(_, let reason) = try ask(), reason.code == .storeFull else {
      Issue.record("the live token is served, and the reason told")
      return
    }
    clock.advance(seconds: 3600)
    expect(code { () throws(EnrollError) in _ = try ask() }, is: .storeFull)
    expect(provider.count(.token), is: asked, "no refresh token was spent")

    disk.free()
    let renewed = try ask().token().value
    expect(provider.count(.token), is: asked + 1)
    #expect(disk.isFilled)
    let store = try FileTokenStore(path: disk.store, clock: clock)
    let account = try #require(try store.accounts().first)
    try expect(store.read(account)?.confirmed?.accessToken, is: renewed, "on a disk that is full by now")
  }

  @Test(
    "on a read-only disk everything that saves is refused with words, and reading goes on",
    .enabled(if: SmallDisk.isPossible, Comment(rawValue: SmallDisk.wanted)))
  func readOnly() async throws {
    try await aside {
      let disk = try SmallDisk()
      let store = try Self.open(disk)
      let epoch = try store.update(.default) { $0.registrationType = "SOCIAL" }.tokenEpoch
      try disk.makeReadOnly(true)
      for (name, make) in Self.changes {
        for each in [store, try Self.open(disk)] {
          let failure = failure { () throws(EnrollError) in try make(each) }
          expect(failure?.code, is: .storeRefused, "\(name)")
          expect(failure?.message.contains("read-only"), is: true, "\(name): \(failure?.message ?? "")")
        }
      }
      var isTaken = false
      let turn = code { () throws(EnrollError) in
        _ = try store.renewalTurn(.default, epoch: epoch, deadline: .distantFuture) {
          () throws(EnrollError) in
          isTaken = true
        }
      }
      #expect(turn == .storeRefused && !isTaken, "no refresh token is spent")
      try expect(Self.open(disk).read(.default)?.registrationType, is: "SOCIAL")
      try expect(Self.open(disk).accounts(), is: [.default])
      let new = code { () throws(EnrollError) in
        _ = try FileTokenStore(path: disk.path + "/new", clock: FakeClock())
      }
      expect(new, is: .storeRefused)
      try disk.makeReadOnly(false)
      for (name, make) in Self.changes {
        expect(code { () throws(EnrollError) in try make(store) }, is: nil, "\(name)")
      }
    }
  }

  @Test(
    "a user who may not read or write a file is told so, nothing is set aside, and it works again when it is mended",
    .enabled(if: isRoot, "needs root to become somebody else"),
    arguments: [".record", "keys", "key", ".write", ""])
  func noPermission(_ name: String) throws {
    let nobody = "65534"
    let folder = TestFolder()
    chmod(folder.path, 0o777)
    try expect(Probe.run("--user", nobody, "update", folder.store), is: ["updated"])
    let names = try folder.names()
    let path = name.isEmpty ? folder.store : try folder.only(name)
    chmod(path, 0)
    try expect(Probe.run("--user", nobody, "update", folder.store), is: ["storeRefused"])
    try expect(folder.names(), is: names)
    chmod(path, name.isEmpty ? 0o700 : 0o600)
    try expect(Probe.run("--user", nobody, "update", folder.store), is: ["updated"])
  }
}
