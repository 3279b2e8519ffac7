// A double of Apple: its answer is a form from another site, it sends the user's name only once, and the client secret
// is a JWT.

import EnrollRules
import EnrollCrypto
import EnrollGatewayStore
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@testable import EnrollGateway
import EnrollHTTP

/// A gateway with Apple as its provider.
func appleWorld(_ more: [(String, JSON)] = []) throws -> (world: ServerWorld, key: PrivateKey) {
  let key = try PrivateKey.generate(.ec(.p256))
  let world = try ServerWorld(
    "apple", imitating: "apple", proof: .appleSecret(team: "TEAM", keyID: "KEY", key: key.publicKey),
    [
      ("provider", .string("apple")), ("label", .string("Apple")), ("appleTeamId", .string("TEAM")),
      ("appleKeyId", .string("KEY")), ("applePrivateKey", .string(try pem(key))),
    ] + more)
  return (world, key)
}

@Suite("Apple at the gateway")
struct AppleTests {
  let world: ServerWorld

  init() throws { world = try appleWorld().world }

  private func fields(_ answer: ProviderForServers.Answer) throws -> [String: String] {
    guard case .form(let target, let fields) = answer else {
      Issue.record("\(answer)")
      return [:]
    }
    expect(target, is: TestGateway.origin + world.callback)
    return fields
  }

  private func post(_ fields: [String: String], with browser: TestBrowser? = nil) -> WebResponse {
    (browser ?? world.browser).post(world.callback, form: fields.map { ($0.key, $0.value) })
  }

  // MARK: The way back

  @Test("a user signs in: Apple's form has no cookie, the page sends it again, and the name is there")
  func whole() throws {
    let back = try world.signIn()
    expect(back.status, is: 303)
    expect(back.header("Location"), is: "/account")
    #expect(world.server.refusals.isEmpty)
    expect(world.browser.cookies.map { $0.name }, is: ["__Host-enroll"])
    let identity = try #require(try world.session()).identity
    expect(identity.subject, is: "https://appleid.apple.com alice")
    expect(identity.name, is: "Alice Example")
    #expect(identity.email == "alice@example.com" && identity.isEmailVerified)
  }

  @Test("the request asks for a form, for the name and for the address")
  func request() throws {
    let url = try #require(world.browser.get("/v1/auth/apple").header("Location"))
    expect(parameter("response_mode", of: url), is: "form_post")
    expect(parameter("scope", of: url), is: "openid name email")
  }

  @Test("the name comes with the first sign-in alone, and stays")
  func nameOnce() throws {
    _ = try world.signIn()
    let again = try world.answer()
    try expect(fields(again)["user"], is: nil)
    _ = try world.comeBack(again)
    try expect(world.session()?.identity.name, is: "Alice Example")
  }

  @Test(
    "the page holds the fields and a button, asks nothing of anybody, and may run one script of this origin"
  )
  func page() throws {
    let sent = try fields(try world.answer())
    let page = post(sent, with: TestBrowser(world.world.gateway))
    expect(page.status, is: 200)
    expect(page.header("Set-Cookie"), is: nil)
    expect(world.tokenRequests, is: 0)
    let policy = try #require(page.header("Content-Security-Policy"))
    #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self';"))
    #expect(policy.contains("form-action 'self';"))
    expect(page.header("Cache-Control"), is: "no-store")
    let markup = try Markup(page: page.body)
    let form = try #require(markup.all("form").first)
    #expect(form.attributes["action"] == world.callback && form.attributes["method"] == "post")
    expect(form.all("button").count, is: 1)
    var again = Dictionary(uniqueKeysWithValues: try ServerWorld.fields(of: page))
    expect(again.removeValue(forKey: "again"), is: "1")
    expect(again, is: sent)
    let script = try #require(markup.all("script").first)
    #expect(markup.all("script").count == 1 && script.text.isEmpty)
    let asset = world.browser.get(try #require(script.attributes["src"]))
    expect(asset.status, is: 200)
    expect(asset.header("Content-Type"), is: "text/javascript; charset=utf-8")
    #expect(text(asset).contains("submit"))
  }

  @Test("no other page may run a script")
  func otherPages() {
    for path in ["/login", "/v1/auth/apple/callback?code=c&state=s", "/nowhere"] {
      let policy = world.browser.get(path).header("Content-Security-Policy") ?? ""
      #expect(policy.hasPrefix("default-src 'none'; style-src"), "\(path)")
    }
  }

  @Test("a form with another browser's state signs nobody in, however often it is sent")
  func otherBrowser() throws {
    let victim = TestBrowser(world.world.gateway)
    _ = victim.get("/v1/auth/apple")
    let attackers = try fields(try world.answer())
    let page = post(attackers, with: TestBrowser(world.world.gateway))
    let again = try ServerWorld.fields(of: page)
    expect(victim.post(world.callback, form: again).status, is: 400)
    expect(victim.post(world.callback, form: again).status, is: 400)
    expect(world.tokenRequests, is: 0)
    #expect(!victim.cookies.contains { $0.name == "__Host-enroll" })
  }

  @Test("a form that was taken is refused when it comes again")
  func replay() throws {
    let answer = try world.answer()
    try expect(world.comeBack(answer).status, is: 303)
    let page = post(try fields(answer), with: TestBrowser(world.world.gateway))
    expect(world.browser.post(world.callback, form: try ServerWorld.fields(of: page)).status, is: 400)
    expect(world.tokenRequests, is: 1)
  }

  @Test("a browser that sends its cookies with the provider's form needs no second one")
  func oldBrowser() throws {
    expect(post(try fields(try world.answer())).status, is: 303)
  }

  @Test(
    "a form that is no answer is refused",
    arguments: [
      [:], ["state": "s"], ["code": "c"], ["state": "s", "code": ""], ["state": "", "code": "c"],
      ["state": "s", "code": "c", "error": "access_denied"], ["state": "s", "code": "c\u{0}"],
      ["state": "s\u{E9}", "code": "c"], ["state": "s", "error": String(repeating: "e", count: 65)],
      ["state": "s", "code": String(repeating: "c", count: 2_049)],
      ["state": String(repeating: "s", count: 513), "code": "c"],
    ] as [[String: String]])
  func malformed(fields: [String: String]) {
    let answer = post(fields, with: TestBrowser(world.world.gateway))
    expect(answer.status, is: 400)
    #expect(!text(answer).contains("<form"))
  }

  @Test(
    "a form with too many or too long fields, with one that comes twice, and of another type is refused")
  func giant() throws {
    let good = try fields(try world.answer())
    let many = good.merging((0..<40).map { ("x\($0)", "1") }) { $1 }
    expect(post(many).status, is: 400)
    expect(post(good.merging(["x": String(repeating: "x", count: 9_000)]) { $1 }).status, is: 400)
    let twice = good.map { ($0.key, $0.value) } + [("state", "s")]
    expect(world.browser.post(world.callback, form: twice).status, is: 400)
    let json = WebRequest(
      .post, world.callback, headers: [HTTPHeader("Content-Type", "application/json")],
      body: Array(#"{"state":"s","code":"c"}"#.utf8))
    expect(world.world.gateway.answer(json).status, is: 400)
    expect(world.tokenRequests, is: 0)
    expect(post(good).status, is: 303)
  }

  @Test("parameters beside the form, and a code in a query, are refused; the form itself stays good")
  func twoWays() throws {
    let good = try fields(try world.answer())
    let pairs = good.map { ($0.key, $0.value) }
    expect(world.browser.post(world.callback + "?code=c", form: pairs).status, is: 400)
    let (code, state) = (good["code"] ?? "", good["state"] ?? "")
    expect(world.browser.get("\(world.callback)?code=\(code)&state=\(state)").status, is: 400)
    expect(world.tokenRequests, is: 0)
    expect(post(good).status, is: 303)
  }

  @Test(
    "who says no at Apple is told so, by a form and by a query, and the cookie goes",
    arguments: [true, false])
  func cancelled(byForm: Bool) throws {
    let sent = try fields(try world.answer(error: "user_cancelled_authorize"))
    let answer =
      byForm
      ? post(sent)
      : world.browser.get(
        "\(world.callback)?error=user_cancelled_authorize&state=\(try #require(sent["state"]))")
    expect(answer.status, is: 400)
    #expect(text(answer).contains("cancelled"))
    #expect(world.browser.cookies.isEmpty)
  }

  @Test("an app hears access_denied when its user says no at Apple")
  func cancelledApp() throws {
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    let answer = try world.answer(
      error: "user_cancelled_authorize",
      at: "?platform=mobile&state=s&code_challenge=\(challenge)&code_challenge_method=S256")
    let location = try #require(try world.comeBack(answer).header("Location"))
    expect(parameter("error", of: location), is: "access_denied")
  }

  @Test("a provider that answers by a query takes no form")
  func otherProvider() throws {
    let google = try ServerWorld(
      "google", imitating: "google-desktop",
      [("provider", .string("google")), ("clientSecret", .string(ServerWorld.secret))])
    let answer = google.browser.post(google.callback, form: [("state", "s"), ("code", "c")])
    expect(answer.status, is: 405)
    expect(answer.header("Allow"), is: "GET")
  }

  // MARK: Apple's notifications

  @Test(
    "a name is for pages alone, and a field that is malformed or hostile costs the name and no more",
    arguments: [
      (#"{"name":{"firstName":"Jürgen","lastName":"Groß"}}"#, "Jürgen Groß"),
      (#"{"name":{"firstName":"王"}}"#, "王"), (#"{"name":{"lastName":"  L\u202E "}}"#, "L"),
      (#"{"name":{"firstName":"<script>alert(1)</script>"}}"#, "<script>alert(1)</script>"),
      (#"{"name":{"firstName":1,"lastName":null}}"#, nil), (#"{"name":"Alice"}"#, nil), ("", nil),
      ("{", nil), ("[]", nil), (#"{"name":{"firstName":"A","firstName":"B"}}"#, nil),
      (String(repeating: "[", count: 2_000), nil),
      (#"{"name":{"firstName":""# + String(repeating: "a", count: 3_000) + #""}}"#, nil),
      (#"{"sub":"mallory","email":"mallory@example.com","email_verified":true}"#, nil),
    ])
  func user(field: String, name: String?) throws {
    var sent = try fields(try world.answer())
    sent["user"] = field
    let page = post(sent, with: TestBrowser(world.world.gateway))
    #expect(!text(page).contains("<script>alert"))
    expect(world.browser.post(world.callback, form: try ServerWorld.fields(of: page)).status, is: 303)
    let identity = try #require(try world.session()).identity
    expect(identity.name, is: name)
    expect(identity.subject, is: "https://appleid.apple.com alice")
    expect(identity.email, is: "alice@example.com")
    #expect(!text(world.browser.get("/account")).contains("<script>alert"))
  }

  @Test(
    "a relay address is an address; verified is what the id_token says, as a text or a truth value",
    arguments: [
      (JSON.string("true"), JSON.string("true"), true), (.bool(true), .bool(true), true),
      (.string("false"), .string("true"), false), (.null, .bool(false), false),
    ])
  func relay(verified: JSON, isPrivate: JSON, isVerified: Bool) throws {
    var person = ProviderForServers.Person()
    person.edit = { claims in
      claims["email"] = .string("x7f3@privaterelay.appleid.com")
      claims["email_verified"] = verified.isNull ? nil : verified
      claims["is_private_email"] = isPrivate
    }
    try expect(world.signIn(as: person).status, is: 303)
    let identity = try #require(try world.session()).identity
    expect(identity.email, is: "x7f3@privaterelay.appleid.com")
    expect(identity.isEmailVerified, is: isVerified)
  }

  @Test("a user without an address signs in without one")
  func noEmail() throws {
    var person = ProviderForServers.Person()
    person.edit = { claims in (claims["email"], claims["email_verified"]) = (nil, nil) }
    try expect(world.signIn(as: person).status, is: 303)
    try expect(#require(try world.session()).identity.email, is: nil)
  }
}
