// The token of an activation link (R11). Its length is limited, it has only characters that no URL parser changes,
// and it is never logged.

public import EnrollCrypto

/// An activation token that may be sent to the provider.
public struct ActivationToken: Equatable, Sendable {
  public static let maximumBytes = 1024

  public let secret: Secret

  /// - Throws: `.redirectMalformed` if the token is missing, is longer than ``maximumBytes``, or has other characters
  ///   than the unreserved characters of RFC 3986 §2.3.
  public init(_ bytes: ArraySlice<UInt8>) throws(EnrollError) {
    guard !bytes.isEmpty else {
      throw EnrollError(.redirectMalformed, "the link has no activation token")
    }
    guard bytes.count <= ActivationToken.maximumBytes else {
      throw EnrollError(
        .redirectMalformed,
        "expected an activation token of at most \(ActivationToken.maximumBytes) bytes, got \(bytes.count)"
      )
    }
    guard bytes.allSatisfy(ActivationToken.isAllowed) else {
      throw EnrollError(.redirectMalformed, "the activation token has a character that is not allowed")
    }
    secret = bytes.withUnsafeBytes { Secret($0) }
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == 0x2D || byte == 0x2E || byte == 0x5F
      || byte == 0x7E
  }

  /// The hash of the token. The store has only this hash, not the token, to recognise a link that is opened again.
  package func hash() throws(EnrollError) -> String {
    do throws(CryptoError) {
      return Base64URL.encode(try Digest.sha256.hash(secret))
    } catch {
      throw EnrollError(.internal, "SHA-256 failed: \(error.message)")
    }
  }
}
