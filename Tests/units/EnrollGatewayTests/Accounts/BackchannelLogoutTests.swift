// Tests of a provider's report that its user has logged out: which logout tokens are accepted, and which sessions end.

import EnrollRules
import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@testable import EnrollGateway
import EnrollHTTP

@Suite("back-channel logout")
struct BackchannelLogoutTests {
  let world: AccountWorld

  init() throws { world = try AccountWorld() }

  private func claims(_ changes: [(String, JSON?)] = []) -> JSONObject {
    let now = world.now.seconds
    var claims = JSONObject([
      ("iss", .string("https://id.example")), ("aud", .string("gateway")), ("iat", .integer(now)),
      ("exp", .integer(now + 120)), ("jti", .string("logout-1")), ("sub", .string("alice")),
      ("events", .object([(LogoutToken.event, .object([]))])),
    ])
    for (name, value) in changes { claims[name] = value }
    return claims
  }

  private func token(_ changes: [(String, JSON?)] = [], type: JSON? = .string("logout+jwt")) throws
    -> String
  {
    try world.world.provider.signed(claims(changes), header: [("typ", type)])
  }

  private func send(_ token: String, to provider: String = "fake") -> WebResponse {
    world.world.gateway.answer(
      WebRequest(
        .post, "/v1/auth/\(provider)/backchannel-logout",
        headers: [HTTPHeader("Content-Type", FormEncoding.contentType)],
        body: FormEncoding.encode([("logout_token", token)])))
  }

  private func isSignedIn(_ browser: TestBrowser) -> Bool { browser.get("/account").status == 200 }

  @Test("it ends the person's sessions by that identity, in browsers and apps, and no other")
  func subject() throws {
    let (browser, bob) = (world.browser("alice"), world.browser("bob"))
    let elsewhere = world.browser("alice", at: "other")
    let app = try AccessTokenTests.session(world)
    let answer = send(try token())
    expect(answer.status, is: 200)
    expect(answer.header("Cache-Control"), is: "no-store")
    #expect(!isSignedIn(browser))
    #expect(isSignedIn(bob) && isSignedIn(elsewhere))
    let info = world.world.gateway.answer(
      WebRequest(.get, "/v1/userinfo", headers: [HTTPHeader("Authorization", "Bearer \(app)")]))
    expect(info.status, is: 401)
    // No account has changed.
    world.signIn(browser, "alice")
    #expect(isSignedIn(browser))
  }

  @Test("with sid it ends the sessions of that sign-in alone, and those of which the sid is not known")
  func session() throws {
    func browser(_ sid: String?) -> TestBrowser {
      let browser = TestBrowser(world.world.gateway)
      world.person("alice", sid: sid)
      _ = browser.comeBack(from: browser.get("/v1/auth/fake"), by: world.world.provider)
      return browser
    }
    let browsers = [browser("s1"), browser("s2"), browser("s3"), browser(nil)]
    expect(send(try token([("sub", nil), ("sid", .string("s1")), ("jti", .string("1"))])).status, is: 200)
    expect(browsers.map(isSignedIn), is: [false, true, true, true])
    expect(send(try token([("sid", .string("s2")), ("jti", .string("2"))])).status, is: 200)
    expect(browsers.map(isSignedIn), is: [false, false, true, false])
    expect(send(try token([("jti", .string("3"))])).status, is: 200)
    expect(browsers.map(isSignedIn), is: [false, false, false, false])
    expect(send(try token([("sub", .string("nobody")), ("jti", .string("4"))])).status, is: 200)
  }

  @Test("a token that comes again is refused, and ends nothing")
  func replay() throws {
    let text = try token()
    expect(send(text).status, is: 200)
    let browser = world.browser("alice")
    expect(send(text).status, is: 400)
    #expect(isSignedIn(browser))
  }

  @Test(
    "a token that is another's, of another time or of another kind is refused",
    arguments: [
      ("iss", JSON.string("https://evil.example")), ("iss", nil), ("aud", .string("other")), ("aud", nil),
      ("iat", nil), ("iat", .integer(4_000_000_000)), ("iat", .integer(1_000_000_000)), ("exp", .null),
      ("exp", .integer(1)),
      ("exp", .integer(4_000_000_000)), ("exp", .string("soon")), ("events", nil),
      ("events", .object([("http://schemas.openid.net/event/other", .object([]))])),
      ("events", .object([(LogoutToken.event, .string(""))])), ("events", .array([])),
      ("nonce", .string("n")), ("nonce", .null), ("sub", nil), ("sub", .string("")), ("sub", .integer(1)),
      ("sid", .integer(1)), ("jti", nil), ("jti", .string("")), ("jti", .integer(1)),
    ] as [(String, JSON?)])
  func refused(claim: String, value: JSON?) throws {
    let browser = world.browser("alice")
    let answer = send(try token([(claim, value)]))
    expect(answer.status, is: 400)
    expect(answer.header("Cache-Control"), is: "no-store")
    #expect(isSignedIn(browser))
  }

  @Test("a token without an end is good for two minutes, by clocks that differ by five")
  func withoutEnd() throws {
    let old = try token([("exp", nil), ("jti", .string("1"))])
    world.world.clock.advance(seconds: 420)
    expect(send(old).status, is: 400)
    let young = try token([("exp", nil), ("jti", .string("2"))])
    world.world.clock.advance(seconds: 419)
    expect(send(young).status, is: 200)
  }

  @Test("`typ` is logout+jwt, or says nothing; a token of another kind is refused")
  func types() throws {
    for (number, type) in [
      JSON.string("logout+jwt"), .string("application/logout+JWT"), .string("JWT"), nil,
    ]
    .enumerated() {
      expect(send(try token([("jti", .string("\(number)"))], type: type)).status, is: 200)
    }
    for type in [JSON.string("at+jwt"), .string("dpop+jwt"), .integer(1), .string("")] {
      expect(send(try token([("jti", .string("x"))], type: type)).status, is: 400)
    }
  }

  @Test("no signature, another key's, HS256 with the client secret, and what is no JWT are refused")
  func signatures() throws {
    let browser = world.browser("alice")
    let good = try token()
    let parts = good.split(separator: ".").map(String.init)
    func header(_ algorithm: String) -> String {
      Base64URL.encode(
        JSON.object([("alg", .string(algorithm)), ("typ", .string("logout+jwt"))]).serialized())
    }
    let input = header("HS256") + "." + parts[1]
    let mac = try HMAC.sha256(key: Secret("a gateway's own secret"), Array(input.utf8))
    let other = try FakeProvider(clock: world.world.clock)
    for bad in [
      header("none") + "." + parts[1] + ".", header("none") + "." + parts[1],
      input + "." + Base64URL.encode(mac), parts[0] + "." + parts[1] + ".AAAA",
      try other.signed(claims(), header: [("typ", .string("logout+jwt"))]), "", ".", "..", "a.b.c",
      good + ".", String(good.dropLast(4)), "{}",
    ] {
      expect(send(bad).status, is: 400, "\(bad.prefix(20))")
    }
    // An id_token of the same provider is not a logout token.
    let idToken = try world.world.provider.signed(
      JSONObject([
        ("iss", .string("https://id.example")), ("aud", .string("gateway")), ("sub", .string("alice")),
        ("iat", .integer(world.now.seconds)), ("exp", .integer(world.now.seconds + 60)),
      ]))
    expect(send(idToken).status, is: 400)
    #expect(isSignedIn(browser))
  }

  @Test("a request that is no form with one token is refused; an unknown provider does not exist")
  func requests() throws {
    let text = try token()
    func send(_ path: String, _ type: String, _ body: [UInt8], query: String? = nil) -> Int {
      world.world.gateway.answer(
        WebRequest(
          .post, path, query: query, headers: [HTTPHeader("Content-Type", type)], body: body)
      ).status
    }
    let path = "/v1/auth/fake/backchannel-logout"
    let form = FormEncoding.encode([("logout_token", text)])
    expect(send(path, "application/json", form), is: 400)
    expect(send(path, FormEncoding.contentType, []), is: 400)
    expect(send(path, FormEncoding.contentType, form + [0x26] + form), is: 400)
    expect(send(path, FormEncoding.contentType, form, query: "a=b"), is: 400)
    expect(send("/v1/auth/nobody/backchannel-logout", FormEncoding.contentType, form), is: 404)
    expect(world.world.gateway.answer(WebRequest(.get, path)).status, is: 405)
    expect(send(path, FormEncoding.contentType, form), is: 200)
  }

  @Test("a forged token delays no sign-in when the provider changes its keys")
  func forgedBeforeRotation() throws {
    let browser = world.browser("alice")
    let forger = try FakeProvider(clock: world.world.clock)
    let forged = try forger.signed(claims(), header: [("typ", .string("logout+jwt"))])
    expect(send(forged).status, is: 400)
    let fetched = world.world.provider.count(.keys)
    expect(send(forged).status, is: 400)
    expect(world.world.provider.count(.keys), is: fetched)
    try world.world.provider.changeKey()
    world.signIn(browser, "alice")
    #expect(isSignedIn(browser))
    expect(world.world.provider.count(.keys), is: fetched + 1)
  }

  @Test(
    "a token whose key is not among keys that were just fetched is refused; within a minute of that, the provider is asked to send the next one later"
  )
  func unknownKey() throws {
    world.world.provider.change { $0.keyID = "of-nobody" }
    let unknown = try token()
    world.world.provider.change { $0.keyID = "key-1" }
    let first = send(unknown)
    expect(first.status, is: 400)
    expect(try JSON.parse(first.body)["error"]?.string, is: "invalid_request")
    #expect(world.world.log.all.contains { $0.contains("logout_token refused: the issuer has no key") })
    // The gateway now has the keys. For an unknown kid it fetches them again, because the kid could be new.
    let fetched = world.world.provider.count(.keys)
    expect(send(unknown).status, is: 400)
    expect(world.world.provider.count(.keys), is: fetched + 1)
    expect(send(unknown).status, is: 503)
    world.world.clock.advance(seconds: 61)
    expect(send(unknown).status, is: 400)
    expect(send(try token()).status, is: 200)
  }

  @Test("a provider whose keys cannot be fetched is asked to send it later, and may")
  func keysAway() throws {
    let text = try token()
    world.world.provider.next(.keys, .unreachable)
    expect(send(text).status, is: 503)
    world.world.clock.advance(seconds: 61)
    expect(send(text).status, is: 200)
  }
}
