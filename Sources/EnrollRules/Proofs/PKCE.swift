// Proof Key for Code Exchange, S256 only: there is no fallback to `plain` (RFC 7636 §4, R13, R14).

public import EnrollCrypto

/// A verifier, which stays in this process until the exchange, and its challenge, which is sent. Both belong to one
/// transaction.
public struct PKCE: Equatable, Sendable {
  /// The only challenge method (R13).
  public static let challengeMethod = "S256"
  /// The number of random octets of a verifier (R14).
  public static let randomByteCount = 32

  /// 43 characters of base64url.
  public let verifier: Secret
  public let challenge: String

  /// - Parameter random: 32 bytes from a ``RandomSource``.
  /// - Throws: `.invalidArgument` for another number of bytes; `.internal` if SHA-256 fails.
  public static func make(random: [UInt8]) throws(EnrollError) -> PKCE {
    guard random.count == randomByteCount else {
      throw EnrollError(
        .invalidArgument, "a verifier is made from \(randomByteCount) random bytes, not \(random.count)"
      )
    }
    do throws(CryptoError) {
      let verifier = try Base64URL.secret(of: random)
      return PKCE(verifier: verifier, challenge: try challenged(verifier))
    } catch {
      throw failure(error)
    }
  }

  /// The S256 challenge for a verifier (RFC 7636 §4.2).
  public static func challenge(for verifier: Secret) throws(EnrollError) -> String {
    do throws(CryptoError) { return try challenged(verifier) } catch { throw failure(error) }
  }

  private static func challenged(_ verifier: Secret) throws(CryptoError) -> String {
    var hash = InlineArray<32, UInt8>(repeating: 0)
    try Digest.sha256.hash(verifier.unsafeBytes, into: &hash)
    return Base64URL.encode(hash.span)
  }

  private static func failure(_ error: CryptoError) -> EnrollError { EnrollError(error, "SHA-256 failed") }
}
