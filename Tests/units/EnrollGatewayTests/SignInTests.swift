// Tests of signing in at the gateway: with a browser, and with an app's browser.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollGatewayStore
import EnrollJSON
import EnrollPosix
import EnrollTesting
import Expectations
import Testing

@testable import EnrollGateway
import EnrollHTTP

@Suite("signing in at the gateway")
struct SignInTests {
  let world: TestGateway
  let browser: TestBrowser

  init() throws {
    world = try TestGateway()
    browser = TestBrowser(world.gateway)
  }

  // MARK: By a browser

  @Test("a browser that signs in gets a session under a token that is stored as a hash alone")
  func web() throws {
    let start = browser.get("/v1/auth/fake")
    expect(start.status, is: 303)
    expect(
      parameter("redirect_uri", of: start.header("Location") ?? ""),
      is: "https://gateway.example/v1/auth/fake/callback")
    let back = browser.comeBack(from: start, by: world.provider)
    expect(back.status, is: 303)
    expect(back.header("Location"), is: "/account")
    expect(browser.cookies.map { $0.name }, is: ["__Host-enroll"])
    let page = browser.get("/account")
    expect(page.status, is: 200)
    let hash = try #require(RandomToken.hash(of: browser.cookies[0].value))
    let session = try #require(try world.store.session(tokenHash: hash, at: world.clock.wallTime()))
    expect(session.identity.provider, is: "fake")
    expect(session.device, is: "Test/1")
  }

  @Test("every cookie is for this host alone, over a secure connection, and closed to scripts")
  func cookies() {
    let start = browser.get("/v1/auth/fake")
    let back = browser.comeBack(from: start, by: world.provider)
    let set = (start.headers + back.headers).filter { $0.name == "Set-Cookie" }.map { $0.value }
    expect(set.count, is: 3)
    for text in set {
      #expect(text.hasPrefix("__Host-"))
      for word in ["; Path=/;", "; Secure;", "; HttpOnly;", "; SameSite=Lax"] {
        #expect(text.contains(word))
      }
      #expect(!text.contains("Domain"))
    }
  }

  @Test("a second sign-in of the same person finds the account")
  func again() throws {
    var accounts: Set<AccountID> = []
    for _ in 0..<3 {
      let browser = TestBrowser(world.gateway)
      _ = browser.comeBack(from: browser.get("/v1/auth/fake"), by: world.provider)
      let hash = try #require(RandomToken.hash(of: browser.cookies[0].value))
      accounts.insert(
        try #require(try world.store.session(tokenHash: hash, at: world.clock.wallTime())).account.id)
    }
    expect(accounts.count, is: 1)
  }

  @Test(
    "a sign-in takes the place of the browser's session: the token from before opens nothing (session fixation)"
  )
  func fixation() throws {
    _ = browser.comeBack(from: browser.get("/v1/auth/fake"), by: world.provider)
    let before = browser.cookies[0].value
    _ = browser.comeBack(from: browser.get("/v1/auth/fake"), by: world.provider)
    expect(browser.cookies[0].value, isNot: before)
    let hash = try #require(RandomToken.hash(of: before))
    try expect(world.store.session(tokenHash: hash, at: world.clock.wallTime()), is: nil)
  }

  @Test("the answer to another browser's sign-in is refused, and leaves nothing behind (login CSRF)")
  func loginCSRF() {
    let stranger = TestBrowser(world.gateway)
    let target = stranger.callback(from: stranger.get("/v1/auth/fake"), by: world.provider)
    let answer = browser.get(target)
    expect(answer.status, is: 400)
    #expect(browser.cookies.isEmpty)
    #expect(world.provider.requests(.token).isEmpty)
  }

  @Test("the state of one sign-in with the cookie of another is refused")
  func crossed() {
    let first = browser.get("/v1/auth/fake")
    let second = TestBrowser(world.gateway)
    let other = second.get("/v1/auth/fake")
    let target = second.callback(from: other, by: world.provider)
    browser.cookies = [(name: second.cookies[0].name, value: browser.cookies[0].value)]
    expect(first.status, is: 303)
    expect(browser.get(target).status, is: 400)
    #expect(world.provider.requests(.token).isEmpty)
  }

  @Test("the answer of one provider at another's callback is refused (mix-up, RFC 9700 §4.4)")
  func mixUp() throws {
    let own: [(String, JSON)] = [
      ("issuer", .string("https://id.example")), ("clientId", .string("gateway")),
      ("clientSecret", .string("a gateway's own secret")),
    ]
    let world = try TestGateway([("providers", .object([("fake", .object(own)), ("other", .object(own))]))])
    let browser = TestBrowser(world.gateway)
    let target = browser.callback(from: browser.get("/v1/auth/fake"), by: world.provider)
    let elsewhere = "/v1/auth/other/callback" + target.dropFirst("/v1/auth/fake/callback".count)
    expect(browser.get(elsewhere).status, is: 400)
    #expect(world.provider.requests(.token).isEmpty)
    expect(browser.get(target).status, is: 303)
  }

  @Test("an answer after ten minutes is refused as late, and the app that waits is told")
  func late() throws {
    let target = browser.callback(from: browser.get("/v1/auth/fake"), by: world.provider)
    let ofApp = browser.callback(from: try appStart(), by: world.provider)
    world.clock.advance(seconds: 601)
    let answer = browser.get(target)
    expect(answer.status, is: 400)
    #expect(text(answer).contains("The sign-in took too long"))
    let location = try #require(browser.get(ofApp).header("Location"))
    #expect(location.hasPrefix("com.example.app:/callback?error=invalid_request"))
    expect(parameter("state", of: location), is: "s1")
    #expect(browser.cookies.isEmpty)
    #expect(world.provider.requests(.token).isEmpty)
  }

  @Test("a callback that comes twice signs in once; the second leads to the account, without a request")
  func twice() throws {
    let target = browser.callback(from: browser.get("/v1/auth/fake"), by: world.provider)
    expect(browser.get(target).status, is: 303)
    let token = browser.cookies[0].value
    expect(browser.get(target).header("Location"), is: "/account")
    expect(browser.cookies.map { $0.value }, is: [token])
    expect(world.provider.requests(.token).count, is: 1)
    // Without the session's cookie, the gateway knows no sign-in of this browser, and refuses the answer.
    browser.cookies = []
    expect(browser.get(target).status, is: 400)
    expect(world.provider.requests(.token).count, is: 1)
  }

  @Test("HEAD at a callback signs nobody in and spends nothing; elsewhere it is answered as GET")
  func head() {
    expect(browser.head("/login").status, is: 200)
    let target = browser.callback(from: browser.get("/v1/auth/fake"), by: world.provider)
    let before = browser.cookies.map { $0.name }
    for address in [target, "/v1/auth/fake/callback?error=access_denied"] {
      let answer = browser.head(address)
      expect(answer.status, is: 405)
      expect(answer.header("Allow"), is: "GET")
    }
    expect(browser.cookies.map { $0.name }, is: before)
    #expect(world.provider.requests(.token).isEmpty)
    expect(browser.get(target).status, is: 303)
  }

  @Test("an answer that a browser repeats with its cookie goes to the provider once")
  func repeated() throws {
    let target = browser.callback(from: browser.get("/v1/auth/fake"), by: world.provider)
    let before = browser.cookies
    expect(browser.get(target).status, is: 303)
    browser.cookies = before
    let second = try #require(browser.get(target).header("Location"))
    expect(second, is: "/v1/auth/fake/callback?used=1")
    let page = browser.get(second)
    expect(page.status, is: 400)
    #expect(text(page).contains("This sign-in is already finished"))
    expect(world.provider.requests(.token).count, is: 1)
    // An app must get the error in its redirect.
    let ofApp = browser.callback(from: try appStart(), by: world.provider)
    let waiting = browser.cookies
    expect(browser.get(ofApp).header("Location")?.contains("code="), is: true)
    browser.cookies = waiting
    let told = try #require(browser.get(ofApp).header("Location"))
    #expect(told.hasPrefix("com.example.app:/callback?error=invalid_request"))
    expect(world.provider.requests(.token).count, is: 2)
  }

  @Test("of two callbacks at once one goes to the provider, and the other leads where the first has led")
  func atOnce() throws {
    let address = "https://app.example/welcome"
    let target = browser.callback(
      from: browser.get("/v1/auth/fake?return_to=" + PercentEncoding.encode(address)), by: world.provider)
    let parts = target.split(separator: "?").map(String.init)
    let request = WebRequest(
      .get, parts[0], query: parts[1],
      headers: browser.cookies.map { HTTPHeader("Cookie", "\($0.name)=\($0.value)") })
    let (gateway, other) = (world.gateway, Guarded<WebResponse?>(nil, by: Mutex()))
    world.provider.next(
      .token,
      .during {
        let answer = gateway.answer(request)
        other.withLock { $0 = answer }
      })
    expect(browser.get(target).header("Location"), is: address)
    let second = try #require(other.withLock { $0 })
    // The first callback may still fail: then the cookie is needed again.
    expect(second.header("Set-Cookie"), is: nil)
    let location = try #require(second.header("Location"))
    #expect(location.hasPrefix("/v1/auth/fake/callback?used=1"))
    expect(browser.get(location).header("Location"), is: address)
    expect(world.provider.requests(.token).count, is: 1)
  }

  @Test("an answer that another replica has sent, and the provider refuses, leads where that one has led")
  func atAnotherReplica() throws {
    let address = "https://app.example/welcome"
    _ = browser.comeBack(from: browser.get("/v1/auth/fake"), by: world.provider)
    let signedIn = browser.cookies
    let target = browser.callback(
      from: browser.get("/v1/auth/fake?return_to=" + PercentEncoding.encode(address)), by: world.provider)
    world.provider.next(.token, .status(400, body: #"{"error":"invalid_grant"}"#))
    let loser = try #require(browser.get(target).header("Location"))
    #expect(loser.hasPrefix("/v1/auth/fake/callback?used=1"))
    // The browser now follows the redirect, with its current cookies.
    expect(browser.get(loser).header("Location"), is: address)
    expect(browser.cookies.map { $0.value }, is: signedIn.map { $0.value })
    // A browser without a session must get an error, and a redirect to an address that is not on the list must be
    // refused.
    browser.cookies = []
    let refused = browser.get(loser)
    expect(refused.status, is: 400)
    #expect(text(refused).contains("This sign-in is already finished"))
    browser.cookies = signedIn
    let elsewhere =
      "/v1/auth/fake/callback?used=1&return_to=" + PercentEncoding.encode("https://evil.example/")
    expect(browser.get(elsewhere).status, is: 400)
  }

  @Test("what was finished is remembered for as long as the cookie, and only so much of it")
  func memory() {
    let clock = FakeClock()
    let finished = FinishedAttempts(most: 2, clock: clock, lock: Mutex())
    #expect(finished.insert("a"))
    #expect(!finished.insert("a"))
    finished.remove("a")
    #expect(finished.insert("a"))
    clock.advance(seconds: 1_199)
    #expect(finished.insert("b"))
    clock.advance(seconds: 1_199)
    #expect(!finished.insert("b"))
    clock.advance(seconds: 1_200)
    #expect(finished.insert("a"))
    // If the list of finished sign-ins exceeds its limit, the oldest entries are dropped.
    for name in ["c", "d", "e", "f"] { #expect(finished.insert(name)) }
    #expect(!finished.insert("d") && !finished.insert("e"))
    #expect(finished.insert("a"))
  }

  @Test("a provider that is away when the code is due loses no sign-in: the same address works later")
  func awayBeforeTheCode() {
    let target = browser.callback(from: browser.get("/v1/auth/fake"), by: world.provider)
    world.provider.next(.keys, .unreachable)
    expect(browser.get(target).status, is: 503)
    world.clock.advance(seconds: 61)
    expect(browser.get(target).header("Location"), is: "/account")
    expect(world.provider.requests(.token).count, is: 1)
  }

  @Test("what the person refuses is told in words, and the cookie goes")
  func denied() {
    let start = browser.get("/v1/auth/fake")
    let state = parameter("state", of: start.header("Location") ?? "") ?? ""
    let answer = browser.get(
      "/v1/auth/fake/callback?error=access_denied&state=\(state)&iss=https://id.example")
    expect(answer.status, is: 400)
    #expect(browser.cookies.isEmpty)
    #expect(text(answer).contains("Fake"))
  }

  @Test("five sign-ins may be under way in one browser; the sixth takes the place of the oldest")
  func many() {
    let starts = (0..<6).map { _ in browser.get("/v1/auth/fake") }
    expect(browser.cookies.count, is: 5)
    expect(browser.comeBack(from: starts[0], by: world.provider).status, is: 400)
    expect(browser.comeBack(from: starts[1], by: world.provider).status, is: 303)
    expect(browser.comeBack(from: starts[5], by: world.provider).status, is: 303)
  }

  @Test(
    "a return address is taken from the list, exactly",
    arguments: [
      ("https://app.example/welcome", 303), ("https://app.example/welcome/", 400),
      ("https://app.example", 400),
      ("https://evil.example/welcome", 400), ("//app.example/welcome", 400), ("/account", 400), ("", 400),
    ])
  func returnTo(address: String, status: Int) {
    let start = browser.get("/v1/auth/fake?return_to=" + PercentEncoding.encode(address))
    expect(start.status, is: status)
    guard status == 303 else { return }
    expect(browser.comeBack(from: start, by: world.provider).header("Location"), is: address)
  }

  @Test(
    "parameters that come twice, or cannot be read, are refused",
    arguments: [
      "platform=mobile&platform=mobile", "prompt=%", "prompt=%FF", "return_to=a&return_to=b", "platform=tv",
      "prompt=a%00",
    ])
  func malformed(query: String) {
    expect(browser.get("/v1/auth/fake?" + query).status, is: 400)
    #expect(browser.cookies.isEmpty)
  }

  @Test("a cookie that is changed, cut, of another key or doubled opens nothing")
  func hostileCookies() {
    let start = browser.get("/v1/auth/fake")
    let target = browser.callback(from: start, by: world.provider)
    let good = browser.cookies[0]
    let dot = good.value.firstIndex(of: ".")!
    let bad = [
      String(good.value.dropLast()), good.value + "A", "two" + good.value[dot...], "", ".",
      String(good.value[dot...]),
      String(good.value.reversed()),
    ]
    for value in bad {
      browser.cookies = [(good.name, value)]
      expect(browser.get(target).status, is: 400)
    }
    browser.cookies = [good, good]
    expect(browser.get(target).status, is: 400)
    #expect(world.provider.requests(.token).isEmpty)
    browser.cookies = [good]
    expect(browser.get(target).status, is: 303)
  }

  @Test("a page is in the language that the browser asks for, or in the one of its address")
  func languages() {
    let german = [HTTPHeader("Accept-Language", "de-AT, en;q=0.5")]
    #expect(text(browser.get("/login")).contains("<html lang=\"en\""))
    #expect(text(browser.get("/login", headers: german)).contains("<html lang=\"de\""))
    #expect(text(browser.get("/login?ui_locales=en", headers: german)).contains("<html lang=\"en\""))
    let page = text(browser.get("/login?return_to=https%3A%2F%2Fapp.example%2Fwelcome"))
    #expect(
      page.contains("href=\"/login?return_to=https%3A%2F%2Fapp.example%2Fwelcome&amp;ui_locales=de\""))
  }

  @Test("an unknown provider, an unknown path and another method are refused")
  func elsewhere() {
    expect(browser.get("/v1/auth/other").status, is: 404)
    expect(browser.get("/v1/auth/fake/").status, is: 404)
    expect(browser.get("/v1/auth/%66ake").status, is: 404)
    expect(browser.get("/v1/auth/../auth/fake").status, is: 404)
    expect(browser.post("/v1/auth/fake", form: []).status, is: 405)
    expect(browser.get("/v1/auth/fake/redeem").status, is: 405)
  }

  // MARK: By an app

  let verifier = String(repeating: "v", count: 43)

  func appStart(_ more: String = "", state: String = "s1") throws -> WebResponse {
    let challenge = try PKCE.challenge(for: Secret(verifier))
    return browser.get(
      "/v1/auth/fake?platform=mobile&code_challenge=\(challenge)&code_challenge_method=S256&state=\(state)\(more)"
    )
  }

  func redeem(_ code: String, verifier: String? = nil, at path: String = "/v1/auth/fake/redeem")
    -> WebResponse
  {
    let body = JSON.object([("code", .string(code)), ("code_verifier", .string(verifier ?? self.verifier))])
    return world.gateway.answer(
      WebRequest(
        .post, path, headers: [HTTPHeader("Content-Type", "application/json")], body: body.serialized()))
  }

  func bearer(_ path: String, _ token: String) -> WebResponse {
    world.gateway.answer(WebRequest(.get, path, headers: [HTTPHeader("Authorization", "Bearer \(token)")]))
  }

  @Test("an app gets a code, redeems it with its verifier, and has a session; the browser has none")
  func app() throws {
    let back = browser.comeBack(from: try appStart(), by: world.provider)
    let location = try #require(back.header("Location"))
    #expect(location.hasPrefix("com.example.app:/callback?code="))
    expect(parameter("state", of: location), is: "s1")
    #expect(browser.cookies.isEmpty)
    let answer = redeem(try #require(parameter("code", of: location)))
    expect(answer.status, is: 200)
    let json = try JSON.parse(answer.body)
    expect(json["expires_in"]?.integer, is: 15_552_000)
    let info = bearer("/v1/userinfo", try #require(json["session_token"]?.string))
    expect(info.status, is: 200)
    try expect(JSON.parse(info.body)["sub"]?.string?.count, is: 36)
  }

  @Test("an app hears that the provider does not support its prompt; a user gets the page of a wrong request")
  func unsupportedPrompt() throws {
    world.provider.change {
      $0.metadata = { $0["prompt_values_supported"] = .array([.string("none"), .string("login")]) }
    }
    let location = try #require(try appStart("&prompt=select_account").header("Location"))
    #expect(location.hasPrefix("com.example.app:/callback?"))
    expect(parameter("error", of: location), is: "invalid_request")
    #expect(parameter("error_description", of: location)?.contains("prompt") ?? false)
    expect(parameter("state", of: location), is: "s1")
    let page = browser.get("/v1/auth/fake?prompt=select_account")
    expect(page.status, is: 400)
    #expect(!text(page).contains("Fake"))
    #expect(try appStart("&prompt=login").header("Location")?.hasPrefix("https://id.example/") ?? false)
  }

  @Test(
    "what the provider answers to prompt=none reaches the app (OpenID Connect Core §3.1.2.6)",
    arguments: [
      ("login_required", "login_required"), ("interaction_required", "interaction_required"),
      ("account_selection_required", "interaction_required"), ("consent_required", "consent_required"),
      ("access_denied", "access_denied"), ("temporarily_unavailable", "temporarily_unavailable"),
      ("invalid_scope", "server_error"),
    ])
  func silent(answer: String, told: String) throws {
    let start = try #require(try appStart("&prompt=none").header("Location"))
    expect(parameter("prompt", of: start), is: "none")
    let back = world.provider.refuse(start, error: answer)
    let location = try #require(
      browser.get(String(back.dropFirst(TestGateway.origin.count))).header("Location"))
    expect(parameter("error", of: location), is: told)
    #expect(parameter("error_description", of: location)?.contains("Fake") ?? false)
    #expect(browser.cookies.isEmpty)
  }

  @Test("a code works once; the second use ends the session that it gave (RFC 6749 §4.1.2)")
  func reuse() throws {
    let back = browser.comeBack(from: try appStart(), by: world.provider)
    let code = try #require(parameter("code", of: back.header("Location") ?? ""))
    let token = try #require(try JSON.parse(redeem(code).body)["session_token"]?.string)
    expect(bearer("/v1/userinfo", token).status, is: 200)
    expect(redeem(code).status, is: 400)
    expect(bearer("/v1/userinfo", token).status, is: 401)
  }

  @Test(
    "another verifier, another provider's path and a late code are refused; the right app may still redeem")
  func wrongRedeem() throws {
    let back = browser.comeBack(from: try appStart(), by: world.provider)
    let code = try #require(parameter("code", of: back.header("Location") ?? ""))
    expect(redeem(code, verifier: String(repeating: "w", count: 43)).status, is: 400)
    expect(redeem(code, verifier: "short").status, is: 400)
    expect(redeem(code, at: "/v1/auth/other/redeem").status, is: 404)
    expect(redeem(String(code.dropLast())).status, is: 400)
    expect(redeem(code).status, is: 200)
  }

  @Test("a code lives for 60 seconds")
  func lateCode() throws {
    let back = browser.comeBack(from: try appStart(), by: world.provider)
    let code = try #require(parameter("code", of: back.header("Location") ?? ""))
    world.clock.advance(seconds: 61)
    expect(redeem(code).status, is: 400)
  }

  @Test("a state that is not visible ASCII is refused, so that no cookie grows beyond what browsers take")
  func stateOfAnApp() throws {
    for state in ["%01", "%C3%A9", String(repeating: "a", count: 513)] {
      try expect(appStart("", state: state).status, is: 400)
    }
    for _ in 0..<20 {
      let start = try appStart("", state: String(repeating: "%22", count: 512))
      let sizes = browser.cookies.map { $0.name.utf8.count + $0.value.utf8.count }
      expect(start.status, is: 303)
      #expect(sizes.max() ?? 0 <= 4096)
      #expect(sizes.reduce(0, +) < 12_000)
    }
  }

  @Test("an app's session opens no page, and a browser's session is no bearer token")
  func sessionsOfTwoKinds() throws {
    let back = browser.comeBack(from: try appStart(), by: world.provider)
    let code = try #require(parameter("code", of: back.header("Location") ?? ""))
    let token = try #require(try JSON.parse(redeem(code).body)["session_token"]?.string)
    browser.cookies = [("__Host-enroll", token)]
    expect(browser.get("/account").header("Location"), is: "/login")
    _ = browser.comeBack(from: browser.get("/v1/auth/fake"), by: world.provider)
    let cookie = try #require(browser.cookies.first { $0.name == "__Host-enroll" }?.value)
    expect(browser.get("/account").status, is: 200)
    expect(bearer("/v1/userinfo", cookie).status, is: 401)
  }

  @Test("an account belongs to a subject of an issuer, whatever the provider is called")
  func issuers() throws {
    _ = browser.comeBack(from: browser.get("/v1/auth/fake"), by: world.provider)
    let hash = try #require(RandomToken.hash(of: browser.cookies[0].value))
    let session = try #require(try world.store.session(tokenHash: hash, at: world.clock.wallTime()))
    #expect(session.identity.subject.hasPrefix("https://id.example "))
  }

  @Test(
    "a name in any script stays as it is, without marks that change what is beside it",
    arguments: [
      ("Jürgen Groß 王小明", "Jürgen Groß 王小明"), ("  a\u{202E}b\u{200B}\r\nc ", "abc"),
      ("\u{85}\u{2066}", nil), (String(repeating: "é", count: 150), String(repeating: "é", count: 100)),
    ])
  func names(given: String, shown: String?) { expect(PersonalText.shown(given), is: shown) }

  @Test("reports without a session are taken a hundred in ten seconds")
  func reports() {
    func send() -> Int {
      let body = JSON.object([("code", .string("network"))]).serialized()
      let headers = [HTTPHeader("Content-Type", "application/json")]
      return world.gateway.answer(WebRequest(.post, "/v1/error-reports", headers: headers, body: body))
        .status
    }
    #expect((0..<100).allSatisfy { _ in send() == 204 })
    expect(send(), is: 429)
    world.clock.advance(seconds: 10)
    expect(send(), is: 204)
  }

  @Test(
    "an app without an S256 challenge is told so by its redirect",
    arguments: [
      "platform=mobile&state=s1",
      "platform=mobile&state=s1&code_challenge=plain&code_challenge_method=plain",
      "platform=mobile&state=s1&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    ])
  func noChallenge(query: String) throws {
    let location = try #require(browser.get("/v1/auth/fake?" + query).header("Location"))
    #expect(location.hasPrefix("com.example.app:/callback?error=invalid_request"))
    expect(parameter("state", of: location), is: "s1")
    #expect(browser.cookies.isEmpty)
  }

  @Test(
    "an app returns to a registered address alone; a loopback address may have any port (RFC 8252 §7.3)",
    arguments: [
      ("http://127.0.0.1:51234/callback", true), ("com.example.app:/callback", true),
      ("com.example.app:/other", false), ("http://127.0.0.1:51234/other", false),
      ("http://localhost:51234/callback", false), ("https://evil.example/callback", false),
      ("http://127.0.0.1:51234/callback?x=1", false), ("javascript:alert(1)", false),
    ])
  func redirects(address: String, isTaken: Bool) throws {
    let start = try appStart("&redirect_uri=" + PercentEncoding.encode(address))
    expect(start.status, is: isTaken ? 303 : 400)
    guard isTaken else { return }
    let back = browser.comeBack(from: start, by: world.provider)
    expect(back.header("Location")?.hasPrefix(address), is: true)
  }

  @Test("an app's sign-in beside a session of the browser leaves that session alone")
  func besideWeb() throws {
    _ = browser.comeBack(from: browser.get("/v1/auth/fake"), by: world.provider)
    let before = browser.cookies.first { $0.name == "__Host-enroll" }?.value
    _ = browser.comeBack(from: try appStart(), by: world.provider)
    expect(browser.cookies.first { $0.name == "__Host-enroll" }?.value, is: before)
    expect(browser.get("/account").status, is: 200)
  }

  @Test("a failure at the provider reaches the app as an error with its state")
  func appFailure() throws {
    let start = try appStart()
    world.provider.next(.token, .status(400, body: #"{"error":"invalid_grant"}"#))
    let location = try #require(browser.comeBack(from: start, by: world.provider).header("Location"))
    expect(parameter("error", of: location), is: "server_error")
    expect(parameter("state", of: location), is: "s1")
    expect(parameter("error_description", of: location)?.isEmpty, is: false)
  }

  @Test("no log line holds a token, a code, a state or a cookie")
  func logs() throws {
    let back = browser.comeBack(from: try appStart(), by: world.provider)
    let code = try #require(parameter("code", of: back.header("Location") ?? ""))
    let token = try #require(try JSON.parse(redeem(code).body)["session_token"]?.string)
    _ = redeem(code)
    let all = world.log.all.joined(separator: "\n")
    #expect(!all.isEmpty)
    for secret in [code, token, verifier] { #expect(!all.contains(secret)) }
  }
}
