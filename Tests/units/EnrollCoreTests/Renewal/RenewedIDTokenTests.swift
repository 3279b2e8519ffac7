import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@Suite("The id_token of a renewal (R27)")
struct RenewedIDTokenTests {
  private func due(_ bench: Bench) { bench.clock.advance(seconds: 3550) }

  static let defects: [(String, @Sendable (inout JSONObject) -> Void)] = [
    ("auth_time moved back", { $0["auth_time"] = .integer(1) }),
    ("auth_time after iat", { $0["auth_time"] = .integer(.max) }),
    ("exp an hour ago", { $0["exp"] = .integer(($0["iat"]?.integer ?? 0) - 3600) }),
    ("iat an hour ahead", { $0["iat"] = .integer(($0["iat"]?.integer ?? 0) + 3600) }),
    ("another nonce", { $0["nonce"] = .string("another") }),
    ("a stale at_hash", { $0["at_hash"] = .string("77QmUPtjPfzWtF2AnpK9RA") }),
    ("no exp", { $0["exp"] = nil }), ("sub of another type", { $0["sub"] = .integer(7) }),
  ]

  @Test(
    "a defect of the id_token ends nothing: tokens are used, id_token and profile stay", arguments: defects)
  func defect(name: String, edit: @escaping @Sendable (inout JSONObject) -> Void) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let (idToken, profile) = try (
      engine.registration.readAccount().idToken, engine.registration.readAccount().profile
    )
    for token in ["access-3", "access-4"] {
      due(bench)
      bench.provider.change { $0.claims = edit }
      try expect(engine.token(), is: token)
      try expect(engine.registration.readAccount().idToken, is: idToken)
      try expect(engine.registration.readAccount().profile, is: profile)
      try expect(bench.record.confirmed?.unprovenIDToken, isNot: nil)
    }
    due(bench)
    bench.provider.change { $0.claims = { _ in } }
    try expect(engine.token(), is: "access-5")
    try expect(engine.registration.readAccount().idToken, isNot: idToken)
    try expect(bench.record.confirmed?.unprovenIDToken, is: nil)
  }

  static let harmless: [(String, @Sendable (inout JSONObject) -> Void)] = [
    ("auth_time moved forward", { $0["auth_time"] = $0["iat"] }),
    ("aud grown", { $0["aud"] = .array([.string("native"), .string("api"), .string("project")]) }),
    ("acr null", { $0["acr"] = .null }), ("azp null", { $0["azp"] = .null }),
    ("auth_time null", { $0["auth_time"] = .null }), ("no nonce", { $0["nonce"] = nil }),
  ]

  @Test(
    "auth_time moves forward, aud grows, a claim becomes null: the id_token is taken", arguments: harmless)
  func continued(name: String, edit: @escaping @Sendable (inout JSONObject) -> Void) throws {
    let bench = try Bench()
    bench.provider.change { $0.claims = { $0["auth_time"] = .integer(1_600_000_000) } }
    let engine = try bench.signedIn()
    let idToken = try engine.registration.readAccount().idToken
    due(bench)
    bench.provider.change { $0.claims = edit }
    try expect(engine.token(), is: "access-3")
    try expect(engine.registration.readAccount().idToken, isNot: idToken)
    // The provider sends the original claims again.
    due(bench)
    bench.provider.change { $0.claims = { _ in } }
    try expect(engine.token(), is: "access-4")
  }

  static let others: [(String, @Sendable (inout JSONObject) -> Void)] = [
    ("iss", { $0["iss"] = .string("https://evil.example") }), ("sub", { $0["sub"] = .string("mallory") }),
    ("aud", { $0["aud"] = .string("api") }),
    (
      "azp",
      {
        $0["aud"] = .array([.string("native"), .string("api")])
        $0["azp"] = .string("api")
      }
    ),
  ]

  @Test("another iss, sub or client under a proven signature ends the session", arguments: others)
  func anotherProven(claim: String, edit: @escaping @Sendable (inout JSONObject) -> Void) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    due(bench)
    bench.provider.change { $0.claims = edit }
    guard case .reauthenticate(let reason, _) = try engine.access() else {
      throw Unexpected(what: "accepted")
    }
    #expect(reason.contains("another \(claim)"))
    #expect(!reason.contains("mallory"))
    // A sign-out must revoke the session's own tokens.
    try expect(bench.record.confirmed?.refreshToken, is: Secret("refresh-2"))
    try expect(bench.record.confirmed?.unprovenIDToken, is: nil)
  }

  @Test(
    "another iss, sub or client without proof: the new tokens are not used, nothing is handed out, nothing ends",
    arguments: others)
  func anotherUnproven(claim: String, edit: @escaping @Sendable (inout JSONObject) -> Void) throws {
    let bench = try Bench()
    _ = try bench.signedIn()
    due(bench)
    bench.provider.change { $0.claims = edit }
    bench.provider.next(.keys, .status(503), .status(503), .status(503))
    let engine = bench.engine()
    guard case .stale(let token, let error) = try engine.access() else { throw Unexpected(what: "not stale") }
    #expect(token.value == Secret("access-2") && error.code == .idTokenInvalid)
    let record = try bench.record
    expect(record.confirmed?.accessToken, is: Secret("access-2"))
    expect(record.confirmed?.refreshToken, is: Secret("refresh-3"))
    expect(record.sessionEnded, is: nil)
    try expect(engine.registration.readAccount().idToken, isNot: record.confirmed?.unprovenIDToken)
    try expect(engine.identity.profile()["sub"], is: .string("alice"))

    // The provider works again: the rotated token is used, and the session continues.
    bench.clock.advance(seconds: 120)
    bench.provider.change { $0.claims = { _ in } }
    try expect(engine.token(), is: "access-4")
    try expect(engine.identity.profile()["sub"], is: .string("alice"))
  }

  static let refuted: [(String, @Sendable (String) -> String)] = [
    ("another key's signature", { RenewedIDTokenTests.edited($0, signature: "MEUCIQ") }),
    ("alg none", { RenewedIDTokenTests.edited($0, header: "eyJhbGciOiJub25lIn0", signature: "") }),
    ("no signature", { RenewedIDTokenTests.edited($0, signature: "") }),
  ]

  private static func edited(_ token: String, header: String? = nil, signature: String) -> String {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
    guard parts.count == 3 else { return token }
    return [header ?? parts[0], parts[1], signature].joined(separator: ".")
  }

  /// Makes the provider return one answer with an id_token of another user. The later answers are correct, and have no
  /// id_token.
  private func oneOddAnswer(_ bench: Bench, _ engine: Engine, _ forge: @escaping @Sendable (String) -> String)
    throws
  {
    due(bench)
    bench.provider.change {
      $0.claims = { $0["sub"] = .string("mallory") }
      $0.tokens = { $0["id_token"] = .string(forge($0["id_token"]?.string ?? "")) }
    }
    guard case .stale(let token, let error) = try engine.access() else { throw Unexpected(what: "not stale") }
    #expect(token.value == Secret("access-2") && error.code == .idTokenInvalid)
    bench.provider.change {
      $0.claims = { _ in }
      $0.tokens = { _ in }
      $0.givesIDTokenOnRefresh = false
    }
    bench.clock.advance(seconds: 120)
  }

  @Test(
    "an id_token that is refuted proves nothing about anybody: the next answer's tokens are used without it",
    arguments: refuted)
  func refutedOnce(name: String, forge: @escaping @Sendable (String) -> String) throws {
    let bench = try Bench()
    try oneOddAnswer(bench, try bench.signedIn(), forge)
    // Every process must return this token. The first good answer must remove the unproven id_token.
    try expect(bench.engine().token(), is: "access-4")
    try expect(bench.record.confirmed?.unprovenIDToken, is: nil)
    due(bench)
    try expect(bench.engine().token(), is: "access-5")
    try expect(bench.engine().identity.profile()["sub"], is: .string("alice"))
  }

  @Test(
    "an id_token that nobody could judge withholds its own answer alone, and ends the session once it is proven",
    arguments: [true, false])
  func unjudged(keysStayAway: Bool) throws {
    let bench = try Bench()
    _ = try bench.signedIn()
    // The id_token is signed with a new key, which is not among the cached keys.
    let old = bench.provider.keySet
    try bench.provider.changeKey()
    bench.provider.change { $0.keyID = "key-2" }
    let silence = FakeProvider.Reply.status(200, body: old)
    bench.provider.next(.keys, silence, silence, silence, silence)
    let engine = bench.engine()
    try oneOddAnswer(bench, engine) { $0 }
    try expect(bench.record.confirmed?.unprovenIDToken, isNot: nil)
    if keysStayAway {
      for token in ["access-4", "access-5"] {
        guard case .valid(let given) = try engine.access() else { throw Unexpected(what: "withheld") }
        expect(given.value, is: Secret(token))
        due(bench)
      }
      return
    }
    bench.provider.recover(.keys)
    guard case .reauthenticate(let reason, _) = try bench.engine().access() else {
      throw Unexpected(what: "not ended")
    }
    #expect(reason.contains("another sub"))
  }

  @Test("the first id_token that comes on a refresh is about the user whom userinfo named")
  func firstOnRefresh() throws {
    let bench = try Bench(scopes: ["profile", "offline_access"])
    let engine = try bench.signedIn()
    try expect(bench.record.confirmed?.identity, is: nil)
    try expect(engine.identity.profile()["sub"], is: .string("alice"))
    due(bench)
    bench.provider.change {
      $0.givesIDTokenUnasked = true
      $0.claims = { $0["sub"] = .string("mallory") }
    }
    guard case .reauthenticate = try engine.access() else { throw Unexpected(what: "accepted") }
    try expect(engine.identity.profile()["sub"], is: .string("alice"))
  }

  @Test("a Date header that jumps is doubted until a second answer agrees (R25)")
  func clockJumps() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let idToken = try engine.registration.readAccount().idToken
    due(bench)
    bench.provider.change { $0.clockOffsetSeconds = 7200 }
    try expect(engine.token(), is: "access-3")
    try expect(bench.record.serverClock, is: ServerClock(offsetSeconds: 0, doubtedOffsetSeconds: 7200))
    due(bench)
    try expect(engine.token(), is: "access-4")
    try expect(bench.record.serverClock, is: ServerClock(offsetSeconds: 7200))
    try expect(engine.registration.readAccount().idToken, isNot: idToken)
  }
}
