// For each peculiarity of a provider that EnrollKit accepts, tests the similar attack that must be refused: a known
// provider is hostile in one way. LoopbackListenerTests tests another process that answers at ::1.

import EnrollRules
import EnrollJSON
import EnrollTesting
import Expectations
import Foundation
import Testing

@Suite("A hostile known provider")
struct HostileTests {
  private func stage(
    _ id: String, _ face: FaceName, _ hostileBehaviours: FakeProvider.HostileBehaviour...,
    configuration: ((FakeProvider) -> JSON)? = nil
  ) throws -> Stage {
    try Stage(
      KnownProviders.named(id), face, hostileBehaviours, configuration ?? { Preset(id).configuration($0) })
  }

  private func refusal(_ body: () throws -> Void) -> EnrollError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? EnrollError)?.code
    }
  }

  @Test(
    "an id_token of another tenant, of no tenant, or signed by another tenant's key is refused",
    arguments: [
      FakeProvider.HostileBehaviour.foreignTenant, .tenantThatIsNone, .foreignKeyIssuer,
    ], FaceName.allCases)
  func tenant(twist: FakeProvider.HostileBehaviour, face: FaceName) throws {
    let stage = try stage("entra-common", face, twist)
    expect(refusal { try stage.signIn() }, is: .idTokenInvalid)
    expect(refusal { _ = try stage.profile() }, is: .notFound)
  }

  @Test("an id_token for another client is refused", arguments: ["zitadel", "okta"], FaceName.allCases)
  func audience(id: String, face: FaceName) throws {
    let stage = try stage(id, face, .audienceWithoutUs)
    expect(refusal { try stage.signIn() }, is: .idTokenInvalid)
  }

  @Test(
    "a renewed id_token for another client is refused, and the session ends", arguments: FaceName.allCases)
  func renewedAudience(face: FaceName) throws {
    let stage = try stage("zitadel", face)
    try stage.signIn()
    try expect(stage.renew(), is: "valid")
    stage.fake.misbehave(.audienceWithoutUs)
    try expect(stage.renew(), is: "reauthenticate")
  }

  @Test("a renewal whose auth_time is earlier keeps the old id_token", arguments: FaceName.allCases)
  func authTime(face: FaceName) throws {
    let stage = try stage("spring-refresh", face)
    try stage.signIn()
    try expect(stage.renew(), is: "valid")
    let before = try stage.profile()?["auth_time"]
    expect(before, isNot: nil)
    stage.fake.misbehave(.authTimeBackwards)
    try expect(stage.renew(), is: "valid")
    try expect(stage.profile()?["auth_time"], is: before)
  }

  @Test("two different keys that fit one kid and alg are refused", arguments: FaceName.allCases)
  func keys(face: FaceName) throws {
    let stage = try stage("forgerock", face, .twoKeysOneKid)
    expect(refusal { try stage.signIn() }, is: .idTokenInvalid)
  }

  @Test("an error beside tokens is no sign-in", arguments: ["github", "okta"], FaceName.allCases)
  func error(id: String, face: FaceName) throws {
    let stage = try stage(id, face, .errorBesideToken)
    expect(refusal { try stage.signIn() }, is: .responseInvalid)
    expect(refusal { _ = try stage.profile() }, is: .notFound)
  }

  @Test(
    "what userinfo says of another user is not merged", arguments: ["okta", "zitadel"], FaceName.allCases)
  func userinfo(id: String, face: FaceName) throws {
    let stage = try stage(id, face, .anotherUserinfoSubject)
    try stage.signIn()
    let profile = try stage.profile()
    expect(profile?["sub"]?.string, is: "alice")
    expect(profile?["email"], is: nil)
    expect(refusal { _ = try stage.client.call("identity.userinfo", []) }, is: .profileMismatch)
  }

  @Test(
    "a return from a logout without state counts for the only one that is pending, for none of two",
    arguments: FaceName.allCases)
  func logout(face: FaceName) throws {
    let stage = try stage("cognito", face)
    func out() throws -> String {
      try stage.signIn()
      let url = try stage.client.call("logout.begin", [])["url"]?.string ?? ""
      guard case .redirect(let back) = stage.fake.visit(url) else { return "" }
      return back
    }
    let first = try out()
    let second = try out()
    #expect(first == second && first == "com.example.app:/logout")
    expect(
      refusal { _ = try stage.client.call("logout.resume", [("url", .string(first))]) }, is: .unsolicited)
    let alone = try self.stage("cognito", face)
    try alone.signIn()
    try alone.signOut()
  }

  @Test(
    "a client secret is in no URL, log, diagnostics or error",
    arguments: ["google-desktop", "github"], FaceName.allCases)
  func secret(id: String, face: FaceName) throws {
    let stage = try stage(id, face)
    let secret = stage.fake.registration.secret
    try stage.signIn()
    _ = try stage.renew()
    _ = try stage.client.call("identity.userinfo", [])
    var shown = [text(try stage.client.call("diagnostics.export", []))]
    try stage.signOut()
    let wrong = try self.stage(id, face) { fake in
      guard case .object(var object) = Preset(id).configuration(fake) else { return .null }
      object["clientSecret"] = .string("other-\(secret)-wrong")
      return .object(object)
    }
    do {
      try wrong.signIn()
      Issue.record("a wrong secret was taken")
    } catch let error as EnrollError {
      shown += ["\(error)", error.message, error.field ?? ""]
    }
    shown += stage.client.log.lines + wrong.client.log.lines
    #expect(!stage.client.log.lines.isEmpty)
    #expect(!shown.contains { $0.contains(secret) })
    #expect(stage.fake.leaks(of: secret).isEmpty && wrong.fake.leaks(of: secret).isEmpty)
    let basic = Data("\(stage.fake.registration.clientID):\(secret)".utf8).base64EncodedString()
    #expect(
      stage.fake.requests.contains { sent in
        sent.request.headers.contains { $0.value == "Basic \(basic)" }
          || String(decoding: sent.request.body, as: UTF8.self).contains(secret)
      })
  }

  private func text(_ json: JSON) -> String { String(decoding: json.serialized(), as: UTF8.self) }
}
