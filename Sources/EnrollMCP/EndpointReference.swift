// The `endpoint` event of the HTTP+SSE transport (2024-11-05): it names the address for the host's messages. The
// bridge sends the token to that address, so the address must have the server's own origin.

import EnrollRules

/// The address that an `endpoint` event names.
package enum EndpointReference {
  /// The absolute URL of the address.
  /// - Parameters:
  ///   - text: a URL, or a relative reference (RFC 3986 §4.2).
  ///   - base: the URL of the stream.
  /// - Returns: nil for another origin, and for text that is not a URL.
  package static func resolved(_ text: String, base: String) -> String? {
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }),
      let server = try? StrictURL(base)
    else { return nil }
    let whole: String
    if let colon = text.firstIndex(of: ":"), !text[..<colon].contains(where: { "/?#".contains($0) }) {
      whole = text
    } else if text.hasPrefix("//") {
      whole = server.text(server.scheme) + ":" + text
    } else if text.hasPrefix("/") {
      whole = server.shownOrigin + text
    } else {
      let path = server.text(server.path)
      let end = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
      let folder = text.hasPrefix("?") ? path[...] : path[..<end]
      whole = server.shownOrigin + (path.isEmpty ? "/" : String(folder)) + text
    }
    guard let url = try? StrictURL(whole), url.hasSameOrigin(as: server) else { return nil }
    return String(whole.prefix { $0 != "#" })
  }
}
