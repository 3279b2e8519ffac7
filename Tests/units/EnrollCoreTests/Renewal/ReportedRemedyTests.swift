import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollPosix
import EnrollStore
import EnrollJSON
import EnrollTesting
import Testing

@Suite("What helps, as a report and the state say it (flows.md §7)")
struct ReportedRemedyTests {
  @Test(
    "a report of a failed renewal says what the state says",
    arguments: [
      (#"{"error":"invalid_client"}"#, 400), (#"{"error":"never_heard_of"}"#, 400),
      (#"{"error":"access_denied"}"#, 400), (#"{"error":"invalid_grant"}"#, 400), ("<html>", 403), ("", 503),
    ])
  func refusals(body: String, status: Int) throws {
    let bench = try Bench(tellsBackEnd: true)
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 3550)
    bench.provider.next(.token, .status(status, body: body), .status(status, body: body))
    _ = try engine.access()
    try expectSame(bench, engine)
  }

  @Test("a report of an id_token that is another user's, and not proven, says what the state says")
  func idToken() throws {
    let bench = try Bench(tellsBackEnd: true)
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 3550)
    bench.provider.change {
      $0.claims = { $0["sub"] = .string("mallory") }
      $0.keyID = "unknown"
    }
    bench.provider.next(.keys, .unreachable, .unreachable)
    _ = try engine.access()
    try expectSame(bench, engine)
  }

  private func expectSame(_ bench: Bench, _ engine: Engine) throws {
    guard case .renewalFailed(let failure) = engine.state else { throw Unexpected(what: "\(engine.state)") }
    let told = try #require(bench.seen.reported.last)
    #expect(told.helps.rawValue == failure.remedy.rawValue && failure.error.helps == told.helps)
    let outbox = try bench.store.updateOutbox { _ in }
    let isPosted = outbox.contains {
      if case .errorReport(let text) = $0.message {
        text.contains("\"helps\":\"\(failure.remedy.rawValue)\"")
      } else {
        false
      }
    }
    #expect(isPosted || bench.provider.count(.errorReport) > 0, "\(outbox)")
  }
}
