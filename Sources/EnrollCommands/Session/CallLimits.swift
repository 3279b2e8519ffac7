// The limits of concurrent calls. A call over a limit gets `busy` at once on the calling thread: a thread that reads
// requests never waits for a call to end.

import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollPosix

/// Counts the running calls.
package final class CallLimits: Sendable {
  /// The limit of calls that hold one thread each, for a session and for the command `enroll`.
  package static let blocking = 64
  /// The limit, for each client, of calls that hold one thread each. Even if one provider does not respond, threads
  /// remain for the other clients.
  static let blockingPerClient = 16
  /// The limit of calls that hold one thread each and have no client. They wait for no provider.
  static let blockingWithoutClient = 48
  /// The limit of calls that wait for a renewal and hold no thread.
  static let parked = 16_384

  private struct Counts {
    var blocking = 0
    var parked = 0
    /// The calls of each client, by its handle. Calls without a client are counted under "".
    var byClient: [(handle: String, count: Int)] = []

    func place(of handle: String) -> Int? { byClient.firstIndex { ASCII.equals($0.handle, handle) } }
  }

  private let counts = Guarded(Counts(), by: Mutex())

  /// Counts a call that will hold a thread.
  /// - Parameter handle: the client's handle; "" for a call without a client.
  /// - Throws: `.busy` if a limit is reached.
  func enterBlocking(_ handle: String) throws(EnrollError) {
    let limit = handle.isEmpty ? Self.blockingWithoutClient : Self.blockingPerClient
    let refusal = counts.withLock { counts -> String? in
      let place = counts.place(of: handle)
      if let place, counts.byClient[place].count >= limit {
        return "\(limit) calls \(handle.isEmpty ? "without a" : "of this") client are in progress"
      }
      guard counts.blocking < Self.blocking else { return "\(Self.blocking) calls are in progress" }
      counts.blocking += 1
      if let place { counts.byClient[place].count += 1 } else { counts.byClient.append((handle, 1)) }
      return nil
    }
    if let refusal { throw EnrollError(.busy, refusal) }
  }

  func leaveBlocking(_ handle: String) {
    counts.withLock { counts in
      counts.blocking -= 1
      guard let place = counts.place(of: handle) else { return }
      counts.byClient[place].count -= 1
      if counts.byClient[place].count == 0 { counts.byClient.remove(at: place) }
    }
  }

  /// - Throws: `.busy`.
  func enterParked() throws(EnrollError) {
    let isAdmitted = counts.withLock { counts -> Bool in
      guard counts.parked < Self.parked else { return false }
      counts.parked += 1
      return true
    }
    if !isAdmitted { throw EnrollError(.busy, "\(Self.parked) calls wait for renewals") }
  }

  func leaveParked() { counts.withLock { $0.parked -= 1 } }
}
