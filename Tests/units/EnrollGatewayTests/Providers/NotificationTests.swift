// Apple's notifications about accounts that ended: a notification ends the sessions of its account, and only
// Apple can send it.

import EnrollRules
import EnrollCrypto
import EnrollGatewayStore
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@testable import EnrollGateway
import EnrollHTTP

@Suite("notifications of Apple")
struct NotificationTests {
  let world: ServerWorld

  init() throws {
    world = try appleWorld([("appleNotificationAudiences", .array([.string("com.example.app")]))]).world
    try expect(world.signIn().status, is: 303)
  }

  private func claims(_ type: String = "consent-revoked", sub: String = "alice") -> JSONObject {
    let now = world.world.clock.wallTime().seconds
    let events = JSON.object([
      ("type", .string(type)), ("sub", .string(sub)), ("event_time", .integer(now * 1_000)),
    ])
    return JSONObject([
      ("iss", .string("https://appleid.apple.com")), ("aud", .string(ServerWorld.clientID)),
      ("iat", .integer(now)), ("jti", .string("one")),
      ("events", .string(String(decoding: events.serialized(), as: UTF8.self))),
    ])
  }

  private func send(_ jwt: String, to path: String = "/v1/auth/apple/notifications") -> Int {
    send(body: JSON.object([("payload", .string(jwt))]).serialized(), to: path)
  }

  private func send(body: [UInt8], to path: String = "/v1/auth/apple/notifications") -> Int {
    world.world.gateway.answer(
      WebRequest(.post, path, headers: [HTTPHeader("Content-Type", "application/json")], body: body)
    ).status
  }

  @Test(
    "an ended consent and an ended account end the sessions of that identity",
    arguments: ["consent-revoked", "account-deleted", "account-delete"])
  func ended(type: String) throws {
    try expect(world.session(), isNot: nil)
    var events = claims(type)
    expect(send(try world.server.fake.signed(events)), is: 200)
    try expect(world.session(), is: nil)
    expect(world.browser.get("/account").header("Location"), is: "/login")
    events["aud"] = .string("com.example.app")
    expect(send(try world.server.fake.signed(events)), is: 200)
  }

  @Test("the sessions of somebody else stay")
  func others() throws {
    expect(send(try world.server.fake.signed(claims(sub: "bob"))), is: 200)
    try expect(world.session(), isNot: nil)
  }

  @Test("events may come as an object, too")
  func object() throws {
    var told = claims()
    told["events"] = try JSON.parse(Array((told["events"]?.string ?? "").utf8))
    expect(send(try world.server.fake.signed(told)), is: 200)
    try expect(world.session(), is: nil)
  }

  @Test("what is only noted ends nothing", arguments: ["email-disabled", "email-enabled", "something-new"])
  func noted(type: String) throws {
    expect(send(try world.server.fake.signed(claims(type))), is: 200)
    try expect(world.session(), isNot: nil)
    #expect(world.world.log.all.contains { $0.contains(type) })
    #expect(!world.world.log.all.contains { $0.contains("alice@example.com") })
  }

  @Test("a notification that comes twice, or late, ends no session that began after it")
  func replayed() throws {
    let jwt = try world.server.fake.signed(claims())
    expect(send(jwt), is: 200)
    world.world.clock.advance(seconds: 10)
    try expect(world.signIn().status, is: 303)
    expect(send(jwt), is: 200)
    try expect(world.session(), isNot: nil)
  }

  @Test(
    "a claim that is not as it must be is refused, and ends nothing",
    arguments: [
      ("iss", JSON.string("https://appleid.example")), ("iss", .null), ("aud", .string("another")),
      ("aud", .array([.string("another")])), ("aud", .null), ("iat", .null), ("iat", .string("1")),
      ("iat", .integer(1)), ("iat", .integer(9_000_000_000)), ("events", .null), ("events", .string("{")),
      ("events", .string("{}")), ("events", .string(#"{"type":"consent-revoked"}"#)),
      ("events", .string(#"{"type":"consent-revoked","sub":""}"#)), ("events", .array([])),
    ])
  func refused(claim: String, value: JSON) throws {
    var told = claims()
    told[claim] = value.isNull ? nil : value
    expect(send(try world.server.fake.signed(told)), is: 400)
    try expect(world.session(), isNot: nil)
  }

  @Test(
    "iat may be a day old, and no more",
    arguments: [(86_400, 200), (86_401, 400), (-300, 200), (-301, 400)])
  func age(seconds: Int64, status: Int) throws {
    var told = claims("email-enabled")
    told["iat"] = .integer(world.world.clock.wallTime().seconds - seconds)
    expect(send(try world.server.fake.signed(told)), is: status)
  }

  @Test("another key, no signature, an id_token, and what is no JWT are refused")
  func signatures() throws {
    let other = try PrivateKey.generate(.ec(.p256))
    let members = claims().members.map { ($0.key, Optional($0.value)) }
    let forged = try SignedJWT.make(header: [("kid", .string("key-1"))], claims: members, by: other, .ES256)
    let good = try world.server.fake.signed(claims())
    let parts = good.split(separator: ".")
    let none = Base64URL.encode(Array(#"{"alg":"none"}"#.utf8)) + ".\(parts[1])."
    var idToken = claims()
    idToken["events"] = nil
    for text in [
      forged.reveal(), none, "\(parts[0]).\(parts[1]).", "\(parts[0]).\(parts[1])", "", ".",
      String(repeating: "a", count: 70_000), try world.server.fake.signed(idToken),
    ] { expect(send(text), is: 400) }
    try expect(world.session(), isNot: nil)
  }

  @Test(
    "a body that is no notification is refused",
    arguments: ["", "{}", "[]", "payload=x", #"{"payload":1}"#, #"{"payload":"a","payload":"b"}"#])
  func bodies(body: String) { expect(send(body: Array(body.utf8)), is: 400) }

  @Test("while Apple's keys cannot be fetched, Apple is told to try again")
  func noKeys() throws {
    let fresh = try appleWorld().world
    fresh.server.fake.next(.keys, .unreachable)
    let jwt = try fresh.server.fake.signed(claims())
    let request = WebRequest(
      .post, "/v1/auth/apple/notifications", body: JSON.object([("payload", .string(jwt))]).serialized())
    expect(fresh.world.gateway.answer(request).status, is: 503)
  }

  @Test("another method, another provider, and one that tells nothing are refused")
  func elsewhere() throws {
    let jwt = try world.server.fake.signed(claims())
    expect(world.browser.get("/v1/auth/apple/notifications").status, is: 405)
    expect(send(jwt, to: "/v1/auth/other/notifications"), is: 404)
    let github = try ServerWorld(
      "github", imitating: "github",
      [("provider", .string("github")), ("clientSecret", .string(ServerWorld.secret))])
    let request = WebRequest(
      .post, "/v1/auth/github/notifications", body: JSON.object([("payload", .string(jwt))]).serialized())
    expect(github.world.gateway.answer(request).status, is: 404)
    // For a path that the provider does not have, the answer lists no allowed methods, either.
    for path in ["notifications", "data-deletion", "deauthorize"] {
      let answer = github.world.gateway.answer(WebRequest(.get, "/v1/auth/github/\(path)"))
      expect(answer.status, is: 404, "\(path)")
      expect(answer.header("Allow"), is: nil, "\(path)")
    }
  }
}
