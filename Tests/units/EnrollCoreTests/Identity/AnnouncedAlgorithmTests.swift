// The algorithms that are accepted for id_tokens if the configuration names none, and for other signed texts.

import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@testable import EnrollRules
@testable import EnrollSteps

@Suite("The algorithms that a provider announces")
struct AnnouncedAlgorithmTests {
  private func bench(_ announced: [String]?, configured: JSON? = nil) throws -> Bench {
    let bench = try Bench([("idTokenAlgorithms", configured)])
    bench.provider.change {
      $0.metadata = {
        $0["id_token_signing_alg_values_supported"] = announced.map { .array($0.map { .string($0) }) }
      }
    }
    return bench
  }

  @Test(
    "an id_token in another algorithm than those announced is refused, unless it is configured (R21)",
    arguments: [
      (["RS256"], nil, false), (["RS256", "ES256"], nil, true), (nil, nil, true), (["HS256"], nil, false),
      (["RS256"], .array([.string("ES256")]), true), (["ES256"], .array([.string("RS256")]), false),
    ] as [([String]?, JSON?, Bool)])
  func announced(announced: [String]?, configured: JSON?, isTaken: Bool) throws {
    let bench = try bench(announced, configured: configured)
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    switch try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil).ending {
    case .succeeded: #expect(isTaken)
    case .failed(let error): #expect(!isTaken && error.message.contains("idTokenAlgorithms"))
    }
  }

  @Test("another signed text has the algorithm of the id_tokens, and is called by its own name")
  func signedText() throws {
    let bench = try bench(["RS256", "ES256"])
    let text = Secret(try bench.provider.signed(JSONObject([("iss", .string(bench.provider.issuer))])))
    let engine = try bench.signedIn()
    func read() throws(EnrollError) -> JSONObject {
      try engine.provider.claims(
        signedIn: text, named: "logout_token", algorithms: engine.idTokenAlgorithms, cancellation: nil)
    }
    try expect(read()["iss"], is: .string(bench.provider.issuer))
    let other = bench.engine()
    let refused = refusal {
      _ = try other.provider.claims(
        signedIn: text, named: "logout_token", algorithms: [.RS256], cancellation: nil)
    }
    #expect(refused?.message.hasPrefix("logout_token refused: ") ?? false)
    // After the first id_token, the engine also accepts the id_token's algorithm for other signed texts,
    // whatever the provider announces.
    let unused = refusal {
      _ = try engine.provider.claims(
        signedIn: text, named: "logout_token", algorithms: [.RS256], cancellation: nil)
    }
    expect(unused, is: nil)
  }
}
