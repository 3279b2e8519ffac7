// A power cut of the database's machine, as far as one machine can simulate it: every process of PostgreSQL
// is killed at once under load, and PostgreSQL is started again.

import EnrollSteps
import EnrollGateway
import EnrollPosix
import Expectations
import Testing

@testable import EnrollGatewayStore

@Suite("Crashes", .enabled(if: PostgreSQLServer.isInstalled, PostgreSQLServer.absence))
struct CrashTests {
  @Test(
    "after kill -9 of PostgreSQL every acknowledged sign-in is there, nobody is doubled, and the store reconnects by itself"
  )
  func killed() throws {
    let server = try PostgreSQLServer()
    defer { try? server.stop() }
    let store = try PostgreSQLStore(server.conninfo)
    _ = try store.migrate()
    let acknowledged = Acknowledged()
    let people = (0..<64).map { Sample.person("\($0)") }
    let killer = Guarded<(any Error)?>(nil, by: Mutex())
    try #require(
      BackgroundThread.start {
        do {
          for round in 1...2 {
            acknowledged.wait(for: 300 * round)
            try server.kill()
            try server.start()
          }
          acknowledged.wait(for: 900)
        } catch {
          killer.withLock { $0 = error }
        }
        acknowledged.note { $0.isOver = true }
      })
    let failures = try onThreads(16) { thread in
      var failures = 0
      var turn = thread
      while !acknowledged.isOver {
        let session = Sample.session()
        turn += 1
        do throws(StoreFailure) {
          try store.begin(session, for: people[turn % people.count])
          acknowledged.note { $0.hashes.append(session.tokenHash) }
        } catch {
          guard isUnavailable(error) || isUnknownOutcome(error) else { throw error }
          // A client retries after a pause.
          failures += 1
          Pause.nanoseconds(5_000_000)
        }
      }
      return failures
    }.reduce(0, +)
    if let error = killer.withLock({ $0 }) { throw error }
    #expect(failures > 0, "nobody noticed the crash")
    let hashes = acknowledged.hashes
    #expect(hashes.count >= 900)
    var lost = 0
    for hash in hashes where try store.session(tokenHash: hash, at: Sample.now) == nil { lost += 1 }
    expect(lost, is: 0)
    let accounts = try store.count("accounts")
    #expect((1...Int64(people.count)).contains(accounts))
    try expect(store.count("identities"), is: accounts)
    try expect(store.orphans, is: 0)
  }

  /// The confirmations that the threads received.
  private final class Acknowledged: @unchecked Sendable {
    // Unchecked: the state is only touched with `condition` held.
    struct State {
      var hashes: [[UInt8]] = []
      var isOver = false
    }
    private let condition = Condition()
    private var state = State()

    var isOver: Bool { read(\.isOver) }
    var hashes: [[UInt8]] { read(\.hashes) }

    private func read<Value>(_ path: KeyPath<State, Value>) -> Value {
      condition.lock()
      defer { condition.unlock() }
      return state[keyPath: path]
    }

    func note(_ change: (inout State) -> Void) {
      condition.lock()
      change(&state)
      condition.wakeAll()
      condition.unlock()
    }

    func wait(for count: Int) {
      condition.lock()
      while state.hashes.count < count { condition.wait() }
      condition.unlock()
    }
  }
}
