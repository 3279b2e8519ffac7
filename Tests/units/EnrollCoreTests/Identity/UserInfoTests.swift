// The userinfo endpoint: R28, R31.

import EnrollRules
import EnrollCrypto
import EnrollJSON
import Expectations
import Testing

private func response(_ body: String, type: String? = "application/json", status: Int = 200) -> HTTPResponse {
  HTTPResponse(
    status: status, headers: type.map { [HTTPHeader("content-type", $0)] } ?? [], body: Array(body.utf8))
}

private func code(_ response: HTTPResponse, subject: String? = "alice") -> EnrollError.Code? {
  do throws(EnrollError) {
    _ = try UserInfo.accept(response, subject: subject)
    return nil
  } catch {
    return error.code
  }
}

@Suite("Userinfo")
struct UserInfoTests {
  @Test("claims about the user of the id_token are taken")
  func accepted() throws {
    let claims = try UserInfo.accept(response(#"{"sub":"alice","name":"A"}"#), subject: "alice")
    expect(claims["name"], is: .string("A"))
  }

  @Test("a claim that is null is absent (OpenID Connect Core §5.3.2)")
  func nulls() throws {
    let body = #"{"sub":"alice","email":null,"address":{"region":null,"country":"NO"},"groups":["a",null]}"#
    let claims = try UserInfo.accept(response(body), subject: "alice")
    expect(
      claims,
      is: JSONObject([
        ("sub", .string("alice")), ("address", .object([("country", .string("NO"))])),
        ("groups", .array([.string("a"), .null])),
      ]))
    expect(code(response(#"{"sub":null}"#)), is: .responseInvalid)
  }

  @Test(
    "claims about somebody else are discarded (R28)",
    arguments: ["Alice", "alice ", "mallory", "alic\u{65}\u{301}"])
  func mismatch(subject: String) {
    expect(code(response("{\"sub\":\"\(subject)\"}")), is: .profileMismatch)
    expect(code(response(#"{"sub":"é"}"#), subject: "e\u{301}"), is: .profileMismatch)
  }

  @Test(
    "an answer without sub, or that is no object, is refused",
    arguments: ["{}", #"{"sub":1}"#, #"{"sub":""}"#, "[]", "", "x"])
  func malformed(body: String) {
    expect(code(response(body)), is: .responseInvalid)
  }

  @Test("a signed answer is told to be unsupported; other types are no answer")
  func contentType() {
    let body = #"{"sub":"alice"}"#
    for type in [
      "application/json", "Application/JSON", "application/json; charset=utf-8", "application/json ;x",
    ] {
      expect(code(response(body, type: type)), is: nil)
    }
    expect(code(response("ey.ey.x", type: "application/jwt")), is: .unsupported)
    expect(code(response("ey.ey.x", type: "application/JWT; charset=x")), is: .unsupported)
    for type in ["text/html", "text/json", "application/jsonx", "", nil] {
      expect(code(response(body, type: type)), is: .responseInvalid)
    }
  }

  @Test(
    "a status other than 200 brings no claims",
    arguments: [
      (401, EnrollError.Code.oauth), (403, .oauth), (429, .server), (500, .server), (503, .server),
      (404, .responseInvalid), (204, .responseInvalid),
    ])
  func status(status: Int, expected: EnrollError.Code) {
    expect(code(response(#"{"sub":"alice"}"#, status: status)), is: expected)
  }

  @Test("the access token goes into the Authorization header alone (R31)")
  func request() {
    let request = UserInfo.request(
      endpoint: "https://idp.example/userinfo", accessToken: Secret("at-1"), tokenType: "bearer")
    expect(request.url, is: "https://idp.example/userinfo")
    #expect(request.body.isEmpty)
    #expect(request.headers.contains(HTTPHeader("Authorization", "Bearer at-1")))
  }
}
