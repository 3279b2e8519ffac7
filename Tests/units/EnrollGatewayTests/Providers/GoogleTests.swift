// Tests with a double of Google: the browser's request names the hosted domain, but only the id_token proves that the
// user belongs to this domain.

import EnrollRules
import EnrollGatewayStore
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@testable import EnrollGateway
import EnrollHTTP

@Suite("Google at the gateway")
struct GoogleTests {
  private func world(_ domain: String?) throws -> ServerWorld {
    try ServerWorld(
      "google", imitating: "google-desktop",
      [
        ("provider", .string("google")), ("clientSecret", .string(ServerWorld.secret)),
        ("label", .string("Google")),
      ] + (domain.map { [("hostedDomain", .string($0))] } ?? []))
  }

  private func person(of domain: String?) -> ProviderForServers.Person {
    var person = ProviderForServers.Person()
    person.hostedDomain = domain
    return person
  }

  /// Removes the domain from the request, as the user of a browser can.
  private func withoutDomain(_ url: String) -> String {
    url.replacing("&hd=example.com", with: "").replacing("&hd=%2A", with: "").replacing("&hd=*", with: "")
  }

  @Test("the domain is asked for with hd, and a user of it signs in")
  func hosted() throws {
    let world = try world("example.com")
    let url = try #require(world.browser.get("/v1/auth/google").header("Location"))
    expect(parameter("hd", of: url), is: "example.com")
    let back = try world.signIn(as: person(of: "example.com"))
    expect(back.header("Location"), is: "/account")
    try expect(world.session()?.identity.subject, is: "https://accounts.google.com alice")
  }

  @Test(
    "who changes the request in the browser gains nothing: the id_token decides",
    arguments: [
      ("example.com", nil, false), ("example.com", "other.example", false), ("example.com", "", false),
      ("example.com", "example.com.other.example", false), ("example.com", "EXAMPLE.com", true),
      ("*", nil, false), ("*", "any.example", true), (nil, nil, true), (nil, "any.example", true),
    ])
  func proven(wanted: String?, told: String?, isLetIn: Bool) throws {
    let world = try world(wanted)
    let answer = try world.answer(as: person(of: told), changing: withoutDomain)
    let back = try world.comeBack(answer)
    expect(back.status, is: isLetIn ? 303 : 403)
    try expect((world.session() != nil), is: isLetIn)
    if !isLetIn {
      #expect(world.world.log.all.contains { $0.contains("hd") })
      try expect(
        world.world.store.account(
          of: IdentityKey(
            provider: "google", subject: "https://accounts.google.com alice")), is: nil)
    }
  }

  @Test("hd of userinfo proves nothing")
  func userinfo() throws {
    let world = try world("example.com")
    var person = ProviderForServers.Person()
    person.edit = { claims in (claims["name"], claims["email"]) = (nil, nil) }
    world.server.fake.next(
      .userinfo,
      .status(
        200, headers: [HTTPHeader("Content-Type", "application/json")],
        body: #"{"sub":"alice","email":"alice@example.com","name":"A","hd":"example.com"}"#))
    let back = try world.comeBack(try world.answer(as: person, changing: withoutDomain))
    expect(world.server.fake.count(.userinfo), is: 1)
    expect(back.status, is: 403)
  }

  @Test("an app is told that the user may not sign in")
  func app() throws {
    let world = try world("example.com")
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    let answer = try world.answer(
      at: "?platform=mobile&state=s&code_challenge=\(challenge)&code_challenge_method=S256",
      changing: withoutDomain)
    let location = try #require(try world.comeBack(answer).header("Location"))
    expect(parameter("error", of: location), is: "access_denied")
    expect(parameter("state", of: location), is: "s")
  }

  @Test(
    "an address counts as verified only where the provider says so; without one the sign-in works",
    arguments: [
      (JSON.bool(true), true), (.bool(false), false), (.string("true"), true), (.string("false"), false),
      (.null, false),
    ])
  func email(verified: JSON, isVerified: Bool) throws {
    let world = try world(nil)
    var person = ProviderForServers.Person()
    person.edit = { $0["email_verified"] = verified.isNull ? nil : verified }
    try expect(world.signIn(as: person).status, is: 303)
    let identity = try #require(try world.session()).identity
    expect(identity.email, is: "alice@example.com")
    expect(identity.isEmailVerified, is: isVerified)
  }
}
