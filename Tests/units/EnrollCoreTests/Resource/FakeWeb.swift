import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollJSON
import EnrollPosix

/// Plays servers without a network. Each URL in the table has an answer, and any other URL answers 404. Every request
/// is recorded.
final class FakeWeb: Transport {
  private struct State {
    var answers: [String: (HTTPRequest) throws(EnrollError) -> HTTPResponse] = [:]
    var requests: [HTTPRequest] = []
  }

  // The state is unchecked, because the closures of tests are not Sendable. Every access to it takes the lock.
  private let state = UncheckedState()

  private final class UncheckedState: @unchecked Sendable {
    let lock = Mutex()
    var value = State()
  }

  func answer(
    _ url: String, _ answer: @escaping (HTTPRequest) throws(EnrollError) -> HTTPResponse
  ) {
    state.lock.locked { state.value.answers[url] = answer }
  }

  func publish(_ url: String, _ document: String, status: Int = 200) {
    answer(url) { _ in HTTPResponse(status: status, body: Array(document.utf8)) }
  }

  func forget(_ url: String) { state.lock.locked { state.value.answers[url] = nil } }

  var requests: [HTTPRequest] { state.lock.locked { state.value.requests } }

  var urls: [String] { requests.map(\.url) }

  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
    let answer = state.lock.locked {
      state.value.requests.append(request)
      return state.value.answers[request.url]
    }
    return try answer?(request) ?? HTTPResponse(status: 404)
  }
}

/// A resource and its server with correct documents.
enum Published {
  static let resource = "https://api.example/mcp"
  static let location = "https://api.example/.well-known/oauth-protected-resource/mcp"
  static let issuer = "https://id.example"
  static let server = "https://id.example/.well-known/oauth-authorization-server"
  static let registration = "https://id.example/register"
  static let redirect = "http://127.0.0.1/callback"

  static func metadata(_ resource: String = resource, servers: [String] = [issuer], more: String = "")
    -> String
  {
    let list = servers.map { "\"\($0)\"" }.joined(separator: ",")
    return #"{"resource":"\#(resource)","authorization_servers":[\#(list)]\#(more)}"#
  }

  static func serverMetadata(_ issuer: String = issuer, more: String = "") -> String {
    """
    {"issuer":"\(issuer)","authorization_endpoint":"https://id.example/authorize",\
    "token_endpoint":"https://id.example/token","jwks_uri":"https://id.example/keys",\
    "registration_endpoint":"\(registration)","token_endpoint_auth_methods_supported":["none"],\
    "code_challenge_methods_supported":["S256"]\(more)}
    """
  }

  static func web() -> FakeWeb {
    let web = FakeWeb()
    web.publish(location, metadata(more: #","scopes_supported":["mcp:read"],"resource_name":"Notes""#))
    web.publish(server, serverMetadata())
    web.publish(
      registration, #"{"client_id":"id-1","token_endpoint_auth_method":"none"}"#, status: 201)
    return web
  }
}
