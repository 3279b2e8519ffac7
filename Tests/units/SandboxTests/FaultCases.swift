// Named faults of the token endpoint, each with a check that is true for the fault and false without it.

import EnrollJSON
import Foundation
import Testing

struct TokenCase: Sendable, CustomTestStringConvertible {
  var request: String
  var check: @Sendable (Reply) -> Bool
  var testDescription: String { request }

  init(_ members: String, _ check: @escaping @Sendable (Reply) -> Bool) {
    request = #"{"do":"fault","endpoint":"token",\#(members)}"#
    self.check = check
  }
}

struct IDTokenCase: Sendable, CustomTestStringConvertible {
  var request: String
  /// Checks the fault. The arguments are the id_token, and whether the published keys verify it.
  var check: @Sendable (TestIDToken, Bool) -> Bool
  var testDescription: String { request }

  init(_ members: String, _ check: @escaping @Sendable (TestIDToken, Bool) -> Bool) {
    request = #"{"do":"fault","endpoint":"token",\#(members)}"#
    self.check = check
  }
}

let tokenCases: [TokenCase] = [
  TokenCase(#""fault":"status","value":502"#) { $0.status == 502 && $0.body.isEmpty },
  TokenCase(#""fault":"serverError""#) { $0.status == 503 },
  TokenCase(#""fault":"tooMany","retryAfter":9"#) { $0.status == 429 && $0.headers["retry-after"] == "9" },
  TokenCase(#""fault":"redirect","value":"/elsewhere""#) {
    $0.status == 307 && $0.location == "/elsewhere"
  },
  TokenCase(#""fault":"garbage""#) { $0.status == 200 && $0.json == .null },
  TokenCase(#""fault":"emptyBody""#) { $0.status == 200 && $0.body.isEmpty },
  TokenCase(#""fault":"hugeBody","value":2000000"#) {
    $0.body.count == 2_000_000 && $0.json["filler"] != nil
  },
  TokenCase(#""fault":"deepNesting""#) { $0.body.count == 100_000 && $0.json == .null },
  TokenCase(#""fault":"contentType","value":"text/html""#) { $0.headers["content-type"] == "text/html" },
  TokenCase(#""fault":"dateOffset","value":60"#) { $0.headers["date"] == "Fri, 15 Jan 2027 08:01:00 GMT" },
  TokenCase(#""fault":"oauthError","value":"invalid_grant""#) {
    $0.status == 400 && $0.json["error"] == .string("invalid_grant")
  },
  TokenCase(#""fault":"omitExpiresIn""#) { $0.json["expires_in"] == nil },
  TokenCase(#""fault":"textExpiresIn""#) { $0.json["expires_in"] == .string("300") },
  TokenCase(#""fault":"negativeExpiresIn""#) { $0.json["expires_in"] == .integer(-1) },
  TokenCase(#""fault":"absurdExpiresIn""#) { $0.json["expires_in"] == .integer(.max) },
  TokenCase(#""fault":"fractionalExpiresIn""#) { $0.json["expires_in"] == .number(300.5) },
  TokenCase(#""fault":"omitAccessToken""#) { $0.status == 200 && $0.json["access_token"] == nil },
  TokenCase(#""fault":"omitTokenType""#) { $0.json["token_type"] == nil },
  TokenCase(#""fault":"wrongTokenType""#) { $0.json["token_type"] == .string("mac") },
  TokenCase(#""fault":"omitRefreshToken""#) { $0.status == 200 && $0.json["refresh_token"] == nil },
  TokenCase(#""fault":"omitIDToken""#) { $0.json["id_token"] == nil },
  TokenCase(#""fault":"setMember","member":"scope","value":["a"]"#) {
    $0.json["scope"] == .array([.string("a")])
  },
  TokenCase(#""fault":"repeatMember","member":"access_token","value":"other""#) {
    $0.json == .null && $0.text.hasSuffix(#","access_token":"other"}"#)
  },
]

let idTokenCases: [IDTokenCase] = [
  IDTokenCase(#""fault":"wrongIssuer""#) { token, isSigned in
    isSigned && token.claims["iss"] == .string("https://evil.example")
  },
  IDTokenCase(#""fault":"wrongSubject""#) { token, isSigned in
    isSigned && token.claims["sub"] == .string("somebody-else")
  },
  IDTokenCase(#""fault":"wrongNonce""#) { token, isSigned in
    isSigned && token.claims["nonce"] == .string("other")
  },
  IDTokenCase(#""fault":"omitNonce""#) { token, isSigned in isSigned && token.claims["nonce"] == nil },
  IDTokenCase(#""fault":"wrongAudience""#) { token, isSigned in
    isSigned && token.claims["aud"] == .string("somebody-else")
  },
  IDTokenCase(#""fault":"moreAudiences""#) { token, isSigned in
    isSigned && token.claims["aud"]?.array?.count == 2 && token.claims["azp"] == nil
  },
  IDTokenCase(#""fault":"wrongAuthorizedParty""#) { token, isSigned in
    isSigned && token.claims["azp"] == .string("somebody-else")
  },
  IDTokenCase(#""fault":"expiredIDToken""#) { token, isSigned in
    isSigned && token.claims["exp"] == .integer(1_800_000_300 - 86400)
  },
  IDTokenCase(#""fault":"tokenTimeOffset","value":3600"#) { token, isSigned in
    isSigned && token.claims["iat"] == .integer(1_800_003_600)
  },
  IDTokenCase(#""fault":"clockOffset","value":-60"#) { token, _ in
    token.claims["iat"] == .integer(1_799_999_940)
  },
  IDTokenCase(#""fault":"wrongAccessTokenHash""#) { token, isSigned in
    isSigned && token.claims["at_hash"] == .string("AAAAAAAAAAAAAAAAAAAAAA")
  },
  IDTokenCase(#""fault":"omitClaim","member":"exp""#) { token, isSigned in
    isSigned && token.claims["exp"] == nil
  },
  IDTokenCase(#""fault":"setClaim","member":"auth_time","value":1.5"#) { token, _ in
    token.claims["auth_time"] == .number(1.5)
  },
  IDTokenCase(#""fault":"wrongSignature""#) { token, isSigned in
    !isSigned && token.header["alg"] == .string("ES256")
  },
  IDTokenCase(#""fault":"foreignKey""#) { token, isSigned in
    !isSigned && token.header["kid"] == .string("p256-1")
  },
  IDTokenCase(#""fault":"algNone""#) { token, isSigned in
    !isSigned && token.header["alg"] == .string("none")
  },
  IDTokenCase(#""fault":"hmacSigned""#) { token, isSigned in
    !isSigned && token.header["alg"] == .string("HS256")
  },
  IDTokenCase(#""fault":"unknownKeyID""#) { token, _ in token.header["kid"] == .string("unknown") },
  IDTokenCase(#""fault":"omitKeyID""#) { token, _ in token.header["kid"] == nil },
  IDTokenCase(#""fault":"criticalHeader""#) { token, _ in token.header["crit"] != nil },
]
