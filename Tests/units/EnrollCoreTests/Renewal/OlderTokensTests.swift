// A session's older access tokens, which may have become invalid by a renewal for another audience.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollTesting
import Expectations
import Testing

@Suite("Older access tokens after a renewal (R44)")
struct OlderTokensTests {
  private static let api = TokenAudience(resource: "https://api.example/", scopes: [])
  private static let narrow = TokenAudience(resource: nil, scopes: ["openid"])

  private let bench: Bench
  private let engine: Engine

  init() throws {
    bench = try Bench(scopes: ["openid", "offline_access"])
    bench.provider.change { $0.resources = ["https://api.example/"] }
    engine = try bench.signedIn()
  }

  @Test("a provider that ends them (Spring, Hydra): each is renewed with the next call that wants it")
  func ended() throws {
    let refused = FakeProvider.Reply.status(401)
    try expect(engine.token(for: Self.narrow), is: "access-3")
    bench.provider.next(.userinfo, refused)
    try expect(engine.token(), is: "access-4")
    try expect(bench.record.keepsAccessTokens, is: false)
    // The result is in the store, so no process tests the provider again.
    try expect(bench.engine().token(for: Self.narrow), is: "access-5")
    try expect(bench.engine().token(), is: "access-6")
    try expect(bench.engine().token(), is: "access-6")
    expect(bench.provider.count(.userinfo), is: 1)
  }

  @Test("a provider that keeps them is asked once, and they are handed out")
  func kept() throws {
    try expect(engine.token(for: Self.narrow), is: "access-3")
    try expect(engine.token(for: Self.api), is: "access-4")
    try expect(engine.token(for: Self.narrow), is: "access-3")
    try expect(engine.token(), is: "access-2")
    try expect(engine.token(for: Self.api), is: "access-4")
    expect(bench.provider.count(.userinfo), is: 1)
    expect(bench.provider.count(.token), is: 3)
  }

  @Test("a caller who waited for a renewal gets its token, although another one came right after it")
  func superseded() throws {
    let before = try bench.record.tokenEpoch
    try expect(engine.token(for: Self.narrow), is: "access-3")
    try expect(engine.token(for: Self.api), is: "access-4")
    let other = bench.engine()
    try expect(other.renewal.renew(epochs: [before], forced: true, for: Self.narrow), is: .renewed)
    try expect(
      other.tokens.outcome(after: .renewed, minimumLifetimeSeconds: 0, for: Self.narrow).token().value
        .reveal(),
      is: "access-3")
  }

  @Test("without an answer about it, none that may have ended is handed out, not even as a stale one")
  func unknown() throws {
    try expect(engine.token(for: Self.narrow), is: "access-3")
    bench.provider.next(.userinfo, .unreachable)
    bench.provider.next(.token, .status(503), .status(503))
    guard case .expired = try engine.access(for: nil) else { throw Unexpected(what: "a token") }
  }
}
