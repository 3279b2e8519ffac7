import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@Suite("A token that a resource server refuses")
struct RejectionTests {
  /// The outcome of `token.rejected`. If a renewal is needed, this function runs it.
  private func reject(
    _ token: String, _ engine: Engine, for audience: TokenAudience? = nil
  ) throws -> AccessOutcome {
    switch try engine.rejection.decideRejection(of: Secret(token), for: audience) {
    case .answer(let outcome): return outcome
    case .access: return try engine.access(for: audience)
    case .renew(let epoch):
      let result = try engine.renewal.renew(epochs: [epoch], forced: true, for: audience)
      return try engine.tokens.outcome(after: result, minimumLifetimeSeconds: 0, for: audience)
    }
  }

  @Test("a token for another audience is renewed for that one, once, beside the session's own")
  func audience() throws {
    let bench = try Bench([])
    bench.provider.change { $0.resources = ["https://api.example"] }
    let engine = try bench.signedIn()
    let api = try TokenAudience.naming(resource: "https://api.example", scopes: nil)
    let first = try engine.access(for: api).token().value.reveal()
    let own = try engine.token()
    let second = try reject(first, engine, for: api).token().value.reveal()
    #expect(second != first && second != own)
    try expect(engine.token(), is: own)
    // The session is not affected.
    guard case .rejected(let reason) = try reject(second, engine, for: api) else {
      throw Unexpected(what: "no refusal of the audience")
    }
    #expect(reason.code == .rejected && reason.field == "resource")
    #expect(reason.message.contains("https://api.example"))
    // The refusals of the two tokens are independent, and so are the tokens.
    try expect(reject(second, engine).token().value.reveal(), is: own)
    let next = try reject(own, engine).token().value.reveal()
    expect(next, isNot: own)
    #expect(isRejected(try reject(next, engine)))
  }

  private func isRejected(_ outcome: AccessOutcome) -> Bool {
    if case .rejected(let reason) = outcome { reason.code == .rejected } else { false }
  }

  private func isReauthenticate(_ outcome: AccessOutcome) -> Bool {
    if case .reauthenticate = outcome { true } else { false }
  }

  @Test("it is renewed once; an API that refuses the next one as well ends no session, in any process")
  func once() throws {
    let bench = try Bench([("withoutExpiry", .string("never"))])
    bench.provider.change { $0.lifetime = nil }
    let engine = try bench.signedIn()
    let first = try engine.token()
    let second = try reject(first, engine).token().value.reveal()
    #expect(second != first && bench.provider.count(.token) == 2)
    #expect(isRejected(try reject(second, engine)))
    #expect(isRejected(try reject(second, engine)))
    expect(bench.provider.count(.token), is: 2)
    try expect(engine.token(), is: second)
    try expect(bench.engine().token(), is: second)
    expect(engine.state, is: .active(.renewed))
  }

  @Test("one that cannot be renewed stays refused, until the user signs in, in every process")
  func withoutRenewal() throws {
    let bench = try Bench([("withoutExpiry", .string("never"))])
    bench.provider.change { settings in
      settings.lifetime = nil
      settings.givesRefreshToken = false
    }
    let engine = try bench.signedIn()
    let first = try engine.token()
    #expect(isReauthenticate(try reject(first, engine)))
    #expect(try isReauthenticate(engine.access()) && isReauthenticate(bench.engine().access()))
    guard case .answer(let refreshed) = try engine.tokens.decideRefresh() else {
      throw Unexpected(what: "renews")
    }
    #expect(isReauthenticate(refreshed))
    try expect(engine.renewal.planRenewal(ahead: true, jitter: 0), is: .nothing)
    expect(engine.state.kind, is: .renewalFailed)
    guard case .known(let elsewhere) = try bench.engine().registration.adoptStoredState() else {
      throw Unexpected(what: "asks")
    }
    expect(elsewhere.kind, is: .renewalFailed)
    try expect(bench.record.sessionEnded, is: nil)
    let next = try bench.signedIn()
    #expect(try next.token() != first && next.state == .active(.confirmed))
  }

  @Test("a refusal counts for one minute: a token that is revoked later is renewed")
  func minute() throws {
    let bench = try Bench([])
    bench.provider.change { $0.lifetime = .integer(86_400) }
    let engine = try bench.signedIn()
    let second = try reject(try engine.token(), engine).token().value.reveal()
    bench.clock.advance(seconds: 60)
    let third = try reject(second, engine).token().value.reveal()
    #expect(third != second && bench.provider.count(.token) == 3)
    bench.clock.advance(seconds: 59)
    #expect(isRejected(try reject(third, engine)))
    expect(bench.provider.count(.token), is: 3)
  }

  @Test("a refusal that comes late gets the token that there is by now")
  func late() throws {
    let bench = try Bench([])
    let engine = try bench.signedIn()
    let first = try engine.token()
    let second = try reject(first, engine).token().value.reveal()
    try expect(reject(first, engine).token().value.reveal(), is: second)
    expect(bench.provider.count(.token), is: 2)
  }

  @Test("after a renewal of its own the token may be refused again")
  func again() throws {
    let bench = try Bench([])
    let engine = try bench.signedIn()
    _ = try reject(try engine.token(), engine)
    bench.clock.advance(seconds: 4000)
    let third = try engine.token()
    try expect(reject(third, engine).token().value.reveal(), isNot: third)
    expect(bench.provider.count(.token), is: 4)
  }

  @Test("a renewal that fails does not count as the one")
  func unreachable() throws {
    let bench = try Bench([])
    let engine = try bench.signedIn()
    let first = try engine.token()
    bench.provider.next(.token, .status(503), .status(503), .status(503))
    guard case .stale = try reject(first, engine) else { throw Unexpected(what: "no stale token") }
    bench.provider.recover(.token)
    bench.clock.advance(seconds: 120)
    try expect(reject(first, engine).token().value.reveal(), isNot: first)
  }

  @Test("without a refresh token, and without a session, the user has to sign in")
  func nothing() throws {
    let bench = try Bench([])
    #expect(isReauthenticate(try reject("any", bench.engine())))
    bench.provider.change { $0.givesRefreshToken = false }
    let engine = try bench.signedIn()
    let token = try engine.token()
    #expect(isReauthenticate(try reject(token, engine)))
    #expect(try isReauthenticate(engine.access()) && isReauthenticate(bench.engine().access()))
    expect(engine.state.kind, is: .renewalFailed)
    expect(bench.provider.count(.token), is: 1)
  }
}
