// Tests of the guarantees that every TokenStore gives: for the store in memory and for the store on disk.

@testable import EnrollPosix
@testable import EnrollStore
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollTesting
import Expectations
import StoreSupport
import Synchronization
import Testing

enum StoreKind: CaseIterable, CustomTestStringConvertible {
  case memory, files
  var testDescription: String { self == .memory ? "memory" : "files" }

  func open(_ folder: TestFolder, clock: any EnrollSteps.Clock = FakeClock()) throws(EnrollError)
    -> any TokenStore
  {
    switch self {
    case .memory: MemoryTokenStore(clock: clock)
    case .files: try folder.open(clock: clock)
    }
  }
}

@Suite(.timeLimit(.minutes(10)))
struct TokenStoreTests {
  private let folder = TestFolder()

  @Test("what was saved is read; an account without a record has none", arguments: StoreKind.allCases)
  func savedIsRead(_ kind: StoreKind) throws {
    let store = try kind.open(folder)
    try expect(store.read(.default), is: nil)
    let saved = try store.update(.default) { $0.registrationType = "SOCIAL" }
    expect(saved.registrationType, is: "SOCIAL")
    try expect(store.read(.default), is: saved)
    try expect(store.read(AccountName("other")), is: nil)
  }

  @Test("a change that throws, or changes nothing, saves nothing", arguments: StoreKind.allCases)
  func unchanged(_ kind: StoreKind) throws {
    let store = try kind.open(folder)
    _ = try store.update(.default) { _ in }
    try expect(store.read(.default), is: nil)
    let saved = try store.update(.default) { $0.asksForLogin = true }
    let thrown = code { () throws(EnrollError) in
      _ = try store.update(.default) { (record) throws(EnrollError) in
        record.asksForLogin = false
        throw EnrollError(.cancelled, "no")
      }
    }
    expect(thrown, is: .cancelled)
    try expect(store.update(.default) { _ in }, is: saved)
    try expect(store.read(.default), is: saved)
  }

  @Test("accounts are listed by name, and a removed one is gone", arguments: StoreKind.allCases)
  func accounts(_ kind: StoreKind) throws {
    let store = try kind.open(folder)
    #expect(try store.accounts().isEmpty)
    let names = ["b", "a/../..", "\u{e9}", "default", String(repeating: "x", count: 128)]
    for name in names { _ = try store.update(AccountName(name)) { $0.asksForLogin = true } }
    let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    try expect(store.accounts().map(\.text), is: sorted)
    for name in names { try store.remove(AccountName(name)) }
    try store.remove(AccountName("never was"))
    #expect(try store.accounts().isEmpty)
    try expect(store.read(.default), is: nil)
  }

  @Test("an account made again after its removal has another epoch", arguments: StoreKind.allCases)
  func epochAfterRemoval(_ kind: StoreKind) throws {
    let store = try kind.open(folder)
    let before = try store.update(.default) { $0.tokenEpoch += 1 }
    try store.remove(.default)
    let after = try store.update(.default) { $0.tokenEpoch += 1 }
    expect(before.tokenEpoch, isNot: after.tokenEpoch)
  }

  @Test(
    "the installation id is made once, belongs to no account, and is made anew after a reset",
    arguments: StoreKind.allCases)
  func installation(_ kind: StoreKind) throws {
    let store = try kind.open(folder)
    let id = try store.installationID()
    expect(Base64URL.decode(id)?.count, is: 16)
    try expect(store.installationID(), is: id)
    #expect(try store.accounts().isEmpty)
    if kind == .files { try expect(folder.open().installationID(), is: id) }
    try store.resetInstallationID()
    let second = try store.installationID()
    expect(second, isNot: id)
    try expect(store.installationID(), is: second)
  }

  @Test("the outbox keeps what was put in, and nothing when the change throws", arguments: StoreKind.allCases)
  func outbox(_ kind: StoreKind) throws {
    let store = try kind.open(folder)
    let entry = OutboxEntry(
      issuer: "https://op.example", endpoint: nil,
      message: .revocation(.init(clientID: "client", token: Secret("token"), hint: "refresh_token")),
      queued: UnixTime(seconds: 1))
    #expect(try store.updateOutbox { _ in }.isEmpty)
    try expect(store.updateOutbox { $0.append(entry) }, is: [entry])
    let thrown = code { () throws(EnrollError) in
      _ = try store.updateOutbox { (entries) throws(EnrollError) in
        entries = []
        throw EnrollError(.cancelled, "no")
      }
    }
    expect(thrown, is: .cancelled)
    try expect(store.updateOutbox { _ in }, is: [entry])
    if kind == .files { try expect(folder.open().updateOutbox { _ in }, is: [entry]) }
    #expect(try store.updateOutbox { $0 = [] }.isEmpty)
    #expect(try store.accounts().isEmpty)
  }

  @Test("no update of many threads is lost", arguments: StoreKind.allCases)
  func threads(_ kind: StoreKind) throws {
    let store = try kind.open(folder)
    let start = try store.update(.default) { $0.tokenEpoch += 1 }.tokenEpoch
    together(8) { _ in
      for _ in 0..<10 {
        expect(
          code { () throws(EnrollError) in _ = try store.update(.default) { $0.tokenEpoch += 1 } }, is: nil)
      }
    }
    try expect(store.read(.default)?.tokenEpoch, is: start + 80)
  }

  @Test(
    "of many threads one takes the renewal lock, and the others see that their epoch has passed",
    arguments: StoreKind.allCases)
  func oneHolder(_ kind: StoreKind) throws {
    let store = try kind.open(folder)
    let epoch = try store.update(.default) { $0.tokenEpoch += 1 }.tokenEpoch
    let ends = Guarded<[RenewalLockResult]>([], by: Mutex())
    let ran = Atomic<Int>(0)
    together(32) { _ in
      let failed = code { () throws(EnrollError) in
        let end = try store.withRenewalLock(.default, epoch: epoch, deadline: .distantFuture) {
          () throws(EnrollError) in
          ran.add(1, ordering: .relaxed)
          _ = try store.update(.default) { $0.tokenEpoch += 1 }
        }
        ends.withLock { $0.append(end) }
      }
      expect(failed, is: nil)
    }
    expect(ran.load(ordering: .relaxed), is: 1)
    expect(ends.withLock { $0.count { $0 == .acquired } }, is: 1)
    expect(ends.withLock { $0.count { $0 == .superseded } }, is: 31)
  }

  @Test("when a renewal changes nothing, the next waiter takes the lock", arguments: StoreKind.allCases)
  func nextHolder(_ kind: StoreKind) throws {
    let store = try kind.open(folder)
    let epoch = try store.update(.default) { $0.tokenEpoch += 1 }.tokenEpoch
    let ran = Atomic<Int>(0)
    let inside = Atomic<Int>(0)
    together(8) { _ in
      _ = code { () throws(EnrollError) in
        _ = try store.withRenewalLock(.default, epoch: epoch, deadline: .distantFuture) {
          () throws(EnrollError) in
          expect(
            inside.add(1, ordering: .sequentiallyConsistent).newValue, is: 1, "two hold the lock at once")
          ran.add(1, ordering: .relaxed)
          inside.subtract(1, ordering: .sequentiallyConsistent)
          throw EnrollError(.network, "unreachable")
        }
      }
    }
    expect(ran.load(ordering: .relaxed), is: 8)
  }

  @Test(
    "the renewal lock is not taken for an epoch that has passed, nor for an account without a record",
    arguments: StoreKind.allCases)
  func superseded(_ kind: StoreKind) throws {
    let store = try kind.open(folder)
    let epoch = try store.update(.default) { $0.tokenEpoch += 1 }.tokenEpoch
    for (name, asked) in [(AccountName.default, epoch - 1), (try AccountName("none"), 0)] {
      let end = try store.withRenewalLock(name, epoch: asked, deadline: .distantFuture) {
        () throws(EnrollError) in
        Issue.record("the lock was taken")
      }
      expect(end, is: .superseded)
    }
  }

  @Test(
    "a logout during a renewal waits for nobody, and wakes the threads that wait for the lock (R35)",
    arguments: StoreKind.allCases)
  func logoutDuringRenewal(_ kind: StoreKind) throws {
    let store = try kind.open(folder)
    let epoch = try store.update(.default) { $0.tokenEpoch += 1 }.tokenEpoch
    let isLocked = Event()
    let loggedOut = Event()
    let waiterLeft = Event()
    let late = Atomic<Bool>(false)
    together(3) { index in
      let failed = code { () throws(EnrollError) in
        switch index {
        case 0:
          _ = try store.withRenewalLock(.default, epoch: epoch, deadline: .distantFuture) {
            () throws(EnrollError) in
            isLocked.set()
            // Waits while the request is in progress. The other waiter must have left before the request
            // ends.
            loggedOut.wait()
            waiterLeft.wait()
            _ = try store.update(.default) { late.store($0.tokenEpoch != epoch, ordering: .relaxed) }
          }
        case 1:
          isLocked.wait()
          let end = try store.withRenewalLock(.default, epoch: epoch, deadline: .distantFuture) {
            () throws(EnrollError) in
          }
          expect(end, is: .superseded)
          waiterLeft.set()
        default:
          isLocked.wait()
          _ = try store.update(.default) { $0.tokenEpoch += 1 }
          loggedOut.set()
        }
      }
      expect(failed, is: nil)
    }
    let isLate = late.load(ordering: .relaxed)
    #expect(isLate, "the late answer finds another epoch")
  }

  @Test("a waiter whose deadline passes leaves, and the renewal goes on", arguments: StoreKind.allCases)
  func deadline(_ kind: StoreKind) throws {
    let clock = FakeClock()
    let store = try kind.open(folder, clock: clock)
    let epoch = try store.update(.default) { $0.tokenEpoch += 1 }.tokenEpoch
    let isLocked = Event()
    let left = Event()
    together(2) { index in
      let failed = code { () throws(EnrollError) in
        if index == 0 {
          let end = try store.withRenewalLock(.default, epoch: epoch, deadline: .distantFuture) {
            () throws(EnrollError) in
            isLocked.set()
            left.wait()
          }
          expect(end, is: .acquired)
        } else {
          isLocked.wait()
          let end = try store.withRenewalLock(.default, epoch: epoch, deadline: clock.instant()) {
            () throws(EnrollError) in
          }
          expect(end, is: .deadlinePassed)
          left.set()
        }
      }
      expect(failed, is: nil)
    }
  }
}
