import EnrollRules
import EnrollCrypto
import EnrollJSON
import Expectations
import Testing

@Suite("The registration check's question and answers (flows.md §7)")
struct RegistrationCheckTests {
  @Test("the token goes into the header, installation id and platform facts into the body (R31)")
  func request() throws {
    let tokens = TokenSet(
      accessToken: Secret("acc"), tokenType: "bearer",
      expiry: Expiry(lifetimeSeconds: 60, from: Fixture.moment()))
    let request = RegistrationCheck.request(
      endpoint: "https://api.example/check", clientID: "native", tokens: tokens, installationID: "inst",
      platform: Platform(type: "ios", width: 390, height: 844, appVersion: "2.0", deviceID: "d"))
    #expect(request.method == .post && request.url == "https://api.example/check")
    #expect(request.headers.contains(HTTPHeader("Authorization", "Bearer acc")))
    let body = try JSON.parse(request.body)
    #expect(body["installationId"] == .string("inst") && body["clientId"] == .string("native"))
    expect(
      body["platform"],
      is: .object([
        ("type", .string("ios")), ("width", .integer(390)), ("height", .integer(844)),
        ("appVersion", .string("2.0")), ("deviceId", .string("d")),
      ]))
    #expect(!String(decoding: request.body, as: UTF8.self).contains("acc\""))
  }

  private func kind(_ status: Int, _ body: String) -> String {
    switch RegistrationCheck.answer(Fixture.json(body, status: status)) {
    case .known(let subject, let email): "known \(subject) \(email ?? "-")"
    case .unknownAccount: "unknown"
    case .refused(let error): "refused \(error.code.name)"
    case .unavailable(let error): "unavailable \(error.code.name)"
    }
  }

  static let answers: [(Int, String, String)] = [
    (200, #"{"sub":"alice","email":"a@example.com"}"#, "known alice a@example.com"),
    (200, #"{"sub":"alice"}"#, "known alice -"), (200, #"{"unknownAccount":true}"#, "unknown"),
    (404, #"{"unknownAccount":true}"#, "unknown"), (404, "", "unavailable responseInvalid"),
    (401, "", "refused oauth"), (403, "", "unavailable responseInvalid"),
    (200, #"{"email":"a@example.com"}"#, "unavailable responseInvalid"),
    (200, #"{"sub":""}"#, "unavailable responseInvalid"), (200, "<html>", "unavailable responseInvalid"),
    (500, #"{"sub":"alice"}"#, "unavailable server"), (429, "", "unavailable server"),
    (302, "", "unavailable responseInvalid"),
  ]

  @Test("answers are told apart; what is no answer is an outage", arguments: answers)
  func tellApart(status: Int, body: String, expected: String) {
    expect(kind(status, body), is: expected)
  }

  static let pairs: [(String, String?, String, String?, Bool)] = [
    ("alice", "a@example.com", "alice", "A@Example.com", true),
    ("alice", nil, "alice", "a@example.com", true),
    ("alice", "a@example.com", "alice", nil, true), ("bob", nil, "alice", nil, false),
    ("alice", "b@example.com", "alice", "a@example.com", false), ("Alice", nil, "alice", nil, false),
  ]

  @Test("sub and e-mail must be the id_token's", arguments: pairs)
  func crossCheck(subject: String, email: String?, known: String, knownEmail: String?, isSame: Bool) {
    let profile = JSONObject([("sub", .string(known)), ("email", knownEmail.map { .string($0) })])
    for subjectOfToken in [known, nil] {
      let refused = code {
        try RegistrationCheck.requireSame(
          subject: subject, email: email, asSubject: subjectOfToken, profile: profile)
      }
      expect(refused, is: isSame ? nil : .profileMismatch)
    }
  }

  @Test("every reason has a message key and something that helps")
  func errors() {
    let keys = EnrollError.Code.allCases.map { EnrollError($0, "").messageKey }
    #expect(Set(keys).count == keys.count && keys.contains("error.emailNotVerified"))
    expect(EnrollError(.network, "").helps, is: .wait)
    expect(EnrollError(.unknownAccount, "").helps, is: .createAccount)
    expect(EnrollError(.emailNotVerified, "").helps, is: .verifyEmail)
    expect(EnrollError(.reauthenticate, "").helps, is: .registerAgain)
  }

  @Test("a profile update is done with when it was taken or refused for good; a 401 waits for the next token")
  func profileAnswers() {
    #expect([200, 204, 400, 403, 404, 422].allSatisfy { ProfileUpdate.isFinal(status: $0) })
    #expect(![301, 401, 408, 429, 500, 503].contains { ProfileUpdate.isFinal(status: $0) })
  }
}
