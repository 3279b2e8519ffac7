import EnrollPosix
@testable import EnrollStore
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollTesting
import Foundation

/// Joins several transports: a URL that begins with a server's address goes to that server.
final class Routes: Transport, @unchecked Sendable {
  // Unchecked: nothing is written after init.
  private let servers: [(String, any Transport)]

  init(_ servers: (String, any Transport)...) { self.servers = servers }

  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
    guard let server = servers.first(where: { request.url.hasPrefix($0.0 + "/") }) else {
      throw EnrollError(.network, "nobody is at \(request.url)")
    }
    return try server.1.send(request, cancellation: cancellation)
  }
}

/// A server with scripted answers, which keeps its requests.
final class ScriptedServer: Transport, @unchecked Sendable {
  // Unchecked: all mutable state is in `state`.
  private let state = Guarded(State(), by: Mutex())

  private struct State {
    var answers: [(HTTPRequest) throws(EnrollError) -> HTTPResponse] = []
    var requests: [HTTPRequest] = []
  }

  /// Queues an answer.
  func next(_ text: String, status: Int = 200) {
    next { _ in
      HTTPResponse(
        status: status, headers: [HTTPHeader("Content-Type", "application/json")], body: Array(text.utf8))
    }
  }

  func next(_ answer: @escaping (HTTPRequest) throws(EnrollError) -> HTTPResponse) {
    state.withLock { $0.answers.append(answer) }
  }

  var requests: [HTTPRequest] { state.withLock { $0.requests } }

  /// The JSON of the last request's body.
  var lastBody: JSON { requests.last.flatMap { try? JSON.parse($0.body) } ?? .null }

  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
    let answer = state.withLock { state -> ((HTTPRequest) throws(EnrollError) -> HTTPResponse)? in
      state.requests.append(request)
      return state.answers.isEmpty ? nil : state.answers.removeFirst()
    }
    guard let answer else { throw EnrollError(.network, "unreachable") }
    return try answer(request)
  }
}

/// An engine that signs in through a back end. The issuer behind the back end would answer, but must not get requests.
struct BFFBench {
  static let base = "https://bff.example/app"
  static let redirectURI = "com.example.app:/callback"
  let clock = FakeClock()
  let bff = ScriptedServer()
  let issuer: FakeProvider
  let store: MemoryTokenStore
  let seen = Recorder()
  let configuration: Configuration

  init(
    acceptsTokens: Bool = false, base: String = BFFBench.base,
    redirectURI: String = BFFBench.redirectURI,
    requiresConfirmation: Bool = false
  ) throws {
    issuer = try FakeProvider(clock: clock)
    store = MemoryTokenStore(clock: clock)
    configuration = try Configuration(
      issuer: issuer.issuer, clientID: "native", redirectURI: redirectURI
    ) {
      $0.requiresConfirmation = requiresConfirmation
      $0.bff = BFFSettings(base: base, dangerouslyAcceptsTokenInRedirect: acceptsTokens)
      $0.allowsLoopbackHTTP = true
    }
  }

  func engine() -> Engine {
    Engine(
      configuration: configuration, account: .default, platform: Platform(),
      transport: Routes(("https://bff.example", bff), (issuer.issuer, issuer)), store: store,
      clock: clock,
      random: SystemRandomSource(), observer: seen, exclusion: { Mutex() })
  }

  var options: SignInOptions {
    var options = SignInOptions(kind: .bff)
    options.connection = "google"
    return options
  }

  func begin(_ engine: Engine) throws -> Transaction { try engine.signIn.begin(options, cancellation: nil) }

  /// The redirect of the back end, with the state of `begun`.
  func answer(_ parameters: String, to begun: Transaction) -> String {
    "\(Self.redirectURI)?\(parameters)&state=\(query(begun.url)["state"] ?? "")"
  }

  var record: AccountRecord { get throws { try store.read(.default) ?? AccountRecord() } }
  /// Requests that reached the issuer.
  var issuerCount: Int { FakeProvider.Endpoint.allCases.reduce(0) { $0 + issuer.count($1) } }
}

func query(_ url: String) -> [String: String] {
  let items = URLComponents(string: url)?.queryItems ?? []
  return Dictionary(items.map { ($0.name, $0.value ?? "") }) { _, last in last }
}
