// The id_token (OpenID Connect Core §2, §3.1.3.7). Three types: what came, which says nothing yet; what the issuer signed;
// and what is proven. The only way from the first to the last is through the signature and every rule.

public import EnrollCrypto
public import EnrollJSON

/// A proven id_token: signed by the issuer for us, in answer to our request.
public struct IDToken: Equatable, Sendable {
  /// The claims that stay the same for the life of the session (R27).
  public let facts: IdentityFacts
  public let issuedAt: UnixTime
  /// When the token stops being a proof; not the end of the session.
  public let expiresAt: UnixTime
  /// `acr`.
  public let authenticationClass: String?
  /// All claims: the profile, as far as the provider puts it there.
  public let claims: JSONObject

  public var subject: String { facts.subject }
  public var authTime: UnixTime? { facts.authTime }

  /// An id_token as it came.
  public struct Unverified: Sendable {
    private let token: JWS
    private let claims: Result<IDTokenClaims, EnrollError>

    /// Takes the token apart.
    /// - Throws: `.idTokenInvalid` when it is no compact JWS within the limits, names an algorithm that is never
    ///   accepted, or lacks a claim that every id_token has (R21, R24, R25).
    public init(parsing text: Secret) throws(EnrollError) {
      token = try JWS(parsing: text)
      claims = .success(try IDTokenClaims(token.payload))
    }

    /// Takes the token apart for its signature: claims that no id_token may have are refused when they are checked.
    /// - Throws: `.idTokenInvalid` when it is no compact JWS within the limits, or names an algorithm that is never accepted.
    init(signatureOf text: Secret) throws(EnrollError) {
      token = try JWS(parsing: text)
      do throws(EnrollError) { claims = .success(try IDTokenClaims(token.payload)) } catch {
        claims = .failure(error)
      }
    }

    /// Whether it has every claim that an id_token has.
    var isReadable: Bool {
      if case .success = claims { true } else { false }
    }

    /// Applies R21 to R27. Pure: neither network nor clock.
    /// - Throws: `.keysUnavailable` when `keys` has no key of the token's `kid`; `.idTokenInvalid` for everything else.
    public func verify(
      keys: JWKSet, expecting expected: IDTokenExpectations
    ) throws(EnrollError) -> IDToken {
      switch try signature(keys: keys, algorithms: expected.algorithms) {
      case .proven(let signed): return try signed.checked(against: expected)
      case .unproven(let error): throw error
      }
    }

    /// The result of checking the signature with a set of keys.
    enum Signature {
      case proven(Signed)
      /// Newer keys may prove it (R23).
      case unproven(EnrollError)
    }

    /// Applies R21 and R22.
    /// - Throws: as ``SignatureRule/verdict(on:keys:algorithms:)``.
    func signature(keys: JWKSet, algorithms: [SignatureAlgorithm]) throws(EnrollError) -> Signature {
      switch try SignatureRule.verdict(on: token, keys: keys, algorithms: algorithms) {
      case .proven(let key):
        return .proven(
          Signed(
            payload: token.payload, algorithm: token.algorithm, keyIssuer: key.issuer, claims: claims))
      case .unproven(let error): return .unproven(error)
      }
    }
  }

  /// An id_token that the issuer signed; its claims are not judged yet.
  struct Signed: Sendable {
    /// As it was signed.
    let payload: [UInt8]
    fileprivate let algorithm: SignatureAlgorithm
    /// The issuer for which alone the key signs; nil for any.
    fileprivate let keyIssuer: Issuer?
    fileprivate let claims: Result<IDTokenClaims, EnrollError>

    /// Tenants share a set of keys: one tenant's own key signs nothing for another.
    /// - Parameters:
    ///   - issuer: `iss`.
    ///   - provider: the configured issuer, or template of issuers.
    /// - Throws: `.idTokenInvalid`.
    func checkKey(signing issuer: Issuer, of provider: Issuer) throws(EnrollError) {
      guard provider.isTemplate, let keyIssuer, !keyIssuer.covers(issuer) else { return }
      throw IDTokenClaims.refusal(
        "its key is one of \(PrintableText.bounded(keyIssuer.text, maximumBytes: 256)), and iss is another")
    }

    /// Applies R24 to R27. Pure: neither network nor clock.
    /// - Throws: `.idTokenInvalid`.
    func checked(against expected: IDTokenExpectations) throws(EnrollError) -> IDToken {
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
  /// Whom an id_token is about, without asking whether it is proven: of one that the host hands in as a hint, which may
  /// have ended long ago. nil for what is no signed JWT with a `sub`: an encrypted one says nothing here.
  static func subject(unproven token: Secret) -> String? { unprovenClaims(of: token)?["sub"]?.string }

  /// The claims of a signed JWT, without asking whether they are proven; nil for any other text.
  static func unprovenClaims(of token: Secret) -> JSON? {
    let parts = token.revealBytes().split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Base64URL.decode(parts[1]) else { return nil }
    return try? JSON.parse(payload)
  }
}
