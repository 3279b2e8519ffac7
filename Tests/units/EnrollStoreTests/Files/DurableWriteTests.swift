// The save protocol on a disk with faults.

@testable import EnrollPosix
@testable import EnrollStore
import EnrollRules
import EnrollSteps
import EnrollTesting
import Expectations
import Foundation
import StoreSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DurableWriteTests {
  private let folder = TestFolder()

  /// The operations of one saved update, in their order.
  private func trace(_ body: (FileTokenStore) throws(EnrollError) -> Void) throws -> [FileOperation] {
    let calls = Guarded<[FileOperation]>([], by: Mutex())
    let store = try folder.open(
      system: FaultyFileSystem(after: { call in calls.withLock { $0.append(call.operation) } }))
    try store.unlock()
    calls.withLock { $0 = [] }
    try body(store)
    return calls.withLock { $0 }
  }

  @Test("a save is: lock, exclusive temporary file, write, sync, rename, sync the folder, in that order")
  func order() throws {
    let operations = try trace { (store) throws(EnrollError) in
      try store.update(.default) { $0.tokenEpoch += 1 }
    }
    let wanted: [FileOperation] = [.openLock, .lock, .open, .write, .sync, .rename, .sync, .closeLock]
    var rest = operations[...]
    for operation in wanted {
      let at = try #require(rest.firstIndex(of: operation), "\(operation) in \(operations)")
      rest = rest[(at + 1)...]
    }
    expect(operations.count { $0 == .sync }, is: 2)
  }

  @Test("a record that is known is read with one look at its status, and not opened again")
  func hotRead() throws {
    let clock = FakeClock()
    try folder.filled()
    let calls = Guarded<[FileOperation]>([], by: Mutex())
    let system = FaultyFileSystem(after: { call in calls.withLock { $0.append(call.operation) } })
    let store = try folder.open(clock: clock, system: system)
    // The file's date is long ago, so the store can tell from the status that the file has not changed.
    let path = try folder.only(".record")
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)], ofItemAtPath: path)
    _ = try store.read(.default)
    calls.withLock { $0 = [] }
    for _ in 0..<100 { _ = try store.read(.default) }
    expect(calls.withLock { $0 }, is: Array(repeating: .statusByName, count: 100))
  }

  @Test("a change by another process is seen by the next read, also one that a status does not show")
  func changeElsewhere() throws {
    let clock = FakeClock()
    let store = try folder.filled(clock: clock)
    try expect(store.read(.default)?.asksForLogin, is: false)
    let path = try folder.only(".record")
    var before = stat()
    stat(path, &before)
    try folder.open().update(.default) { $0.registrationType = "OTHERS" }
    // The file is overwritten in place, and its time and size stay the same: only its content differs.
    let changed = try folder.bytes(path)
    var after = stat()
    stat(path, &after)
    expect(after.st_size, is: before.st_size)
    var times = [before.st_atim, before.st_mtim]
    try folder.overwrite(path, changed)
    utimensat(AT_FDCWD, path, &times, 0)
    try expect(store.read(.default)?.registrationType, is: "OTHERS")
  }

  @Test(
    "after a failed sync the temporary file is thrown away and written anew, never synced again",
    arguments: [EIO, ENOMEM])
  func failedSync(_ number: Int32) throws {
    try folder.filled()
    let calls = Guarded<[FileOperation]>([], by: Mutex())
    let isFirst = Guarded(true, by: Mutex())
    let system = FaultyFileSystem(before: { call in
      calls.withLock { $0.append(call.operation) }
      guard call.operation == .sync, isFirst.withLock({ $0 }) else { return nil }
      isFirst.withLock { $0 = false }
      return .error(number)
    })
    let store = try folder.open(system: system)
    _ = try store.read(.default)
    isFirst.withLock { $0 = true }
    calls.withLock { $0 = [] }
    try store.update(.default) { $0.registrationType = "NEW" }
    try expect(folder.open().read(.default)?.registrationType, is: "NEW")
    let made = calls.withLock { $0 }
    let first = try #require(made.firstIndex(of: .sync))
    let second = try #require(made[(first + 1)...].firstIndex(of: .sync))
    #expect(made[first...second].contains(.unlink), "\(made)")
    #expect(made[first...second].contains(.write))
  }

  @Test(
    "what another part of the program writes into a file while it is saved never gets the file's name",
    arguments: [1, Int.max])
  func strayBytes(_ times: Int) throws {
    try folder.filled()
    let path = try folder.only(".record").replacingOccurrences(of: ".record", with: ".temp")
    let left = Guarded(times, by: Mutex())
    let store = try folder.open(
      system: FaultyFileSystem(after: { call in
        guard call.operation == .write,
          left.withLock({
            $0 -= 1; return $0 >= 0
          })
        else { return }
        let file = open(path, O_WRONLY | O_APPEND)
        _ = "a line of the host's log\n".withCString { write(file, $0, strlen($0)) }
        close(file)
      }))
    let saved = code { () throws(EnrollError) in
      try store.update(.default) { $0.registrationType = "NEW" }
    }
    // After one fault, the file is written again. If the fault stays, the save is refused, and the old record
    // stays.
    expect(saved, is: times == 1 ? nil : .storeIO)
    try expect(folder.open().read(.default)?.registrationType, is: times == 1 ? "NEW" : "SOCIAL")
    #expect(try folder.names(".temp").isEmpty)
  }

  @Test("short writes and interruptions are taken up again")
  func shortWrites() throws {
    let turn = Guarded(0, by: Mutex())
    let system = FaultyFileSystem(before: { call in
      let now = turn.withLock { turn in
        turn += 1
        return turn
      }
      if call.operation == .write { return now % 2 == 0 ? .error(EINTR) : .short(7) }
      // Each operation is interrupted every other time.
      return call.operation != .sync && now % 2 == 0 ? .error(EINTR) : nil
    })
    try folder.open(system: system).update(.default) { $0.registrationType = "SOCIAL" }
    try expect(folder.open().read(.default)?.registrationType, is: "SOCIAL")
  }

  @Test("on a full disk new tokens take the space that was kept for them, and nothing else may")
  func reserve() throws {
    struct Disk {
      var isFull = false
      var tookReserve = false
    }
    let disk = Guarded(Disk(), by: Mutex())
    let system = FaultyFileSystem(before: { call in
      guard call.name?.hasSuffix(".temp") == true else { return nil }
      return disk.withLock { disk in
        if call.operation == .rename { disk.tookReserve = true }
        return call.operation == .open && disk.isFull && !disk.tookReserve ? .error(ENOSPC) : nil
      }
    })
    let store = try folder.open(system: system)
    let epoch = try store.update(.default) { $0.tokenEpoch += 1 }.tokenEpoch
    let end = try store.withRenewalLock(.default, epoch: epoch, deadline: .distantFuture) {
      () throws(EnrollError) in
      try store.reserveSpace(.default)
      disk.withLock { $0.isFull = true }
      let waits = code { () throws(EnrollError) in try store.update(.default) { $0.asksForLogin = true } }
      expect(waits, is: .storeFull, "what can wait leaves the reserve alone")
      try store.update(.default) {
        $0.registrationType = "SOCIAL"
        $0.tokenEpoch += 1
      }
      let again = code { () throws(EnrollError) in try store.update(.default) { $0.tokenEpoch += 1 } }
      #expect(again == nil || again == .storeFull)
    }
    expect(end, is: .acquired)
    #expect(try folder.names(".reserve").isEmpty, "kept for the turn only")
    try expect(folder.open().read(.default)?.registrationType, is: "SOCIAL")
  }

  @Test("a record that used the reserve has its own length again")
  func reserveIsCut() throws {
    let disk = Guarded(false, by: Mutex())
    let system = FaultyFileSystem(before: { call in
      guard call.name?.hasSuffix(".temp") == true else { return nil }
      return disk.withLock { tookReserve in
        if call.operation == .rename { tookReserve = true }
        return call.operation == .open && !tookReserve ? .error(EDQUOT) : nil
      }
    })
    try folder.filled()
    let store = try folder.open(system: system)
    try store.reserveSpace(.default)
    try store.update(.default) { $0.tokenEpoch += 1 }
    #expect(try folder.bytes(try folder.only(".record")).count < 1000)
    try expect(folder.open().read(.default)?.registrationType, is: "SOCIAL")
  }

  @Test("a disk that is full says so before a refresh token is spent")
  func fullBeforeSpending() throws {
    let system = FaultyFileSystem(before: { $0.operation == .allocate ? .error(ENOSPC) : nil })
    let store = try folder.open(system: system)
    try store.update(.default) { $0.tokenEpoch += 1 }
    expect(code { () throws(EnrollError) in try store.reserveSpace(.default) }, is: .storeFull)
    #expect(try folder.names(".reserve").isEmpty)
  }

  @Test("opening a store, reading and saving look at no list of its files, however many there are")
  func noList() throws {
    try folder.filled()
    let listed = Guarded(0, by: Mutex())
    let system = FaultyFileSystem(
      after: { call in if call.operation == .list { listed.withLock { $0 += 1 } } })
    let store = try folder.open(system: system)
    _ = try store.read(.default)
    try store.update(.default) { $0.tokenEpoch += 1 }
    try store.update(try AccountName("another")) { $0.tokenEpoch += 1 }
    _ = try store.installationID()
    try store.updateOutbox { $0 = [] }
    expect(listed.withLock { $0 }, is: 0)
    _ = try store.accounts()
    #expect(listed.withLock { $0 } > 0)
  }

  @Test("a list of all accounts looks at the folder once, however many there are")
  func oneList() throws {
    let listed = Guarded(0, by: Mutex())
    let system = FaultyFileSystem(
      after: { call in if call.operation == .list { listed.withLock { $0 += 1 } } })
    try folder.filled()
    func looks(_ store: FileTokenStore) throws -> Int {
      listed.withLock { $0 = 0 }
      _ = try store.accounts()
      return listed.withLock { $0 }
    }
    let alone = try looks(try folder.open(system: system))
    for number in 1...8 { try folder.open().update(try AccountName("n\(number)")) { $0.tokenEpoch += 1 } }
    try expect(looks(try folder.open(system: system)), is: alone)
    #expect(alone <= 2)
  }

  @Test("what a dead process left of an account goes when the account is used next, or its store is listed")
  func leftovers() throws {
    try folder.filled()
    let record = try folder.only(".record")
    for suffix in [".temp", ".reserve"] {
      let path = record.replacingOccurrences(of: ".record", with: suffix)
      try Data("half".utf8).write(to: URL(fileURLWithPath: path))
    }
    _ = try folder.open().read(.default)
    try expect(folder.names(".temp") + folder.names(".reserve"), is: [])
    let stranger = folder.store + "/0123456789abcdef0123456789abcdef.temp"
    try Data("half".utf8).write(to: URL(fileURLWithPath: stranger))
    _ = try folder.open().accounts()
    try expect(folder.names(".temp"), is: [])
  }

  @Test("a lock that is kept keeps other processes out, and not its own, until it is kept no more")
  func keptLock() throws {
    let store = try folder.filled()
    let other = try folder.open()
    let epoch = try #require(try store.read(.default)?.tokenEpoch)
    func lock(_ store: FileTokenStore, _ body: () -> Void = {}) throws(EnrollError) -> RenewalLockResult {
      try store.withRenewalLock(.default, epoch: epoch, deadline: Instant(nanoseconds: 0)) { body() }
    }
    try expect(lock(store) { store.keepRenewalLock(.default, true) }, is: .acquired)
    try expect(lock(other), is: .deadlinePassed)
    try expect(lock(store), is: .acquired)
    try expect(lock(other), is: .deadlinePassed)
    store.keepRenewalLock(.default, false)
    try expect(lock(other), is: .acquired)
    try expect(lock(store), is: .acquired)
  }

  @Test("space that was kept for tokens which wait for the disk stays until the lock is kept no more")
  func keptReserve() throws {
    let store = try folder.filled()
    let epoch = try #require(try store.read(.default)?.tokenEpoch)
    _ = try store.withRenewalLock(.default, epoch: epoch, deadline: .distantFuture) {
      () throws(EnrollError) in
      try store.reserveSpace(.default)
      store.keepRenewalLock(.default, true)
    }
    try expect(folder.names(".reserve").count, is: 1)
    store.keepRenewalLock(.default, false)
    #expect(try folder.names(".reserve").isEmpty)
  }

  @Test("what a dead process left half written is replaced, not believed")
  func staleTemporary() throws {
    let store = try folder.filled()
    let temporary = try folder.only(".record").replacingOccurrences(of: ".record", with: ".temp")
    try Data("half".utf8).write(to: URL(fileURLWithPath: temporary))
    try store.update(.default) { $0.registrationType = "NEW" }
    #expect(try folder.names(".temp").isEmpty)
    try expect(folder.open().read(.default)?.registrationType, is: "NEW")
  }
}
