// The key to which a session's tokens are bound (RFC 9449 §4, RFC 7638): ES256 only, made with its transaction, sealed
// with it in the store, and handed on to the tokens that come of it. Nobody but this library ever signs with it.
// And which types of token an answer may have (RFC 9449 §5, RFC 6749 §7.1: a type that is not understood must not be used).

public import EnrollCrypto
public import EnrollJSON

/// A P-256 key pair as it is kept. Reading a record costs nothing for it; ``signer()`` opens it.
public struct DPoPKey: Equatable, Sendable {
  /// The only algorithm (RFC 7518 §3.4).
  public static let algorithm = SignatureAlgorithm.ES256

  /// PKCS #8 in DER.
  public let der: Secret

  /// As it was kept: whatever it holds is looked at by ``signer()``.
  public init(der: Secret) { self.der = der }

  /// A new one.
  /// - Throws: `.internal` when OpenSSL cannot make a key.
  public static func make() throws(EnrollError) -> DPoPKey {
    do throws(CryptoError) {
      return DPoPKey(der: try PrivateKey.generate(.ec(.p256)).exported())
    } catch {
      throw EnrollError(error, "a key could not be made")
    }
  }

  /// - Throws: `.storeCorrupt` when what was kept is no P-256 key.
  public func signer() throws(EnrollError) -> DPoPSigner {
    do throws(CryptoError) {
      return try DPoPSigner(PrivateKey(der: der))
    } catch {
      guard error.reason == .key else { throw EnrollError(error, "the key of the tokens cannot be used") }
      throw EnrollError(.storeCorrupt, "the key of the tokens cannot be used: \(error.message)")
    }
  }
}

/// A key that is ready to sign, and what others may know of it.
public struct DPoPSigner: Sendable {
  let key: PrivateKey
  /// The public half as a JSON Web Key (RFC 7517 §4).
  public let publicKey: JSONObject
  /// RFC 7638 with SHA-256: what `dpop_jkt` and `cnf.jkt` hold.
  public let thumbprint: String

  /// - Throws: `.key` for any key that is not on P-256.
  public init(_ key: PrivateKey) throws(CryptoError) {
    guard case .ec(.p256, let x, let y) = key.publicKey.components else {
      throw CryptoError(.key, "expected a P-256 key (RFC 7518 §3.4)")
    }
    self.key = key
    // The members that RFC 7638 §3.2 wants, in its order.
    publicKey = JSONObject([
      ("crv", .string(Curve.p256.rawValue)), ("kty", .string("EC")), ("x", .string(Base64URL.encode(x))),
      ("y", .string(Base64URL.encode(y))),
    ])
    thumbprint = Base64URL.encode(try Digest.sha256.hash(JSON.object(publicKey).serialized()))
  }
}

/// The key that was proven when tokens were requested, if any.
public enum DPoPBinding: Equatable, Sendable {
  /// Nothing: tokens are Bearer tokens.
  case none
  /// A key: the provider binds the tokens to it, or only the refresh token, and says which by `token_type`.
  case offered
  /// A key, and tokens that are not bound to it are of no use.
  case required

  /// The fault of a response's `token_type`; nil if it has none.
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

extension TokenSet {
  /// The key with which the access token has to be shown; nil for a Bearer token.
  var proofKey: DPoPKey? { ASCII.equalsIgnoringCase(tokenType, "DPoP") ? dpopKey : nil }

  /// The same of one of the session's access tokens; nil or an unknown one: the session's own.
  func proofKey(of accessToken: Secret?) -> DPoPKey? {
    guard let accessToken,
      let token = audiences.entries.first(where: { $0.token?.accessToken == accessToken })?.token
    else { return proofKey }
    return ASCII.equalsIgnoringCase(token.tokenType, "DPoP") ? dpopKey : nil
  }
}
