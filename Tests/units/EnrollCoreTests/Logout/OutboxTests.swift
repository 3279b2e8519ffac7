import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollStore
import EnrollTesting
import Expectations
import Testing

@Suite("The outbox: who sends what (flows.md §5)")
struct OutboxTests {
  /// A second client of the same store. Each case names the only setting in which this client differs from the client
  /// that signed out.
  enum Stranger: String, CaseIterable, Sendable { case issuer, client, caFile, loopbackHTTP, ownTransport }

  private func engine(_ bench: Bench, _ stranger: Stranger? = nil) throws -> Engine {
    let configuration = try Configuration(
      issuer: stranger == .issuer ? "https://other.example" : bench.provider.issuer,
      clientID: stranger == .client ? "another" : "native", redirectURI: "com.example.app:/callback"
    ) {
      $0.allowsLoopbackHTTP = stranger == .loopbackHTTP
      $0.caFile = stranger == .caFile ? "/etc/ca.pem" : nil
    }
    return Engine(
      configuration: configuration, account: .default, platform: Platform(), transport: bench.provider,
      hasOwnTransport: stranger == .ownTransport, store: bench.store, clock: bench.clock,
      random: SystemRandomSource(), observer: bench.seen, exclusion: { Mutex() })
  }

  private func outbox(_ bench: Bench) throws -> [OutboxEntry] { try bench.store.updateOutbox { _ in } }

  @Test("a message that is being sent is not sent by another thread of the process")
  func once() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.provider.next(.revocation, .during { engine.outbox.sendOutbox(cancellation: nil) })
    try expect(engine.logout.beginLogout(localOnly: false, cancellation: nil).providerTold, is: .told)
    expect(bench.provider.revoked.sorted(), is: ["access-2", "refresh-2"])
  }

  @Test(
    "what a client queued is sent by a client of the same issuer, client id and trust alone, and waits for it",
    arguments: Stranger.allCases)
  func strangers(stranger: Stranger) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.provider.next(.revocation, .unreachable)
    _ = try engine.logout.beginLogout(localOnly: false, cancellation: nil)
    let waiting = try outbox(bench)
    expect(waiting.count, is: 2)
    let other = try self.engine(bench, stranger)
    other.outbox.sendOutbox(cancellation: nil)
    #expect(bench.provider.revoked.isEmpty)
    try expect(outbox(bench), is: waiting)
    try self.engine(bench).outbox.sendOutbox(cancellation: nil)
    expect(Set(bench.provider.revoked), is: ["refresh-2", "access-2"])
    #expect(try outbox(bench).isEmpty)
  }

  @Test(
    "what an earlier version queued does not say by whom: it is sent with the settings that nobody chose alone",
    arguments: Stranger.allCases)
  func earlierVersion(stranger: Stranger) throws {
    let bench = try Bench()
    try bench.store.updateOutbox { outbox in
      outbox = [
        OutboxEntry(
          issuer: Issuer(bench.provider.issuer), endpoint: bench.provider.issuer + "/revoke",
          message: .revocation(.init(clientID: "native", token: Secret("old"), hint: "refresh_token")),
          queued: bench.clock.wallTime())
      ]
    }
    try engine(bench, stranger).outbox.sendOutbox(cancellation: nil)
    #expect(try bench.provider.revoked.isEmpty && outbox(bench).count == 1)
    try engine(bench).outbox.sendOutbox(cancellation: nil)
    #expect(try bench.provider.revoked == ["old"] && outbox(bench).isEmpty)
  }

  enum Ending: CaseIterable, Sendable { case logout, revoke, deregister }

  private func told(_ ending: Ending, _ engine: Engine) throws -> ProviderTold? {
    switch ending {
    case .logout: try engine.logout.beginLogout(localOnly: false, cancellation: nil).providerTold
    case .revoke: try engine.logout.revoke(cancellation: nil).providerTold
    case .deregister: try engine.logout.deregister(cancellation: nil).providerTold
    }
  }

  @Test("a sign-out tells whether the provider was told", arguments: Ending.allCases)
  func told(ending: Ending) throws {
    let bench = try Bench()
    try expect(told(ending, bench.engine()), is: nil, "nobody was signed in")
    try expect(told(ending, bench.signedIn()), is: .told)
    bench.provider.next(.revocation, .unreachable)
    try expect(told(ending, bench.signedIn()), is: .queued)
  }

  @Test("a refused revocation is known until the provider takes another one, for a sign-out that is stopped")
  func refusal() throws {
    let bench = try Bench()
    bench.provider.change { $0.metadata = { $0["revocation_endpoint"] = nil } }
    let engine = try bench.signedIn()
    _ = try engine.logout.beginLogout(localOnly: false, cancellation: nil)
    expect(engine.outbox.revocationRefusal?.contains("no revocation endpoint"), is: true)
    try expect(outbox(bench), is: [])
    bench.provider.change { $0.metadata = { _ in } }
    bench.clock.advance(seconds: 90_000)
    let next = try bench.signedIn()
    expect(next.outbox.revocationRefusal, is: nil)
    _ = try next.logout.beginLogout(localOnly: false, cancellation: nil)
    expect(next.outbox.revocationRefusal, is: nil)
  }

  @Test("a token has one message, whatever bearer proves it")
  func oneMessage() throws {
    let bench = try Bench()
    func entry(_ bearer: String, of user: String? = "alice") -> OutboxEntry {
      OutboxEntry(
        issuer: Issuer(bench.provider.issuer), endpoint: nil,
        message: .revocation(
          .init(
            clientID: "native", token: Secret("t"), hint: "access_token", user: user, bearer: Secret(bearer))),
        queued: bench.clock.wallTime())
    }
    var outbox: [OutboxEntry] = []
    outbox.add([entry("a"), entry("b")])
    outbox.add([entry("c")])
    expect(outbox, is: [entry("a")])
    // The same message without a user is a separate entry, because whether a client may send a message depends on the
    // user.
    outbox.add([entry("a", of: nil)])
    expect(outbox.count, is: 2)
  }

  @Test("a sign-out whose message another thread was quicker to send tells how that went")
  func quicker() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    // The sign-out reads the metadata after it has queued its message. By then the metadata are no longer fresh.
    bench.clock.advance(seconds: 90_000)
    bench.provider.change { $0.metadata = { _ in engine.outbox.sendOutbox(cancellation: nil) } }
    try expect(told(.logout, engine), is: .told)
    #expect(try outbox(bench).isEmpty)
    expect(Set(bench.provider.revoked).count, is: bench.provider.revoked.count, "sent once")
  }

  @Test(
    "a revocation endpoint that refuses was not told, and the reason says why", arguments: Ending.allCases,
    [400, 401, 403])
  func refused(ending: Ending, status: Int) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let refusal = FakeProvider.Reply.status(status, headers: [HTTPHeader("Content-Length", "0")])
    for _ in 0..<4 { bench.provider.next(.revocation, refusal) }
    let reason = try #require(try told(ending, engine)?.reason)
    #expect(reason.contains("\(status)"))
    #expect(try outbox(bench).isEmpty)
  }

  @Test(
    "a page of somebody in between is no word of the provider: the revocation waits, and is sent again",
    arguments: [200, 400, 401, 403, 404, 405, 407, 413, 421, 451])
  func pageInBetween(status: Int) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let page = FakeProvider.Reply.status(
      status, headers: [HTTPHeader("Content-Type", "text/html")], body: "<html>Sign in to the Wi-Fi")
    for _ in 1...8 { bench.provider.next(.revocation, page) }
    try expect(told(.logout, engine), is: .queued)
    try expect(outbox(bench).map(\.attempts), is: [1, 1])
    #expect(
      bench.provider.requests(.revocation).allSatisfy { request in
        !request.headers.contains { $0.name == "Authorization" }
      },
      "an access token is shown to nobody in between")
    for _ in 1...20 { bench.engine().outbox.sendOutbox(cancellation: nil) }
    expect(bench.provider.count(.revocation), is: 8, "four times, then after a pause")
    bench.clock.advance(seconds: 61)
    engine.outbox.sendOutbox(cancellation: nil)
    expect(Set(bench.provider.revoked), is: ["refresh-2", "access-2"])
    #expect(try outbox(bench).isEmpty)
  }

  @Test(
    "the time that the revocation endpoint asks for is kept by all processes, and by what is queued later")
  func retryAfter() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.provider.next(.revocation, .status(503, headers: [HTTPHeader("Retry-After", "3600")]))
    try expect(told(.logout, engine), is: .queued)
    expect(bench.provider.count(.revocation), is: 1, "the second token of the session waits, too")
    for turn in 1...30 {
      bench.provider.change { $0.subject = "user-\(turn)" }
      try expect(told(.logout, bench.signedIn()), is: .queued)
      bench.engine().outbox.sendOutbox(cancellation: nil)
    }
    expect(bench.provider.count(.revocation), is: 1)
    bench.clock.advance(seconds: 3599)
    bench.engine().outbox.sendOutbox(cancellation: nil)
    expect(bench.provider.count(.revocation), is: 1)
    bench.clock.advance(seconds: 362)
    bench.engine().outbox.sendOutbox(cancellation: nil)
    expect(bench.provider.revoked.count, is: 62)
    #expect(try outbox(bench).isEmpty)
  }

  @Test("a provider without a revocation endpoint cannot be told, whenever that is found out")
  func noEndpoint() throws {
    let bench = try Bench()
    bench.provider.change { $0.metadata = { $0["revocation_endpoint"] = nil } }
    let engine = try bench.signedIn()
    let reason = try #require(
      try engine.logout.beginLogout(localOnly: false, cancellation: nil).providerTold?.reason)
    #expect(reason.contains("no revocation endpoint"))
    // The message was queued while discovery failed.
    _ = try bench.signedIn()
    let offline = bench.engine()
    bench.provider.next(.discovery, .unreachable, .unreachable)
    try expect(offline.logout.beginLogout(localOnly: false, cancellation: nil).providerTold, is: .queued)
    bench.engine().outbox.sendOutbox(cancellation: nil)
    #expect(try outbox(bench).isEmpty)
  }

  @Test("a logout of this device alone tells nobody, and says nothing of it")
  func localOnly() throws {
    let bench = try Bench()
    try expect(bench.signedIn().logout.beginLogout(localOnly: true, cancellation: nil), is: SignOut())
  }
}
