// The two generations of the Model Context Protocol. Up to 2025-11-25 a session begins with `initialize`; since
// 2026-07-28 there is no session, and every request names its version.

package import EnrollRules

/// A version of the protocol, which is a date.
package struct Revision: Equatable, Sendable {
  package let text: String

  /// Makes a revision of any text that is allowed in a header; nil for other text.
  package init?(_ text: String) {
    guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      return nil
    }
    self.text = text
  }

  /// Whether several messages may be sent in one array.
  package var hasBatches: Bool { text == "2025-03-26" }

  /// Whether the message belongs to the protocol of 2026-07-28 or later, which has no sessions.
  package static func isModern(_ message: Message) -> Bool { message.metaVersion != nil }
}

/// The headers of the Model Context Protocol that a message has on HTTP.
package enum MessageHeaders {
  /// The reason why a message cannot be sent: its method or its version is not valid as the value of a header.
  package struct Refusal: Error, Equatable {
    package let message: String
  }

  /// The headers that version 2026-07-28 requires on HTTP; they repeat values of the body. A host on stdio sends no
  /// headers, so the bridge makes these.
  /// - Parameter version: the version that the message names; if the message names no version, the version of the last
  ///   message that named one.
  package static func modern(_ message: Message, version: String) throws(Refusal) -> [HTTPHeader] {
    guard let revision = Revision(version) else {
      throw Refusal(message: "the protocol version in _meta cannot be a header")
    }
    var headers = [HTTPHeader("MCP-Protocol-Version", revision.text)]
    guard let method = message.method else { return headers }
    guard !method.isEmpty, method.utf8.count <= 256, method.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw Refusal(message: "the method has characters that no header takes") }
    headers.append(HTTPHeader("Mcp-Method", method))
    if ["tools/call", "prompts/get", "resources/read"].contains(method), let name = message.name {
      headers.append(HTTPHeader("Mcp-Name", encoded(name)))
    }
    return headers
  }

  private static let opening = "=?base64?"
  private static let closing = "?="

  /// A value for a header: plain ASCII unchanged, any other text in Base64.
  package static func encoded(_ text: String) -> String {
    let bytes = Array(text.utf8)
    let isPlain =
      bytes.allSatisfy { (0x20...0x7E).contains($0) } && bytes.first != 0x20 && bytes.last != 0x20
      && !(bytes.starts(with: opening.utf8) && bytes.suffix(2).elementsEqual(closing.utf8))
    return isPlain ? text : opening + Base64.encode(bytes) + closing
  }

  /// Whether a server's `Mcp-Session-Id` may be sent back. It must be visible ASCII.
  package static func isSessionID(_ text: String) -> Bool {
    (1...4096).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  /// Whether the name of a header may have the character (RFC 9110 §5.6.2).
  static func isTokenByte(_ byte: UInt8) -> Bool {
    ASCII.isLetter(byte) || ASCII.isDigit(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }

  /// Whether the user may add a header with this name. The user may not add headers that the bridge makes, or headers
  /// that belong to HTTP itself.
  package static func isUsersOwn(_ name: String) -> Bool {
    let lowered = name.utf8.map { ASCII.lowercased($0) }
    let taken = [
      "authorization", "dpop", "cookie", "content-type", "accept", "last-event-id", "host", "content-length",
      "transfer-encoding", "connection", "expect", "accept-encoding", "te", "upgrade", "proxy-authorization",
    ]
    return (1...256).contains(lowered.count) && lowered.allSatisfy(isTokenByte)
      && !taken.contains { $0.utf8.elementsEqual(lowered) } && !lowered.starts(with: "mcp-".utf8)
  }
}
