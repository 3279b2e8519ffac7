import EnrollRules
import EnrollCrypto
import Expectations
import Testing

@Suite("Logout requests and answers (flows.md §5)")
struct LogoutRulesTests {
  private var entry: OutboxEntry.Revocation {
    .init(clientID: "client one", token: Secret("r&1"), hint: "refresh_token", bearer: Secret("acc"))
  }

  @Test("a revocation says token and hint (RFC 7009 §2.1)")
  func revocation() throws {
    let request = RevocationRequest.make(entry, endpoint: "https://id.example.com/r")
    expect(request.method, is: .post)
    expect(request.url, is: "https://id.example.com/r")
    expect(
      String(decoding: request.body, as: UTF8.self),
      is: "token=r%261&token_type_hint=refresh_token")
    #expect(!request.headers.contains { $0.name == "Authorization" })
  }

  @Test("the bearer goes along only where it is asked for")
  func bearer() throws {
    let request = RevocationRequest.make(entry, endpoint: "https://id.example.com/r", withBearer: true)
    #expect(request.headers.contains(HTTPHeader("Authorization", "Bearer acc")))
    var without = entry
    without.bearer = nil
    let plain = RevocationRequest.make(without, endpoint: "https://id.example.com/r", withBearer: true)
    #expect(!plain.headers.contains { $0.name == "Authorization" })
  }

  static let answers: [(Int, String, Bool, Bool)] = [
    (200, "", true, false), (204, "", true, false), (200, "{}", true, false), (200, "OK", true, false),
    (400, #"{"error":"unsupported_token_type"}"#, true, false), (400, "", true, false),
    (400, #"{"error":"invalid_client"}"#, true, true), (401, "", true, true), (403, "", true, true),
    (401, #"{"error":"invalid_client"}"#, true, true),
    (404, "", false, false), (404, #"{"error":"Not Found"}"#, false, false), (503, "", false, false),
    (429, "", false, false), (408, "", false, false), (302, "", false, false),
    (200, "<html>Sign in to the Wi-Fi", false, false), (200, "\u{FEFF} \n<!doctype html>", false, false),
    (400, "<html>", false, false), (401, "<html>", false, false), (403, "<html>", false, false),
    (403, #"{"message":"Forbidden"}"#, false, false), (405, "", false, false), (407, "", false, false),
    (413, "", false, false), (421, "", false, false), (451, #"{"error":"access_denied"}"#, false, false),
  ]

  @Test(
    "trouble is tried again, a refusal is final, a bearer may help against 401 and 403", arguments: answers)
  func classes(status: Int, body: String, isFinal: Bool, wantsBearer: Bool) {
    let length = HTTPHeader("Content-Length", "\(body.utf8.count)")
    let answer = RevocationAnswer(processing: Fixture.json(body, status: status, headers: [length]))
    expect(answer.isFinal, is: isFinal)
    expect(answer.wantsBearer, is: wantsBearer)
  }

  @Test("an empty refusal whose head does not say so may be a cut answer", arguments: [400, 401, 403])
  func cut(status: Int) {
    #expect(!RevocationAnswer(processing: Fixture.json("", status: status)).isFinal)
  }

  private func endSession(
    callback: String?, endpoint: String? = "https://id.example.com/logout?ui=plain",
    hint: Secret? = Secret("i.d.t")
  ) throws -> EndSessionRequest? {
    var metadata = try Fixture.metadata()
    metadata.endSessionEndpoint = endpoint
    return EndSessionRequest.make(
      configuration: try Fixture.configuration(postLogoutRedirectURI: callback), metadata: metadata,
      idTokenHint: hint, random: [UInt8](repeating: 0xFF, count: 32))
  }

  @Test("the end_session URL names the session, the client and the way back (RP-Initiated Logout §2)")
  func endSessionURL() throws {
    let request = try #require(try endSession(callback: "com.example.app.oauth:/logout/callback"))
    let state = try #require(request.state)
    expect(state.count, is: 43)
    expect(
      request.url,
      is: "https://id.example.com/logout?ui=plain&id_token_hint=i.d.t&client_id=client%20one"
        + "&post_logout_redirect_uri=com.example.app.oauth%3A%2Flogout%2Fcallback&state=\(state.reveal())")
    expect(request.redirectURI, is: "com.example.app.oauth:/logout/callback")
  }

  @Test("without a callback no state is sent, without an endpoint nothing")
  func endSessionParts() throws {
    let request = try #require(try endSession(callback: nil, hint: nil))
    expect(request.url, is: "https://id.example.com/logout?ui=plain&client_id=client%20one")
    expect(request.state, is: nil)
    #expect(try endSession(callback: nil, endpoint: nil) == nil)
    let own = try #require(
      try endSession(
        callback: nil, endpoint: "https://id.example.com/logout?client_id=x&state=y&a=b", hint: nil))
    expect(own.url, is: "https://id.example.com/logout?state=y&a=b&client_id=client%20one")
  }

  private var pending: [PendingLogout] {
    ["one", "two"].map {
      PendingLogout(
        state: Secret($0), redirectURI: "com.example.app.oauth:/logout/callback", began: Fixture.moment().wall
      )
    }
  }

  @Test(
    "a callback belongs to the logout that has its state and its address",
    arguments: [
      ("com.example.app.oauth:/logout/callback?state=two", Int?.some(1)),
      ("com.example.app.oauth:/logout/callback?state=one&x=y", 0),
      ("com.example.app.oauth:/logout/callback?state=three", nil),
      ("com.example.app.oauth:/logout/callback?state=", nil), ("com.example.app.oauth:/logout/callback", nil),
      ("com.example.app.oauth:/logout/callback/?state=one", nil),
      ("com.example.app.oauth:/logout?state=one", nil),
      ("com.example.app:/logout/callback?state=one", nil),
    ])
  func callbacks(url: String, index: Int?) throws {
    try expect(LogoutCallback(parsing: url).index(in: pending), is: index)
  }

  @Test("Auth0's own logout returns to an address that carries the state, and needs no metadata")
  func auth0() throws {
    for issuer in ["https://tenant.auth0.com/", "https://tenant.auth0.com"] {
      let configuration = try Configuration(
        issuer: issuer, clientID: "client one", redirectURI: "com.example.app:/callback"
      ) {
        $0.postLogoutRedirectURI = "com.example.app:/logout"
        $0.logoutDialect = .auth0
      }
      let request = try #require(
        EndSessionRequest.make(
          configuration: configuration, metadata: nil, idTokenHint: Secret("i.d.t"),
          random: [UInt8](repeating: 0xFF, count: 32)))
      let state = try #require(request.state).reveal()
      expect(
        request.url,
        is: "https://tenant.auth0.com/v2/logout?client_id=client%20one"
          + "&returnTo=com.example.app%3A%2Flogout%3Fstate%3D\(state)")
      let pending = PendingLogout(
        state: Secret(state), redirectURI: "com.example.app:/logout", began: Fixture.moment().wall)
      try expect(
        LogoutCallback(parsing: "com.example.app:/logout?state=\(state)").index(in: [pending]), is: 0)
    }
  }

  @Test("Cognito's own logout returns without a state, and ends the only logout that waits for that")
  func cognito() throws {
    let configuration = try Configuration(
      issuer: "https://cognito-idp.eu-west-1.amazonaws.com/pool", clientID: "client one",
      redirectURI: "com.example.app:/callback"
    ) {
      $0.postLogoutRedirectURI = "com.example.app:/logout"
      $0.logoutDialect = .cognito
    }
    func request(_ authorize: String, _ endpoint: String?) throws -> EndSessionRequest? {
      var metadata = try Fixture.metadata()
      (metadata.authorizationEndpoint, metadata.endSessionEndpoint) = (authorize, endpoint)
      return EndSessionRequest.make(
        configuration: configuration, metadata: metadata, idTokenHint: Secret("i.d.t"),
        random: [UInt8](repeating: 0xFF, count: 32))
    }
    let sent = "/logout?client_id=client%20one&logout_uri=com.example.app%3A%2Flogout"
    let beside = try request("https://my.auth.example/oauth2/authorize", nil)
    #expect(beside?.url == "https://my.auth.example" + sent && beside?.state == nil)
    try expect(
      request("https://x.example/oauth2/authorize", "https://y.example/logout")?.url,
      is: "https://y.example" + sent)
    #expect(try request("https://x.example/authorize", nil) == nil)

    let stateless = PendingLogout(
      state: nil, redirectURI: "com.example.app:/logout", began: Fixture.moment().wall)
    let other = PendingLogout(
      state: Secret("s"), redirectURI: "com.example.app:/logout", began: Fixture.moment().wall)
    let bare = try LogoutCallback(parsing: "com.example.app:/logout")
    expect(bare.index(in: [stateless]), is: 0)
    // With two pending logouts a redirect without a state is ambiguous. A logout that sent a state gets the
    // state back.
    for pending in [[stateless, stateless], [stateless, other], [other], []] {
      expect(bare.index(in: pending), is: nil)
    }
    try expect(LogoutCallback(parsing: "com.example.app:/elsewhere").index(in: [stateless]), is: nil)
    try expect(LogoutCallback(parsing: "com.example.app:/logout?state=x").index(in: [stateless]), is: nil)
  }

  @Test("a repeated state is malformed (R8)")
  func repeatedState() {
    let error = refusal {
      try LogoutCallback(parsing: "com.example.app.oauth:/logout/callback?state=one&state=two")
    }
    expect(error?.code, is: .redirectMalformed)
  }
}
