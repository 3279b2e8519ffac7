// Tests with real full disks, real read-only disks and a real user without permission, on machines that allow
// it.

@testable import EnrollStore
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollTesting
import Expectations
import Foundation
import StoreSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RealDiskTests {
  private static let isRoot = geteuid() == 0

  private static func open(_ disk: SmallDisk) throws(EnrollError) -> FileTokenStore {
    try FileTokenStore(path: disk.store, clock: FakeClock())
  }

  /// Every operation that saves, by name.
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
      let refusal = code { () throws(EnrollError) in
        _ = try store.withRenewalLock(.default, epoch: epoch, deadline: .distantFuture) {
          () throws(EnrollError) in
          isTaken = true
        }
      }
      #expect(refusal == .storeRefused && !isTaken, "no refresh token is spent")
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
