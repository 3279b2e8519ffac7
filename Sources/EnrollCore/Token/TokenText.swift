// Which bytes a token may have. Access tokens go into a header, so that nothing in them may end a line there (R31). A
// refresh token, which goes into forms alone, has no limit but its length.

enum TokenText {
  /// A longer token is refused.
  static let maximumBytes = 1 << 16

  /// Not empty, not too long, and visible ASCII throughout.
  static func isAcceptable(_ bytes: some Collection<UInt8>) -> Bool {
    (1...maximumBytes).contains(bytes.count) && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  static func isAcceptable(_ text: String) -> Bool { isAcceptable(text.utf8) }
}
