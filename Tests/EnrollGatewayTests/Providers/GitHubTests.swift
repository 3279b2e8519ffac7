// GitHub, played: no id_token, a number as subject, addresses by a second request, errors inside a 200.

import EnrollCore
import EnrollJSON
import EnrollTesting
import Testing

@testable import EnrollGateway
import EnrollHTTP

@Suite("GitHub at the gateway")
struct GitHubTests {
  private func world(secret: String = ServerWorld.secret) throws -> ServerWorld {
    try ServerWorld(
      "github", zoo: "github", [("provider", .string("github")), ("clientSecret", .string(secret))])
  }

  private func address(_ email: String, isPrimary: Bool, isVerified: Bool) -> JSON {
    .object([
      ("email", .string(email)), ("primary", .bool(isPrimary)), ("verified", .bool(isVerified)),
    ])
  }

  @Test("a user signs in by the number of the account, with the verified address of the second request")
  func whole() throws {
    let world = try world()
    #expect(try world.signIn().header("Location") == "/account")
    let identity = try #require(try world.session()).identity
    #expect(identity.subject == "https://github.com/login/oauth " + world.server.zoo.subject(of: "alice"))
    #expect(identity.email == "alice@example.com")
    #expect(identity.isEmailVerified)
    #expect(identity.providerSession == nil)
  }

  @Test("the primary address is taken; one that is not verified does not count as verified")
  func addresses() throws {
    let world = try world()
    var person = ZooServer.Person()
    person.emails = .array([
      address("old@example.com", isPrimary: false, isVerified: true),
      address("new@example.com", isPrimary: true, isVerified: false),
    ])
    #expect(try world.signIn(as: person).status == 303)
    let identity = try #require(try world.session()).identity
    #expect(identity.email == "new@example.com")
    #expect(!identity.isEmailVerified)
  }

  @Test(
    "without any address, and with an answer that is no list, the user signs in without one",
    arguments: [JSON.array([]), .object([("message", .string("Not Found"))])])
  func none(emails: JSON) throws {
    let world = try world()
    var person = ZooServer.Person()
    person.emails = emails
    #expect(try world.signIn(as: person).status == 303)
    #expect(try #require(try world.session()).identity.email == nil)
  }

  @Test("an error inside a 200 is an error")
  func errorInside200() throws {
    let world = try world()
    world.server.zoo.next(
      .token,
      .status(
        200, headers: [HTTPHeader("Content-Type", "application/json")],
        body: #"{"error":"bad_verification_code","error_description":"The code passed is incorrect."}"#))
    #expect(try world.signIn().status == 400)
    #expect(try world.session() == nil)
  }

  @Test("a wrong secret signs nobody in, although GitHub answers with 200")
  func wrongSecret() throws {
    let world = try world(secret: "another secret")
    #expect(try world.signIn().status == 400)
    #expect(try world.session() == nil)
    #expect(world.world.log.all.contains { $0.contains("github:") })
  }
}
