// The key of a client that authenticates with signed assertions: private_key_jwt (OpenID Connect Core §9, RFC 7523
// §2.2, §3).

package import EnrollCrypto
import EnrollJSON

/// A private key that signs the client's assertions.
package struct ClientKey: Sendable {
  /// Reads the key from its file.
  package typealias Reader = @Sendable () throws(EnrollError) -> ClientKey

  private let key: PrivateKey
  private let id: String?
  private let algorithm: SignatureAlgorithm?
  private let audience: String?

  /// The lifetime of an assertion: each request has a new assertion, which is sent at once.
  static let assertionSeconds: Int64 = 300
  package static let randomByteCount = 16
  /// The value of the audience setting that means the URL of the token endpoint, for servers that reject
  /// their issuer as the audience (Hydra).
  package static let tokenEndpointAudience = "token_endpoint"

  /// - Parameter text: the content of the file.
  /// - Throws: `.configuration`; the error repeats nothing of the text.
  package init(
    _ text: String, id: String?, algorithm: SignatureAlgorithm?, audience: String?
  ) throws(EnrollError) {
    let jwk: (key: PrivateKey, id: String?, algorithm: SignatureAlgorithm?)
    if text.utf8.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") {
      jwk = try PrivateJWK.read(text, field: Self.field)
    } else {
      jwk = (try PEMKey.read(text, field: Self.field), nil, nil)
    }
    key = jwk.key
    self.id = id ?? jwk.id
    self.algorithm = algorithm ?? jwk.algorithm
    self.audience = audience
    if let algorithm = self.algorithm, !algorithm.fits(key.kind) {
      throw EnrollError(
        .configuration, "\(Self.field): the key is not of the kind that \(algorithm.rawValue) needs",
        field: Self.field)
    }
  }

  package static let field = "clientKeyFile"

  /// The algorithm for a provider that announces `announced`: the configured algorithm. If no algorithm is configured,
  /// the first announced algorithm that fits the key. If no announced algorithm fits, the first of all algorithms that
  /// fits the key.
  func algorithm(among announced: [String]?) -> SignatureAlgorithm {
    if let algorithm { return algorithm }
    let fitting = SignatureAlgorithm.allCases.filter { $0.fits(key.kind) }
    return fitting.first { Scopes.contains($0.rawValue, in: announced ?? []) } ?? fitting[0]
  }

  /// - Parameter random: ``randomByteCount`` bytes.
  package func assertion(
    by clientID: ClientID, to issuer: Issuer, at metadata: ProviderMetadata?, time: UnixTime, random: [UInt8]
  ) throws(EnrollError) -> Secret {
    var audience = audience ?? issuer.text
    if ASCII.equals(audience, Self.tokenEndpointAudience), let metadata { audience = metadata.tokenEndpoint }
    return try SignedJWT.make(
      header: [("kid", id.map { .string($0) }), ("typ", .string("JWT"))],
      claims: [
        ("iss", .string(clientID.text)), ("sub", .string(clientID.text)), ("aud", .string(audience)),
        ("jti", .string(Base64URL.encode(random))), ("iat", .integer(time.seconds)),
        ("exp", .integer((time + Self.assertionSeconds).seconds)),
      ], by: key, algorithm(among: metadata?.assertionAlgorithms))
  }
}
