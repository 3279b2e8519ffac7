// The server's part of PKCE (RFC 7636), only with S256.

import EnrollCrypto

enum PKCE {
  /// Whether the text consists of 43 characters of base64url, as a SHA-256 hash does.
  static func isChallenge(_ text: String) -> Bool {
    text.utf8.count == 43
      && text.utf8.allSatisfy { isUnreserved($0) && $0 != UInt8(ascii: "~") && $0 != UInt8(ascii: ".") }
  }

  /// Whether the text consists of 43 to 128 unreserved characters (RFC 7636 §4.1).
  static func isVerifier(_ text: String) -> Bool {
    (43...128).contains(text.utf8.count) && text.utf8.allSatisfy(isUnreserved)
  }

  static func matches(verifier: String, challenge: String) -> Bool {
    isVerifier(verifier) && self.challenge(for: verifier) == challenge
  }

  static func challenge(for verifier: String) -> String? {
    (try? Digest.sha256.hash(Array(verifier.utf8))).map { Encoding.base64URL($0) }
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }
}
