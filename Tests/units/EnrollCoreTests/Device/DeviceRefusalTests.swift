// Refusals of servers in the device grant (RFC 8628), and how polling ends after each.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@Suite("Refusals in the device grant (RFC 8628)")
struct DeviceRefusalTests {
  private func bodies(_ bench: Bench, _ endpoint: FakeProvider.Endpoint) throws -> [[String: String]] {
    try bench.provider.requests(endpoint).map { request in
      Dictionary(try FormEncoding.decode(request.body), uniquingKeysWith: { first, _ in first })
    }
  }

  @Test("the challenge goes with the request for a code, and its verifier with each poll (RFC 7636)")
  func pkce() throws {
    let bench = try Bench()
    let begun = try bench.engine().signIn.begin(SignInOptions(kind: .device), cancellation: nil)
    for _ in 1...2 {
      bench.clock.advance(seconds: 5)
      // Another process knows the verifier, too.
      _ = try bench.engine().device.pollDevice(begun.transactionID)
    }
    let asked = try #require(try bodies(bench, .deviceAuthorization).first)
    expect(asked["code_challenge_method"], is: "S256")
    let polls = try bodies(bench, .token)
    expect(polls.count, is: 2)
    for poll in polls {
      let verifier = Secret(try #require(poll["code_verifier"]))
      try expect(PKCE.challenge(for: verifier), is: try #require(asked["code_challenge"]))
    }
  }

  @Test("openid is left out where it is refused, and that the name may be missing is told before the sign-in")
  func openID() throws {
    let bench = try Bench(scopes: ["openid", "notes"])
    bench.provider.next(.deviceAuthorization, .status(400, body: #"{"error":"invalid_scope"}"#))
    let begun = try bench.engine().signIn.begin(SignInOptions(kind: .device), cancellation: nil)
    try expect(bodies(bench, .deviceAuthorization).map { $0["scope"] }, is: ["openid notes", "notes"])
    #expect(bench.seen.warned.count == 1 && bench.seen.warned[0].message.contains("openid"))
    bench.provider.change { $0.deviceError = nil }
    bench.clock.advance(seconds: 5)
    guard case .succeeded = try bench.engine().device.pollDevice(begun.transactionID)?.ending else {
      throw Unexpected(what: "no session")
    }
  }

  @Test("a refusal of another scope is told with the scopes that were configured")
  func otherScope() throws {
    let bench = try Bench(scopes: ["openid", "notes"])
    let refused = FakeProvider.Reply.status(400, body: #"{"error":"invalid_scope"}"#)
    bench.provider.next(.deviceAuthorization, refused, refused)
    let error = refusal {
      _ = try bench.engine().signIn.begin(SignInOptions(kind: .device), cancellation: nil)
    }
    #expect(error?.message.contains("asked: openid notes") ?? false)
    #expect(bench.seen.warned.isEmpty)
    try expect(bench.record.transactions.count, is: 0)
  }

  @Test("a server that answers each poll with 500 is not polled to the end, and the error names it")
  func serverError() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(kind: .device), cancellation: nil)
    func poll(_ status: Int) throws -> Settlement? {
      bench.provider.next(.token, .status(status, body: #"{"error":"server_error"}"#))
      bench.clock.advance(seconds: 5)
      return try bench.engine().device.pollDevice(begun.transactionID)
    }
    for _ in 1...11 { try expect(poll(500), is: nil) }
    // An outage does not count as a refusal.
    try expect(poll(503), is: nil)
    for _ in 1...11 { try expect(poll(500), is: nil) }
    guard case .failed(let error)? = try poll(500)?.ending else { throw Unexpected(what: "it goes on") }
    #expect(error.code == .server && error.httpStatus == 500 && error.message.contains("12 polls"))
  }

  @Test("the provider's clock ends it: polls go on beyond expires_in until it says expired_token")
  func clocks() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(kind: .device), cancellation: nil)
    expect(begun.expiresAt, is: bench.clock.wallTime() + 600)
    bench.clock.advance(seconds: 602)
    bench.provider.change { $0.deviceError = "expired_token" }
    guard case .failed(let error)? = try engine.device.pollDevice(begun.transactionID)?.ending else {
      throw Unexpected(what: "nobody was asked")
    }
    #expect(error.code == .transactionExpired && error.oauthError == "expired_token")
  }

  @Test("a wait that ends by our clock says what the provider answered last")
  func lastAnswer() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(kind: .device), cancellation: nil)
    bench.clock.advance(seconds: 5)
    try expect(engine.device.pollDevice(begun.transactionID), is: nil)
    bench.clock.advance(seconds: 700)
    let error = refusal { _ = try engine.transactions.transactionStatus(begun.transactionID) }
    #expect(error?.code == .transactionExpired && error?.message.contains("authorization_pending") ?? false)
  }
}
