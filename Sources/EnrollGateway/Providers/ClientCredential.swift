// How the gateway proves to a provider who it is, where that is not a secret that stays the same: with a JWT of its own. Apple
// wants one in the place of the secret; other providers take one as an assertion (RFC 7523 §2.2, `private_key_jwt` of
// OpenID Connect Core §9).

import EnrollCore
import EnrollCrypto
import EnrollJSON

/// A key of the gateway that one provider knows.
public struct ClientCredential: Sendable {
  /// What the JWT is to the provider.
  public enum Kind: Sendable, Equatable {
    /// The client secret itself, for a team of Apple's developers.
    case appleSecret(team: String)
    /// An assertion about the client, for this audience.
    case assertion(audience: String)
  }

  let kind: Kind
  let clientID: String
  /// `kid`; nil where the provider knows one key only.
  let keyID: String?
  let key: PrivateKey
  let algorithm: SignatureAlgorithm

  /// Apple accepts at most six months; a secret of ours lives for a day.
  static let secretSeconds: Int64 = 86_400
  /// Before its end a secret gives way to a new one, so that a clock of ours that is slow by less does not matter.
  static let secretReserveSeconds: Int64 = 3_600
  /// By so much a secret claims to be older than it is: a clock of ours that is fast by less does not matter.
  static let secretBackdatingSeconds: Int64 = 300
  /// An assertion is sent once, at once.
  static let assertionSeconds: Int64 = 300
  static let randomByteCount = 16

  static let appleAudience = "https://appleid.apple.com"

  /// The fields of a request that the proof adds, and the JWT in them.
  struct Proof {
    let jwt: Secret
    let fields: FormEncoding
  }

  func proof(_ jwt: Secret) -> Proof {
    var fields = FormEncoding(.body)
    switch kind {
    case .appleSecret: fields.add("client_secret", jwt)
    case .assertion:
      fields.add("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
      fields.add("client_assertion", jwt)
    }
    return Proof(jwt: jwt, fields: fields)
  }

  /// A new JWT.
  /// - Parameter random: ``randomByteCount`` bytes.
  func jwt(at now: UnixTime, random: [UInt8]) throws(EnrollError) -> Secret {
    let header: [(String, JSON?)] = [("kid", keyID.map { .string($0) }), ("typ", .string("JWT"))]
    switch kind {
    case .appleSecret(let team):
      return try SignedJWT.make(
        header: header,
        claims: [
          ("iss", .string(team)), ("iat", .integer((now - Self.secretBackdatingSeconds).seconds)),
          ("exp", .integer((now + Self.secretSeconds).seconds)), ("aud", .string(Self.appleAudience)),
          ("sub", .string(clientID)),
        ], by: key, algorithm)
    case .assertion(let audience):
      return try SignedJWT.make(
        header: header,
        claims: [
          ("iss", .string(clientID)), ("sub", .string(clientID)), ("aud", .string(audience)),
          ("jti", .string(Base64URL.encode(random))), ("iat", .integer(now.seconds)),
          ("exp", .integer((now + Self.assertionSeconds).seconds)),
        ], by: key, algorithm)
    }
  }
}

/// Makes the proofs of one credential. A secret is made on demand and kept while it is good; an assertion is new each time.
final class ClientProofs: Sendable {
  private struct Kept {
    let jwt: Secret
    let made: UnixTime
  }

  private let credential: ClientCredential
  private let clock: any Clock
  private let random: any RandomSource
  private let kept: Guarded<Kept?>

  init(_ credential: ClientCredential, clock: any Clock, random: any RandomSource, lock: any Lock) {
    self.credential = credential
    self.clock = clock
    self.random = random
    kept = Guarded(nil, by: lock)
  }

  func next() throws(EnrollError) -> ClientCredential.Proof {
    let now = clock.wallTime()
    guard case .appleSecret = credential.kind else {
      return credential.proof(
        try credential.jwt(at: now, random: try random.bytes(ClientCredential.randomByteCount)))
    }
    if let known = kept.withLock({ $0 }), Self.isGood(known.made, at: now) {
      return credential.proof(known.jwt)
    }
    let jwt = try credential.jwt(at: now, random: [])
    kept.withLock { $0 = Kept(jwt: jwt, made: now) }
    return credential.proof(jwt)
  }

  /// A date that was set back makes a secret that begins in the future: it is made again.
  private static func isGood(_ made: UnixTime, at now: UnixTime) -> Bool {
    now + ClientCredential.secretBackdatingSeconds >= made
      && now + ClientCredential.secretReserveSeconds < made + ClientCredential.secretSeconds
  }
}
