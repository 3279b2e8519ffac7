// Where a loopback listener is reached (R4): the configured redirect with the port that is really open. A request for
// anything else is refused: another path, or another Host, such as a name that was rebound to 127.0.0.1.

import EnrollCore

/// The redirect URI in the parts that a request is held against.
struct LoopbackAddress {
  /// The redirect URI of the authorization request.
  let redirectURI: String
  /// The same without its query: where the page is.
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

  /// The configured redirect, if a listener may serve it.
  static func parse(_ text: String) throws(EnrollError) -> StrictURL {
    let url: StrictURL
    do throws(StrictURL.Refusal) { url = try StrictURL(text) } catch { throw refused(error.text) }
    guard url.kind == .loopbackHTTP, let host = url.hostText,
      ["127.0.0.1", "[::1]", "localhost"].contains(where: { ASCII.equals(host, $0) })
    else { throw refused("a loopback redirect is http to 127.0.0.1, [::1] or localhost") }
    guard !url.hadFragment, !url.path.isEmpty else { throw refused("expected a path and no fragment") }
    return url
  }

  /// Whether a program listens where that redirect URI leads: its process lives. Told by the attempt to take the port, which
  /// disturbs nobody.
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

  /// The URL that the browser was sent to, if the request is for this path on this address.
  func url(of request: LoopbackRequest) throws(LoopbackRequest.Refusal) -> String {
    guard request.host.elementsEqual(authority) else { throw LoopbackRequest.Refusal(status: 421) }
    guard request.path.elementsEqual(path) else { throw LoopbackRequest.Refusal(status: 404) }
    guard ASCII.equals(request.method, "GET") else {
      // A browser's question whether a page of the Internet may send its user here.
      throw LoopbackRequest.Refusal(status: ASCII.equals(request.method, "OPTIONS") ? 204 : 405)
    }
    guard let query = request.query else { return base }
    return base + "?" + String(decoding: query, as: UTF8.self)
  }
}
