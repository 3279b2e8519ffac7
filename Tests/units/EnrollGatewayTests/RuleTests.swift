// Tests of the gateway's rules for keys, cookies, parameters, identifiers, settings, and pages about the session.

import EnrollRules
import EnrollCrypto
import EnrollGatewayStore
import EnrollJSON
import EnrollPosix
import EnrollTesting
import Expectations
import Foundation
import Testing

@testable import EnrollGateway
import EnrollHTTP

@Suite("rules of the gateway")
struct RuleTests {
  let clock = FakeClock()
  let random = SystemRandomSource()

  func ring(_ keys: [(id: String, age: Int64)]) throws -> KeyRing {
    try KeyRing(
      json: .object([
        (
          "keys",
          .array(
            keys.enumerated().map { index, key in
              .object([
                ("id", .string(key.id)), ("created", .integer(clock.wallTime().seconds - key.age)),
                ("secret", .string(Base64URL.encode([UInt8](repeating: UInt8(index + 1), count: 32)))),
              ])
            })
        )
      ]))
  }

  @Test("a new key opens at once and seals after a day: no replica meets a text that it cannot open")
  func rotation() throws {
    let before = try ring([("old", 500_000)])
    let after = try ring([("old", 500_000), ("new", 0)])
    let text = Secret("a text")
    let now = clock.wallTime()
    let sealed = try after.seal(text, for: .attempt, at: now, random: random)
    expect(before.open(sealed, for: .attempt), is: text)
    let later = try after.seal(text, for: .attempt, at: now + 86_400, random: random)
    expect(before.open(later, for: .attempt), is: nil)
    expect(after.open(later, for: .attempt), is: text)
    expect(after.open(sealed, for: .attempt), is: text)
  }

  @Test("what is sealed for one purpose opens for no other")
  func purposes() throws {
    let keys = try ring([("one", 500_000)])
    let sealed = try keys.seal(Secret("a text"), for: .attempt, at: clock.wallTime(), random: random)
    expect(keys.open(sealed, for: .form), is: nil)
    let code = try keys.authenticationCode(of: [1, 2], for: .form, at: clock.wallTime())
    #expect(keys.verifies(code, of: [1, 2], for: .form))
    #expect(!keys.verifies(code, of: [1, 3], for: .form))
    #expect(!keys.verifies(code, of: [1, 2], for: .attempt))
  }

  @Test(
    "a key file that is not one is refused in words",
    arguments: [
      #"[]"#, #"{}"#, #"{"keys": []}"#, #"{"keys": [{"id": "a b", "created": 1, "secret": ""}]}"#,
      #"{"keys": [{"id": "a", "created": -1, "secret": "AAAA"}]}"#,
      #"{"keys": [{"id": "a", "created": 1, "secret": "AAAA"}]}"#,
    ])
  func badKeys(text: String) throws {
    let json = try JSON.parse(Array(text.utf8))
    #expect { try KeyRing(json: json) } throws: { ($0 as? EnrollError)?.code == .configuration }
  }

  @Test("a UUID has version 7, and sorts by its second")
  func uuid() throws {
    let zeros = [UInt8](repeating: 0, count: 10)
    let ones = [UInt8](repeating: 255, count: 10)
    let early = AccountID(at: UnixTime(seconds: 1_700_000_000), random: ones).text
    let late = AccountID(at: UnixTime(seconds: 1_700_000_001), random: zeros).text
    expect(late, is: "018bcfe5-6be8-7000-8000-000000000000")
    #expect(early < late)
    #expect(early.hasPrefix("018bcfe5-6800-7fff-bfff-"))
    expect(AccountID(late)?.text, is: late)
    for text in [
      "", "x", late.uppercased(), late + "0", String(late.dropLast()), "{\(late)}",
      late.replacing("-", with: "0"),
    ] {
      expect(AccountID(text), is: nil)
    }
  }

  @Test("a cookie is found among others; one that comes twice is nobody's")
  func cookies() {
    let request = WebRequest(
      .get, "/",
      headers: [HTTPHeader("Cookie", "a=1; __Host-enroll=x=y ;b"), HTTPHeader("Cookie", "c=2; a=3")])
    expect(request.cookie("__Host-enroll"), is: .value("x=y"))
    expect(request.cookie("a"), is: .ambiguous)
    expect(request.cookie("c"), is: .value("2"))
    expect(request.cookie("b"), is: .absent)
  }

  @Test(
    "settings that cannot work are refused by their key",
    arguments: [
      ("publicUrl", JSON.string("http://gateway.example"), "publicUrl"),
      ("publicUrl", .string("https://gateway.example/path"), "publicUrl"),
      ("publicUrl", .string("https://gateway.example/"), "publicUrl"),
      ("publicUrl", .string("https://Gateway.example"), "publicUrl"),
      ("publicUrl", .string("https://gateway.example:443"), "publicUrl"),
      ("theme", .string("x"), "theme"), ("theme", .array([]), "theme"), ("theme", .null, "theme"),
      ("returnTo", .array([.string("http://app.example/")]), "returnTo"),
      ("listne", .string("x"), "listne"), ("providers", .object([]), "providers"),
      ("providers", .object([("a/b", .object([]))]), "providers"),
      (
        "providers", .object([("google", .object([("clientId", .string("x"))]))]), "providers.google.issuer"
      ),
      ("apps", .object([("a", .object([("title", .string("A"))]))]), "apps.a.redirectUris"),
      (
        "apps",
        .object([
          (
            "a",
            .object([("title", .string("A")), ("redirectUris", .array([.string("http://localhost/x")]))])
          )
        ]), "apps.a.redirectUris"
      ),
      ("session", .object([("idleSeconds", .integer(1))]), "session"),
    ])
  func settings(key: String, value: JSON, field: String) {
    #expect { try TestGateway.settings([(key, value)]) } throws: {
      ($0 as? EnrollError)?.field?.hasPrefix(field) == true
    }
  }

  @Test(
    "an app that cannot work is refused by the key of its mistake",
    arguments: [
      (#"{"title": ""}"#, "title"), (#"{"title": "a\nb"}"#, "title"),
      (#"{"android": {"package": "http://evil/", "sha256": ["PRINT"]}}"#, "android.package"),
      (#"{"android": {"package": "app", "sha256": ["PRINT"]}}"#, "android.package"),
      (#"{"android": {"package": "com.2example", "sha256": ["PRINT"]}}"#, "android.package"),
      (#"{"android": {"package": "com.example_1", "sha256": ["PRINT"]}}"#, nil),
      (#"{"android": {"package": "com.example", "sha256": []}}"#, "android.sha256"),
      (#"{"appleAppIds": ["x"]}"#, "appleAppIds"),
      (#"{"appleAppIds": ["abcde12345.com.example"]}"#, "appleAppIds"),
      (#"{"appleAppIds": ["ABCDE12345.com.example-1"]}"#, nil),
      (#"{"redirectUris": ["http://127.0.0.1/cb?x=y"]}"#, "redirectUris"),
    ])
  func apps(changes: String, field: String?) throws {
    let print = [String](repeating: "AB", count: 32).joined(separator: ":")
    let text = changes.replacingOccurrences(of: "PRINT", with: print)
    var app = JSONObject([
      ("title", .string("A")), ("redirectUris", .array([.string("com.example.app:/cb")])),
    ])
    for member in try #require(try JSON.parse(Array(text.utf8)).object).members {
      app[member.key] = member.value
    }
    let settings = [("apps", JSON.object([("a", .object(app))]))]
    guard let field else {
      _ = try TestGateway.settings(settings)
      return
    }
    #expect { try TestGateway.settings(settings) } throws: {
      ($0 as? EnrollError)?.field == "apps.a.\(field)"
    }
  }

  @Test(
    "an e-mail address that cannot be one is not taken",
    arguments: [
      ("a@b", true), ("a@b.example", true), ("a b@c", false), ("@c", false), ("a@", false),
      ("a@b@c", false),
      ("a\r\n@b", false), (String(repeating: "a", count: 250) + "@b.example", false),
    ])
  func emails(text: String, isTaken: Bool) { expect((SignInProvider.email(text) == text), is: isTaken) }
}

@Suite("the browser's session")
struct SessionPageTests {
  let world: TestGateway
  let browser: TestBrowser

  init() throws {
    world = try TestGateway()
    browser = TestBrowser(world.gateway)
    _ = browser.comeBack(from: browser.get("/v1/auth/fake"), by: world.provider)
  }

  func formToken(_ browser: TestBrowser) throws -> String {
    let page = text(browser.get("/account"))
    let found = try #require(page.range(of: #"name="token" value=""#))
    return String(page[found.upperBound...].prefix { $0 != "\"" })
  }

  @Test("signing out ends the session at once, and takes the cookie away")
  func signOut() throws {
    let token = browser.cookies[0].value
    let answer = browser.post("/signout", form: [("token", try formToken(browser))])
    expect(answer.header("Location"), is: "/signed-out")
    #expect(browser.cookies.isEmpty)
    browser.cookies = [("__Host-enroll", token)]
    expect(browser.get("/account").header("Location"), is: "/login")
  }

  @Test("a form of another site, of another session, or without a token does nothing (CSRF)")
  func forgery() throws {
    let token = try formToken(browser)
    let other = TestBrowser(world.gateway)
    _ = other.comeBack(from: other.get("/v1/auth/fake"), by: world.provider)
    let foreign = try formToken(other)
    for (form, headers) in [
      ([], []), ([("token", "")], []), ([("token", foreign)], []),
      ([("token", token)], [HTTPHeader("Origin", "https://evil.example")]),
      ([("token", token)], [HTTPHeader("Origin", "null")]),
      ([("token", token)], [HTTPHeader("Sec-Fetch-Site", "cross-site")]),
    ] as [([(String, String)], [HTTPHeader])] {
      expect(browser.post("/signout", form: form, headers: headers).status, is: 403)
    }
    expect(browser.get("/account").status, is: 200)
    let own = [HTTPHeader("Origin", TestGateway.origin), HTTPHeader("Sec-Fetch-Site", "same-origin")]
    expect(browser.post("/signout", form: [("token", token)], headers: own).status, is: 303)
  }

  @Test("another session of the account is ended from its list, and no other account's")
  func endOne() throws {
    let second = TestBrowser(world.gateway)
    _ = second.comeBack(from: second.get("/v1/auth/fake"), by: world.provider)
    let hash = try #require(RandomToken.hash(of: second.cookies[0].value))
    let id = try #require(try world.store.session(tokenHash: hash, at: world.clock.wallTime())).id.text
    let token = try formToken(browser)
    #expect(text(browser.get("/account")).contains(id))
    let none = browser.post("/account/sessions/end", form: [("token", token), ("session", "of nobody")])
    expect(none.header("Location"), is: "/account")
    let answer = browser.post("/account/sessions/end", form: [("token", token), ("session", id)])
    expect(answer.header("Location"), is: "/account?notice=ended")
    expect(second.get("/account").header("Location"), is: "/login")
    expect(browser.get("/account").status, is: 200)
  }

  @Test("signing out everywhere ends every session of the account")
  func endAll() throws {
    let second = TestBrowser(world.gateway)
    _ = second.comeBack(from: second.get("/v1/auth/fake"), by: world.provider)
    let answer = browser.post("/account/sessions/end-all", form: [("token", try formToken(browser))])
    expect(answer.header("Location"), is: "/signed-out-everywhere")
    expect(second.get("/account").header("Location"), is: "/login")
    #expect(browser.cookies.isEmpty)
  }

  @Test("a session ends 30 days after its last use, and 180 days after its beginning")
  func ends() {
    for _ in 0..<7 {
      world.clock.advance(seconds: 25 * 86_400)
      expect(browser.get("/account").status, is: 200)
    }
    world.clock.advance(seconds: 6 * 86_400)
    expect(browser.get("/account").header("Location"), is: "/login")
    let idle = TestBrowser(world.gateway)
    _ = idle.comeBack(from: idle.get("/v1/auth/fake"), by: world.provider)
    world.clock.advance(seconds: 30 * 86_400 + 1)
    expect(idle.get("/account").header("Location"), is: "/login")
  }
}
