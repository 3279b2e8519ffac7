// Whether the gateway can do its work. A thread of the program looks from time to time, and `/readyz` answers from memory: neither busy
// workers nor a slow database hold the answer.

import EnrollCore
import EnrollHTTP

/// What the last look found.
struct Readiness: Sendable, Equatable {
  /// nil before the first look.
  var isReady: Bool?
  var checked = Instant(nanoseconds: 0)
  /// The last look for room: when it was, and what it found. nil: there is room.
  var looked: Instant?
  var lacking: StoreFailure?

  /// After so many seconds without news the gateway is not ready: the look itself hangs.
  static let staleSeconds: Int64 = 15
  /// Room for changes is looked for so often…
  static let roomSeconds: Int64 = 15
  /// …and so often while there is none: with the first room the gateway is ready again.
  static let lackingSeconds: Int64 = 1

  func holds(at now: Instant) -> Bool {
    isReady == true && now.since(checked) < Self.staleSeconds * 1_000_000_000
  }
}

extension Gateway {
  /// What load balancers ask, whatever name they know the gateway by.
  public static let probePaths = ["/livez", "/readyz"]
  /// From one look to the next.
  public static let probeMilliseconds: Int64 = 2_000
  /// From a look that failed to the next: all replicas wait for the same database, and nobody is served meanwhile.
  public static let failedProbeMilliseconds: Int64 = 250

  /// Asks the store whether it answers, and remembers that for `/readyz`. To be called by a thread of its own, again and again.
  /// - Returns: whether the store answered.
  @discardableResult
  public func probe() -> Bool {
    let failure = storeFailure()
    let isReady = failure == nil
    let before = readiness.withLock { readiness in
      let before = readiness.isReady
      readiness.isReady = isReady
      readiness.checked = clock.instant()
      return before
    }
    if let failure, before != false { log.write(.error, "not ready: \(failure.message)") }
    if isReady, before == false { log.write(.info, "ready again") }
    return isReady
  }

  private func storeFailure() -> StoreFailure? {
    do throws(StoreFailure) { try store.check() } catch {
      // Migrations only expand: during an upgrade the replicas from before go on working with the newer schema.
      if case .schema(let found, let expected) = error, found > expected { return lackingRoom() }
      return error
    }
    return lackingRoom()
  }

  /// A database that can be read may be one that takes nothing any more. A write is tried now and then, and what it found holds
  /// until the next.
  private func lackingRoom() -> StoreFailure? {
    let (before, instant) = (readiness.withLock { $0 }, clock.instant())
    let pause = before.lacking == nil ? Readiness.roomSeconds : Readiness.lackingSeconds
    if let looked = before.looked, instant < looked.advanced(bySeconds: pause) {
      return before.lacking
    }
    var lacking: StoreFailure?
    do throws(StoreFailure) { try store.checkRoom(at: now) } catch { lacking = error }
    let found = lacking
    readiness.withLock {
      $0.looked = instant
      $0.lacking = found
    }
    return found
  }

  func ready() -> WebResponse {
    WebResponse(readiness.withLock { $0.holds(at: clock.instant()) } ? 204 : 503)
  }
}
