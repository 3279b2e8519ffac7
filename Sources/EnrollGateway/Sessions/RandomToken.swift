// Session tokens and one-time codes: 256 random bits in base64url. The gateway stores only the hash.

import EnrollRules
import EnrollSteps
import EnrollCrypto

enum RandomToken {
  static let byteCount = 32
  /// The length of ``byteCount`` bytes in base64url.
  static let length = 43

  /// A new text and its hash.
  static func make(_ random: any RandomSource) throws(EnrollError) -> (text: String, hash: [UInt8]) {
    let text = Base64URL.encode(try random.bytes(byteCount))
    return (text, try sha256(text))
  }

  /// The hash of the text; nil if the text has the wrong form.
  static func hash(of text: String) -> [UInt8]? {
    guard text.utf8.count == length, Base64URL.decode(text) != nil else { return nil }
    return try? sha256(text)
  }

  private static func sha256(_ text: String) throws(EnrollError) -> [UInt8] {
    do throws(CryptoError) { return try Digest.sha256.hash(Array(text.utf8)) } catch {
      throw EnrollError(error, "SHA-256 failed")
    }
  }
}
