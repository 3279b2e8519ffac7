// The id_token (OpenID Connect Core §2, §3.1.3.7), as three types: the received token, which proves nothing; the token
// whose signature is verified; and the token that passed every rule. A received token becomes a token of the last type
// only if its signature and every rule are checked.

public import EnrollCrypto
public import EnrollJSON

/// A verified id_token: signed by the issuer for this client, in response to its request.
public struct IDToken: Equatable, Sendable {
  /// The claims with which the session's later id_tokens are compared (R27).
  public let facts: IdentityFacts
  public let issuedAt: UnixTime
  /// When the id_token expires; this is not the end of the session.
  public let expiresAt: UnixTime
  /// `acr`.
  public let authenticationClass: String?
  /// All claims of the id_token. They include the claims of the profile that the provider puts into the id_token.
  public let claims: JSONObject

  public var subject: String { facts.subject }
  public var authTime: UnixTime? { facts.authTime }

  /// An id_token as it was received.
  public struct Unverified: Sendable {
    private let token: JWS
    private let claims: Result<IDTokenClaims, EnrollError>

    /// Parses the token.
    /// - Throws: `.idTokenInvalid` if it is not a compact JWS within the limits, names an algorithm that is never
    ///   accepted, or lacks a claim that every id_token has (R21, R24, R25).
    public init(parsing text: Secret) throws(EnrollError) {
      token = try JWS(parsing: text)
      claims = .success(try IDTokenClaims(token.payload))
    }

    /// Parses the token only for its signature. Missing or malformed claims are refused later, when they are checked.
    /// - Throws: `.idTokenInvalid` if it is not a compact JWS within the limits, or names an algorithm that is never
    ///   accepted.
    package init(signatureOf text: Secret) throws(EnrollError) {
      token = try JWS(parsing: text)
      do throws(EnrollError) { claims = .success(try IDTokenClaims(token.payload)) } catch {
        claims = .failure(error)
      }
    }

    /// Whether the token has every claim that an id_token must have.
    package var isReadable: Bool {
      if case .success = claims { true } else { false }
    }

    /// Applies R21 to R27. This is a pure function: it uses neither network nor clock.
    /// - Throws: `.keysUnavailable` if `keys` has no key with the token's `kid`; `.idTokenInvalid` for every other
    ///   fault.
    public func verify(
      keys: JWKSet, expecting expected: IDTokenExpectations
    ) throws(EnrollError) -> IDToken {
      switch try signature(keys: keys, algorithms: expected.algorithms) {
      case .proven(let signed): return try signed.checked(against: expected)
      case .unproven(let error): throw error
      }
    }

    /// The result of checking the signature with a set of keys.
    package enum Signature {
      case proven(Signed)
      /// The given keys do not verify the signature, but newer keys may verify it (R23).
      case unproven(EnrollError)
    }

    /// Applies R21 and R22.
    /// - Throws: as ``SignatureRule/verdict(on:keys:algorithms:)``.
    package func signature(keys: JWKSet, algorithms: [SignatureAlgorithm]) throws(EnrollError) -> Signature {
      switch try SignatureRule.verdict(on: token, keys: keys, algorithms: algorithms) {
      case .proven(let key):
        return .proven(
          Signed(
            payload: token.payload, algorithm: token.algorithm, keyIssuer: key.issuer, claims: claims))
      case .unproven(let error): return .unproven(error)
      }
    }
  }

  /// An id_token with a verified signature; its claims are not checked yet.
  package struct Signed: Sendable {
    /// The bytes that were signed.
    package let payload: [UInt8]
    package let algorithm: SignatureAlgorithm
    /// The only issuer for which the key may sign; nil if the key may sign for any issuer.
    fileprivate let keyIssuer: Issuer?
    fileprivate let claims: Result<IDTokenClaims, EnrollError>

    /// The claim `iat`, which is not checked yet; nil if the claims cannot be read.
    package var claimedIssuedAt: UnixTime? { try? claims.get().issuedAt }

    /// Checks that the key may sign for the issuer. Tenants share a set of keys, but a key of one tenant may not sign
    /// for another tenant.
    /// - Parameters:
    ///   - issuer: `iss`.
    ///   - provider: the configured issuer or issuer template.
    /// - Throws: `.idTokenInvalid`.
    package func checkKey(signing issuer: Issuer, of provider: Issuer) throws(EnrollError) {
      guard provider.isTemplate, let keyIssuer, !keyIssuer.covers(issuer) else { return }
      throw IDTokenClaims.refusal(
        "its key is one of \(PrintableText.bounded(keyIssuer.text, maximumBytes: 256)), and iss is another")
    }

    /// Applies R24 to R27. This is a pure function: it uses neither network nor clock.
    /// - Throws: `.idTokenInvalid`.
    package func checked(against expected: IDTokenExpectations) throws(EnrollError) -> IDToken {
      let claims = try claims.get()
      for rule in IDTokenRule.all { try rule.check(claims, algorithm, expected) }
      try checkKey(signing: claims.issuer, of: expected.issuer)
      return IDToken(
        facts: IdentityFacts(
          issuer: claims.issuer, subject: claims.subject, audience: claims.audience,
          authorizedParty: claims.authorizedParty, authTime: claims.authTime),
        issuedAt: claims.issuedAt, expiresAt: claims.expiresAt,
        authenticationClass: claims.authenticationClass, claims: claims.all)
    }
  }

  private init(
    facts: IdentityFacts, issuedAt: UnixTime, expiresAt: UnixTime, authenticationClass: String?,
    claims: JSONObject
  ) {
    self.facts = facts
    self.issuedAt = issuedAt
    self.expiresAt = expiresAt
    self.authenticationClass = authenticationClass
    self.claims = claims
  }
}

extension IDToken {
  /// The `sub` of an id_token, without verification. It is for a token that the host passes as a hint; such a token may
  /// have expired long ago. nil if the token is not a signed JWT with a `sub`, for example because it is encrypted.
  static func subject(unproven token: Secret) -> String? { unprovenClaims(of: token)?["sub"]?.string }

  /// The claims of a signed JWT, without verification; nil for any other text.
  static func unprovenClaims(of token: Secret) -> JSON? {
    let parts = token.revealBytes().split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Base64URL.decode(parts[1]) else { return nil }
    return try? JSON.parse(payload)
  }
}
