import EnrollRules
import EnrollCrypto
import EnrollJSON
import Expectations
import Testing

@Suite("What a refresh came to (R30, R33, R34)")
struct RefreshAnswerTests {
  @Test("an answer without tokens is judged by its status and its content (R33, R34)")
  func refusals() {
    let answers: [(Int, String, RenewalVerdict)] = [
      (400, #"{"error":"invalid_grant"}"#, .ends), (403, #"{"error":"invalid_grant"}"#, .ends),
      (400, #"{"error":"access_denied"}"#, .endsIfRepeated),
      (400, #"{"error":"INVALID_GRANT"}"#, .refused), (403, #"{"error":"invalid_code"}"#, .refused),
      (401, #"{"error":"invalid_client"}"#, .refused),
      // These answers may come from an intermediary between this device and the token endpoint.
      (400, "", .unclear), (401, "", .unclear), (403, "", .unclear), (404, "", .unclear),
      (405, "<html>", .unclear),
      (403, "<html>", .unclear), (400, "Bad Request", .unclear), (407, "", .unclear),
      (401, #"{"error":"Not Found"}"#, .unclear), (400, #"{"message":"Forbidden"}"#, .unclear),
      (403, #"{"timestamp":"2026-11-28","status":403,"error":"Forbidden","path":"/token"}"#, .unclear),
      (403, #"{"error":"Forbidden"}"#, .unclear), (401, #"{"error":"Unauthorized"}"#, .unclear),
      (400, #"{"type":"about:blank","status":400,"error":"invalid_grant"}"#, .unclear),
      (400, #"{"status":400,"error":"invalid_grant"}"#, .ends),
      (400, #"{"error":7}"#, .unclear), (408, "", .unclear), (429, #"{"error":"invalid_grant"}"#, .unclear),
      (404, #"{"error":"invalid_grant"}"#, .unclear), (500, #"{"error":"invalid_grant"}"#, .unclear),
      (503, "", .unclear), (302, "", .unclear), (400, #"{"error":"server_error"}"#, .unclear),
      (400, #"{"error":"invalid_grant","error":"invalid_grant"}"#, .unclear),
      // A captive portal answers in place of the server.
      (200, "<html>sign in to the network</html>", .unclear), (204, "", .unclear), (200, "", .unclear),
      (200, "[]", .unclear), (200, "{}", .unclear), (200, #"{"error":"Not Found"}"#, .unclear),
      // GitHub sends refusals with status 200.
      (200, #"{"error":"invalid_grant"}"#, .unclear), (200, #"{"error":"bad_refresh_token"}"#, .ends),
      (200, #"{"error":"incorrect_client_credentials"}"#, .refused),
      (200, #"{"error":"server_error"}"#, .unclear),
    ]
    for (status, body, expected) in answers {
      guard case .refused(_, let verdict) = RefreshAnswer(processing: Fixture.json(body, status: status))
      else {
        Issue.record("tokens were taken from \(status) \(body)")
        continue
      }
      expect(verdict, is: expected, "\(status) \(body)")
    }
  }

  @Test(
    "an empty 400 is the provider's word only where its head says that there is no body",
    arguments: [
      ([], RenewalVerdict.unclear), ([HTTPHeader("Content-Length", "0")], .endsIfRepeated),
      ([HTTPHeader("content-length", "00")], .endsIfRepeated),
      ([HTTPHeader("Transfer-Encoding", "chunked")], .endsIfRepeated),
      ([HTTPHeader("Content-Length", "50")], .unclear), ([HTTPHeader("Content-Length", "")], .unclear),
      ([HTTPHeader("Transfer-Encoding", "identity")], .unclear),
      ([HTTPHeader("Content-Type", "application/json")], .unclear),
    ])
  func empty(headers: [HTTPHeader], verdict: RenewalVerdict) {
    guard
      case .refused(_, let found) = RefreshAnswer(
        processing: Fixture.json("", status: 400, headers: headers))
    else {
      Issue.record("tokens were taken from nothing")
      return
    }
    expect(found, is: verdict)
  }

  @Test("what stands around a whole object, or a comma at its end, does not lose the tokens in it (R30)")
  func surrounded() {
    let object = #"{"access_token":"a","token_type":"Bearer","refresh_token":"r2"}"#
    for text in [
      "\u{FEFF}" + object, object + "\n<!-- served from a cache -->", object + "\0", object + object,
      object + "\n" + object + " ", object + "and more", object + "}", object + #"{"access_token":"b"}"#,
      object.dropLast() + ",}", object.dropLast() + " , \n} ", "\u{FEFF} " + object.dropLast() + ",}<!--",
      "Warning: this follows:\n" + object, "#0 {main}\n" + object, "/* {} */ " + object,
      "[2026-11-23 10:00:00] WARNING: deprecated []\n" + object, "Warning: foo{}, {bar}\n" + object,
      "Warning: this follows:\n" + object + "\n<!-- served in 3 ms -->", "cb(" + object + ");",
      "<pre>" + object + "</pre>", #"log {"level":"info"} "# + object + " and more",
    ] {
      guard case .tokens(let response) = RefreshAnswer(processing: Fixture.json(String(text))) else {
        Issue.record("the tokens of \(text) are lost")
        continue
      }
      #expect(response.refreshToken == Secret("r2") && response.accessToken == Secret("a"))
    }
    for text in [
      object + #"{"refresh_token":"r3"}"#, object + object.dropLast() + #","refresh_token":"r3"}"#,
      object + #"{"refresh\u005ftoken":"r3"}"#, object + "<!-- refresh_token -->", object.dropLast() + ",,}",
      "[" + object + "]", "{,}", "[" + object, "[1, " + object, #"log "answer": "# + object, "{}," + object,
      String(repeating: "{ ", count: 16) + object, #"log {"refresh_token":"r9"} "# + object,
      "Warning: " + object + "<!-- refresh_token -->", #"Warning: refresh_token {"refresh_token":"r2","#,
      #"log {"answer":{"refresh_token":"r2"},"#,
    ] {
      guard case .refused(_, .unclear) = RefreshAnswer(processing: Fixture.json(String(text))) else {
        Issue.record("\(text) was believed")
        continue
      }
    }
  }

  @Test(
    "a refusal that has been in a cache is no answer to this refresh token", arguments: ["500", "1", "x"])
  func cached(age: String) {
    let refusal = #"{"error":"invalid_grant"}"#
    for (age, expected) in [(age, RenewalVerdict.unclear), ("0", .ends)] {
      let answer = Fixture.json(refusal, status: 400, headers: [HTTPHeader("Age", age)])
      guard case .refused(_, let verdict) = RefreshAnswer(processing: answer) else { return }
      expect(verdict, is: expected)
    }
  }

  @Test("of a body that R37 refuses, what the text gives without doubt is taken (R30)")
  func salvaged() {
    func answer(_ members: String) -> RefreshAnswer {
      RefreshAnswer(processing: Fixture.json(#"{"access_token":"a","token_type":"Bearer",\#(members)}"#))
    }
    for members in [
      #""refresh_token":"r2","scope":"x","scope":"y""#, #""refresh_token":"r2","refresh_token":"r2""#,
      #""refresh_token":"r2","x":"\u0000""#, #""x":"\u0000","refresh_token":"r2""#,
      #""refresh_token":"r2","x":"\ud800""#,
      #""x":"# + String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
        + #","refresh_token":"r2""#,
    ] {
      guard case .tokens(let response) = answer(members) else {
        Issue.record("the tokens of \(members) are lost")
        continue
      }
      #expect(response.refreshToken == Secret("r2") && response.accessToken == Secret("a"))
      expect(response.scopes, is: nil)
    }
    // The text is cut off, so it does not show which refresh token was issued, or whether any was issued. The old
    // refresh token may be sent again.
    for members in [
      #""refresh_token":"r2","refresh_token":"r3""#, #""refresh_token":"r2","refresh_token":7"#,
      #""refresh_token":"\u0000","scope":"x""#,
      #""refresh_token":"r2","scope":"x","scope":"y"} {"refresh_token":"r3"#,
      #""refresh_token":"r2","scope":"#,
    ] {
      guard case .refused(_, .unclear) = answer(members) else {
        Issue.record("\(members) was believed")
        continue
      }
    }
    guard
      case .rotatedOnly(let token, _) = RefreshAnswer(
        processing: Fixture.json(#"{"access_token":"a","access_token":"b","refresh_token":"r2"}"#))
    else {
      Issue.record("the refresh token is lost")
      return
    }
    expect(token, is: Secret("r2"))
  }

  @Test(
    "the tokens of an answer are found in all of its objects (R30)",
    arguments: [
      #"{"notice":"x"}{"access_token":"a","token_type":"Bearer","refresh_token":"r2"}"#,
      #"{"access_token":"a","token_type":"Bearer"} {"refresh_token":"r2"}"#,
      #"log {main}: {"access_token":"a","token_type":"Bearer"}\#n{"access_token":"a","refresh_token":"r2"}"#,
    ])
  func severalObjects(body: String) {
    guard case .tokens(let response) = RefreshAnswer(processing: Fixture.json(body)) else {
      Issue.record("the tokens are lost")
      return
    }
    #expect(response.refreshToken == Secret("r2") && response.accessToken == Secret("a"))
    let code = Fixture.json(body).salvagingTokens()
    expect((try? JSON.parse(code.body))?["refresh_token"], is: .string("r2"))
  }

  @Test(
    "whatever is wrong with an answer, its rotated refresh token is not lost (R30)",
    arguments: [
      #"{"refresh_token":"r2"}"#,
      #"{"refresh_token":"r2","access_token":"a","token_type":"mac"}"#,
      #"{"refresh_token":"r2","access_token":"","token_type":"Bearer"}"#,
      #"{"refresh_token":"r2","access_token":"a\n","token_type":"Bearer"}"#,
      #"{"refresh_token":"r2","access_token":7,"token_type":"Bearer"}"#,
      "Warning: cut:\n" + #"{"refresh_token":"r2","access_token":"a","token_ty"#,
      #"log {"level":"info"} {"refresh_token":"r2","access_token":"a","#,
    ])
  func rotated(body: String) {
    guard case .rotatedOnly(let token, let error) = RefreshAnswer(processing: Fixture.json(body)) else {
      Issue.record("the rotated token is lost")
      return
    }
    expect(token, is: Secret("r2"))
    expect(error.code, is: .responseInvalid)
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
    expect(response.refreshToken, is: Secret("r2"))
    expect(response.scopes, is: nil)
    expect(response.idToken, is: nil)
  }

  @Test("a refresh token of a wrong type keeps the old one (R29)")
  func nullRefreshToken() {
    let body = #"{"refresh_token":null,"access_token":"a","token_type":"Bearer"}"#
    guard case .tokens(let response) = RefreshAnswer(processing: Fixture.json(body)) else {
      Issue.record("the tokens are lost")
      return
    }
    expect(response.refreshToken, is: nil)
  }

  @Test("a refusal says which")
  func detail() {
    let headers = [HTTPHeader("Retry-After", "5")]
    guard
      case .refused(let error, .endsIfRepeated) = RefreshAnswer(
        processing: Fixture.json("", status: 400, headers: [HTTPHeader("Content-Length", "0")])),
      case .refused(let trouble, .unclear) = RefreshAnswer(
        processing: Fixture.json("", status: 429, headers: headers))
    else {
      Issue.record("another class was expected")
      return
    }
    expect(error.httpStatus, is: 400)
    expect(error.oauthError, is: nil)
    expect(trouble.retryAfterSeconds, is: 5)
  }
}
