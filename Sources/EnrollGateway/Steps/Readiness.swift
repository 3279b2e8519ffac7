// Whether the gateway can serve requests. A thread of the program checks from time to time, and `/readyz` answers from memory:
// neither busy workers nor a slow database delay the answer.

import EnrollRules
import EnrollSteps
import EnrollHTTP

/// The result of the last check.
struct Readiness: Sendable, Equatable {
  /// Whether the last check succeeded; nil before the first check.
  var checkPassed: Bool?
  var checkedAt = Instant(nanoseconds: 0)
  /// The time and the result of the last check for disk space; `spaceFailure` is nil if there is space.
  var spaceCheckedAt: Instant?
  var spaceFailure: StoreFailure?

  /// If the last check is older than this many seconds, the check itself hangs, and the gateway is not ready.
  static let staleSeconds: Int64 = 15
  /// The interval of checks for disk space.
  static let spaceCheckSeconds: Int64 = 15
  /// The shorter interval of checks for disk space while the disk is full, so that the gateway is ready again soon
  /// after space becomes free.
  static let spaceRetrySeconds: Int64 = 1

  func isReady(at now: Instant) -> Bool {
    checkPassed == true && now.since(checkedAt) < Self.staleSeconds * 1_000_000_000
  }
}

/// Checks the store, and keeps the last result.
struct ReadinessCheck: Sendable {
  let store: any StoreUpkeep
  let clock: any Clock
  let log: any LogHandler
  let state: Guarded<Readiness>

  func probe() -> Bool {
    let failure = storeFailure()
    let isReady = failure == nil
    let before = state.withLock { readiness in
      let before = readiness.checkPassed
      readiness.checkPassed = isReady
      readiness.checkedAt = clock.instant()
      return before
    }
    if let failure, before != false { log.write(.error, "not ready: \(failure.message)") }
    if isReady, before == false { log.write(.info, "ready again") }
    return isReady
  }

  private func storeFailure() -> StoreFailure? {
    do throws(StoreFailure) { try store.check() } catch {
      // Migrations only add to the schema: during an upgrade, replicas of the previous version work with the newer
      // schema.
      if case .schema(let found, let expected) = error, found > expected { return diskSpaceFailure() }
      return error
    }
    return diskSpaceFailure()
  }

  /// The result of the last check for disk space; checks again if that check is too old. The check tries a write,
  /// because a readable database may refuse writes.
  private func diskSpaceFailure() -> StoreFailure? {
    let (before, instant) = (state.withLock { $0 }, clock.instant())
    let pause = before.spaceFailure == nil ? Readiness.spaceCheckSeconds : Readiness.spaceRetrySeconds
    if let checkedAt = before.spaceCheckedAt, instant < checkedAt.advanced(bySeconds: pause) {
      return before.spaceFailure
    }
    var failure: StoreFailure?
    do throws(StoreFailure) { try store.checkDiskSpace(at: clock.wallTime()) } catch { failure = error }
    let found = failure
    state.withLock {
      $0.spaceCheckedAt = instant
      $0.spaceFailure = found
    }
    return found
  }

  var isReady: Bool { state.withLock { $0.isReady(at: clock.instant()) } }

  func answer(_ request: WebRequest) -> WebResponse { WebResponse(isReady ? 204 : 503) }
}
