// Tests with a double of GitHub, which issues no id_token, has a number as subject, returns addresses in answer to a
// second request, and sends errors with status 200.

import EnrollRules
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@testable import EnrollGateway
import EnrollHTTP

@Suite("GitHub at the gateway")
struct GitHubTests {
  private func world(secret: String = ServerWorld.secret) throws -> ServerWorld {
    try ServerWorld(
      "github", imitating: "github", [("provider", .string("github")), ("clientSecret", .string(secret))])
  }

  private func address(_ email: String, isPrimary: Bool, isVerified: Bool) -> JSON {
    .object([
      ("email", .string(email)), ("primary", .bool(isPrimary)), ("verified", .bool(isVerified)),
    ])
  }

  @Test("a user signs in by the number of the account, with the verified address of the second request")
  func whole() throws {
    let world = try world()
    try expect(world.signIn().header("Location"), is: "/account")
    let identity = try #require(try world.session()).identity
    expect(identity.subject, is: "https://github.com/login/oauth " + world.server.fake.subject(of: "alice"))
    expect(identity.email, is: "alice@example.com")
    #expect(identity.isEmailVerified)
    expect(identity.providerSession, is: nil)
  }

  @Test("the primary address is taken; one that is not verified does not count as verified")
  func addresses() throws {
    let world = try world()
    var person = ProviderForServers.Person()
    person.emails = .array([
      address("old@example.com", isPrimary: false, isVerified: true),
      address("new@example.com", isPrimary: true, isVerified: false),
    ])
    try expect(world.signIn(as: person).status, is: 303)
    let identity = try #require(try world.session()).identity
    expect(identity.email, is: "new@example.com")
    #expect(!identity.isEmailVerified)
  }

  @Test(
    "without any address, and with an answer that is no list, the user signs in without one",
    arguments: [JSON.array([]), .object([("message", .string("Not Found"))])])
  func none(emails: JSON) throws {
    let world = try world()
    var person = ProviderForServers.Person()
    person.emails = emails
    try expect(world.signIn(as: person).status, is: 303)
    try expect(#require(try world.session()).identity.email, is: nil)
  }

  @Test("an error inside a 200 is an error")
  func errorInside200() throws {
    let world = try world()
    world.server.fake.next(
      .token,
      .status(
        200, headers: [HTTPHeader("Content-Type", "application/json")],
        body: #"{"error":"bad_verification_code","error_description":"The code passed is incorrect."}"#))
    try expect(world.signIn().status, is: 400)
    try expect(world.session(), is: nil)
  }

  @Test("a wrong secret signs nobody in, although GitHub answers with 200")
  func wrongSecret() throws {
    let world = try world(secret: "another secret")
    try expect(world.signIn().status, is: 400)
    try expect(world.session(), is: nil)
    #expect(world.world.log.all.contains { $0.contains("github:") })
  }
}
