// Plays each recorded answer of a real server through a renewal, and checks the outcome, the pause and the
// advice of its verdict.

import EnrollRules
import EnrollSteps
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

/// The effect of a verdict on callers, as docs/reliability.md shows it.
private struct VerdictEffect {
  let verdict: RenewalVerdict
  /// The outcome once the access token has expired.
  let outcome: AccessOutcome.Kind
  /// For how many seconds no request is sent; nil if the pause grows, or if no request ever follows.
  let pauseSeconds: Int64?
  /// The outcome if the server repeats the answer a minute later.
  let repeated: AccessOutcome.Kind
  /// The remedy in the state `renewalFailed` after the repeated answer.
  let advice: RegistrationState.RenewalFailure.Remedy

  static let all = [
    VerdictEffect(
      verdict: .ends, outcome: .reauthenticate, pauseSeconds: nil, repeated: .reauthenticate,
      advice: .registerAgain),
    VerdictEffect(
      verdict: .endsIfRepeated, outcome: .rejected, pauseSeconds: 60, repeated: .reauthenticate,
      advice: .registerAgain),
    VerdictEffect(
      verdict: .refused, outcome: .rejected, pauseSeconds: 60, repeated: .rejected, advice: .registerAgain),
    VerdictEffect(
      verdict: .unclear, outcome: .expired, pauseSeconds: nil, repeated: .expired, advice: .wait),
  ]

  static func of(_ verdict: RenewalVerdict) throws -> VerdictEffect {
    try #require(all.first { $0.verdict == verdict })
  }
}

@Suite("Recorded answers of real servers to a refresh token")
struct RecordedRefusalTests {
  @Test("each has the verdict of its row", arguments: RecordedRefusal.all)
  func verdict(row: RecordedRefusal) {
    for body in row.bodies {
      let answer = RefreshAnswer(
        processing: HTTPResponse(status: row.status, headers: row.headers, body: Array(body.utf8)))
      guard case .refused(_, let verdict) = answer else {
        Issue.record("\(row.server): \(body) is no refusal")
        continue
      }
      expect(verdict, is: row.verdict, "\(row.server): \(body)")
    }
  }

  @Test("each leads to the outcome, the pause and the advice of its verdict", arguments: RecordedRefusal.all)
  func effect(row: RecordedRefusal) throws {
    let effect = try VerdictEffect.of(row.verdict)
    for body in row.bodies { try play(row, body, effect) }
  }

  private func play(_ row: RecordedRefusal, _ body: String, _ effect: VerdictEffect) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let reply = FakeProvider.Reply.status(row.status, headers: row.headers, body: body)
    bench.clock.advance(seconds: 4000)
    bench.provider.next(.token, reply, reply)
    expect(try engine.access().kind, is: effect.outcome, "\(row.server): \(body)")
    bench.provider.recover(.token)
    let asked = bench.provider.count(.token)
    if let pause = effect.pauseSeconds {
      bench.clock.advance(seconds: pause - 1)
      expect(try engine.access().kind, is: effect.outcome)
      expect(bench.provider.count(.token), is: asked, "\(row.server): asked during the pause")
    }
    bench.clock.advance(seconds: 61)
    bench.provider.next(.token, reply, reply)
    expect(try engine.access().kind, is: effect.repeated, "\(row.server): \(body), repeated")
    guard case .renewalFailed(let failure) = engine.state else { throw Unexpected(what: "\(engine.state)") }
    expect(failure.remedy, is: effect.advice, "\(row.server): \(body)")
    expect(try bench.record.sessionEnded != nil, is: effect.repeated == .reauthenticate)
  }

  @Test("docs/reliability.md shows the effects and the recorded answers")
  func drawn() throws {
    let effects = VerdictEffect.all.map { effect in
      let pause =
        effect.pauseSeconds.map { "\($0) s" } ?? (effect.verdict == .ends ? "none" : "0.5 s to 60 s")
      let advice = effect.advice == .registerAgain ? "sign in again" : "wait"
      return
        "| \(words(effect.verdict)) | `\(effect.outcome.rawValue)` | \(pause) | `\(effect.repeated.rawValue)`, \(advice) |"
    }
    let rows = RecordedRefusal.all.map { row in
      "| \(row.server) | \(row.status) \(said(row)) | \(row.causes) | \(words(row.verdict)) |"
    }
    try DrawnPage.checkPart(
      "reliability.md", "recorded refusals",
      """
      | meaning | outcome, once the access token has expired | pause | the same response a minute later |
      | --- | --- | --- | --- |
      \(effects.joined(separator: "\n"))

      | server | response | cause | meaning |
      | --- | --- | --- | --- |
      \(rows.joined(separator: "\n"))
      """)
  }

  private func said(_ row: RecordedRefusal) -> String {
    if row.bodies == [""] { return "without a body" }
    let code = row.bodies.first.flatMap { try? JSON.parse(Array($0.utf8)) }?["error"]?.string ?? ""
    let content = RefusalContent(code: code, isEmpty: false)
    return content == .otherCode ? "without an OAuth error code" : "`\(code)`"
  }

  private func words(_ verdict: RenewalVerdict) -> String {
    switch verdict {
    case .ends: "**ends**"
    case .endsIfRepeated: "**ends when repeated**"
    case .refused: "refused"
    case .unclear: "unclear"
    }
  }
}
