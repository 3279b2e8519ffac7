import EnrollRules
import EnrollCrypto
import EnrollJSON
import Expectations
import TestVectors
import Testing

@Suite("Answers of the token endpoint (RFC 6749 §5)")
struct TokenResponseTests {
  private func lifetime(_ member: String) throws -> Int64 {
    try TokenResponse(processing: Fixture.json(#"{"access_token":"a","token_type":"Bearer"\#(member)}"#))
      .tokenSet(requestedScopes: [], at: Fixture.moment()).expiry.lifetimeSeconds
  }

  @Test("all that an answer may hold is read")
  func whole() throws {
    let response = try TokenResponse(
      processing: Fixture.json(
        #"""
        {"access_token":"a.b-c_d~e+f/g==","token_type":"bearer","expires_in":3600,"refresh_token":"r","id_token":"i",
         "scope":"openid  api:read","extra":{"a":[1]}}
        """#))
    expect(response.accessToken, is: Secret("a.b-c_d~e+f/g=="))
    expect(response.tokenType, is: "bearer")
    expect(response.lifetimeSeconds, is: 3600)
    expect(response.refreshToken, is: Secret("r"))
    expect(response.idToken, is: Secret("i"))
    expect(response.scopes, is: ["openid", "api:read"])
  }

  @Test(
    "expires_in is a number of seconds, or a stated default, never forever (R32)",
    arguments: [
      ("", Int64(300)), (#","expires_in":null"#, 300), (#","expires_in":-1"#, 300),
      (#","expires_in":0"#, 300),
      (#","expires_in":"soon""#, 300), (#","expires_in":"Thu, 01 Jan 1970 00:00:00 GMT""#, 300),
      (#","expires_in":true"#, 300), (#","expires_in":[60]"#, 300), (#","expires_in":{"a":1}"#, 300),
      (#","expires_in":"-60""#, 300), (#","expires_in":" 60""#, 300), (#","expires_in":"6e2""#, 300),
      (#","expires_in":1"#, 1), (#","expires_in":60"#, 60), (#","expires_in":"3600""#, 3600),
      (#","expires_in":3600.9"#, 3600), (#","expires_in":6e2"#, 600), (#","expires_in":0.5"#, 300),
      (#","expires_in":-1e300"#, 300), (#","expires_in":1e300"#, 31_536_000),
      (#","expires_in":1e999"#, 31_536_000),
      (#","expires_in":31536000"#, 31_536_000), (#","expires_in":31536001"#, 31_536_000),
      (#","expires_in":9223372036854775807"#, 31_536_000),
      (#","expires_in":9223372036854775808"#, 31_536_000),
      (#","expires_in":"99999999999999999999""#, 31_536_000),
    ])
  func expiresIn(member: String, seconds: Int64) throws {
    try expect(lifetime(member), is: seconds)
  }

  @Test(
    "an answer that cannot be used is refused",
    arguments: [
      "", "null", "[]", "{", #""a""#, "{}", #"{"token_type":"Bearer"}"#,
      #"{"access_token":"","token_type":"Bearer"}"#, #"{"access_token":null,"token_type":"Bearer"}"#,
      #"{"access_token":1,"token_type":"Bearer"}"#, #"{"access_token":"a","token_type":"unrecognized"}"#,
      #"{"access_token":"a","token_type":"DPoP"}"#, #"{"access_token":"a","token_type":7}"#,
      #"{"access_token":"a\r\nX-Evil: 1","token_type":"Bearer"}"#,
      #"{"access_token":"a b","token_type":"Bearer"}"#,
      #"{"access_token":"é","token_type":"Bearer"}"#,
      #"{"access_token":"a","access_token":"b","token_type":"Bearer"}"#,
    ])
  func invalid(body: String) {
    expect(refusal { try TokenResponse(processing: Fixture.json(body)) }?.code, is: .responseInvalid)
  }

  @Test("without a token_type (OpenAuth) the token is a Bearer token, unless a key was proven")
  func noTokenType() throws {
    for body in [#"{"access_token":"a"}"#, #"{"access_token":"a","token_type":null}"#] {
      try expect(TokenResponse(processing: Fixture.json(body)).tokenType, is: "Bearer")
      for binding: DPoPBinding in [.offered, .required] {
        let error = refusal { try TokenResponse(processing: Fixture.json(body), binding: binding) }
        expect(error?.code, is: .responseInvalid)
      }
    }
  }

  @Test("an id_token that is too long to be kept is an error that names its size")
  func longIDToken() throws {
    func body(_ count: Int) -> String {
      #"{"access_token":"a","id_token":"\#(String(repeating: "i", count: count))"}"#
    }
    try expect(TokenResponse(processing: Fixture.json(body(65_536))).idToken?.count, is: 65_536)
    let error = refusal { try TokenResponse(processing: Fixture.json(body(65_537))) }
    expect(error?.code, is: .responseInvalid)
    expect(error?.message.contains("65537 bytes"), is: true)
  }

  @Test(
    "a refresh token may hold any character that JSON may: it goes into forms alone (RFC 6749 A.17)",
    arguments: [
      "a b", " ", "a\u{E9}b", "\u{1}\n\t\u{7F}", "\u{1F600}\"\\", String(repeating: "r", count: 1 << 16),
    ])
  func refreshTokenCharacters(token: String) throws {
    let text = String(decoding: JSON.string(token).serialized(), as: UTF8.self)
    let body = #"{"access_token":"a","token_type":"Bearer","refresh_token":\#(text)}"#
    try expect(TokenResponse(processing: Fixture.json(body)).refreshToken, is: Secret(token))
    guard case .tokens(let renewed) = RefreshAnswer(processing: Fixture.json(body)) else {
      Issue.record("the rotated refresh token is lost")
      return
    }
    expect(renewed.refreshToken, is: Secret(token))
  }

  @Test("an empty text is no refresh token (R29)")
  func refreshTokenEmpty() throws {
    let body = #"{"access_token":"a","token_type":"Bearer","refresh_token":""}"#
    try expect(TokenResponse(processing: Fixture.json(body)).refreshToken, is: nil)
  }

  @Test("a refresh token that is too long to be kept is told as that, and is never dropped silently")
  func refreshTokenTooLong() throws {
    let long = String(repeating: "r", count: (1 << 16) + 1)
    let answer = Fixture.json(#"{"access_token":"a","token_type":"Bearer","refresh_token":"\#(long)"}"#)
    let error = try #require(refusal { try TokenResponse(processing: answer) })
    expect(error.code, is: .responseInvalid)
    #expect(error.message.contains("refresh_token has 65537 bytes, and 65536 at most can be kept"))
    // The old refresh token is sent again.
    guard case .refused(let doubt, .unclear) = RefreshAnswer(processing: answer) else {
      Issue.record("the session goes on with a spent refresh token")
      return
    }
    expect(doubt, is: error)
  }

  @Test(
    "a member that may be left out and cannot be read counts as absent: the access token is not lost for it",
    arguments: ["null", "7", "true", "{}", "[]", "[7]", #"["a\nb"]"#])
  func optionalMembers(value: String) throws {
    let response = try TokenResponse(
      processing: Fixture.json(
        #"""
        {"access_token":"a","token_type":"Bearer","refresh_token":\#(value),"id_token":\#(value),"scope":\#(value),
         "expires_in":null,"extra":null}
        """#))
    #expect(response.accessToken == Secret("a") && response.lifetimeSeconds == nil)
    #expect(response.refreshToken == nil && response.idToken == nil && response.scopes == nil)
  }

  @Test(
    "scopes are read from a text and from an array of texts",
    arguments: [
      #""openid api:read""#, #"["openid","api:read"]"#, #"["openid api:read"]"#,
      #"["openid",null,"api:read"]"#,
    ])
  func scopeForms(value: String) throws {
    let body = #"{"access_token":"a","token_type":"Bearer","scope":\#(value)}"#
    try expect(TokenResponse(processing: Fixture.json(body)).scopes, is: ["openid", "api:read"])
    guard case .tokens(let renewed) = RefreshAnswer(processing: Fixture.json(body)) else {
      Issue.record("tokens were expected")
      return
    }
    expect(renewed.scopes, is: ["openid", "api:read"])
  }

  @Test("a token over the cap is refused")
  func cap() throws {
    func body(_ count: Int) -> HTTPResponse {
      Fixture.json(#"{"token_type":"Bearer","access_token":"\#(String(repeating: "a", count: count))"}"#)
    }
    try expect(TokenResponse(processing: body(1 << 16)).accessToken.count, is: 1 << 16)
    expect(refusal { try TokenResponse(processing: body((1 << 16) + 1)) }?.code, is: .responseInvalid)
  }

  static let errors: [(Int, String, EnrollError.Code, String?)] = [
    (400, #"{"error":"invalid_grant"}"#, .oauth, "invalid_grant"),
    (401, #"{"error":"invalid_client","error_description":"x"}"#, .oauth, "invalid_client"),
    (403, #"{"error":"invalid_code"}"#, .oauth, "invalid_code"),
    (400, "", .oauth, nil), (400, "<html>", .oauth, nil), (400, #"{"error":7}"#, .oauth, nil),
    (400, #"{"error":"a\nb"}"#, .oauth, nil), (400, #"{"error":"\u001b[31m"}"#, .oauth, nil),
    (404, "", .responseInvalid, nil), (404, #"{"error":"invalid_request"}"#, .oauth, "invalid_request"),
    (405, "", .responseInvalid, nil), (302, "", .responseInvalid, nil), (100, "", .responseInvalid, nil),
    (429, "", .server, nil), (408, "", .server, nil), (500, #"{"error":"invalid_grant"}"#, .server, nil),
    (503, "", .server, nil), (599, "", .server, nil),
    (400, #"{"error":"temporarily_unavailable"}"#, .server, "temporarily_unavailable"),
  ]

  @Test("the status and the error code say whose fault it is (RFC 6749 §5.2)", arguments: errors)
  func statuses(status: Int, body: String, code: EnrollError.Code, oauthError: String?) {
    let error = refusal { try TokenResponse(processing: Fixture.json(body, status: status)) }
    expect(error?.code, is: code)
    expect(error?.httpStatus, is: status)
    expect(error?.oauthError, is: oauthError)
  }

  @Test("a server in trouble says when to come back, within bounds (R33)")
  func retryAfter() {
    let header = [HTTPHeader("retry-after", "9")]
    let error = refusal { try TokenResponse(processing: Fixture.json("", status: 503, headers: header)) }
    expect(error?.retryAfterSeconds, is: 9)
    expect(error?.isRetryable, is: true)
  }

  @Test("no error text repeats the answer (R40)")
  func secrets() {
    for body in [
      #"{"error":"invalid_grant","error_uri":"https://id.example/hidden"}"#, "hidden",
      #"{"access_token":"hidden","token_type":"hidden"}"#,
    ] {
      for status in [200, 400] {
        let error = refusal { try TokenResponse(processing: Fixture.json(body, status: status)) }
        expect(error, isNot: nil)
        expect(error?.message.contains("hidden"), is: false)
      }
    }
  }

  @Test(
    "the SDKs' table; R32 wins over it for expires_in, and null is absence", arguments: Vectors.atHand)
  func sdkTable(vectors: Vectors) throws {
    var count = 0
    for row in try vectors.json("sdk-tables/sdk-tables.json").array ?? []
    where row["kind"]?.string == "token-reply" {
      let id = try #require(row["id"]?.string)
      let answer = Fixture.json(try #require(row["body"]?.string), status: Int(row["status"]?.integer ?? 0))
      let error = refusal { try TokenResponse(processing: answer) }
      // Case 7 has a date in expires_in, for which R32 uses the default; the cases 9 and 10 have an optional member
      // that is null.
      let isRead = ["oauth4webapi-token-7", "oauth4webapi-token-9", "oauth4webapi-token-10"].contains(id)
      let isAccepted = row["enrollkit"]?.string == "accept" || isRead
      expect((error == nil), is: isAccepted, "\(id)")
      let oauthError = row["oauth_error"]?.string ?? (id == "oauth4webapi-token-13" ? "invalid_grant" : nil)
      if let oauthError { expect(error?.oauthError, is: oauthError) }
      count += 1
    }
    expect(count, is: vectors.least(own: 11, published: 8))
  }

  @Test("the first tokens are for what was asked, unless the server says otherwise")
  func firstTokens() throws {
    let plain = try TokenResponse(
      processing: Fixture.json(#"{"access_token":"a","token_type":"Bearer","expires_in":60}"#))
    let tokens = plain.tokenSet(requestedScopes: ["x", "y"], at: Fixture.moment())
    expect(tokens.scopes, is: ["x", "y"])
    expect(tokens.expiry.secondsLeft(at: Fixture.moment()), is: 60)
    expect(tokens.refreshToken, is: nil)
    let narrowed = try TokenResponse(
      processing: Fixture.json(#"{"access_token":"a","token_type":"Bearer","scope":"x"}"#))
    expect(narrowed.tokenSet(requestedScopes: ["x", "y"], at: Fixture.moment()).scopes, is: ["x"])
  }

  private var old: TokenSet {
    TokenSet(
      accessToken: Secret("a1"), tokenType: "Bearer", refreshToken: Secret("r1"), idToken: Secret("i1"),
      scopes: ["openid"], expiry: Expiry(lifetimeSeconds: 1, from: Fixture.moment()),
      identity: IdentityFacts(issuer: Issuer(Fixture.issuer), subject: "alice", audience: ["c"]))
  }

  @Test("none in the answer keeps the old refresh token, id_token and scopes (R29)")
  func keeps() throws {
    let answer = try TokenResponse(processing: Fixture.json(#"{"access_token":"a2","token_type":"Bearer"}"#))
    let tokens = answer.tokenSet(renewing: old, at: Fixture.moment(10))
    expect(tokens.accessToken, is: Secret("a2"))
    expect(tokens.refreshToken, is: Secret("r1"))
    expect(tokens.idToken, is: Secret("i1"))
    expect(tokens.scopes, is: ["openid"])
    expect(tokens.identity, is: old.identity)
    expect(tokens.unprovenIDToken, is: nil)
    expect(tokens.expiry, is: Expiry(lifetimeSeconds: 300, from: Fixture.moment(10)))
  }

  @Test("a new refresh token replaces the old one, a new id_token waits for its check (R27, R29)")
  func replaces() throws {
    let answer = try TokenResponse(
      processing: Fixture.json(
        #"{"access_token":"a2","token_type":"Bearer","refresh_token":"r2","id_token":"i2","scope":"openid x"}"#
      ))
    let tokens = answer.tokenSet(renewing: old, at: Fixture.moment(10))
    expect(tokens.refreshToken, is: Secret("r2"))
    expect(tokens.idToken, is: Secret("i1"))
    expect(tokens.unprovenIDToken, is: Secret("i2"))
    expect(tokens.scopes, is: ["openid", "x"])
    expect(tokens.identity, is: old.identity)
  }

  @Test("an id_token that could not be proven stays unproven when the next answer brings none (R27)")
  func staysUnproven() throws {
    var unproven = old
    unproven.unprovenIDToken = Secret("i2")
    let answer = try TokenResponse(processing: Fixture.json(#"{"access_token":"a2","token_type":"Bearer"}"#))
    expect(answer.tokenSet(renewing: unproven, at: Fixture.moment()).unprovenIDToken, is: Secret("i2"))
  }
}
