// The claims of an id_token (OpenID Connect Core §2), before it is signed.

import EnrollJSON

/// The values from which an id_token is made.
struct IDTokenFacts: Sendable {
  var issuer: String
  var user: User
  var grant: UserGrant
  /// The `nonce` of the authorization request; nil for a refresh (OpenID Connect Core §12.2).
  var nonce: String?
  var accessToken: String
  var now: Int64
  var lifetimeSeconds: Int64

  /// The claims, altered by the effects of faults.
  func claims(accessTokenHash: String, effects: [Fault.Effect]) -> JSONObject {
    var claims = JSONObject([
      ("iss", .string(issuer)), ("sub", .string(user.subject)), ("aud", .string(grant.clientID)),
      ("azp", .string(grant.clientID)), ("iat", .integer(now)), ("exp", .integer(now + lifetimeSeconds)),
      ("auth_time", .integer(grant.authTime)), ("nonce", nonce.map { .string($0) }),
      ("acr", .string(grant.contextClass.rawValue)),
      ("amr", .array(grant.contextClass.methods.map { .string($0) })),
      ("sid", .string(grant.sessionID)), ("at_hash", .string(accessTokenHash)),
    ])
    for (name, value) in user.claims(for: grant.scopes) { claims[name] = value }
    for effect in effects {
      switch effect {
      case .omitClaim(let name): claims[name] = nil
      case .setClaim(let name, let value): claims[name] = value
      case .addAudience(let other):
        claims["aud"] = .array([.string(grant.clientID), .string(other)])
        claims["azp"] = nil
      case .shiftTimes(let seconds):
        for name in ["iat", "exp", "auth_time"] {
          guard let time = claims[name]?.integer else { continue }
          claims[name] = .integer(time.addingReportingOverflow(seconds).partialValue)
        }
      default: continue
      }
    }
    return claims
  }
}
