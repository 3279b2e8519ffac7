@testable import EnrollRules
@testable import EnrollSteps
import EnrollTesting
import Expectations
import Testing

extension ClientSecretTests {
  @Test(
    "a refresh token goes out twice in one run, whatever refuses it: in both ways, or a second time",
    arguments: [
      (401, #"{"message":"no"}"#, 2), (403, "", 2), (503, "", 2), (401, #"{"error":"invalid_client"}"#, 2),
    ])
  func renewalTwice(status: Int, body: String, count: Int) throws {
    let bench = try bench([.post, .basic])
    let engine = try bench.signedIn()
    let before = bench.provider.count(.token)
    bench.clock.advance(seconds: 4000)
    let reply = FakeProvider.Reply.status(
      status, headers: [HTTPHeader("Content-Length", "\(body.utf8.count)")], body: body)
    bench.provider.next(.token, reply, reply, reply, reply)
    _ = try? engine.token()
    expect(bench.provider.count(.token) - before, is: count)
  }

  @Test("a second request of a run does not change the way: a third one would be the refresh token's")
  func secondTry() throws {
    let bench = try bench([.post, .basic])
    let engine = try bench.signedIn()
    let before = bench.provider.count(.token)
    bench.clock.advance(seconds: 4000)
    bench.provider.next(
      .token, .status(503), .status(401, body: #"{"error":"invalid_client"}"#),
      .status(401, body: #"{"error":"invalid_client"}"#))
    _ = try? engine.token()
    expect(bench.provider.count(.token) - before, is: 2)
  }

  /// The server's refusals in their order, each with a new nonce, and the number of times that the code is sent.
  static let demands: [([String], Int)] = [
    (["use_dpop_nonce", "invalid_client"], 3), (["invalid_client", "use_dpop_nonce"], 3),
    (["use_dpop_nonce"], 2), (["invalid_client"], 2),
  ]

  @Test(
    "each reason repeats a code once, the nonce and the way: at most three requests (R15)", arguments: demands
  )
  func codeWithNonce(_ row: (codes: [String], count: Int)) throws {
    let bench = try Bench(pushedRequests: .never, dpop: .always, clientSecret: Self.secret)
    bench.provider.change {
      $0.clientSecret = Self.secret
      $0.dpopAlgorithms = ["ES256"]
    }
    for index in 0..<6 {
      bench.provider.next(
        .token,
        .status(
          400, headers: [HTTPHeader("DPoP-Nonce", "n-\(index)")],
          body: #"{"error":"\#(row.codes[index % row.codes.count])"}"#))
    }
    let engine = bench.engine()
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    guard case .failed = try engine.signIn.resume(url, cancellation: nil).ending else {
      throw Unexpected(what: "it succeeded")
    }
    expect(bench.provider.count(.token), is: row.count)
  }
}
