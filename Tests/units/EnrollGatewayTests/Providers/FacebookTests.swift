// Tests with a double of Facebook: each profile request has a proof of the app secret, the URLs contain a version, and
// a user may give the app no e-mail address.

import EnrollRules
import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@testable import EnrollGateway
import EnrollHTTP

@Suite("Facebook at the gateway")
struct FacebookTests {
  private func world(secret: String = ServerWorld.secret, _ more: [(String, JSON)] = []) throws
    -> ServerWorld
  {
    try ServerWorld(
      "facebook", imitating: "facebook",
      [("provider", .string("facebook")), ("clientSecret", .string(secret))] + more)
  }

  @Test("a user signs in with the code flow; the profile is asked for with the proof of the app secret")
  func whole() throws {
    let world = try world()
    let answer = try world.answer { url in
      #expect(url.hasPrefix("https://www.facebook.com/v22.0/dialog/oauth?"))
      expect(parameter("scope", of: url), is: "email public_profile")
      return url
    }
    try expect(world.comeBack(answer).header("Location"), is: "/account")
    #expect(world.server.refusals.isEmpty)
    let identity = try #require(try world.session()).identity
    expect(identity.subject, is: "https://www.facebook.com alice")
    expect(identity.name, is: "Alice Example")
  }

  @Test("an address of Facebook's is not a verified one: Facebook does not say so")
  func email() throws {
    let world = try world()
    _ = try world.signIn()
    let identity = try #require(try world.session()).identity
    expect(identity.email, is: "alice@example.com")
    #expect(!identity.isEmailVerified)
  }

  @Test("a user who shares no address signs in without one")
  func noEmail() throws {
    let world = try world()
    var person = ProviderForServers.Person()
    person.edit = { $0["email"] = nil }
    try expect(world.signIn(as: person).status, is: 303)
    try expect(#require(try world.session()).identity.email, is: nil)
  }

  @Test("a wrong app secret signs nobody in")
  func wrongSecret() throws {
    let world = try world(secret: "another secret")
    try expect(world.signIn().status, is: 400)
    expect(Set(world.server.refusals), is: ["client_secret is missing or wrong"])
    try expect(world.session(), is: nil)
  }

  @Test("the proof is HMAC-SHA256 of the access token with the app secret, in hexadecimal")
  func proof() throws {
    // The values of RFC 4231 §4.3, test case 2.
    try expect(
      ClientAuthenticationTransport.proof(of: "what do ya want for nothing?", Secret("Jefe")),
      is: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
  }

  @Test(
    "the double refuses a profile without the proof, with a wrong one, and without a version",
    arguments: [
      ("v22.0/me?fields=id", "API calls require an appsecret_proof argument"),
      ("v22.0/me?fields=id&appsecret_proof=00", "Invalid appsecret_proof provided"),
      ("me?fields=id&appsecret_proof=00", "me is not the profile at a version of the Graph API"),
      ("v22.0/me?appsecret_proof=00", "fields lacks id"),
    ])
  func strict(path: String, why: String) throws {
    let world = try world()
    let request = HTTPRequest(
      .get, "https://graph.facebook.com/" + path, headers: [HTTPHeader("Authorization", "Bearer t")])
    try expect(world.server.send(request, cancellation: nil).status, is: 400)
    expect(world.server.refusals, is: [why])
  }

  @Test("the version of the addresses is a key; what is written beside it wins")
  func version() throws {
    let settings = try TestGateway.settings([
      (
        "providers",
        .object([
          (
            "facebook",
            .object([
              ("provider", .string("facebook")), ("clientId", .string("1")), ("clientSecret", .string("s")),
              ("graphVersion", .string("v23.0")),
              ("endpoints", .object([("tokenEndpoint", .string("https://graph.example/token"))])),
            ])
          )
        ])
      )
    ])
    let configuration = settings.providers[0].configuration
    expect(configuration.endpoints?.authorization, is: "https://www.facebook.com/v23.0/dialog/oauth")
    expect(configuration.endpoints?.token, is: "https://graph.example/token")
    expect(configuration.profile?.endpoint, is: "https://graph.facebook.com/v23.0/me?fields=id,name,email")
    expect(configuration.profile?.subject, is: ["id"])
  }
}
