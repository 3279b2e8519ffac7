// A provider on the network, and a middlebox in front of it, which answers instead of the provider when a test sets an
// answer.

@testable import EnrollPosix
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollTesting
import Foundation
import Testing

/// The request that the middlebox answers.
enum MiddleboxPlace: String, CaseIterable, Sendable {
  case discovery = "/.well-known/openid-configuration"
  case keys = "/keys"
  case token = "/token"
  case userinfo = "/userinfo"
  case revocation = "/revoke"
  /// A poll with a device code, at the token endpoint.
  case device = "device_code"

  fileprivate func isMet(by path: String, _ form: String) -> Bool {
    switch self {
    case .device: form.contains("grant-type")
    case .token: path == rawValue && form.contains("grant_type=refresh_token")
    default: path == rawValue
    }
  }
}

final class Middlebox: Sendable {
  private struct State {
    var plan: (place: MiddleboxPlace, answer: MiddleboxAnswer)?
    var visits = 0
  }

  private let state: Guarded<State>
  private let server: RawServer
  let provider: FakeProvider

  init(clock: FakeClock) throws {
    let state = Guarded(State(), by: Mutex())
    let hold = Guarded<FakeProvider?>(nil, by: Mutex())
    let server = try RawServer { connection in
      if let provider = hold.withLock({ $0 }) { Self.serve(connection, provider, state) }
    }
    let provider = try FakeProvider(issuer: server.url(""), clock: clock)
    hold.withLock { $0 = provider }
    (self.state, self.server, self.provider) = (state, server, provider)
  }

  /// Sets the answer that requests at this place get from now on; with nil, the provider itself answers every request.
  func answer(_ answer: MiddleboxAnswer?, at place: MiddleboxPlace) {
    state.withLock { state in
      state.plan = answer.map { (place, $0) }
      state.visits = 0
    }
  }

  /// The number of requests that got the set answer.
  var visits: Int { state.withLock { $0.visits } }

  private static func serve(_ connection: RawConnection, _ provider: FakeProvider, _ state: Guarded<State>) {
    guard let request = connection.readRequest() else { return }
    let line = request.head.prefix { $0 != "\r\n" }.split(separator: " ")
    guard line.count == 3 else { return }
    let (path, form) = (String(line[1]), String(decoding: request.body, as: UTF8.self))
    let plan = state.withLock { state -> MiddleboxAnswer? in
      guard let plan = state.plan, plan.place.isMet(by: path, form) else { return nil }
      state.visits += 1
      return plan.answer
    }
    if case .instead(let status, let headers, let body) = plan?.content {
      connection.send(
        "HTTP/1.1 \(status)\r\n\(headers)Content-Length: \(body.count)\r\nConnection: close\r\n\r\n")
      connection.send(body)
      return
    }
    var headers: [HTTPHeader] = []
    for line in request.head.split(separator: "\r\n").dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { continue }
      headers.append(HTTPHeader(String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces)))
    }
    let method: HTTPRequest.Method = line[0] == "POST" ? .post : .get
    guard
      let proper = try? provider.send(
        HTTPRequest(method, provider.issuer + path, headers: headers, body: request.body), cancellation: nil)
    else { return }
    var answer = MiddleboxAnswer.Answer(
      status: proper.status, headers: proper.headers.map { "\($0.name): \($0.value)\r\n" }.joined(),
      body: proper.body)
    if case .altered(let alter) = plan?.content { alter(&answer) }
    connection.send(
      "HTTP/1.1 \(answer.status) Any\r\n\(answer.headers)Content-Length: \(answer.body.count)\r\nConnection: close\r\n\r\n"
    )
    connection.send(answer.body)
  }
}
