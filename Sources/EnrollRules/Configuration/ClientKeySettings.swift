// The settings of the client's own key (private_key_jwt; OpenID Connect Core §9).

public import EnrollCrypto

/// The settings of the configuration for the client's own key.
public struct ClientKeySettings: Equatable, Sendable {
  /// The path of the file with the private key: PKCS #8 in PEM (RFC 7468 §10), or a JWK (RFC 7517).
  public var file: String
  /// `kid`, the id under which the provider knows the key; nil for the JWK's `kid`, or for no `kid` if the JWK has
  /// none.
  public var id: String?
  /// The signature algorithm; nil for the JWK's `alg` or, without it, an algorithm that fits the key, preferably one
  /// that the provider announces.
  public var algorithm: SignatureAlgorithm?
  /// `aud` of the assertions; nil for the issuer. The word `token_endpoint` means the URL of the token endpoint.
  public var audience: String?

  /// Settings for the key in `file`.
  public init(
    file: String, id: String? = nil, algorithm: SignatureAlgorithm? = nil, audience: String? = nil
  ) {
    self.file = file
    self.id = id
    self.algorithm = algorithm
    self.audience = audience
  }
}
