// A double of a directory. It answers from a list, and records its requests.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollPosix
import EnrollTesting
import Testing

@testable import EnrollGateway
import EnrollHTTP

/// Answers requests with the answers of a list, in order. If no answer is left, the test fails.
final class DirectoryDouble: Transport {
  enum Reply: Sendable {
    case answer(HTTPResponse)
    case failure(EnrollError)
  }

  private struct State {
    var replies: [Reply] = []
    var requests: [HTTPRequest] = []
  }

  private let state = Guarded(State(), by: Mutex())
  let clock = FakeClock()

  init(_ replies: [Reply]) { state.withLock { $0.replies = replies } }

  var requests: [HTTPRequest] { state.withLock { $0.requests } }
  /// Each request as `METHOD path?query`, relative to the directory's address.
  var asked: [String] {
    requests.map { "\($0.method.rawValue) \($0.url.dropFirst("https://id.example".count))" }
  }

  func add(_ reply: Reply) { state.withLock { $0.replies.append(reply) } }

  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
    let reply: Reply? = state.withLock { state in
      state.requests.append(request)
      return state.replies.isEmpty ? nil : state.replies.removeFirst()
    }
    switch reply {
    case .answer(let response): return response
    case .failure(let error): throw error
    case nil:
      Issue.record("an unexpected request: \(request.method.rawValue) \(request.url)")
      throw EnrollError(.internal, "no answer is left")
    }
  }

  func credentials(_ kind: DirectoryCredentials.Kind) -> DirectoryCredentials {
    DirectoryCredentials(kind, lock: Mutex())
  }

  func scim(
    _ lookups: [SCIMLookup] = [.userName], _ kind: DirectoryCredentials.Kind = .bearer(Secret("the-token"))
  ) -> SCIMDirectory {
    SCIMDirectory(
      base: "https://id.example", lookups: lookups, transport: self, credentials: credentials(kind),
      clock: clock, makeLock: { Mutex() })
  }

  func okta() -> OktaDirectory {
    OktaDirectory(
      base: "https://id.example", transport: self, credentials: credentials(.ssws(Secret("the-token"))),
      clock: clock, makeLock: { Mutex() })
  }

  func json(_ index: Int) throws -> JSON { try JSON.parse(requests[index].body) }
  func header(_ name: String, _ index: Int) -> String? {
    requests[index].headers.first { $0.name == name }?.value
  }
}

extension DirectoryDouble.Reply {
  static func json(_ text: String, _ status: Int = 200, _ headers: [HTTPHeader] = []) -> Self {
    .answer(HTTPResponse(status: status, headers: headers, body: Array(text.utf8)))
  }

  static func status(_ status: Int, _ headers: [HTTPHeader] = []) -> Self {
    .answer(HTTPResponse(status: status, headers: headers))
  }
}

func address(_ text: String) throws -> EmailAddress { try EmailAddress(text) }

/// The failure of a call.
func failure<Result>(_ body: () throws(DirectoryFailure) -> Result) -> DirectoryFailure? {
  do throws(DirectoryFailure) { _ = try body() } catch { return error }
  return nil
}

extension DirectoryFailure {
  /// The name of the failure's case.
  var kind: String {
    switch self {
    case .unavailable: "unavailable"
    case .refused: "refused"
    case .invalidPassword: "invalidPassword"
    case .unknownPerson: "unknownPerson"
    case .unsupported: "unsupported"
    case .fault: "fault"
    case .store: "store"
    }
  }
}
