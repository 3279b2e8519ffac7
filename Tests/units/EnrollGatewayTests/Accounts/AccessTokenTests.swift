// Tests of the access tokens for APIs behind the gateway: their claims, who gets such a token, and which key signs it.

import EnrollRules
import EnrollCrypto
import EnrollGatewayStore
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@testable import EnrollGateway
import EnrollHTTP

@Suite("access tokens for APIs")
struct AccessTokenTests {
  static let apis: [(String, JSON)] = [
    ("apis", .array([.string("https://api.example"), .string("https://files.example")]))
  ]
  let world: AccountWorld

  init() throws { world = try AccountWorld(Self.apis) }

  /// An app's session token.
  static func session(_ world: AccountWorld, _ name: String = "alice", sid: String? = nil) throws -> String {
    let verifier = String(repeating: "v", count: 43)
    let challenge = try PKCE.challenge(for: Secret(verifier))
    let browser = TestBrowser(world.world.gateway)
    world.person(name, sid: sid)
    let start = browser.get(
      "/v1/auth/fake?platform=mobile&code_challenge=\(challenge)&code_challenge_method=S256&state=s")
    let back = browser.comeBack(from: start, by: world.world.provider)
    let code = try #require(parameter("code", of: back.header("Location") ?? ""))
    let body = JSON.object([("code", .string(code)), ("code_verifier", .string(verifier))])
    let answer = world.world.gateway.answer(
      WebRequest(
        .post, "/v1/auth/fake/redeem", headers: [HTTPHeader("Content-Type", "application/json")],
        body: body.serialized()))
    return try #require(try JSON.parse(answer.body)["session_token"]?.string)
  }

  private func ask(_ token: String?, _ form: [(String, String)]? = nil, of gateway: Gateway? = nil)
    -> WebResponse
  {
    var headers = token.map { [HTTPHeader("Authorization", "Bearer \($0)")] } ?? []
    if form != nil { headers.append(HTTPHeader("Content-Type", FormEncoding.contentType)) }
    return (gateway ?? world.world.gateway).answer(
      WebRequest(
        .post, "/v1/token", headers: headers, body: form.map { FormEncoding.encode($0) } ?? []))
  }

  private func token(_ answer: WebResponse) throws -> (header: JSON, claims: JSON, text: String) {
    let text = try #require(try JSON.parse(answer.body)["access_token"]?.string)
    let parts = text.split(separator: ".").map { Base64URL.decode(Array($0.utf8)[...]) ?? [] }
    return (try JSON.parse(parts[0]), try JSON.parse(parts[1]), text)
  }

  @Test("an app's session gets a JWT of five minutes that says for whom it is, and of which session")
  func claims() throws {
    let session = try Self.session(world)
    let answer = ask(session)
    expect(answer.status, is: 200)
    expect(answer.header("Cache-Control"), is: "no-store")
    let json = try JSON.parse(answer.body)
    #expect(json["token_type"]?.string == "Bearer" && json["expires_in"]?.integer == 300)
    let (header, claims, _) = try token(answer)
    #expect(header["alg"]?.string == "ES256" && header["typ"]?.string == "at+jwt")
    let account = try #require(try world.account("alice"))
    expect(claims["sub"]?.string, is: account.text)
    expect(claims["iss"]?.string, is: TestGateway.origin)
    expect(
      claims["aud"]?.array?.compactMap { $0.string }, is: ["https://api.example", "https://files.example"])
    expect(claims["client_id"]?.string, is: "sample")
    expect(claims["iat"]?.integer, is: world.now.seconds)
    expect(claims["exp"]?.integer, is: world.now.seconds + 300)
    expect(
      claims["sid"]?.string, is: try world.store.sessions(ofAccount: account, at: world.now).first?.id.text)
    expect(claims["jti"]?.string, isNot: try token(ask(session)).claims["jti"]?.string)
  }

  @Test("the published keys prove it")
  func proof() throws {
    let (header, claims, text) = try token(ask(try Self.session(world)))
    let answer = world.world.gateway.answer(WebRequest(.get, "/v1/keys"))
    expect(answer.header("Cache-Control"), is: "public, max-age=3600")
    let keys = try JWKSet.parse(answer.body)
    #expect(keys.unusable.isEmpty)
    let key = try #require(keys.keys.first)
    #expect(key.keyID == header["kid"]?.string && key.algorithm == .ES256)
    let parts = text.split(separator: ".").map(String.init)
    let signature = try #require(Base64URL.decode(Array(parts[2].utf8)[...]))
    func isProven(_ input: String) throws -> Bool {
      try key.key.verify(signature: signature, message: Array(input.utf8), algorithm: .ES256)
    }
    #expect(try isProven(parts[0] + "." + parts[1]))
    #expect(try !isProven(parts[0] + "." + parts[1] + "A"))
    expect(claims["iss"]?.string, is: TestGateway.origin)
  }

  @Test("one API may be named, out of those that are configured (RFC 8707)")
  func resource() throws {
    let session = try Self.session(world)
    let one = try token(ask(session, [("resource", "https://files.example")]))
    expect(one.claims["aud"]?.string, is: "https://files.example")
    expect(ask(session, [("resource", "https://evil.example")]).status, is: 400)
    expect(ask(session, [("resource", "https://api.example"), ("resource", "https://x")]).status, is: 400)
  }

  @Test("no session, an ended one and a browser's get none; without APIs nobody gets one")
  func refused() throws {
    let session = try Self.session(world)
    expect(ask(nil).status, is: 401)
    expect(ask("x").status, is: 401)
    let browser = world.browser("alice")
    expect(ask(browser.cookies[0].value).status, is: 401)
    _ = try world.press(browser, "/account/delete/confirm")
    expect(ask(session).status, is: 401)
    let bare = try AccountWorld()
    expect(ask(try Self.session(bare), of: bare.world.gateway).status, is: 404)
  }

  @Test("a new key is published at once and signs a day later; a key from before stays published")
  func rotation() throws {
    func ring(_ ages: [Int64]) throws -> KeyRing {
      try KeyRing(
        json: .object([
          (
            "keys",
            .array(
              ages.enumerated().map { number, age in
                .object([
                  ("id", .string("k\(number)")), ("created", .integer(world.now.seconds - age)),
                  (
                    "secret",
                    .string(Base64URL.encode([UInt8](repeating: UInt8(7 + number), count: 32)))
                  ),
                ])
              })
          )
        ]))
    }
    let session = try Self.session(world)
    let old = try token(ask(session)).header["kid"]?.string
    let both = try ring([200_000, 0])
    world.world.gateway.reload(both)
    expect(Set(both.signingKeys.map(\.id)).count, is: 2)
    try expect(token(ask(session)).header["kid"]?.string, is: old)
    world.world.clock.advance(seconds: 86_399)
    try expect(token(ask(session)).header["kid"]?.string, is: old)
    world.world.clock.advance(seconds: 1)
    let new = try token(ask(session)).header["kid"]?.string
    #expect(new == both.signingKeys[1].id && new != old)
    let published = world.world.gateway.answer(WebRequest(.get, "/v1/keys"))
    try expect(JWKSet.parse(published.body).keys.map(\.keyID), is: [old, new])
  }

  @Test("a signing key is always the same for one secret, and another for another")
  func derivation() throws {
    let secret = Secret([UInt8](repeating: 7, count: 32))
    let first = try SigningKey(derivedFrom: secret)
    try expect(SigningKey(derivedFrom: secret).id, is: first.id)
    try expect(SigningKey(derivedFrom: Secret([UInt8](repeating: 8, count: 32))).id, isNot: first.id)
    // The private number is HKDF-SHA256 of the secret with this label.
    let number = try HKDF.sha256(
      key: secret, salt: [], info: Array("enroll-gateway access token 1 0".utf8), count: 32)
    let exported = try first.key.exported().revealBytes()
    expect(String(decoding: exported, as: UTF8.self).isEmpty, is: false)
    let tail = number.revealBytes()
    #expect((0...(exported.count - 32)).contains { Array(exported[$0..<($0 + 32)]) == tail })
  }
}
