import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@Suite("Step-up beside a session, and social sign-in (flows.md §6)")
struct StepUpTests {
  private static let gold = SignInOptions(maxAgeSeconds: 60, acrValues: ["gold", "platinum"])

  /// A user who is signed in and confirmed, and the claims of the next sign-in.
  private func bench(acr: String? = "gold", authTime: Int64? = 1_700_000_000) throws -> (Bench, Engine) {
    let bench = try Bench(requiresConfirmation: true)
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    _ = try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil)
    _ = try engine.registration.confirm()
    bench.provider.change {
      $0.claims = {
        $0["acr"] = acr.map { .string($0) }
        $0["auth_time"] = authTime.map { .integer($0) }
      }
    }
    return (bench, engine)
  }

  private func resume(_ engine: Engine, _ bench: Bench) throws -> Settlement.Ending {
    let begun = try engine.signIn.begin(Self.gold, cancellation: nil)
    #expect(begun.url.contains("max_age=60") && begun.url.contains("acr_values=gold%20platinum"))
    expect(engine.state.kind, is: .authenticating)
    return try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil).ending
  }

  @Test("success: G beside the session, whose token is served meanwhile; the user's word replaces it")
  func success() throws {
    let (bench, engine) = try bench()
    guard case .succeeded(.awaitingConfirmation) = try resume(engine, bench) else {
      throw Unexpected(what: "\(engine.state)")
    }
    try expect(engine.token(), is: "access-2")
    try expect(engine.registration.confirm(), is: .active(.confirmed))
    try expect(engine.token(), is: "access-4")
    try expect(bench.record.provisional, is: nil)
  }

  @Test("max_age of nought is no sign-in of some minutes before the request, however long that took (R26)")
  func freshSignIn() throws {
    for (before, isFresh) in [(Int64(290), false), (60, false), (-20, true)] {
      let bench = try Bench()
      bench.provider.change { $0.claims = { $0["auth_time"] = .integer(1_700_000_000 - before) } }
      let engine = bench.engine()
      let begun = try engine.signIn.begin(SignInOptions(maxAgeSeconds: 0), cancellation: nil)
      bench.clock.advance(seconds: 120)
      let failure = try engine.failure(of: bench.provider.signIn(at: begun.url))
      expect(failure, is: isFresh ? nil : .idTokenInvalid, "\(before) s before the request")
    }
  }

  @Test("what a hint was about alice for is not answered about bob (OpenID Connect Core §3.1.2.1)")
  func hintedSubject() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let hint = try #require(try engine.registration.readAccount().idToken)
    bench.provider.change { $0.subject = "bob" }
    let begun = try engine.signIn.begin(SignInOptions(idTokenHint: hint), cancellation: nil)
    try expect(engine.failure(of: bench.provider.signIn(at: begun.url)), is: .profileMismatch)
    try expect(engine.identity.profile()["sub"], is: .string("alice"))
    engine.outbox.sendOutbox(cancellation: nil)
    expect(bench.provider.revoked, is: ["refresh-4", "access-4"], "bob's tokens are not kept")
    // Without a hint the user may choose an account.
    let free = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    try expect(engine.failure(of: bench.provider.signIn(at: free.url)), is: nil)
    try expect(engine.identity.profile()["sub"], is: .string("bob"))
    // A hint still names its user if it is expired or has an invalid signature.
    let again = try engine.signIn.begin(SignInOptions(idTokenHint: hint), cancellation: nil)
    try expect(engine.failure(of: bench.provider.signIn(at: again.url)), is: .profileMismatch)
  }

  @Test("userinfo is about the user whose profile is kept, with an id_token and without (R28)")
  func userinfoSubject() throws {
    let bench = try Bench(scopes: ["profile"])
    let engine = try bench.signedIn()
    try expect(engine.identity.userinfo(cancellation: nil)["sub"], is: .string("alice"))
    bench.provider.change { $0.userinfoSubject = "bob" }
    expect(code { _ = try engine.identity.userinfo(cancellation: nil) }, is: .profileMismatch)
  }

  @Test(
    "what was asked for and is not proven is a failure, and the session is as it was (R26)",
    arguments: [
      ("silver", Int64(1_700_000_000)), (nil, 1_700_000_000), ("gold", 1_600_000_000), ("gold", nil),
    ] as [(String?, Int64?)])
  func notProven(acr: String?, authTime: Int64?) throws {
    let (bench, engine) = try bench(acr: acr, authTime: authTime)
    guard case .failed(let error) = try resume(engine, bench) else {
      throw Unexpected(what: "\(engine.state)")
    }
    #expect(
      error.code == .idTokenInvalid && (error.message.contains("acr") || error.message.contains("auth_time")))
    expect(engine.state, is: .active(.confirmed))
    engine.outbox.sendOutbox(cancellation: nil)
    #expect(bench.provider.revoked.isEmpty)
    try expect(engine.token(), is: "access-2")
    try expect(bench.record.provisional, is: nil)
  }

  @Test("the provider's refusal leads back to the session too, and another step-up may begin")
  func refused() throws {
    let (bench, engine) = try bench()
    let begun = try engine.signIn.begin(Self.gold, cancellation: nil)
    let refusal = bench.provider.refuse(begun.url, error: "access_denied")
    try expect(engine.failure(of: refusal), is: .accessDenied)
    expect(engine.state, is: .active(.confirmed))
    guard case .succeeded = try resume(engine, bench) else { throw Unexpected(what: "\(engine.state)") }
  }

  @Test("the user who closes the browser is back at the session; a late redirect still wins (R12)")
  func dismissed() throws {
    let (bench, engine) = try bench()
    let begun = try engine.signIn.begin(Self.gold, cancellation: nil)
    try expect(engine.registration.cancel(transactionID: begun.transactionID), is: .active(.confirmed))
    try expect(engine.token(), is: "access-2")
    let redirect = bench.provider.signIn(at: begun.url)
    guard case .succeeded = try engine.signIn.resume(redirect, cancellation: nil).ending else {
      throw Unexpected(what: "\(engine.state)")
    }
  }

  @Test("retry clears the provisional tokens only, and revokes none: the same user has a session (R35)")
  func retry() throws {
    let (bench, engine) = try bench()
    _ = try resume(engine, bench)
    try expect(engine.registration.retry(cancellation: nil).kind.letter, isNot: "D")
    engine.outbox.sendOutbox(cancellation: nil)
    #expect(bench.provider.revoked.isEmpty)
    try expect(engine.token(), is: "access-2")
    #expect(try bench.record.provisional == nil && bench.record.confirmed != nil)
    // The session renews as before.
    bench.provider.change { $0.claims = { _ in } }
    bench.clock.advance(seconds: 3550)
    try expect(engine.token(), is: "access-5")
  }

  @Test("what cannot be checked on return is not asked for (R26)")
  func needsOpenID() throws {
    let engine = try Bench(scopes: ["offline_access"]).engine()
    expect(code { _ = try engine.signIn.begin(Self.gold, cancellation: nil) }, is: .invalidArgument)
  }

  // MARK: Social

  @Test(
    "the connection is sent by the provider's own name, and the type is SOCIAL",
    arguments: ["connection", "idp"])
  func social(name: String) throws {
    let bench = try Bench(requiresConfirmation: true, connectionParameter: name)
    let engine = bench.engine()
    let begun = try engine.signIn.begin(
      SignInOptions(prompt: "login", connection: "google oauth2"), cancellation: nil)
    #expect(begun.url.contains("&\(name)=google%20oauth2"))
    #expect(begun.url.contains("&prompt=login"))
    // Another process knows only the store.
    let later = bench.engine()
    _ = try later.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil)
    _ = try later.registration.confirm()
    try expect(later.registration.readAccount().registrationType, is: "SOCIAL")
    bench.clock.advance(seconds: 3550)
    _ = try later.token()
    try expect(later.registration.readAccount().registrationType, is: "SOCIAL")
  }

  @Test("without a connection there is no such parameter, and no type")
  func notSocial() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    try expect(engine.registration.readAccount().registrationType, is: nil)
    #expect(try !engine.signIn.begin(SignInOptions(), cancellation: nil).url.contains("connection"))
  }

  @Test("a connection twice, or one that is no text, is refused")
  func badConnection() throws {
    let engine = try Bench().engine()
    let wrong: [(String, SignInOptions)] = [
      ("parameters", SignInOptions(connection: "google", parameters: [("connection", "facebook")])),
      ("connection", SignInOptions(connection: "")), ("connection", SignInOptions(connection: "a\nb")),
    ]
    for (field, options) in wrong {
      do {
        _ = try engine.signIn.begin(options, cancellation: nil)
        Issue.record("\(field) was accepted")
      } catch {
        #expect(error.code == .invalidArgument && error.field == field)
      }
    }
  }
}
