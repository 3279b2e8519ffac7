// An API that refuses the token it saw first, and takes any other. /never refuses every token; redirects are set by path.

import FlyingFox
import FlyingSocks
import Foundation
import Synchronization

final class PickyServer: Sendable {
  struct Seen: Equatable {
    var method: String
    var path: String
    /// As it came, without the query.
    var rawPath: String
    var authorization: String
    var body: String
    var proof: String?
  }

  private struct State {
    var seen: [Seen] = []
    var targets: [String: String] = [:]
    var isSeeOther = false
    var isSpinning = false
    var challenges: [String: [String: String]] = [:]
    /// Requests that wait until as many are there as the crowd has.
    var crowd = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())
  private let server: HTTPServer
  private let running: Task<Void, any Error>
  let origin: String

  init() async throws {
    let (server, state) = (HTTPServer(address: try sockaddr_in.inet(ip4: "127.0.0.1", port: 0)), Shared())
    self.server = server
    await server.appendRoute("*") { request in
      await state.owner?.answer(request) ?? HTTPResponse(statusCode: .gone)
    }
    running = Task { try await server.run() }
    // On a busy machine other tests may have every thread for minutes.
    try await server.waitUntilListening(timeout: 600)
    guard case .ip4(_, port: let port) = await server.listeningAddress else {
      throw URLError(.cannotFindHost)
    }
    origin = "http://127.0.0.1:\(port)"
    state.set(self)
  }

  /// The route knows its server, which comes to be after it.
  private final class Shared: Sendable {
    private let kept = Mutex<PickyServer?>(nil)
    var owner: PickyServer? { kept.withLock { $0 } }
    func set(_ owner: PickyServer) { kept.withLock { $0 = owner } }
  }

  var seen: [Seen] { state.withLock { $0.seen } }
  var tokens: [String] { seen.map { $0.authorization.split(separator: " ").last.map(String.init) ?? "" } }

  /// With 307, or with 303, after which a GET follows.
  func redirect(_ path: String, to target: String, isSeeOther: Bool = false) {
    state.withLock { state in
      state.targets[path] = target
      state.isSeeOther = isSeeOther
    }
  }

  /// Redirects each request with a proof, and refuses each without one, a hundred times.
  func spin() { state.withLock { $0.isSpinning = true } }

  func gather(_ count: Int) { state.withLock { $0.crowd = count } }

  /// Refuses the path once, with these headers, when a request has a proof.
  func challenge(_ path: String, _ headers: [String: String]) {
    state.withLock { $0.challenges[path] = headers }
  }

  func stop() async { await server.stop() }

  func url(_ path: String) throws -> URL {
    guard let url = URL(string: origin + path) else { throw URLError(.badURL) }
    return url
  }

  private func answer(_ request: FlyingFox.HTTPRequest) async -> HTTPResponse {
    let seen = Seen(
      method: request.method.rawValue, path: request.path, rawPath: request.target.path(percentEncoded: true),
      authorization: request.headers[.authorization] ?? "",
      body: String(decoding: (try? await request.bodyData) ?? Data(), as: UTF8.self),
      proof: request.headers[HTTPHeader("DPoP")])
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
      var headers = HTTPHeaders()
      headers[.location] = target
      let isSeeOther = state.withLock { $0.isSeeOther }
      return HTTPResponse(statusCode: isSeeOther ? .seeOther : .temporaryRedirect, headers: headers)
    }
    if let challenge {
      var headers = HTTPHeaders()
      for (name, value) in challenge { headers[HTTPHeader(name)] = value }
      return HTTPResponse(statusCode: .unauthorized, headers: headers)
    }
    return HTTPResponse(statusCode: isFirst || seen.path == "/never" ? .unauthorized : .ok)
  }

  private func spun(_ seen: Seen) -> HTTPResponse? {
    let (isSpinning, count) = state.withLock { ($0.isSpinning, $0.seen.count) }
    guard isSpinning, count < 100 else { return nil }
    guard seen.proof != nil else { return HTTPResponse(statusCode: .unauthorized) }
    var headers = HTTPHeaders()
    headers[.location] = "/\(count)"
    return HTTPResponse(statusCode: .temporaryRedirect, headers: headers)
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
