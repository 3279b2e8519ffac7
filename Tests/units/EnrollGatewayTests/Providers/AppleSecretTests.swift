// Tests of Apple's client secret: a JWT that the gateway makes on demand, keeps while it is valid, and sends in each
// form; and the revocation of a refresh token, which Apple requires when an account is deleted.

import EnrollRules
import EnrollCrypto
import EnrollGatewayStore
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@testable import EnrollGateway
import EnrollHTTP

@Suite("the client secret for Apple")
struct AppleSecretTests {
  private func secrets(_ world: ServerWorld) -> [String] {
    world.server.sentSecrets
  }

  @Test("one secret serves for a day but an hour, and gives way before it ends")
  func kept() throws {
    let world = try appleWorld().world
    _ = try world.signIn()
    world.world.clock.advance(seconds: 23 * 3_600 - 1)
    _ = try world.signIn()
    #expect(Set(secrets(world)).count == 1 && secrets(world).count == 2)
    world.world.clock.advance(seconds: 1)
    try expect(world.signIn().status, is: 303)
    expect(Set(secrets(world)).count, is: 2)
    #expect(world.server.refusals.isEmpty)
  }

  @Test("a date that is set back makes a new secret, so that none begins in Apple's future")
  func setBack() throws {
    let world = try appleWorld().world
    _ = try world.signIn()
    world.world.clock.setWall(world.world.clock.wallTime().seconds - 100_000)
    try expect(world.signIn().status, is: 303)
    expect(Set(secrets(world)).count, is: 2)
    #expect(world.server.refusals.isEmpty)
  }

  @Test("another key, another team and another key's name sign nobody in", arguments: 0..<3)
  func wrong(what: Int) throws {
    let (own, other) = (try PrivateKey.generate(.ec(.p256)), try PrivateKey.generate(.ec(.p256)))
    let world = try ServerWorld(
      "apple", imitating: "apple", proof: .appleSecret(team: "TEAM", keyID: "KEY", key: own.publicKey),
      [
        ("provider", .string("apple")), ("appleTeamId", .string(what == 1 ? "OTHER" : "TEAM")),
        ("appleKeyId", .string(what == 2 ? "OTHER" : "KEY")),
        ("applePrivateKey", .string(try pem(what == 0 ? other : own))),
      ])
    try expect(world.signIn().status, is: 400)
    expect(
      world.server.refusals,
      is: [
        [
          "the client secret is not signed with ES256 by the team's key", "iss is not the team",
          "kid is not the key's",
        ][
          what]
      ])
    try expect(world.session(), is: nil)
  }

  @Test(
    "the double refuses each secret that Apple refuses",
    arguments: [
      ("iss", JSON.string("OTHER"), "iss is not the team"), ("sub", .string("x"), "sub is not the client"),
      ("aud", .string("https://example.com"), "aud is not Apple"),
      ("iat", .integer(1_900_000_000_000), "iat is in the future"), ("exp", .integer(1), "exp has passed"),
      ("exp", .integer(1_900_000_000_000), "exp is more than six months away"),
    ])
  func strict(claim: String, value: JSON, why: String) throws {
    let (world, key) = try appleWorld()
    let now = world.world.clock.wallTime()
    var claims = JSONObject([
      ("iss", .string("TEAM")), ("iat", .integer(now.seconds)), ("exp", .integer(now.seconds + 60)),
      ("aud", .string("https://appleid.apple.com")), ("sub", .string(ServerWorld.clientID)),
    ])
    claims[claim] = value
    let jwt = try SignedJWT.make(
      header: [("kid", .string("KEY"))], claims: claims.members.map { ($0.key, $0.value) }, by: key, .ES256)
    let request = HTTPRequest(
      .post, "https://appleid.apple.com/token",
      headers: [HTTPHeader("Content-Type", FormEncoding.contentType)],
      body: FormEncoding.encode([("client_secret", jwt.reveal())]))
    try expect(world.server.send(request, cancellation: nil).status, is: 401)
    expect(world.server.refusals, is: [why])
  }

  @Test("an answer that repeats the secret is not read, and the secret is in no log line")
  func repeated() throws {
    let world = try appleWorld().world
    _ = try world.signIn()
    let secret = try #require(secrets(world).first)
    world.server.fake.next(.token, .status(400, body: "what is \(secret)?"))
    try expect(world.signIn().status, is: 400)
    #expect(world.world.log.all.contains { $0.contains("repeats the client's proof") })
    #expect(!world.world.log.all.contains { $0.contains(secret) })
  }

  // MARK: Revocation

  @Test("a refresh token is revoked with the client's proof, and an unknown one counts as revoked")
  func revoke() throws {
    let world = try appleWorld().world
    let provider = world.world.gateway.services.providers[0]
    #expect(provider.keepsRefreshToken)
    try provider.revoke(Secret("refresh-1"))
    try provider.revoke(Secret("nobody's"))
    expect(world.server.revoked, is: ["refresh-1", "nobody's"])
    #expect(world.server.refusals.isEmpty)
  }

  @Test("the refresh token is kept sealed, and revoked when its account is deleted")
  func deletion() throws {
    let (world, deleted) = try deletedAccount()
    let kept = try #require(deleted.tokens.first)
    #expect(!kept.sealed.contains("refresh-"))
    try world.world.gateway.revokeDue()
    let revoked = try #require(world.server.revoked.first)
    #expect(revoked.hasPrefix("refresh-") && world.server.revoked.count == 1)
    #expect(!world.world.log.all.contains { $0.contains(revoked) })
    // No second revocation may be sent.
    world.world.clock.advance(seconds: 86_400)
    try expect(world.world.gateway.revokeDue(), is: 0)
    expect(world.server.revoked.count, is: 1)
  }

  @Test("a revocation that the provider does not take is tried again, later and later")
  func again() throws {
    let (world, _) = try deletedAccount()
    let (gateway, clock) = (world.world.gateway, world.world.clock)
    world.server.fake.next(.revocation, .unreachable, .status(503))
    try expect(gateway.revokeDue(), is: 1)
    clock.advance(seconds: 59)
    try expect(gateway.revokeDue(), is: 0)
    clock.advance(seconds: 1)
    try expect(gateway.revokeDue(), is: 1)
    clock.advance(seconds: 119)
    try expect(gateway.revokeDue(), is: 0)
    try expect(world.world.store.count("revocations"), is: 1)
    clock.advance(seconds: 1)
    try expect(gateway.revokeDue(), is: 1)
    try expect(world.world.store.count("revocations"), is: 0)
  }

  @Test("a revocation that no try of seven days brought about is dropped, and the audit says so")
  func dropped() throws {
    let (world, deleted) = try deletedAccount()
    let gateway = world.world.gateway
    let keys = try TestGateway.ring(world.world.clock)
    // Without the gateway's key, the token cannot be read, and therefore cannot be revoked.
    gateway.reload(try TestGateway.otherRing(world.world.clock))
    for day in 0..<7 {
      if day > 0 { world.world.clock.advance(seconds: 86_400) }
      try expect(gateway.revokeDue(), is: 1)
      try expect(world.world.store.count("revocations"), is: 1)
    }
    world.world.clock.advance(seconds: 86_400)
    try expect(gateway.revokeDue(), is: 1)
    try expect(world.world.store.count("revocations"), is: 0)
    gateway.reload(keys)
    try expect(gateway.revokeDue(), is: 0)
    #expect(world.server.revoked.isEmpty)
    let account = try #require(deleted.account)
    let last = try #require(try world.world.store.audit(ofAccount: account, limit: 1).first)
    #expect(last.event == .revocationDropped && last.outcome == .refused && last.detail == "apple")
    #expect(world.world.log.all.contains { $0.contains("its key is gone") })
  }

  /// Signs in a user of Apple, and deletes the account as an operator would.
  private func deletedAccount() throws -> (ServerWorld, (tokens: [KeptProviderToken], account: AccountID?)) {
    let world = try appleWorld().world
    _ = try world.signIn()
    let account = try #require(try world.session()).account.id
    let now = world.world.clock.wallTime()
    let deleted = try #require(try world.world.store.deleteAccount(account, by: nil, at: now))
    return (world, (deleted.tokens, account))
  }

  @Test("a revocation that did not arrive, or is refused, fails")
  func revokeFails() throws {
    let world = try appleWorld().world
    let provider = world.world.gateway.services.providers[0]
    world.server.fake.next(
      .revocation, .unreachable, .status(503), .status(400, body: #"{"error":"invalid_request"}"#))
    for code in [EnrollError.Code.network, .server, .oauth] {
      let error = #expect(throws: EnrollError.self) { try provider.revoke(Secret("refresh-1")) }
      expect(error?.code, is: code)
    }
  }

  @Test("only Apple's refresh tokens are kept")
  func others() throws {
    let github = try ServerWorld(
      "github", imitating: "github",
      [("provider", .string("github")), ("clientSecret", .string(ServerWorld.secret))])
    #expect(!github.world.gateway.services.providers[0].keepsRefreshToken)
  }
}
