// The bytes that a token may have. Access tokens are sent in a header, so they must have no character that ends the
// line of the header (R31). A refresh token is only sent in forms; only its length is limited.

enum TokenText {
  /// A longer token is refused.
  static let maximumBytes = 1 << 16

  /// Whether a token is not empty, not too long, and only visible ASCII.
  static func isAcceptable(_ bytes: some Collection<UInt8>) -> Bool {
    (1...maximumBytes).contains(bytes.count) && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  static func isAcceptable(_ text: String) -> Bool { isAcceptable(text.utf8) }
}
