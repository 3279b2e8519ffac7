import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollStore
import EnrollTesting
import Expectations
import Testing

@Suite("Signing out while tokens are on their way (R35)")
struct LateTokensTests {
  enum Ending: CaseIterable, Sendable { case logout, localLogout, revoke, deregister, clear, removal }
  enum Way: CaseIterable, Sendable { case code, device, oneTimeCode }

  private static func end(_ ending: Ending, _ bench: Bench) {
    let engine = bench.engine()
    switch ending {
    case .logout: _ = try? engine.logout.beginLogout(localOnly: false, cancellation: nil)
    case .localLogout: _ = try? engine.logout.beginLogout(localOnly: true, cancellation: nil)
    case .revoke: _ = try? engine.logout.revoke(cancellation: nil)
    case .deregister: _ = try? engine.logout.deregister(cancellation: nil)
    case .clear: _ = try? engine.logout.clear()
    case .removal: try? bench.store.remove(.default)
    }
  }

  /// Makes the tokens of the transaction arrive.
  private func arrive(_ way: Way, _ begun: Transaction, _ engine: Engine, _ bench: Bench) {
    switch way {
    case .code: _ = try? engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil)
    case .device:
      bench.provider.change { $0.deviceError = nil }
      bench.clock.advance(seconds: 5)
      _ = try? engine.device.pollDevice(begun.transactionID)
    case .oneTimeCode:
      _ = try? engine.passwordless.submitCode(
        Secret("123456"), transactionID: begun.transactionID, cancellation: nil)
    }
  }

  private func options(_ way: Way) -> SignInOptions {
    switch way {
    case .code: SignInOptions()
    case .device: SignInOptions(kind: .device)
    case .oneTimeCode:
      SignInOptions(kind: .passwordless, recipient: Recipient(.email, address: "alice@example.org"))
    }
  }

  @Test(
    "tokens that arrive after a sign-out are revoked, not stored, and the state stays D (R35)",
    arguments: Ending.allCases, Way.allCases)
  func revoked(ending: Ending, way: Way) throws {
    let bench = try Bench(passwordless: .auth0)
    let engine = bench.engine()
    let begun = try engine.signIn.begin(options(way), cancellation: nil)
    bench.provider.next(.token, .during { Self.end(ending, bench) })
    arrive(way, begun, engine, bench)
    expect(bench.provider.count(.token), is: 1)
    #expect(try !bench.record.hasTokens)
    engine.outbox.sendOutbox(cancellation: nil)
    #expect(bench.provider.revoked.contains { $0.hasPrefix("refresh-") })
    try expect(engine.registration.adoptStoredState(), is: .known(.unregistered))
  }

  @Test(
    "an exchange that fails after a sign-out changes no state and reports nothing", arguments: Ending.allCases
  )
  func failed(ending: Ending) throws {
    let bench = try Bench()
    let engine = bench.engine()
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    bench.provider.change { $0.claims = { $0["nonce"] = .string("another") } }
    bench.provider.next(.token, .during { Self.end(ending, bench) })
    try expect(engine.failure(of: url), is: .cancelled)
    try expect(engine.registration.adoptStoredState(), is: .known(.unregistered))
    #expect(bench.seen.reported.isEmpty)
  }

  @Test(
    "what comes back after a sign-out settles nothing, and its code is not sent", arguments: Ending.allCases,
    Way.allCases)
  func tooLate(ending: Ending, way: Way) throws {
    let bench = try Bench(passwordless: .auth0)
    let engine = bench.engine()
    let begun = try engine.signIn.begin(options(way), cancellation: nil)
    Self.end(ending, bench)
    arrive(way, begun, engine, bench)
    expect(bench.provider.count(.token), is: 0)
    #expect(try !bench.record.hasTokens)
  }

  @Test("another app's tokens, and a back end's session, that arrive after a sign-out are not stored (R35)")
  func gateways() throws {
    let bench = try App2AppBench()
    let engine = bench.engine()
    _ = try bench.begin(engine)
    bench.gateway.next { _ throws(EnrollError) in
      _ = try bench.engine().logout.beginLogout(localOnly: true, cancellation: nil)
      return HTTPResponse(status: 200, headers: [], body: Array(App2AppStepTests.tokens.utf8))
    }
    try expect(engine.failure(of: bench.answer()), is: .cancelled)
    #expect(try !bench.record.hasTokens)
    #expect(bench.issuer.revoked.contains("refresh-0"))

    let other = try BFFBench()
    let behind = other.engine()
    let begun = try other.begin(behind)
    other.bff.next { _ throws(EnrollError) in
      _ = try other.engine().logout.beginLogout(localOnly: true, cancellation: nil)
      return HTTPResponse(status: 200, headers: [], body: Array(#"{"session_token": "s"}"#.utf8))
    }
    try expect(behind.failure(of: other.answer("code=c", to: begun)), is: .cancelled)
    #expect(try !other.record.hasTokens)
  }
}

@Suite("Tokens that come and are not kept")
struct DroppedTokensTests {
  private func revoked(_ engine: Engine, _ bench: Bench) -> [String] {
    engine.outbox.sendOutbox(cancellation: nil)
    return bench.provider.revoked
  }

  @Test("the tokens beside an id_token that is refused are revoked")
  func refusedIDToken() throws {
    let bench = try Bench()
    let engine = bench.engine()
    bench.provider.change { $0.claims = { $0["exp"] = .integer(1) } }
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    try expect(engine.failure(of: url), is: .idTokenInvalid)
    expect(revoked(engine, bench), is: ["refresh-2", "access-2"])
  }

  @Test("the tokens are revoked when userinfo, which the sign-in needs, is in trouble")
  func userinfoTrouble() throws {
    let bench = try Bench(scopes: ["profile"])
    let engine = bench.engine()
    let hint = Secret("e30.\(Base64URL.encode(Array(#"{"sub":"alice"}"#.utf8))).c2ln")
    let begun = try engine.signIn.begin(SignInOptions(idTokenHint: hint), cancellation: nil)
    let url = bench.provider.signIn(at: begun.url)
    bench.provider.next(.userinfo, .status(503))
    try expect(engine.failure(of: url), is: .server)
    expect(revoked(engine, bench), is: ["refresh-2", "access-2"])
  }

  @Test("the tokens of an answer that cannot be used are revoked")
  func unusableAnswer() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    bench.provider.next(
      .token,
      .status(200, body: #"{"access_token": "a", "refresh_token": "r", "token_type": "unknown-type"}"#))
    try expect(engine.failure(of: url), isNot: nil)
    expect(revoked(engine, bench), is: ["r", "a"])
  }

  @Test(
    "a session that another sign-in of the same user replaces is not revoked (R35)", arguments: [true, false])
  func replaced(requiresConfirmation: Bool) throws {
    let bench = try Bench(requiresConfirmation: requiresConfirmation)
    let engine = try bench.signedIn()
    if requiresConfirmation { _ = try engine.registration.confirm() }
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    try expect(engine.failure(of: bench.provider.signIn(at: begun.url)), is: nil)
    if requiresConfirmation { _ = try engine.registration.confirm() }
    #expect(revoked(engine, bench).isEmpty)
    try expect(engine.token(), is: "access-4")
  }

  @Test(
    "tokens that wait for confirmation are not revoked when others of the same user take their place (R35)")
  func replacedProvisional() throws {
    let bench = try Bench(requiresConfirmation: true)
    let first = bench.engine()
    let second = bench.engine()
    let begun = try [first, second].map { try $0.signIn.begin(SignInOptions(), cancellation: nil) }
    _ = try first.signIn.resume(bench.provider.signIn(at: begun[0].url), cancellation: nil)
    _ = try second.signIn.resume(bench.provider.signIn(at: begun[1].url), cancellation: nil)
    #expect(revoked(second, bench).isEmpty)
    try expect(bench.record.provisional?.refreshToken, is: Secret("refresh-4"))
  }
}
