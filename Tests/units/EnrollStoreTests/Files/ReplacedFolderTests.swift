// A store's folder is moved, removed or replaced while a program has it open: by a restore, or by a
// synchronisation tool. That program and the next program that opens the path must not use different files
// and different locks.

import EnrollRules
import EnrollSteps
import EnrollStore
import EnrollTesting
import Expectations
import Foundation
import StoreSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ReplacedFolderTests {
  private let folder = TestFolder()
  private let manager = FileManager.default
  private var aside: String { folder.path + "/aside" }

  /// Replaces the folder by a copy, as a restore does.
  private func restore() throws {
    try manager.moveItem(atPath: folder.store, toPath: aside)
    try manager.copyItem(atPath: aside, toPath: folder.store)
    chmod(folder.store, 0o700)
  }

  @Test("what is saved after a restore is in the folder that is at the path now")
  func saves() throws {
    let store = try folder.filled()
    try restore()
    try store.update(.default) { $0.registrationType = "LATER" }
    try expect(folder.open().read(.default)?.registrationType, is: "LATER")
    try expect(store.read(.default)?.registrationType, is: "LATER")
  }

  @Test("a renewal after a restore waits for whoever holds the lock at the path now")
  func waitsAtThePath() throws {
    let store = try folder.filled()
    let epoch = try #require(try store.read(.default)?.tokenEpoch)
    try restore()
    let other = try folder.open()
    _ = try other.withRenewalLock(.default, epoch: epoch, deadline: .distantFuture) {
      () throws(EnrollError) in
      let result = try store.withRenewalLock(.default, epoch: epoch, deadline: Instant(nanoseconds: 0)) {}
      expect(result, is: .deadlinePassed)
    }
  }

  @Test("a folder that is replaced during a renewal is noticed before a refresh token is sent")
  func duringRenewal() throws {
    let store = try folder.filled()
    let epoch = try #require(try store.read(.default)?.tokenEpoch)
    _ = try store.withRenewalLock(.default, epoch: epoch, deadline: .distantFuture) {
      () throws(EnrollError) in
      do { try restore() } catch { Issue.record(error) }
      expect(code { () throws(EnrollError) in try store.reserveSpace(.default) }, is: .storeIO)
      // The received tokens are stored in the folder that other processes read.
      try store.update(.default) { $0.registrationType = "RENEWED" }
    }
    try expect(folder.open().read(.default)?.registrationType, is: "RENEWED")
    expect(code { () throws(EnrollError) in try store.reserveSpace(.default) }, is: nil)
  }

  @Test("a sign-out in the folder that is there now is seen within a second")
  func readers() throws {
    let clock = FakeClock()
    let store = try folder.filled(clock: clock)
    try expect(store.read(.default), isNot: nil)
    try restore()
    try folder.open().remove(.default)
    clock.advance(seconds: 2)
    try expect(store.read(.default), is: nil)
  }

  @Test("while the folder is away nothing is saved and none is made; when it is back everything goes on")
  func away() throws {
    let clock = FakeClock()
    let store = try folder.filled(clock: clock)
    try manager.moveItem(atPath: folder.store, toPath: aside)
    clock.advance(seconds: 2)
    expect(code { () throws(EnrollError) in _ = try store.read(.default) }, is: .storeIO)
    expect(
      code { () throws(EnrollError) in try store.update(.default) { $0.registrationType = "X" } },
      is: .storeIO)
    expect(code { () throws(EnrollError) in _ = try store.installationID() }, is: .storeIO)
    #expect(!manager.fileExists(atPath: folder.store))
    try manager.moveItem(atPath: aside, toPath: folder.store)
    try store.update(.default) { $0.registrationType = "BACK" }
    try expect(folder.open().read(.default)?.registrationType, is: "BACK")
  }

  @Test(
    "a lock that is kept keeps other processes out when the folder comes back, whatever was tried while it was away",
    arguments: [false, true])
  func keptLock(_ isHidden: Bool) throws {
    let store = try folder.filled()
    let epoch = try #require(try store.read(.default)?.tokenEpoch)
    func lock(_ store: FileTokenStore, _ body: () -> Void = {}) throws(EnrollError) -> RenewalLockResult {
      try store.withRenewalLock(.default, epoch: epoch, deadline: Instant(nanoseconds: 0)) { body() }
    }
    try expect(lock(store) { store.keepRenewalLock(.default, true) }, is: .acquired)
    try manager.moveItem(atPath: folder.store, toPath: aside)
    // The case of a file system that is mounted over the folder.
    if isHidden { mkdir(folder.store, 0o755) }
    for _ in 1...2 { expect(code { () throws(EnrollError) in _ = try lock(store) }, is: .storeIO) }
    rmdir(folder.store)
    try manager.moveItem(atPath: aside, toPath: folder.store)
    let other = try folder.open()
    try expect(lock(other), is: .deadlinePassed)
    try expect(lock(store), is: .acquired)
    store.keepRenewalLock(.default, false)
    try expect(lock(other), is: .acquired)
  }

  @Test("a lock that is kept goes on in a folder that takes the place, and keeps nobody out of it before")
  func keptLockAndRestore() throws {
    let store = try folder.filled()
    let epoch = try #require(try store.read(.default)?.tokenEpoch)
    func lock(_ store: FileTokenStore, _ body: () -> Void = {}) throws(EnrollError) -> RenewalLockResult {
      try store.withRenewalLock(.default, epoch: epoch, deadline: Instant(nanoseconds: 0)) { body() }
    }
    try expect(lock(store) { store.keepRenewalLock(.default, true) }, is: .acquired)
    try restore()
    let other = try folder.open()
    try expect(lock(other), is: .acquired)
    try expect(lock(store) { store.keepRenewalLock(.default, true) }, is: .acquired)
    try expect(lock(other), is: .deadlinePassed)
    try manager.removeItem(atPath: folder.store)
    try manager.moveItem(atPath: aside, toPath: folder.store)
    try expect(lock(try folder.open()), is: .acquired)
  }

  @Test(
    "an emptied folder, an empty one and a copy are other stores; the same folder is the same one when it is back"
  )
  func identity() throws {
    let store = try folder.filled()
    let first = try store.identity()
    try store.update(.default) { $0.registrationType = "LATER" }
    try expect(store.identity(), is: first)
    try restore()
    try expect(store.identity(), isNot: first)
    try manager.removeItem(atPath: folder.store)
    expect(code { () throws(EnrollError) in _ = try store.identity() }, is: .storeIO)
    mkdir(folder.store, 0o700)
    expect(code { () throws(EnrollError) in _ = try store.identity() }, is: .storeIO)
    try folder.open().update(.default) { $0.registrationType = "NEW" }
    try expect(store.identity(), isNot: first)
    try manager.removeItem(atPath: folder.store)
    try manager.moveItem(atPath: aside, toPath: folder.store)
    try expect(store.identity(), is: first)
    for name in try manager.contentsOfDirectory(atPath: folder.store) {
      try manager.removeItem(atPath: folder.store + "/" + name)
    }
    expect(code { () throws(EnrollError) in _ = try store.identity() }, is: .storeIO)
  }

  @Test("a change is made once, also where the folder is replaced while it is made")
  func once() throws {
    let store = try folder.filled()
    var runs = 0
    _ = try? store.update(.default) { (record) throws(EnrollError) in
      runs += 1
      do { try restore() } catch { Issue.record(error) }
      throw EnrollError(.internal, "changed its mind")
    }
    expect(runs, is: 1)
  }
}
