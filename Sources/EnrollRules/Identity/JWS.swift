// A signed text in compact form (RFC 7515 §7.1), parsed but not verified. Refused: a text that does not have exactly
// three base64url parts in strict spelling, an algorithm outside R21's list (which excludes `none` and HS* in every
// spelling), and any `crit`, because no extension is supported. Keys in the header (`jwk`, `jku`, `x5c`, `x5u`) are
// never used.

package import EnrollCrypto
import EnrollJSON

/// A signature and the bytes that it covers.
package struct JWS: Sendable {
  /// The maximum length of the text in bytes, which is the limit for every token.
  static let lengthLimit = TokenText.maximumBytes
  /// The longest `kid` in bytes.
  static let keyIDLimit = 512

  package let algorithm: SignatureAlgorithm
  /// `kid`.
  package let keyID: String?
  /// The payload, which is not verified before ``isSigned(by:)`` returns true.
  let payload: [UInt8]
  private let signature: [UInt8]
  private let text: Secret
  /// The number of bytes of the first two parts and the dot between them.
  private let signedCount: Int

  /// - Throws: `.idTokenInvalid`.
  package init(parsing text: Secret) throws(EnrollError) {
    guard text.count <= Self.lengthLimit else {
      throw Self.refusal("more than \(Self.lengthLimit) bytes: \(text.count)")
    }
    let parts = text.withBytes { Parts($0.assumingMemoryBound(to: UInt8.self).span) }
    guard let parts else {
      let dots = text.withBytes { $0.count { $0 == UInt8(ascii: ".") } }
      // A token with five parts is encrypted (RFC 7516 §3.1).
      guard dots == 4 else { throw Self.refusal("a signed token has three parts, got \(dots + 1)") }
      throw Self.refusal(
        "it is encrypted, and EnrollKit reads signed id_tokens: at the provider, remove the client's "
          + "id_token_encrypted_response_alg")
    }
    guard let header = parts.header, let payload = parts.payload, let signature = parts.signature else {
      throw Self.refusal("a part is not base64url")
    }
    (algorithm, keyID) = try Self.read(header: header)
    // The signature is checked after the header, so that an unsigned token is refused for its algorithm.
    guard !signature.isEmpty else { throw Self.refusal("the signature is missing") }
    self.payload = payload
    self.signature = signature
    self.text = text
    signedCount = parts.signedCount
  }

  /// Whether the signature is valid for `key`; also false if the key does not fit the algorithm.
  func isSigned(by key: PublicKey) throws(CryptoError) -> Bool {
    guard algorithm.fits(key.kind) else { return false }
    return try text.withBytes { bytes throws(CryptoError) in
      try key.verify(
        signature: signature, message: UnsafeRawBufferPointer(rebasing: bytes[..<signedCount]),
        algorithm: algorithm)
    }
  }

  /// The three parts; each is nil if it is not base64url.
  private struct Parts {
    let header, payload, signature: [UInt8]?
    let signedCount: Int

    /// Splits a text at its dots. The result is nil unless the text has three parts.
    init?(_ text: Span<UInt8>) {
      let dot = UInt8(ascii: ".")
      guard let first = ASCII.index(of: dot, in: text, from: 0),
        let second = ASCII.index(of: dot, in: text, from: first + 1),
        ASCII.index(of: dot, in: text, from: second + 1) == nil
      else { return nil }
      header = Base64URL.decode(text.extracting(..<first))
      payload = Base64URL.decode(text.extracting((first + 1)..<second))
      signature = Base64URL.decode(text.extracting((second + 1)...))
      signedCount = second
    }
  }

  private static func read(header bytes: [UInt8]) throws(EnrollError) -> (SignatureAlgorithm, keyID: String?)
  {
    let header: JSON
    do throws(JSONError) { header = try JSON.parse(bytes) } catch {
      throw EnrollError(.idTokenInvalid, refused + "the header is not JSON: ", error)
    }
    guard header.object != nil else { throw refusal("the header is not an object") }
    guard let name = header["alg"]?.string else { throw refusal("alg is missing") }
    guard let algorithm = SignatureAlgorithm(name: name) else {
      throw refusal(
        "alg \(PrintableText.bounded(name, maximumBytes: 32)) is not accepted; choose a signing key at the provider, RS256 or ES256"
      )
    }
    guard header["crit"] == nil else { throw refusal("crit names an unknown extension") }
    guard let keyID = header["kid"], !keyID.isNull else { return (algorithm, nil) }
    guard let keyID = keyID.string, keyID.utf8.count <= keyIDLimit else {
      throw refusal("kid is not a text of at most \(keyIDLimit) bytes")
    }
    return (algorithm, keyID)
  }

  private static let refused = "id_token refused: "

  private static func refusal(_ message: String) -> EnrollError {
    EnrollError(.idTokenInvalid, refused + message)
  }
}
