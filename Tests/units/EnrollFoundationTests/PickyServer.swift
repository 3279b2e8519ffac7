// An API that refuses the first token that it gets, and accepts any other. At the path `/never` it refuses every token.
// A test can set a redirect for each path.

import EnrollRules
import EnrollHTTP
import Foundation
import Synchronization

final class PickyServer: Sendable {
  struct Seen: Equatable {
    var method: String
    var path: String
    /// The path as it was sent, without the query.
    var rawPath: String
    var authorization: String
    var body: String
    var proof: String?
  }

  private let answers: PickyAnswers
  private let server: HTTPServer
  let origin: String

  init() throws {
    let answers = PickyAnswers()
    var settings = ServerSettings(hosts: .any)
    settings.methods = Set(WebRequest.Method.allCases)
    server = try HTTPServer.start(settings) { await answers.answer($0) }
    origin = "http://127.0.0.1:\(server.port)"
    self.answers = answers
  }

  var seen: [Seen] { answers.state.withLock { $0.seen } }
  var tokens: [String] { seen.map { $0.authorization.split(separator: " ").last.map(String.init) ?? "" } }

  /// Redirects the path with status 307, or with status 303, after which the client sends a GET.
  func redirect(_ path: String, to target: String, isSeeOther: Bool = false) {
    answers.state.withLock { state in
      state.targets[path] = target
      state.isSeeOther = isSeeOther
    }
  }

  /// For the next hundred requests, redirects each request that has a proof, and refuses each request that has no
  /// proof.
  func spin() { answers.state.withLock { $0.isSpinning = true } }

  func gather(_ count: Int) { answers.state.withLock { $0.crowd = count } }

  /// Refuses one request for the path, with these headers, if the request has a proof.
  func challenge(_ path: String, _ headers: [String: String]) {
    answers.state.withLock { $0.challenges[path] = headers }
  }

  func stop() { server.stop(withinSeconds: 0) }

  func url(_ path: String) throws -> URL {
    guard let url = URL(string: origin + path) else { throw URLError(.badURL) }
    return url
  }
}

/// The answers of the server, and its requests.
private final class PickyAnswers: Sendable {
  struct State {
    var seen: [PickyServer.Seen] = []
    var targets: [String: String] = [:]
    var isSeeOther = false
    var isSpinning = false
    var challenges: [String: [String: String]] = [:]
    /// The number of requests for which the server waits before it answers all of them together.
    var crowd = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  let state = Mutex(State())

  func answer(_ request: WebRequest) async -> WebResponse {
    let seen = PickyServer.Seen(
      method: request.method.rawValue, path: request.path.removingPercentEncoding ?? request.path,
      rawPath: request.path, authorization: request.value(of: "Authorization") ?? "",
      body: String(decoding: request.body, as: UTF8.self), proof: request.value(of: "DPoP"))
    let (isFirst, target, challenge) = state.withLock { state in
      state.seen.append(seen)
      return (
        seen.authorization == state.seen[0].authorization, state.targets[seen.path],
        seen.proof == nil ? nil : state.challenges.removeValue(forKey: seen.path)
      )
    }
    if let spun = spun(seen) { return spun }
    if isFirst { await assemble() }
    if let target {
      return WebResponse(
        state.withLock { $0.isSeeOther } ? 303 : 307, headers: [HTTPHeader("Location", target)])
    }
    if let challenge { return WebResponse(401, headers: challenge.map { HTTPHeader($0.key, $0.value) }) }
    return WebResponse(isFirst || seen.path == "/never" ? 401 : 200)
  }

  private func spun(_ seen: PickyServer.Seen) -> WebResponse? {
    let (isSpinning, count) = state.withLock { ($0.isSpinning, $0.seen.count) }
    guard isSpinning, count < 100 else { return nil }
    guard seen.proof != nil else { return WebResponse(401) }
    return WebResponse(307, headers: [HTTPHeader("Location", "/\(count)")])
  }

  private func assemble() async {
    await withCheckedContinuation { continuation in
      let ready = state.withLock { state -> [CheckedContinuation<Void, Never>] in
        state.waiting.append(continuation)
        guard state.waiting.count >= state.crowd else { return [] }
        defer { state.waiting = [] }
        return state.waiting
      }
      for waiter in ready { waiter.resume() }
    }
  }
}
