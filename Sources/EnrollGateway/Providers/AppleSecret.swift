// Apple's client secret: a JWT that the gateway signs with a key of the developer team.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON

/// A key that is registered at Apple for the gateway.
public struct AppleSecret: Sendable {
  let team: String
  let clientID: String
  let keyID: String
  let key: PrivateKey

  /// The lifetime of a secret. Apple accepts up to six months; the gateway uses a day.
  static let seconds: Int64 = 86_400
  /// A secret is replaced this many seconds before it expires, so that a clock that is slow by less than this causes no
  /// failure.
  static let reserveSeconds: Int64 = 3_600
  /// The number of seconds by which `iat` is set back, so that a clock that is fast by less than this causes no
  /// failure.
  static let backdatingSeconds: Int64 = 300

  static let audience = "https://appleid.apple.com"

  /// A new JWT.
  func jwt(at now: UnixTime) throws(EnrollError) -> Secret {
    try SignedJWT.make(
      header: [("kid", .string(keyID)), ("typ", .string("JWT"))],
      claims: [
        ("iss", .string(team)), ("iat", .integer((now - Self.backdatingSeconds).seconds)),
        ("exp", .integer((now + Self.seconds).seconds)), ("aud", .string(Self.audience)),
        ("sub", .string(clientID)),
      ], by: key, .ES256)
  }
}

/// Makes secrets on demand, and caches each while it is valid.
final class AppleSecrets: Sendable {
  private struct Kept {
    let jwt: Secret
    let made: UnixTime
  }

  private let source: AppleSecret
  private let clock: any Clock
  private let kept: Guarded<Kept?>

  init(_ source: AppleSecret, clock: any Clock, lock: any Lock) {
    self.source = source
    self.clock = clock
    kept = Guarded(nil, by: lock)
  }

  func next() throws(EnrollError) -> Secret {
    let now = clock.wallTime()
    if let known = kept.withLock({ $0 }), Self.isGood(known.made, at: now) { return known.jwt }
    let jwt = try source.jwt(at: now)
    kept.withLock { $0 = Kept(jwt: jwt, made: now) }
    return jwt
  }

  /// Whether the secret can still be used. Also false if the clock was set back, because the secret then looks as if it
  /// was issued in the future.
  private static func isGood(_ made: UnixTime, at now: UnixTime) -> Bool {
    now + AppleSecret.backdatingSeconds >= made
      && now + AppleSecret.reserveSeconds < made + AppleSecret.seconds
  }
}
