import EnrollJSON
import EnrollSandbox
import Testing

@Suite struct SignInTests {
  @Test("sign in, consent, redirect with code, state and issuer; the second time at once")
  func wholeWay() async throws {
    try await withSandbox { client async throws in
      let signIn = try await client.browser.open(client.authorize())
      let consent = try await client.browser.submit(
        signIn, [("username", "alice"), ("password", "alice-password"), ("action", "continue")])
      #expect(consent.text.contains("Allow Sample App access?"))
      let reply = try await client.browser.submit(consent, [("action", "continue")])
      #expect(reply.status == 303)
      #expect(reply.parameters["state"] == "state-1")
      #expect(reply.parameters["iss"] == client.browser.issuer)
      let again = try await client.browser.open(client.authorize())
      let tokens = try await client.redeem(again.parameters["code"] ?? "").json
      let claims = try #require(TestIDToken(tokens["id_token"]?.string)).claims
      #expect(claims["sub"] == .string("user-alice"))
      #expect(claims["name"] == .string("Alice Example"))
      #expect(claims["nonce"] == .string("nonce-1"))
      #expect(claims["auth_time"] == .integer(1_800_000_000))
    }
  }

  @Test(
    "a wrong name or password shows the page again, with an alert",
    arguments: [("alice", "wrong"), ("nobody", "alice-password"), ("alice", ""), ("", "")])
  func wrongPassword(_ name: String, _ password: String) async throws {
    try await withSandbox { client async throws in
      let page = try await client.browser.open(client.authorize())
      let reply = try await client.browser.submit(
        page, [("username", name), ("password", password), ("action", "continue")])
      #expect(reply.status == 422)
      #expect(reply.text.contains("role=\"alert\""))
      #expect(reply.location == nil)
    }
  }

  @Test("cancel and a refused consent answer access_denied")
  func cancel() async throws {
    try await withSandbox { client async throws in
      let browser = client.browser
      let page = try await browser.open(client.authorize())
      #expect(try await browser.submit(page, [("action", "cancel")]).parameters["error"] == "access_denied")
      let second = try await browser.open(client.authorize())
      let consent = try await browser.submit(
        second, [("username", "bob"), ("password", "bob-password"), ("action", "continue")])
      let reply = try await browser.submit(consent, [("action", "cancel")])
      #expect(reply.parameters["error"] == "access_denied")
      #expect(reply.parameters["iss"] == browser.issuer)
    }
  }

  @Test("a form sent twice, or from another browser, goes nowhere")
  func foreignForm() async throws {
    try await withSandbox { client async throws in
      let page = try await client.browser.open(client.authorize())
      let fields = [("username", "alice"), ("password", "alice-password"), ("action", "continue")]
      let stranger = TestBrowser(client.browser.issuer)
      #expect(try await stranger.post("/interaction", page.hiddenFields + fields).status == 403)
      let done = try await client.browser.signIn(page)
      #expect(done.parameters["code"] != nil)
      #expect(try await client.browser.post("/interaction", page.hiddenFields + fields).status == 400)
    }
  }

  @Test("the session's cookie changes at sign-in and no script can read it")
  func cookie() async throws {
    try await withSandbox { client async throws in
      let begun = try await client.browser.get(client.authorize())
      #expect(begun.headers["set-cookie"]?.contains("HttpOnly; SameSite=Lax") == true)
      let before = client.browser.cookies
      _ = try await client.browser.signIn(client.browser.get(begun.location ?? ""))
      #expect(client.browser.cookies != before)
    }
  }

  @Test("prompt=login asks again, prompt=consent too, and auth_time moves with the password only")
  func prompts() async throws {
    try await withSandbox { client async throws in
      let browser = client.browser
      _ = try await browser.signIn(browser.open(client.authorize()))
      await client.provider.advanceClock(seconds: 100)
      let consent = try await browser.open(client.authorize(["prompt": "consent"]))
      #expect(consent.text.contains("Allow Sample App access?"))
      let allowed = try await browser.submit(consent, [("action", "continue")])
      #expect(try await authTime(client, allowed) == 1_800_000_000)
      let login = try await browser.open(client.authorize(["prompt": "login"]))
      #expect(login.text.contains("<h1>Sign in</h1>"))
      #expect(try await authTime(client, browser.signIn(login)) == 1_800_000_100)
    }
  }

  @Test("max_age asks again once the session is older, and zero asks once")
  func maxAge() async throws {
    try await withSandbox { client async throws in
      let browser = client.browser
      _ = try await browser.signIn(browser.open(client.authorize()))
      await client.provider.advanceClock(seconds: 100)
      #expect(try await browser.open(client.authorize(["max_age": "100"])).parameters["code"] != nil)
      let page = try await browser.open(client.authorize(["max_age": "99"]))
      #expect(page.text.contains("<h1>Sign in</h1>"))
      await client.provider.advanceClock(seconds: 1)
      let zero = try await browser.open(client.authorize(["max_age": "0"]))
      #expect(try await authTime(client, browser.signIn(zero)) == 1_800_000_101)
    }
  }

  @Test("a stronger context class asks for the second factor and is told in acr and amr")
  func contextClass() async throws {
    try await withSandbox { client async throws in
      let browser = client.browser
      _ = try await browser.signIn(browser.open(client.authorize()))
      let path = client.authorize(["acr_values": "urn:enroll:two-factors"])
      let page = try await browser.open(path)
      #expect(page.text.contains("Confirmation code"))
      #expect(try await browser.signIn(page, code: "000000").status == 422)
      let reply = try await browser.signIn(page, code: "246810")
      let tokens = try await client.redeem(reply.parameters["code"] ?? "").json
      let claims = try #require(TestIDToken(tokens["id_token"]?.string)).claims
      #expect(claims["acr"] == .string("urn:enroll:two-factors"))
      #expect(claims["amr"]?.array?.contains(.string("otp")) == true)
    }
  }

  @Test("login_hint fills the name in, escaped")
  func loginHint() async throws {
    try await withSandbox { client async throws in
      let page = try await client.browser.open(client.authorize(["login_hint": "a\"><script>"]))
      #expect(page.text.contains("value=\"a&quot;&gt;&lt;script&gt;\""))
      #expect(!page.text.contains("<script"))
    }
  }

  @Test("prompt=select_account offers who is signed in, and another account")
  func selectAccount() async throws {
    try await withSandbox { client async throws in
      let browser = client.browser
      _ = try await browser.signIn(browser.open(client.authorize()))
      let path = client.authorize(["prompt": "select_account"])
      let page = try await browser.open(path)
      #expect(page.text.contains("Continue as Alice Example"))
      #expect(try await browser.submit(page, [("action", "continue")]).parameters["code"] != nil)
      let other = try await browser.submit(browser.open(path), [("action", "other")])
      #expect(other.text.contains("<h1>Sign in</h1>"))
      let code = try await browser.signIn(other, user: "bob").parameters["code"] ?? ""
      let claims = TestIDToken(try await client.redeem(code).json["id_token"]?.string)?.claims
      #expect(claims?["sub"] == .string("user-bob"))
    }
  }

  @Test("prompt=create makes an account that can be used, and says what to correct")
  func create() async throws {
    try await withSandbox { client async throws in
      let browser = client.browser
      let page = try await browser.open(client.authorize(["prompt": "create"]))
      #expect(page.text.contains("<h1>Create an account</h1>"))
      let bad = try await browser.submit(
        page,
        [
          ("username", "alice"), ("name", ""), ("email", "x"), ("password", "short"),
          ("action", "continue"),
        ])
      #expect(bad.status == 422)
      #expect(bad.text.contains("user name, full name, e-mail address, password"))
      let consent = try await browser.submit(
        page,
        [
          ("username", "carol"), ("name", "Carol Singer"), ("email", "carol@example.com"),
          ("password", "carol-password"), ("action", "continue"),
        ])
      let reply = try await browser.submit(consent, [("action", "continue")])
      let tokens = try await client.redeem(reply.parameters["code"] ?? "").json
      let claims = TestIDToken(tokens["id_token"]?.string)?.claims
      #expect(claims?["name"] == .string("Carol Singer"))
      let stranger = TestBrowser(browser.issuer)
      let later = try await stranger.signIn(stranger.open(client.authorize()), user: "carol")
      #expect(later.parameters["code"] != nil)
    }
  }

  private func authTime(_ client: TestClient, _ redirect: Reply) async throws -> Int64? {
    let tokens = try await client.redeem(redirect.parameters["code"] ?? "").json
    return TestIDToken(tokens["id_token"]?.string)?.claims["auth_time"]?.integer
  }
}
