// The token of a session, and a one-time code: 256 random bits in base64url, of which the gateway keeps the hash alone.

import EnrollCore
import EnrollCrypto

enum OneTimeText {
  static let byteCount = 32
  /// Of base64url of ``byteCount`` bytes.
  static let length = 43

  /// A new one, and its hash.
  static func make(_ random: any RandomSource) throws(EnrollError) -> (text: String, hash: [UInt8]) {
    let text = Base64URL.encode(try random.bytes(byteCount))
    return (text, try sha256(text))
  }

  /// The hash of a text that can be one; nil for every other text.
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
