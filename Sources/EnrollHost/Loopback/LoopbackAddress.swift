// The address of a loopback listener (R4): the configured redirect URI with the port that is open. A request for
// another path or with another Host is refused. After DNS rebinding, for example, the Host is another name that
// resolves to 127.0.0.1.

import EnrollRules

/// The parts of the redirect URI with which a request is compared.
struct LoopbackAddress {
  /// The redirect URI of the authorization request.
  let redirectURI: String
  /// The redirect URI without its query, where the page is shown.
  let base: String

  private let path: [UInt8]
  private let authority: [UInt8]

  init(_ url: StrictURL, host: String, port: UInt16) {
    let authority = "\(host):\(port)"
    self.authority = Array(authority.utf8)
    path = Array(url.bytes[url.path])
    base = "http://" + authority + url.text(url.path)
    redirectURI = base + (url.query.map { "?" + url.text($0) } ?? "")
  }

  /// Parses the configured redirect URI, if a listener can serve it.
  static func parse(_ text: String) throws(EnrollError) -> StrictURL {
    let url: StrictURL
    do throws(StrictURL.Refusal) { url = try StrictURL(text) } catch { throw refused(error.text) }
    guard url.kind == .loopbackHTTP, let host = url.hostText,
      ["127.0.0.1", "[::1]", "localhost"].contains(where: { ASCII.equals(host, $0) })
    else { throw refused("a loopback redirect is http to 127.0.0.1, [::1] or localhost") }
    guard !url.hadFragment, !url.path.isEmpty else { throw refused("expected a path and no fragment") }
    return url
  }

  /// Whether a program listens at this redirect URI, which shows that the program's process is alive. To find out, this
  /// function tries to bind the port; that does not disturb a listener.
  static func isListened(at redirectURI: String) -> Bool {
    guard let url = try? parse(redirectURI), let port = url.port.flatMap({ UInt16(exactly: $0) }) else {
      return false
    }
    do throws(EnrollError) {
      let isIPv6 = url.hostText.map { ASCII.equals($0, "[::1]") } ?? false
      var sockets = try LoopbackSockets(isIPv6: isIPv6, port: port)
      sockets.close()
      return false
    } catch {
      return true
    }
  }

  private static func refused(_ reason: String) -> EnrollError {
    EnrollError(.configuration, "redirectUri: \(reason)", field: "redirectUri")
  }

  /// The URL that the browser requested, if the request is for this path at this address.
  func url(of request: LoopbackRequest) throws(LoopbackRequest.Refusal) -> String {
    guard request.host.elementsEqual(authority) else { throw LoopbackRequest.Refusal(status: 421) }
    guard request.path.elementsEqual(path) else { throw LoopbackRequest.Refusal(status: 404) }
    guard ASCII.equals(request.method, "GET") else {
      // An OPTIONS request is a preflight: the browser asks whether a public website may send its user here.
      throw LoopbackRequest.Refusal(status: ASCII.equals(request.method, "OPTIONS") ? 204 : 405)
    }
    guard let query = request.query else { return base }
    return base + "?" + String(decoding: query, as: UTF8.self)
  }
}
