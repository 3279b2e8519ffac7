import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollPosix
import EnrollTesting
import Expectations
import Testing

@Suite("A token endpoint that has moved (R18, R33)")
struct MovedEndpointTests {
  private let fresh = [HTTPHeader("Cache-Control", "max-age=86400")]

  @Test("where the token endpoint has moved, discovery is asked again although it is fresh")
  func moved() throws {
    let bench = try Bench()
    bench.provider.change { [fresh] in $0.documentHeaders = fresh }
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 4000)
    bench.provider.change { $0.addresses[.token] = "https://id.example/v2/token" }
    let asked = bench.provider.count(.discovery)
    guard case .expired(_, let wait, let error) = try engine.access() else {
      throw Unexpected(what: "not expired")
    }
    expect(error.httpStatus, is: 404)
    expect(bench.provider.count(.discovery), is: asked, "one page of a proxy changes nothing")
    bench.clock.advance(seconds: wait ?? 0)
    try expect(engine.token(), is: "access-3")
    expect(bench.provider.count(.discovery), is: asked + 1)
  }

  @Test("metadata that nobody doubts is not asked for again: an outage says nothing about the endpoints")
  func unmoved() throws {
    let bench = try Bench()
    bench.provider.change { [fresh] in $0.documentHeaders = fresh }
    let engine = try bench.signedIn()
    let asked = bench.provider.count(.discovery)
    for reply in [FakeProvider.Reply.status(503), .status(400, body: "<p>"), .status(401), .unreachable] {
      bench.clock.advance(seconds: 4000)
      bench.provider.next(.token, reply, reply)
      guard case .expired(_, let wait, _) = try engine.access() else { throw Unexpected(what: "not expired") }
      bench.clock.advance(seconds: wait ?? 0)
      _ = try engine.token()
    }
    expect(bench.provider.count(.discovery), is: asked)
  }

  @Test("where discovery fails too, the metadata at hand serves on, and it is asked again a minute later")
  func movedInVain() throws {
    let bench = try Bench()
    bench.provider.change { [fresh] in $0.documentHeaders = fresh }
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 4000)
    let asked = bench.provider.count(.discovery)
    bench.provider.next(.token, .status(404), .status(404), .status(404), .status(404))
    bench.provider.next(.discovery, .status(404))
    for failures in 1...2 {
      guard case .expired(_, let wait, _) = try engine.access() else { throw Unexpected(what: "not expired") }
      expect(bench.provider.count(.discovery), is: asked + failures - 1)
      bench.clock.advance(seconds: wait ?? 0)
    }
    try expect(engine.token(), is: "access-3")
    expect(bench.provider.count(.discovery), is: asked + 1)
  }

  /// The user is signed in, the token has expired, and the token endpoint has moved; the old URL answers with
  /// this status.
  private func moved(_ status: Int, _ body: String) throws -> (Bench, Engine, TransportAt) {
    let bench = try Bench()
    bench.provider.change { [fresh] in $0.documentHeaders = fresh }
    let url = bench.provider.issuer + "/token"
    let (before, after) = (
      TransportAt.moved(to: url, of: bench.provider), TransportAt.json(body, status: status)
    )
    let isMoved = Guarded(false, by: Mutex())
    let transport = TransportAt(
      [url: { isMoved.withLock { $0 } ? after($0) : before($0) }], else: bench.provider)
    let engine = bench.engine(transport: transport)
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    try expect(engine.failure(of: bench.provider.signIn(at: begun.url)), is: nil)
    bench.clock.advance(seconds: 4000)
    isMoved.withLock { $0 = true }
    bench.provider.change { $0.addresses[.token] = "https://id.example/v2/token" }
    return (bench, engine, transport)
  }

  @Test(
    "a refusal by an endpoint that the provider names no more ends nothing: the present one is asked, and decides",
    arguments: [true, false])
  func refusedInTheOldPlace(isAlive: Bool) throws {
    let (bench, engine, transport) = try moved(400, #"{"error": "invalid_grant"}"#)
    if !isAlive { bench.provider.endSessions() }
    let outcome = try engine.access()
    if isAlive {
      try expect(outcome.token().value, is: bench.record.confirmed?.accessToken)
      try expect(bench.record.sessionEnded, is: nil)
    } else {
      expect(outcome, is: .reauthenticate(reason: "invalid_grant"))
    }
    let asked = transport.requests.filter { $0.url.hasSuffix("/token") }.map(\.url)
    let issuer = bench.provider.issuer
    expect(asked.suffix(2), is: [issuer + "/token", issuer + "/v2/token"])
  }

  @Test(
    "an old endpoint that goes on refusing or failing brings newer metadata",
    arguments: [
      (400, #"{"error": "invalid_request"}"#), (401, #"{"error": "invalid_client"}"#), (403, ""), (502, ""),
      (200, "<p>"),
    ])
  func failingInTheOldPlace(status: Int, body: String) throws {
    let (bench, engine, _) = try moved(status, body)
    let asked = bench.provider.count(.discovery)
    for _ in 1...2 {
      _ = try? engine.token()
      bench.clock.advance(seconds: 61)
    }
    try expect(engine.token(), is: bench.record.confirmed?.accessToken.reveal())
    expect(bench.provider.count(.discovery), is: asked + 1)
  }

  @Test(
    "a sign-in that fails at an endpoint has the next one ask for the metadata again",
    arguments: [FakeProvider.Endpoint.token, .deviceAuthorization, .keys])
  func signIn(endpoint: FakeProvider.Endpoint) throws {
    let bench = try Bench()
    bench.provider.change { [fresh] in $0.documentHeaders = fresh }
    let engine = try bench.signedIn()
    func signIn() throws -> EnrollError.Code? {
      guard endpoint != .deviceAuthorization else {
        return code { _ = try engine.signIn.begin(SignInOptions(kind: .device), cancellation: nil) }
      }
      let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
      return try engine.failure(of: bench.provider.signIn(at: begun.url))
    }
    if endpoint == .keys { try bench.provider.changeKey() }
    bench.provider.change { settings in
      settings.addresses[endpoint] = "https://id.example/v2/\(endpoint)"
    }
    try expect(signIn(), isNot: nil)
    try expect(signIn(), is: nil)
  }
}
