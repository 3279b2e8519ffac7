// Runs the provider on the HTTP server: sets up the server, converts its requests for the provider, and sends the
// provider's answers with their delay and in the way that a fault requires.

import EnrollRules
import EnrollHTTP

enum ProviderServer {
  private static let bodyLimit = 256 << 10

  /// - Parameter port: with 0, the system chooses a port.
  static func start(_ provider: Provider, port: UInt16) throws(ServerError) -> HTTPServer {
    try HTTPServer.start(settings(port: port)) { request in
      response(await provider.answer(Self.request(request)))
    }
  }

  private static func settings(port: UInt16) -> ServerSettings {
    // The provider checks hosts and methods itself, and answers with an error page.
    var settings = ServerSettings(addresses: ["127.0.0.1"], port: Int(port), hosts: .any)
    settings.methods = Set(WebRequest.Method.allCases)
    settings.date = .ofApplication
    settings.eventLoops = 1
    settings.limits.bodyBytes = bodyLimit
    // All clients have the address 127.0.0.1. The timeouts are long, because clients may run on a busy machine.
    settings.limits.connectionsPerAddress = settings.limits.connections
    settings.limits.headerTimeoutMilliseconds = 600_000
    settings.limits.bodyTimeoutMilliseconds = 600_000
    settings.limits.idleTimeoutMilliseconds = 600_000
    return settings
  }

  private static func request(_ request: WebRequest) -> SandboxRequest {
    var headers: [String: String] = [:]
    for header in request.headers {
      let name = header.name.lowercased()
      // Header lines with the same name form one list (RFC 9110 §5.3).
      headers[name] = headers[name].map { $0 + ", " + header.value } ?? header.value
    }
    return SandboxRequest(
      method: request.method.rawValue, path: request.path, query: request.query ?? "", headers: headers,
      body: request.body)
  }

  private static func response(_ answer: SandboxAnswer) -> WebResponse {
    let headers = answer.headers.map { name, value in
      // A fault may set the header to any text, so control characters are replaced.
      HTTPHeader(name, String(value.unicodeScalars.map { $0.value < 0x20 ? " " : Character($0) }))
    }
    var response = WebResponse(answer.status, headers: headers, body: answer.body)
    response.delayMilliseconds = answer.delayMilliseconds
    response.delivery =
      switch answer.delivery {
      case .whole: .whole
      case .nothing: .nothing
      case .half: .cut(bodyBytes: answer.body.count / 2)
      }
    return response
  }
}
