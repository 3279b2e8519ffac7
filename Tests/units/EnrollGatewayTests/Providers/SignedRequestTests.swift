// Tests of the requests from Facebook's servers after a user has asked for the deletion of all data from Facebook, or
// has removed the app. Only the owner of the app secret can send such requests, and each counts only once.

import EnrollRules
import EnrollCrypto
import EnrollGatewayStore
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@testable import EnrollGateway
import EnrollHTTP

@Suite("signed requests of Facebook")
struct SignedRequestTests {
  let world: ServerWorld

  init() throws {
    world = try ServerWorld(
      "facebook", imitating: "facebook",
      [
        ("provider", .string("facebook")), ("label", .string("Facebook")),
        ("clientSecret", .string(ServerWorld.secret)),
      ])
    try expect(world.signIn().status, is: 303)
  }

  private static let deletion = "/v1/auth/facebook/data-deletion"
  private static let deauthorization = "/v1/auth/facebook/deauthorize"

  private var now: UnixTime { world.world.clock.wallTime() }

  private func payload(_ changes: [(String, JSON?)] = []) -> [UInt8] {
    var payload = JSONObject([
      ("algorithm", .string("HMAC-SHA256")), ("expires", .integer(now.seconds + 3_600)),
      ("issued_at", .integer(now.seconds)), ("user_id", .string("alice")),
    ])
    for (name, value) in changes { payload[name] = value }
    return JSON.object(payload).serialized()
  }

  private func signed(_ payload: [UInt8], by secret: String = ServerWorld.secret) throws -> String {
    let text = Base64URL.encode(payload)
    return Base64URL.encode(try HMAC.sha256(key: Secret(secret), Array(text.utf8))) + "." + text
  }

  private func send(_ text: String, to path: String = deletion) -> WebResponse {
    send(body: FormEncoding.encode([("signed_request", text)]), to: path)
  }

  private func send(
    body: [UInt8], to path: String = deletion, query: String? = nil,
    type: String = FormEncoding.contentType
  ) -> WebResponse {
    world.world.gateway.answer(
      WebRequest(.post, path, query: query, headers: [HTTPHeader("Content-Type", type)], body: body))
  }

  private func owner() throws -> AccountID? {
    try world.world.store.account(
      of: IdentityKey(provider: "facebook", subject: "https://www.facebook.com alice"))
  }

  private func events(of account: AccountID) throws -> [String] {
    try world.world.store.audit(ofAccount: account, limit: 10).map {
      "\($0.event.rawValue) \($0.detail ?? "")"
    }
  }

  /// Gives the account of this browser another identity, whose address its provider has verified.
  private func connectAnother() throws {
    let cookie = try #require(world.browser.cookies.first { $0.name == "__Host-enroll" })
    let hash = try #require(RandomToken.hash(of: cookie.value))
    let proof = RecentSignIn(tokenHash: hash, account: try #require(try owner()), since: now - 600)
    let other = Identity(
      provider: "other", subject: "https://id.example alice", email: "alice@example.org",
      isEmailVerified: true)
    try expect(world.world.store.link(other, by: proof, at: now), is: .linked)
  }

  // MARK: Deletion

  @Test("an account with no other way in is deleted; the answer has a code, and a page that knows it")
  func account() throws {
    let id: AccountID = try #require(try owner())
    let answer = send(try signed(payload()))
    expect(answer.status, is: 200)
    expect(answer.header("Content-Type"), is: "application/json")
    expect(answer.header("Cache-Control"), is: "no-store")
    try expect(owner(), is: nil)
    expect(world.browser.get("/account").header("Location"), is: "/login")
    try expect(events(of: id).prefix(2), is: ["deleted ", "provider_deletion facebook"])

    let json = try #require(try JSON.parse(answer.body).object)
    let code = try #require(json["confirmation_code"]?.string)
    #expect(code.utf8.count == 32 && code.utf8.allSatisfy { ASCII.isDigit($0) || ASCII.isLetter($0) })
    let url = "\(TestGateway.origin)/data-deletion?code=\(code)"
    expect(json["url"]?.string, is: url)
    let page = TestBrowser(world.world.gateway).get(String(url.dropFirst(TestGateway.origin.count)))
    expect(page.status, is: 200)
    #expect(text(page).contains("Your data is deleted"))
    #expect(!text(page).contains("alice") && !text(page).contains(id.text))
    // The user may come back, and then gets a new account.
    try expect(world.signIn().status, is: 303)
    try expect(owner(), isNot: id)
  }

  @Test("of an account with another way in the identity goes, with its sessions; the person is told")
  func identity() throws {
    try connectAnother()
    let id: AccountID = try #require(try owner())
    expect(send(try signed(payload())).status, is: 200)
    try expect(owner(), is: nil)
    try expect(world.session(), is: nil)
    try expect(world.world.store.identities(ofAccount: id).map(\.provider), is: ["other"])
    try expect(events(of: id).prefix(2), is: ["unlinked facebook", "provider_deletion facebook"])
    expect(world.world.mails.all.map(\.kind), is: [.identityUnlinked(provider: "Facebook")])
    expect(world.world.mails.all.map(\.recipient.text), is: ["alice@example.org"])
  }

  @Test("the same request again has the same code, and deletes nothing of somebody who came back")
  func replayed() throws {
    let request = try signed(payload())
    let first = send(request)
    world.world.clock.advance(seconds: 60)
    try expect(world.signIn().status, is: 303)
    let id: AccountID = try #require(try owner())
    let second = send(request)
    expect(second.status, is: 200)
    expect(second.body, is: first.body)
    try expect(owner(), is: id)
    try expect(world.session(), isNot: nil)
    // Another request deletes again.
    expect(send(try signed(payload())).body, isNot: first.body)
    try expect(owner(), is: nil)
  }

  @Test("somebody unknown is answered as everybody is, and nobody else loses anything")
  func unknown() throws {
    let answer = send(try signed(payload([("user_id", .string("bob"))])))
    expect(answer.status, is: 200)
    let code = try #require(try JSON.parse(answer.body)["confirmation_code"]?.string)
    expect(world.browser.get("/data-deletion?code=\(code)").status, is: 200)
    try expect(world.session(), isNot: nil)
  }

  @Test("a code is known for ninety days; others are not known")
  func codes() throws {
    let code = try #require(
      try JSON.parse(send(try signed(payload())).body)["confirmation_code"]?.string)
    let browser = TestBrowser(world.world.gateway)
    for wrong in [
      String(code.dropLast()), code + "0", code.uppercased(), "", String(repeating: "0", count: 32),
    ] {
      let page = browser.get("/data-deletion?code=\(wrong)")
      expect(page.status, is: 404, "\(wrong)")
      #expect(text(page).contains("This code is not known"))
    }
    for query in ["", "?code=\(code)&code=\(code)", "?code=" + String(repeating: "a", count: 65)] {
      expect(browser.get("/data-deletion" + query).status, is: 400, "\(query)")
    }
    world.world.clock.advance(seconds: ProviderRequests.deletionCodeSeconds - 1)
    expect(browser.get("/data-deletion?code=\(code)").status, is: 200)
    world.world.clock.advance(seconds: 1)
    expect(browser.get("/data-deletion?code=\(code)").status, is: 404)
  }

  // MARK: Removing the app

  @Test("who removes the app is signed out everywhere, and keeps the account")
  func deauthorized() throws {
    let id: AccountID = try #require(try owner())
    let request = try signed(payload())
    expect(send(request, to: Self.deauthorization).status, is: 200)
    try expect(world.session(), is: nil)
    try expect(owner(), is: id)
    // The same request arrives again later. A session that began after the request continues.
    world.world.clock.advance(seconds: 10)
    try expect(world.signIn().status, is: 303)
    expect(send(request, to: Self.deauthorization).status, is: 200)
    try expect(world.session(), isNot: nil)
  }

  // MARK: Refused requests

  @Test(
    "another secret, another algorithm, another age and another sort of request are refused, and change nothing",
    arguments: [deletion, deauthorization])
  func refused(path: String) throws {
    let (good, id) = (try signed(payload()), try owner())
    let parts = good.split(separator: ".").map(String.init)
    let none = Base64URL.encode(payload([("algorithm", .string("none"))]))
    let (mac, text) = (parts[0], parts[1])
    var bad: [String] = [
      "", ".", "..", mac, text, "\(good).", ".\(good)", "\(mac).", ".\(text)", "\(good)=", "\(text).\(mac)",
      ".\(none)", "x.\(none)", "\(mac).\(none)", "\(mac.dropLast(2)).\(text)", good.uppercased(),
      String(good.dropLast()), String(good.dropFirst()), String(good.dropLast(4)),
    ]
    let zeros = Base64URL.encode([UInt8](repeating: 0, count: 32))
    let bob = Base64URL.encode(payload([("user_id", .string("bob"))]))
    bad += ["\(zeros).\(text)", "\(mac).\(bob)"]
    bad.append(try signed(payload(), by: "another secret"))
    for bytes in [[], Array("null".utf8), Array("[]".utf8), [0xFF]] as [[UInt8]] {
      bad.append(try signed(bytes))
    }
    let padding = JSON.string(String(repeating: "a", count: 4_096))
    bad.append(try signed(payload([("padding", padding)])))
    for (name, value) in [
      ("algorithm", nil), ("algorithm", .string("HMAC-SHA1")), ("algorithm", .string("none")),
      ("algorithm", .string("hmac-sha256")), ("algorithm", .integer(256)), ("issued_at", nil),
      ("issued_at", .string("1")), ("issued_at", .integer(now.seconds - 86_401)),
      ("issued_at", .integer(now.seconds + 301)), ("issued_at", .integer(.max)),
      ("issued_at", .integer(.min)), ("user_id", nil), ("user_id", .string("")), ("user_id", .integer(1)),
      ("user_id", .string("alice\0")), ("user_id", .string(String(repeating: "1", count: 256))),
      ("code", .string("a code of a browser")), ("oauth_token", .string("a token of a frame")),
    ] as [(String, JSON?)] { bad.append(try signed(payload([(name, value)]))) }
    for text in bad {
      let answer = send(text, to: path)
      expect(answer.status, is: 400, "\(text.prefix(60))")
      #expect(!EnrollGatewayTests.text(answer).contains("alice"))
    }
    try expect(owner(), is: id)
    try expect(world.session(), isNot: nil)
    #expect(!world.world.log.all.contains { $0.contains("alice") || $0.contains(parts[0]) })
    for seconds in [-86_400, 300] as [Int64] {
      let edge = payload([("issued_at", .integer(now.seconds + seconds)), ("user_id", .string("bob"))])
      expect(send(try signed(edge), to: path).status, is: 200)
    }
  }

  @Test(
    "a request that is no form with one signed_request is refused", arguments: [deletion, deauthorization])
  func forms(path: String) throws {
    let form = FormEncoding.encode([("signed_request", try signed(payload()))])
    expect(send(body: form + [0x26] + form, to: path).status, is: 400)
    expect(send(body: [], to: path).status, is: 400)
    expect(send(body: form, to: path, query: "a=b").status, is: 400)
    expect(send(body: form, to: path, type: "application/json").status, is: 400)
    expect(world.browser.get(path).status, is: 405)
    try expect(world.session(), isNot: nil)
    expect(send(body: form, to: path).status, is: 200)
  }

  @Test("no other provider takes one: its secret proves nothing here")
  func elsewhere() throws {
    let github = try ServerWorld(
      "github", imitating: "github",
      [("provider", .string("github")), ("clientSecret", .string(ServerWorld.secret))])
    let form = FormEncoding.encode([("signed_request", try signed(payload()))])
    for action in ["data-deletion", "deauthorize"] {
      for provider in ["github", "nobody"] {
        let request = WebRequest(
          .post, "/v1/auth/\(provider)/\(action)",
          headers: [HTTPHeader("Content-Type", FormEncoding.contentType)], body: form)
        expect(github.world.gateway.answer(request).status, is: 404)
      }
    }
  }

  @Test("the signature is HMAC-SHA256 of the payload as it is written, by the app secret")
  func vector() throws {
    // This text was made with openssl dgst -sha256 -hmac.
    let text =
      "2jlCkTNK4kX0AvIjZMrBwoVahXGM9POPJbY5T1PMhmA."
      + "eyJhbGdvcml0aG0iOiJITUFDLVNIQTI1NiIsImV4cGlyZXMiOjEyOTE4NDA0MDAsImlzc3VlZF9hdCI6"
      + "MTI5MTgzNjgwMCwidXNlcl9pZCI6IjIxODQ3MSJ9"
    let told = try SignedRequest(text, secret: Secret("app secret"), at: UnixTime(seconds: 1_291_836_860))
    expect(told.subject, is: "218471")
    expect(told.issued, is: UnixTime(seconds: 1_291_836_800))
  }
}
