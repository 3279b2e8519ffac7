// Tests of known providers whose settings in the provider's console differ from the usual settings.

import EnrollRules
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@Suite("A known provider with another setting")
struct VariantTests {
  private func stage(_ id: String, _ face: FaceName, _ changes: String = "{}") throws -> Stage {
    let entry = try KnownProviders.named(id).with(JSON.parse(Array(changes.utf8)))
    return try Stage(entry, face) { Preset(id).configuration($0) }
  }

  private func access(_ stage: Stage) throws -> String? {
    try stage.client.call("token.access", [])["outcome"]?.string
  }

  @Test(
    "the token of a GitHub OAuth app, which states no end, is used for months", arguments: FaceName.allCases)
  func withoutEnd(face: FaceName) throws {
    let stage = try stage(
      "github", face, #"{"token":{"expiresIn":"absent"},"scope":{"offline":"never"}}"#)
    try stage.signIn()
    for _ in 1...60 {
      stage.clock.advance(seconds: 86_400)
      try expect(access(stage), is: "valid")
    }
    expect(stage.fake.count(.token), is: 1)
  }

  @Test("a lifetime that is a text counts", arguments: FaceName.allCases)
  func text(face: FaceName) throws {
    let stage = try stage("x", face, #"{"token":{"expiresIn":"7200"}}"#)
    try stage.signIn()
    stage.clock.advance(seconds: 7000)
    try expect(access(stage), is: "valid")
    expect(stage.fake.count(.token), is: 1)
    stage.clock.advance(seconds: 190)
    try expect(access(stage), is: "valid")
    expect(stage.fake.count(.token), is: 2)
  }

  @Test(
    "a time of grace saves the session whose answer was lost", arguments: ["okta", "cognito"],
    FaceName.allCases)
  func grace(id: String, face: FaceName) throws {
    for (seconds, outcome) in [(30, "valid"), (0, "reauthenticate")] {
      let stage = try stage(id, face, #"{"refresh":{"graceSeconds":\#(seconds)}}"#)
      try stage.signIn()
      stage.fake.next(.token, .answerLost)
      try expect(stage.renew(), is: outcome)
    }
  }

  @Test("an encryption key may have the kid of the signing key", arguments: FaceName.allCases)
  func sharedKid(face: FaceName) throws {
    let stage = try stage("keycloak", face, #"{"jwks":{"enc":"sameKid"}}"#)
    try stage.signIn()
    try expect(stage.renew(), is: "valid")
  }

  @Test("a renewed id_token may name a later sign-in", arguments: FaceName.allCases)
  func laterSignIn(face: FaceName) throws {
    let stage = try stage("keycloak", face, #"{"refresh":{"authTime":"new"}}"#)
    try stage.signIn()
    for _ in 1...2 { try expect(stage.renew(), is: "valid") }
  }

  @Test(
    "a renewal at a server that has enough waits as long as X-Retry-After says", arguments: FaceName.allCases)
  func limited(face: FaceName) throws {
    let stage = try stage("better-auth", face)
    try stage.signIn()
    stage.clock.advance(seconds: 4000)
    stage.fake.limit(seconds: 900)
    try expect(access(stage), is: "expired")
    // The first pause that the library chooses itself is much shorter than these 800 seconds.
    stage.clock.advance(seconds: 800)
    try expect(access(stage), is: "expired")
    expect(stage.fake.count(.token), is: 2)
    stage.clock.advance(seconds: 200)
    try expect(access(stage), is: "valid")
  }

  @Test(
    "a secret without a method is sent as clients are registered by default: a server spends the code otherwise",
    arguments: FaceName.allCases)
  func secretWithoutMethod(face: FaceName) throws {
    let entry = try KnownProviders.named("better-auth").with(
      JSON.parse(
        Array(
          #"{"client":{"secret":{"code":"required","refresh":"required"},"authMethods":["client_secret_basic"]}}"#
            .utf8)))
    let stage = try Stage(entry, face) { fake in
      guard var object = Preset("better-auth").configuration(fake).object else { return .null }
      object["clientSecret"] = .string(fake.registration.secret)
      return .object(object)
    }
    try stage.signIn()
    expect(stage.fake.count(.token), is: 1)
    try expect(stage.renew(), is: "valid")
  }

  @Test("no proof is sent unasked, and a refused push goes through the browser", arguments: FaceName.allCases)
  func unasked(face: FaceName) throws {
    let stage = try stage("keycloak", face, #"{"par":{"publicClient":"refused"}}"#)
    try stage.signIn()
    expect(stage.fake.count(.pushed), is: 1)
    #expect(!stage.fake.requests.contains { $0.request.headers.contains { $0.name == "DPoP" } })
  }

  @Test(
    "an id_token that is signed with the client's secret is refused by its algorithm",
    arguments: FaceName.allCases)
  func secretSignature(face: FaceName) throws {
    let stage = try stage("authentik", face, #"{"idToken":{"alg":"HS256"},"jwks":{"empty":true}}"#)
    do {
      try stage.signIn()
      Issue.record("signed in")
    } catch let error as EnrollError {
      expect(error.code, is: .idTokenInvalid)
      #expect(error.message.contains("HS256"))
    }
  }
}
