// Tests with several real processes that use one store. Some of these processes are killed.

import EnrollStore
@testable import EnrollPosix
import EnrollRules
import EnrollSteps
import EnrollTesting
import Expectations
import Foundation
import StoreSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct StoreProcessTests {
  private let folder = TestFolder(onDisk: true)

  @Test("no update of many threads in several processes is lost")
  func noLostUpdate() throws {
    let start = try folder.open().update(.default) { $0.tokenEpoch += 1 }.tokenEpoch
    let probes = try (0..<4).map { _ in try Probe("increment", folder.store, "5", "8") }
    for probe in probes { probe.go() }
    for probe in probes { expect(probe.rest(), is: ["done"]) }
    try expect(folder.open().read(.default)?.tokenEpoch, is: start + 4 * 5 * 8)
  }

  @Test("of 64 threads in each of 4 processes one renews, and all others see its result")
  func oneRenewal() throws {
    try folder.filled()
    let wire = folder.path + "/wire"
    let probes = try (0..<4).map { _ in try Probe("renew", folder.store, "64", wire) }
    for probe in probes { expect(probe.line(), is: "ready") }
    for probe in probes { probe.go() }
    let ends = probes.map { $0.rest().last ?? "" }
    expect(
      ends.sorted(), is: ["acquired=1 superseded=63", "superseded=64", "superseded=64", "superseded=64"])
    try expect(folder.bytes(wire).count, is: 1)
  }

  @Test("a waiter takes the lock of a holder that was killed")
  func killedHolder() throws {
    try folder.filled()
    let holder = try Probe("hold", folder.store)
    expect(holder.line(), is: "holding")
    let waiter = try Probe("lock", folder.store, "60")
    expect(waiter.line(), is: "ready")
    holder.kill()
    expect(waiter.rest(), is: ["acquired"])
  }

  @Test("a waiter takes the lock of a killed holder whose forked child lives on")
  func killedHolderWithChild() throws {
    try folder.filled()
    let holder = try Probe("hold", folder.store, "fork")
    let said = holder.line()
    let child = try #require(Int32(said?.split(separator: " ").last ?? ""))
    defer { Foundation.kill(child, SIGKILL) }
    let waiter = try Probe("lock", folder.store, "20")
    expect(waiter.line(), is: "ready")
    holder.kill()
    expect(waiter.rest(), is: ["acquired"])
    expect(Foundation.kill(child, 0), is: 0, "the child lives")
  }

  @Test("a holder that hangs costs a waiter its deadline and no more")
  func hangingHolder() throws {
    try folder.filled()
    let holder = try Probe("hold", folder.store)
    expect(holder.line(), is: "holding")
    try expect(Probe.run("lock", folder.store, "0"), is: ["ready", "deadlinePassed"])
    holder.kill()
  }

  @Test("a logout in another process is not kept waiting by a renewal, and wakes who waits for it (R35)")
  func logoutElsewhere() throws {
    let store = try folder.filled()
    let holder = try Probe("hold", folder.store)
    expect(holder.line(), is: "holding")
    let waiter = try Probe("lock", folder.store, "60")
    expect(waiter.line(), is: "ready")
    try store.update(.default) { $0.tokenEpoch += 1 }
    expect(waiter.rest(), is: ["superseded"])
    holder.kill()
  }

  @Test("the threads of one process poll with one descriptor, however many wait")
  func onePoller() throws {
    try folder.filled()
    let holder = try Probe("hold", folder.store)
    expect(holder.line(), is: "holding")
    struct Seen {
      var open = 0
      var most = 0
    }
    let seen = Guarded(Seen(), by: Mutex())
    let polled = Event()
    let holderID = holder.pid
    let system = FaultyFileSystem(
      before: { call in
        if call.operation == .closeLock { seen.withLock { $0.open -= 1 } }
        return nil
      },
      after: { call in
        if call.operation == .openLock {
          seen.withLock {
            $0.open += 1
            $0.most = max($0.most, $0.open)
          }
        }
        if call.operation == .lock { polled.set() }
      })
    let store = try folder.open(clock: SystemClock(), system: system)
    let epoch = try #require(try store.read(.default)?.tokenEpoch)
    let waiting = Atomic<Int>(0)
    let taken = Atomic<Int>(0)
    together(33) { index in
      if index == 32 {
        // The process that holds the lock may continue only when all other processes wait.
        polled.wait()
        while waiting.load(ordering: .acquiring) < 32 { sched_yield() }
        Foundation.kill(holderID, SIGKILL)
        return
      }
      waiting.add(1, ordering: .releasing)
      let failed = code { () throws(EnrollError) in
        _ = try store.withRenewalLock(.default, epoch: epoch, deadline: .distantFuture) {
          () throws(EnrollError) in
          taken.add(1, ordering: .relaxed)
        }
      }
      expect(failed, is: nil)
    }
    expect(taken.load(ordering: .relaxed), is: 32)
    expect(seen.withLock { $0.most }, is: 1)
    expect(seen.withLock { $0.open }, is: 0, "no descriptor is left")
  }

  @Test("in a forked child everything made before the fork says so, and a store of its own works (R41)")
  func forkedChild() throws {
    let said = try Probe.run("fork", folder.store)
    let calls = [
      "read", "update", "lock", "reserve", "accounts", "remove", "installation", "reset", "outbox",
    ]
    let all = (calls + calls + ["submit", "join"]).map { $0 + " forked" } + ["own ok", "parent ok"]
    expect(said, is: all)
  }

  @Test("no child keeps a lock file open, at whatever moment it is forked")
  func forkAgainstLocking() throws {
    try expect(Probe.run("churn", folder.store, "300"), is: ["locks 1 leaks 0"])
  }

  @Test("what a host writes to standard descriptors that are closed never lands in a file of the store")
  func strayLines() throws {
    try expect(Probe.run("strays", folder.store, "200"), is: ["saved 200, lost 0, taken 0"])
  }

  @Test("what a renewal brought is saved in a process that has no descriptor left")
  func noDescriptors() throws {
    try expect(Probe.run("no-descriptors", folder.store), is: ["ok", "second"])
  }

  @Test(
    "a token from another clock under the same boot's name is due, never fresh",
    .enabled(if: geteuid() == 0 && access("/usr/bin/unshare", X_OK) == 0, "needs root, for a time namespace"))
  func timeNamespace() throws {
    let namespace = ["/usr/bin/unshare", "--time", "--boottime", "5000000", "--fork", "--"]
    let made = try Probe(["sign-in", folder.store, "300"], within: namespace).rest()
    // On a kernel without time namespaces, `unshare` fails.
    guard made == ["fresh"] else { return }
    try expect(Probe.run("band", folder.store), is: ["due"])
    try expect(Probe(["band", folder.store], within: namespace).rest(), is: ["fresh"])
  }

  @Test("a lock file that somebody removed excludes again")
  func removedLockFile() throws {
    let start = try folder.open().update(.default) { $0.tokenEpoch += 1 }.tokenEpoch
    let lock = try folder.only(".write")
    let probes = try (0..<2).map { _ in try Probe("increment", folder.store, "20", "2") }
    for probe in probes { probe.go() }
    for _ in 0..<5 { unlink(lock) }
    for probe in probes { expect(probe.rest(), is: ["done"]) }
    // If the lock file is removed while the lock is held, one other process can take the lock. Nothing must
    // fail or stay broken.
    let end = try folder.open().update(.default) { $0.tokenEpoch += 1 }.tokenEpoch
    #expect(end > start)
    #expect(FileManager.default.fileExists(atPath: lock))
  }
}
