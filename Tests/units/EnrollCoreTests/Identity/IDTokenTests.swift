// The rules about claims, R24 to R27, one by one.

import EnrollRules
import EnrollCrypto
import EnrollJSON
import Expectations
import Testing

private let now = TokenMaker.now

@Suite("Claims of an id_token")
struct IDTokenTests {
  @Test("a right token is proven, and gives its facts and claims")
  func right() throws {
    var maker = TokenMaker()
    maker.claims["aud"] = .array([.string("native"), .string("api")])
    maker.claims["azp"] = .string("native")
    maker.claims["auth_time"] = .number(1_699_999_990.7)
    maker.claims["acr"] = .string("silver")
    maker.claims["email"] = .string("alice@example.com")
    let token = try IDToken.Unverified(parsing: Secret(maker.text()))
      .verify(keys: Provider.keySet(), expecting: expectations { $0.trustedAudiences = ["api"] })
    expect(
      token.facts,
      is: IdentityFacts(
        issuer: "https://idp.example", subject: "alice", audience: ["native", "api"],
        authorizedParty: "native", authTime: UnixTime(seconds: 1_699_999_990)))
    expect(token.subject, is: "alice")
    expect(token.issuedAt, is: UnixTime(seconds: now))
    expect(token.expiresAt, is: UnixTime(seconds: now + 300))
    expect(token.authenticationClass, is: "silver")
    expect(token.claims, is: maker.claims)
  }

  @Test(
    "iss is the configured issuer, byte for byte (R24)",
    arguments: [
      "https://idp.example/", "https://IDP.example", "http://idp.example", "https://idp.example ", "",
      "https://evil.example",
    ])
  func issuer(value: String) throws {
    #expect(isRefused(try refusal(.with("iss", .string(value))), "iss"))
  }

  @Test("iss that is equal only to Unicode is another issuer (R24)")
  func issuerNormalised() throws {
    let maker = TokenMaker.with("iss", .string("https://e\u{301}.example"))
    let error = try refusal(maker) { $0.issuer = "https://\u{E9}.example" }
    #expect(isRefused(error, "iss"))
  }

  @Test(
    "aud contains us (R24)",
    arguments: [
      JSON.string("other"), .string("Native"), .string("native "), .string(""), .array([]),
      .array([.string("other")]), .array([.string("native"), .integer(1)]), .integer(1), .null,
      .object([("native", .bool(true))]),
    ])
  func audience(value: JSON) throws {
    var maker = TokenMaker.with("aud", value)
    #expect(isRefused(try refusal(maker), "aud"))
    // An `azp` that names this client does not make the token valid for this client.
    maker.claims["azp"] = .string("native")
    #expect(isRefused(try refusal(maker), "aud"))
  }

  @Test("a token without aud is refused (R24)")
  func noAudience() throws {
    #expect(isRefused(try refusal(.with("aud", nil)), "aud is missing"))
  }

  @Test("a further audience is refused unless it is trusted, and azp is us (R24)")
  func authorizedParty() throws {
    var maker = TokenMaker.with("aud", .array([.string("native"), .string("api")]))
    for party: JSON? in [nil, .string("native")] {
      maker.claims["azp"] = party
      #expect(isRefused(try refusal(maker), "aud names api, too, which is not in trustedAudiences"))
      #expect(isRefused(try refusal(maker) { $0.trustedAudiences = ["other"] }, "aud names api"))
      try expect(refusal(maker) { $0.trustedAudiences = ["api"] }, is: nil)
    }
    try expect(refusal(maker) { $0.trustedAudiences = ["*"] }, is: nil)
    for other: JSON in [.string("api"), .string(""), .null, .array([.string("native")])] {
      maker.claims["azp"] = other
      #expect(isRefused(try refusal(maker) { $0.trustedAudiences = ["*"] }, "azp"))
    }
    #expect(isRefused(try refusal(.with("azp", .string("api"))), "azp"))
    try expect(refusal(.with("azp", .string("native"))), is: nil)
    try expect(refusal(.with("aud", .array([.string("native")]))), is: nil)
    try expect(refusal(.with("aud", .array([.string("native"), .string("native")]))), is: nil)
  }

  @Test(
    "exp, iat, sub and iss are present and of their type (R24, R25)", arguments: ["exp", "iat", "sub", "iss"])
  func required(name: String) throws {
    #expect(isRefused(try refusal(.with(name, nil)), "\(name) is missing"))
    #expect(isRefused(try refusal(.with(name, .null)), "\(name) is missing"))
    for value: JSON in [.bool(true), .array([]), .object([])] {
      #expect(isRefused(try refusal(.with(name, value)), "\(name) is not a"))
    }
  }

  @Test("a date as text is no date (R25)", arguments: ["exp", "iat", "nbf"])
  func textDate(name: String) throws {
    #expect(isRefused(try refusal(.with(name, .string("1700000000"))), name))
  }

  @Test(
    "a claim that nobody asked for may have any type, and stays as it is",
    arguments: ["acr", "auth_time", "nonce"])
  func unaskedClaim(name: String) throws {
    for value: JSON in [.object([("level", .integer(1))]), .array([]), .bool(true), .string("1")] {
      var maker = TokenMaker.with(name, value)
      if name != "nonce" { maker.claims["email"] = .string("alice@example.com") }
      var expected = expectations()
      expected.nonce = name == "nonce" ? nil : expected.nonce
      let token = try IDToken.Unverified(parsing: Secret(maker.text()))
        .verify(keys: Provider.keySet(), expecting: expected)
      expect(token.claims[name], is: value)
    }
  }

  @Test("a claim that was asked for has its type")
  func askedClaimOfAnotherType() throws {
    let value = JSON.object([("level", .integer(1))])
    let acr = try refusal(.with("acr", value)) { $0.acrValues = ["gold"] }
    #expect(isRefused(acr, "acr was requested but is not of its type: object"))
    let time = try refusal(.with("auth_time", value)) { $0.maxAgeSeconds = 60 }
    #expect(isRefused(time, "auth_time is not of its type: object"))
    #expect(isRefused(try refusal(.with("nonce", value)), "nonce is not of its type: object"))
  }

  @Test("sub has 1 to 255 bytes (R25)")
  func subjectLength() throws {
    #expect(isRefused(try refusal(.with("sub", .string(""))), "sub"))
    try expect(refusal(.with("sub", .string(String(repeating: "a", count: 255)))), is: nil)
    #expect(
      isRefused(try refusal(.with("sub", .string(String(repeating: "a", count: 256)))), "sub"))
  }

  @Test(
    "exp may have passed by less than the tolerance (R25)",
    arguments: [
      (JSON.integer(now + 1), true), (.integer(now), true), (.integer(now - 299), true),
      (.number(Double(now) - 298.5), true), (.integer(now - 300), false), (.integer(now - 301), false),
      (.integer(0), false), (.integer(-1), false), (.integer(.min), false), (.integer(.max), true),
      (.number(1e300), true), (.number(-1e300), false), (.number(0x1p63), true), (.number(-0x1p63), false),
    ])
  func expiry(value: JSON, accepted: Bool) throws {
    let error = try refusal(.with("exp", value))
    #expect(accepted ? error == nil : isRefused(error, "exp"))
  }

  @Test(
    "iat may be in the future by the tolerance at most (R25)",
    arguments: [
      (JSON.integer(now + 300), true), (.integer(now + 301), false), (.integer(0), true),
      (.integer(.max), false), (.integer(.min), true), (.number(1e300), false), (.number(-1e300), true),
    ])
  func issueTime(value: JSON, accepted: Bool) throws {
    let error = try refusal(.with("iat", value))
    #expect(accepted ? error == nil : isRefused(error, "iat"))
  }

  @Test(
    "nbf may be in the future by the tolerance at most (R25)",
    arguments: [
      (JSON.integer(now + 300), true), (.integer(now + 301), false), (.number(1e300), false),
      (.integer(.min), true), (.null, true),
    ])
  func notBefore(value: JSON, accepted: Bool) throws {
    let error = try refusal(.with("nbf", value))
    #expect(accepted ? error == nil : isRefused(error, "nbf"))
  }

  @Test("no clock and no tolerance, however absurd, makes a rule trap")
  func absurdClock() throws {
    for now in [Int64.min, -1, 0, .max] {
      for tolerance in [Int64.min, 0, .max] {
        _ = try refusal(TokenMaker.with("auth_time", .integer(.min))) {
          $0.now = UnixTime(seconds: now)
          $0.toleranceSeconds = tolerance
          $0.maxAgeSeconds = .max
        }
      }
    }
  }

  @Test(
    "nonce is the one that was sent (R26)",
    arguments: [
      JSON.string("n-0S6_WzA2Mk"), .string("n-0S6_WzA2M"), .string("n-0S6_WzA2Mj "), .string(""), .null,
      .array([.string("n-0S6_WzA2Mj")]), nil,
    ])
  func nonce(value: JSON?) throws {
    let error = try refusal(.with("nonce", value))
    #expect(isRefused(error, "nonce"))
    // A reader of the log must not learn the expected value (R40).
    expect(error?.message.contains("n-0S6_WzA2Mj"), is: false)
  }

  @Test("on refresh no nonce is asked for")
  func noNonce() throws {
    try expect(refusal(.with("nonce", nil)) { $0.nonce = nil }, is: nil)
    try expect(refusal(.with("nonce", .string("any"))) { $0.nonce = nil }, is: nil)
  }

  @Test(
    "max_age asked means auth_time checked (R26)",
    arguments: [
      (nil, false), (JSON.integer(now), true), (.integer(now - 60), true), (.integer(now - 70), true),
      (.integer(now - 71), false), (.number(Double(now) - 69.5), true), (.integer(0), false),
      (.integer(now + 300), true), (.integer(now + 301), false), (.integer(.max), false),
      (.integer(.min), false),
    ])
  func authenticationTime(value: JSON?, accepted: Bool) throws {
    let error = try refusal(.with("auth_time", value)) { $0.maxAgeSeconds = 60 }
    #expect(accepted ? error == nil : isRefused(error, "auth_time"))
    try expect(refusal(.with("auth_time", value)), is: nil)
  }

  @Test("max_age counts back from the request, and tolerates only the provider's own clocks (R26)")
  func maxAgeZero() throws {
    try expect(refusal(.with("auth_time", .integer(now - 10))) { $0.maxAgeSeconds = 0 }, is: nil)
    let error = try refusal(.with("auth_time", .integer(now - 11))) { $0.maxAgeSeconds = 0 }
    #expect(isRefused(error, "auth_time"))
    // The user took two minutes to sign in.
    try expect(
      refusal(.with("auth_time", .integer(now - 130))) {
        ($0.maxAgeSeconds, $0.requestAgeSeconds) = (0, 120)
      }, is: nil)
    let old = try refusal(.with("auth_time", .integer(now - 131))) {
      ($0.maxAgeSeconds, $0.requestAgeSeconds) = (0, 120)
    }
    #expect(isRefused(old, "auth_time"))
  }

  @Test("neither a wrong clock of the device nor an iat that stands still makes an old sign-in young (R26)")
  func maxAgeClocks() throws {
    for skew in [Int64(-290), 290] {
      let ask = { (expected: inout IDTokenExpectations) in
        (expected.maxAgeSeconds, expected.now) = (0, UnixTime(seconds: now + skew))
      }
      try expect(refusal(.with("auth_time", .integer(now - 5)), ask), is: nil)
      let error = try refusal(.with("auth_time", .integer(now - 60)), ask)
      #expect(isRefused(error, "auth_time"))
    }
    var standing = TokenMaker.with("auth_time", .integer(now - 400))
    standing.claims["iat"] = .integer(now - 400)
    #expect(isRefused(try refusal(standing) { $0.maxAgeSeconds = 0 }, "auth_time"))
  }

  @Test("acr is checked when asked (R26)")
  func authenticationClass() throws {
    let ask = { (expected: inout IDTokenExpectations) in expected.acrValues = ["gold", "silver"] }
    #expect(isRefused(try refusal(TokenMaker(), ask), "acr"))
    try expect(refusal(.with("acr", .string("silver")), ask), is: nil)
    #expect(isRefused(try refusal(.with("acr", .string("bronze")), ask), "acr"))
    #expect(isRefused(try refusal(.with("acr", .string("gold silver")), ask), "acr"))
    #expect(isRefused(try refusal(.with("acr", .integer(1)), ask), "acr"))
    try expect(refusal(.with("acr", .string("bronze"))), is: nil)
  }

  @Test(
    "at_hash is of the access token, by the hash of the algorithm, or by Glewlwyd's for EdDSA (R26)",
    arguments: SignatureAlgorithm.allCases)
  func accessTokenHash(algorithm: SignatureAlgorithm) throws {
    let accessToken = Secret("jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y")
    var maker = TokenMaker(algorithm)
    let accepted: [Digest] = algorithm.isEdDSA ? [.sha512, .sha256] : [algorithm.digest]
    for digest in Digest.allCases {
      let hash = try digest.hash(accessToken)
      maker.claims["at_hash"] = .string(Base64URL.encode(Array(hash.prefix(digest.byteCount / 2))))
      let error = try refusal(maker) { $0.accessToken = accessToken }
      #expect(accepted.contains(digest) ? error == nil : isRefused(error, "at_hash"))
    }
  }

  @Test("at_hash of another token, cut short or of another type is refused (R26)")
  func wrongAccessTokenHash() throws {
    let accessToken = Secret("jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y")
    let ask = { (expected: inout IDTokenExpectations) in expected.accessToken = accessToken }
    // This access token and its `at_hash` are the example of OpenID Connect Core A.3.
    try expect(refusal(.with("at_hash", .string("77QmUPtjPfzWtF2AnpK9RQ")), ask), is: nil)
    try expect(refusal(TokenMaker(), ask), is: nil)
    for wrong: JSON in [
      .string("77QmUPtjPfzWtF2AnpK9RA"), .string("77QmUPtjPfzWtF2AnpK9R"), .string(""),
      .string("77QmUPtjPfzWtF2AnpK9RQ=="),
    ] {
      #expect(isRefused(try refusal(.with("at_hash", wrong), ask), "at_hash"))
    }
  }

  private let first = IdentityFacts(
    issuer: "https://idp.example", subject: "alice", audience: ["native"],
    authTime: UnixTime(seconds: now - 9))

  private func onRefresh(_ maker: TokenMaker, _ first: IdentityFacts) throws -> EnrollError? {
    try refusal(maker) {
      $0.nonce = nil
      $0.previous = first
    }
  }

  @Test(
    "on refresh iss and sub are unchanged, this client stays in aud and azp, auth_time moves forward only (R27)"
  )
  func continuity() throws {
    var maker = TokenMaker()
    try expect(onRefresh(maker, first), is: nil)
    maker.claims["auth_time"] = .integer(now - 9)
    try expect(onRefresh(maker, first), is: nil)
    maker.claims["auth_time"] = .number(Double(now) - 8.25)
    try expect(onRefresh(maker, first), is: nil)
    for later in [now - 8, now] {
      maker.claims["auth_time"] = .integer(later)
      try expect(onRefresh(maker, first), is: nil)
    }
    for wrong in [now - 10, now + 1] {
      maker.claims["auth_time"] = .integer(wrong)
      #expect(isRefused(try onRefresh(maker, first), "auth_time"))
    }

    #expect(isRefused(try onRefresh(.with("sub", .string("mallory")), first), "sub"))
    try expect(onRefresh(.with("sub", .string("mallory")), first)?.message.contains("mallory"), is: false)
    try expect(onRefresh(.with("azp", .string("native")), first), is: nil)
    #expect(isRefused(try onRefresh(.with("azp", .string("other")), first), "azp"))
    var several = first
    several.audience = ["native", "api"]
    several.authorizedParty = "native"
    try expect(onRefresh(TokenMaker(), several), is: nil)
    maker = .with("aud", .array([.string("api"), .string("native")]))
    try expect(onRefresh(maker, first), is: nil)
    #expect(isRefused(try refusal(maker), "trustedAudiences"))
    #expect(isRefused(try onRefresh(.with("aud", .array([.string("api")])), several), "aud"))
    var elsewhere = first
    elsewhere.issuer = "https://old.example"
    #expect(isRefused(try onRefresh(TokenMaker(), elsewhere), "iss"))
  }

  @Test("a claim that is null is absent", arguments: ["acr", "azp", "auth_time", "nbf", "at_hash"])
  func null(claim: String) throws {
    try expect(refusal(.with(claim, .null)), is: nil)
    #expect(isRefused(try refusal(.with("sub", .null)), "sub is missing"))
  }

  @Test("an auth_time that comes late, or only once, changes nothing (R27)")
  func authTimeOnce() throws {
    var silent = first
    silent.authTime = nil
    try expect(onRefresh(.with("auth_time", .integer(now - 9)), silent), is: nil)
    try expect(onRefresh(TokenMaker(), silent), is: nil)
  }

  @Test("claims that are no object, or break a limit of JSON, are refused (R37)")
  func badClaims() throws {
    let header = Base64URL.encode(Array(#"{"alg":"RS256","kid":"rsa"}"#.utf8))
    for payload in [
      "", "null", "[]", "\"x\"", "{", #"{"iss":"https://idp.example","iss":"https://evil.example"}"#,
      #"{"sub":"a\u0000"}"#, String(repeating: "[", count: 100),
    ] {
      let signed = header + "." + Base64URL.encode(Array(payload.utf8))
      let signature = try Provider.key(.rsa).sign(Array(signed.utf8), algorithm: .RS256)
      let error = try refusal(signed + "." + Base64URL.encode(signature))
      #expect(isRefused(error, "the claims are not"), "\(payload.prefix(40))")
    }
  }
}
