import EnrollCore
import EnrollCrypto
import Testing

@Suite("What a refresh came to (R30, R33, R34)")
struct RefreshAnswerTests {
  enum Kind: Sendable { case tokens, rotatedOnly, invalidGrant, refused, unavailable }

  private func kind(_ answer: RefreshAnswer) -> Kind {
    switch answer {
    case .tokens: .tokens
    case .rotatedOnly: .rotatedOnly
    case .invalidGrant: .invalidGrant
    case .refused: .refused
    case .unavailable: .unavailable
    }
  }

  static let answers: [(Int, String, Kind)] = [
    (200, #"{"access_token":"a","token_type":"Bearer"}"#, .tokens),
    (400, #"{"error":"invalid_grant"}"#, .invalidGrant), (401, #"{"error":"invalid_grant"}"#, .invalidGrant),
    (400, "", .refused), (403, #"{"error":"invalid_code"}"#, .refused),
    (401, #"{"error":"invalid_client"}"#, .refused),
    (401, "", .refused), (403, "", .refused), (400, #"{"error":"INVALID_GRANT"}"#, .refused),
    // Somebody between us and the token endpoint: whatever it says, and for however long, nobody is signed out.
    (404, "", .unavailable), (405, "<html>", .unavailable), (403, "<html>", .unavailable),
    (400, "Bad Request", .unavailable), (407, "", .unavailable), (400, #"{"error":7}"#, .unavailable),
    (408, "", .unavailable), (429, #"{"error":"invalid_grant"}"#, .unavailable),
    (500, #"{"error":"invalid_grant"}"#, .unavailable), (503, "", .unavailable), (302, "", .unavailable),
    (400, #"{"error":"temporarily_unavailable"}"#, .unavailable),
    (400, #"{"error":"server_error"}"#, .unavailable),
    // A captive portal answers in the server's place.
    (200, "<html>sign in to the network</html>", .unavailable), (204, "", .unavailable),
    (200, "", .unavailable),
    // What R37 refuses is no answer, whatever else is in it.
    (200, #"{"access_token":"a","token_type":"Bearer","refresh_token":"r2","scope":"\u0000"}"#, .unavailable),
    (200, #"{"access_token":"a","refresh_token":"r2","refresh_token":"r3"}"#, .unavailable),
    (200, "[]", .unavailable), (200, "{}", .unavailable), (200, #"{"error":"invalid_grant"}"#, .unavailable),
  ]

  @Test(
    "only invalid_grant ends a session, and what is unclear leaves it alone (R33, R34)", arguments: answers)
  func classes(status: Int, body: String, expected: Kind) {
    let answer = RefreshAnswer(processing: Fixture.json(body, status: status))
    #expect(kind(answer) == expected)
  }

  @Test(
    "whatever is wrong with an answer, its rotated refresh token is not lost (R30)",
    arguments: [
      #"{"refresh_token":"r2"}"#, #"{"refresh_token":"r2","access_token":"a"}"#,
      #"{"refresh_token":"r2","access_token":"a","token_type":"mac"}"#,
      #"{"refresh_token":"r2","access_token":"","token_type":"Bearer"}"#,
      #"{"refresh_token":"r2","access_token":"a\n","token_type":"Bearer"}"#,
      #"{"refresh_token":"r2","access_token":7,"token_type":"Bearer"}"#,
    ])
  func rotated(body: String) {
    guard case .rotatedOnly(let token, let error) = RefreshAnswer(processing: Fixture.json(body)) else {
      Issue.record("the rotated token is lost")
      return
    }
    #expect(token == Secret("r2"))
    #expect(error.code == .responseInvalid)
  }

  @Test(
    "optional members of a wrong type count as absent (R30)",
    arguments: [
      #""scope":null"#, #""scope":7"#, #""id_token":null"#, #""id_token":[]"#, #""scope":"a\"b""#,
      #""expires_in":{}"#,
    ])
  func lenient(member: String) {
    let body = #"{"refresh_token":"r2","access_token":"a","token_type":"Bearer",\#(member)}"#
    guard case .tokens(let response) = RefreshAnswer(processing: Fixture.json(body)) else {
      Issue.record("the tokens are lost")
      return
    }
    #expect(response.refreshToken == Secret("r2"))
    #expect(response.scopes == nil)
    #expect(response.idToken == nil)
  }

  @Test("a refresh token of a wrong type keeps the old one (R29)")
  func nullRefreshToken() {
    let body = #"{"refresh_token":null,"access_token":"a","token_type":"Bearer"}"#
    guard case .tokens(let response) = RefreshAnswer(processing: Fixture.json(body)) else {
      Issue.record("the tokens are lost")
      return
    }
    #expect(response.refreshToken == nil)
  }

  @Test("a refusal says which")
  func detail() {
    let headers = [HTTPHeader("Retry-After", "5")]
    guard case .refused(let error) = RefreshAnswer(processing: Fixture.json("", status: 400)),
      case .unavailable(let trouble) = RefreshAnswer(
        processing: Fixture.json("", status: 429, headers: headers))
    else {
      Issue.record("another class was expected")
      return
    }
    #expect(error.httpStatus == 400)
    #expect(error.oauthError == nil)
    #expect(trouble.retryAfterSeconds == 5)
  }
}
