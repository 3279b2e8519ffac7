import EnrollRules
import EnrollSteps
import EnrollPosix

/// A resource at `https://api.example/mcp` and its server, which registers clients.
final class RegisteringWeb: Transport {
  private let count = Guarded(0, by: Mutex())
  private let meanwhile: @Sendable () -> Void

  /// - Parameter meanwhile: runs while the server registers a client.
  init(meanwhile: @escaping @Sendable () -> Void = {}) { self.meanwhile = meanwhile }

  /// How many registrations were sent.
  var registrations: Int { count.withLock { $0 } }

  func send(
    _ request: HTTPRequest, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HTTPResponse {
    if request.method == .post {
      count.withLock { $0 += 1 }
      meanwhile()
    }
    // A transport throws this error when it cancels a request.
    if cancellation?.isCancelled ?? false { throw EnrollError(.cancelled, "") }
    let documents = [
      "https://api.example/.well-known/oauth-protected-resource/mcp":
        #"{"resource":"https://api.example/mcp","authorization_servers":["https://id.example"]}"#,
      "https://id.example/.well-known/oauth-authorization-server": """
      {"issuer":"https://id.example","authorization_endpoint":"https://id.example/authorize",\
      "token_endpoint":"https://id.example/token","registration_endpoint":"https://id.example/register",\
      "token_endpoint_auth_methods_supported":["none"],"code_challenge_methods_supported":["S256"]}
      """, "https://id.example/register": #"{"client_id":"id-1"}"#,
    ]
    guard let document = documents[request.url] else { return HTTPResponse(status: 404) }
    return HTTPResponse(status: 200, body: Array(document.utf8))
  }
}
