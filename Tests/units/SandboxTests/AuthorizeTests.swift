import EnrollJSON
import EnrollSandbox
import Testing

@Suite struct AuthorizeTests {
  @Test(
    "a client or redirect that cannot be trusted is told to the user, never redirected",
    arguments: [
      ["client_id": "nobody"], ["client_id": nil], ["redirect_uri": nil],
      ["redirect_uri": "com.example.app:/callback/more"], ["redirect_uri": "com.example.app:/callbac"],
      ["redirect_uri": "http://127.0.0.1:99999/callback"],
      ["redirect_uri": "http://127.0.0.1.evil.example/callback"],
      ["redirect_uri": "http://127.0.0.1:80@evil.example/callback"],
      ["redirect_uri": "http://127.0.0.1:1/other"],
      ["redirect_uri": "http://localhost:1/callback"], ["redirect_uri": "https://127.0.0.1:1/callback"],
    ] as [[String: String?]])
  func untrusted(_ change: [String: String?]) async throws {
    try await withSandbox { client async throws in
      let reply = try await client.browser.get(client.authorize(change))
      #expect(reply.status == 400)
      #expect(reply.location == nil)
    }
  }

  @Test(
    "a registered loopback redirect is accepted with any port (RFC 8252 §7.3)",
    arguments: ["http://127.0.0.1/callback", "http://127.0.0.1:1/callback", "http://[::1]:65535/callback"])
  func loopback(_ uri: String) async throws {
    try await withSandbox { client async throws in
      let page = try await client.browser.open(client.authorize(["redirect_uri": uri]))
      let reply = try await client.browser.signIn(page)
      #expect(reply.location?.hasPrefix(uri + "?code=") == true)
    }
  }

  @Test(
    "a request that is not code with S256 is refused by redirect, with state and issuer",
    arguments: [
      (["response_type": "token"], "unsupported_response_type"),
      (["response_type": nil], "unsupported_response_type"),
      (["code_challenge": nil], "invalid_request"), (["code_challenge_method": "plain"], "invalid_request"),
      (["code_challenge_method": nil], "invalid_request"), (["code_challenge": "short"], "invalid_request"),
      (["code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw~cM"], "invalid_request"),
      (["prompt": "none login"], "invalid_request"), (["prompt": "dance"], "invalid_request"),
      (["max_age": "-1"], "invalid_request"), (["request": "x"], "request_not_supported"),
    ] as [([String: String?], String)])
  func refused(_ change: [String: String?], _ code: String) async throws {
    try await withSandbox { client async throws in
      let reply = try await client.browser.get(client.authorize(change))
      #expect(reply.parameters["error"] == code)
      #expect(reply.parameters["state"] == "state-1")
      #expect(reply.parameters["iss"] == client.browser.issuer)
    }
  }

  @Test("a repeated parameter is refused (RFC 6749 §3.1)")
  func repeated() async throws {
    try await withSandbox { client async throws in
      let state = try await client.browser.get(client.authorize(appending: "&state=other"))
      #expect(state.parameters["error"] == "invalid_request")
      let target = try await client.browser.get(client.authorize(appending: "&redirect_uri=com.evil:/"))
      #expect(target.status == 400)
    }
  }

  @Test("without a session prompt=none answers login_required, and with one it answers at once")
  func promptNone() async throws {
    try await withSandbox { client async throws in
      let browser = client.browser
      #expect(
        try await browser.get(client.authorize(["prompt": "none"])).parameters["error"] == "login_required")
      let page = try await browser.open(client.authorize(["scope": "openid"]))
      #expect(try await browser.signIn(page).parameters["code"] != nil)
      let narrow = client.authorize(["prompt": "none", "scope": "openid"])
      #expect(try await browser.get(narrow).parameters["code"] != nil)
      let wide = client.authorize(["prompt": "none"])
      #expect(try await browser.get(wide).parameters["error"] == "consent_required")
    }
  }

  @Test("sendsIssuer off: no iss in the redirect, and none announced (RFC 9207)")
  func noIssuer() async throws {
    try await withSandbox {
      $0.sendsIssuer = false
    } _: { client async throws in
      let page = try await client.browser.open(client.authorize())
      #expect(try await client.browser.signIn(page).parameters["iss"] == nil)
      let metadata = try await client.browser.get("/.well-known/openid-configuration").json
      #expect(metadata["authorization_response_iss_parameter_supported"] == .bool(false))
    }
  }
}
