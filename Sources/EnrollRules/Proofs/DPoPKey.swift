// The key to which a session's tokens are bound (RFC 9449 §4, RFC 7638): ES256 only. The key is made together with its
// transaction. It is stored sealed, first with the transaction, and later with the tokens. Only this library signs with
// the key. This file also has the token types that a response may have (RFC 9449 §5, RFC 6749 §7.1: a client must not
// use a type that it does not understand).

public import EnrollCrypto
public import EnrollJSON

/// A P-256 key pair as it is stored. The key is not parsed when a record is read, but in ``signer()``.
public struct DPoPKey: Equatable, Sendable {
  /// The only algorithm (RFC 7518 §3.4).
  public static let algorithm = SignatureAlgorithm.ES256

  /// PKCS #8 in DER.
  public let der: Secret

  /// A stored key, without checks: ``signer()`` checks it.
  public init(der: Secret) { self.der = der }

  /// A new key.
  /// - Throws: `.internal` if OpenSSL cannot make a key.
  public static func make() throws(EnrollError) -> DPoPKey {
    do throws(CryptoError) {
      return DPoPKey(der: try PrivateKey.generate(.ec(.p256)).exported())
    } catch {
      throw EnrollError(error, "a key could not be made")
    }
  }

  /// - Throws: `.storeCorrupt` if the stored bytes are not a P-256 key.
  public func signer() throws(EnrollError) -> DPoPSigner {
    do throws(CryptoError) {
      return try DPoPSigner(PrivateKey(der: der))
    } catch {
      guard error.reason == .key else { throw EnrollError(error, "the key of the tokens cannot be used") }
      throw EnrollError(.storeCorrupt, "the key of the tokens cannot be used: \(error.message)")
    }
  }
}

/// A key that is ready to sign, with its public values.
public struct DPoPSigner: Sendable {
  let key: PrivateKey
  /// The public key as a JSON Web Key (RFC 7517 §4).
  public let publicKey: JSONObject
  /// The thumbprint of RFC 7638 with SHA-256, as in `dpop_jkt` and `cnf.jkt`.
  public let thumbprint: String

  /// - Throws: `.key` for a key that is not on P-256.
  public init(_ key: PrivateKey) throws(CryptoError) {
    guard case .ec(.p256, let x, let y) = key.publicKey.components else {
      throw CryptoError(.key, "expected a P-256 key (RFC 7518 §3.4)")
    }
    self.key = key
    // The members that RFC 7638 §3.2 requires, in its order.
    publicKey = JSONObject([
      ("crv", .string(Curve.p256.rawValue)), ("kty", .string("EC")), ("x", .string(Base64URL.encode(x))),
      ("y", .string(Base64URL.encode(y))),
    ])
    thumbprint = Base64URL.encode(try Digest.sha256.hash(JSON.object(publicKey).serialized()))
  }
}

/// Whether the request for tokens had a DPoP proof.
public enum DPoPBinding: Equatable, Sendable {
  /// The request had no proof: the tokens are Bearer tokens.
  case none
  /// The request had a proof. The provider may bind all tokens to the key, or only the refresh token; `token_type` of
  /// the response says which of the two it did.
  case offered
  /// The request had a proof, and only tokens that are bound to the key are accepted.
  case required

  /// The fault of a response's `token_type`; nil if it is valid.
  func problem(with type: String) -> String? {
    let isBearer = ASCII.equalsIgnoringCase(type, "Bearer")
    let isDPoP = ASCII.equalsIgnoringCase(type, "DPoP")
    switch self {
    case .none: return isBearer ? nil : "token_type must be Bearer"
    case .offered: return isBearer || isDPoP ? nil : "token_type must be DPoP or Bearer"
    case .required: return isDPoP ? nil : "token_type must be DPoP, since the configuration says dpop: always"
    }
  }
}
