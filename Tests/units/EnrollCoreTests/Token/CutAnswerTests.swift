import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollPosix
import EnrollStore
import EnrollTesting
import Expectations
import Testing

@Suite("Answers that come once, and whose end or frame is missing (R30, R35)")
struct CutAnswerTests {
  private typealias Way = LateTokensTests.Way

  @Test("a renewal whose answer is whole, and whose frame is not, is a renewal")
  func frame() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 3700)
    bench.provider.next(.token, .cut(bytes: 0))
    try expect(engine.token(), is: "access-3")
    try expect(bench.record.confirmed?.refreshToken, is: Secret("refresh-3"))
    expect(bench.provider.count(.token), is: 2)
  }

  @Test(
    "a renewal that is cut behind its refresh token keeps that, and nothing else of it", arguments: [1, 20])
  func cut(bytes: Int) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 3550)
    bench.provider.next(.token, .cut(bytes: bytes))
    guard case .stale(let token, let reason) = try engine.access() else {
      throw Unexpected(what: "not stale")
    }
    #expect(token.value == Secret("access-2") && reason.code == .network)
    try expect(bench.record.confirmed?.refreshToken, is: Secret("refresh-3"))
    expect(bench.provider.count(.token), is: 2)
    bench.clock.advance(seconds: 2)
    try expect(engine.token(), is: "access-4")
  }

  @Test(
    "of a cut body a refresh token is taken where it is whole, and the text is in order so far",
    arguments: [
      (#"{"refresh_token":"r2""#, true), (#"{"refresh_token":"r2","#, true),
      (#"{"access_token":"a","refresh_token":"r2","expires_in":36"#, true),
      (#" {"refresh_token" : "r2" , "id_token":"ey"#, true),
      (#"{"x":[1,{}],"refresh_token":"r2","y":[["#, true),
      (#"{"refresh_token":"r2","refresh_token":"r2","z"#, true),
      (#"{"refresh_token":"r2","note":"caf\u00e9 refresh_token"#, true),
      (#"{"refresh_token":"r2","refresh\u005ft"#, false),
      (#"{"refresh_token":"r2"#, false), (#"{"refresh_token":"r2\""#, false), (#"{"refresh_token":"#, false),
      (#"{"x":{"refresh_token":"r2""#, false), (#"[{"refresh_token":"r2""#, false),
      (#"{"refresh_token":"r2",,"#, false), (#"{"refresh_token":"r2"]"#, false),
      (#"{"refresh_token":"r2","refresh_token":"r3","#, false),
      (#"{"refresh_token":"r2","refresh_token":"r"#, false),
      (#"{"refresh_token":"r2","refresh\u005ftoken":"r"#, false), (#"{"refresh_token":"\u0000","#, false),
    ])
  func text(body: String, isTaken: Bool) {
    for cut in [nil, EnrollError(.network, "lost")] {
      var response = Fixture.json(body)
      response.cut = cut
      switch RefreshAnswer(processing: response) {
      case .rotatedOnly(let token, let error):
        #expect(isTaken && token == Secret("r2"))
        expect(error.code, is: cut == nil ? .responseInvalid : .network)
      case .refused(_, let verdict): #expect(!isTaken && verdict == .unclear)
      case .tokens: Issue.record("an access token was taken from \(body)")
      }
    }
  }

  @Test("a refusal that is cut says nothing about the session")
  func refusal() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.provider.endSessions()
    bench.clock.advance(seconds: 3700)
    bench.provider.next(.token, .cut(bytes: 0), .cut(bytes: 0))
    guard case .expired(_, _, let reason) = try engine.access() else { throw Unexpected(what: "not expired") }
    #expect(try reason.code == .network && bench.record.sessionEnded == nil)
  }

  /// Signs in with an answer whose last bytes are missing.
  private func signIn(_ way: Way, _ bench: Bench, cutting bytes: Int) throws {
    let engine = bench.engine()
    let begun: Transaction
    switch way {
    case .code: begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    case .device: begun = try engine.signIn.begin(SignInOptions(kind: .device), cancellation: nil)
    case .oneTimeCode:
      begun = try engine.signIn.begin(
        SignInOptions(kind: .passwordless, recipient: Recipient(.email, address: "alice@example.org")),
        cancellation: nil)
    }
    bench.provider.next(.token, .cut(bytes: bytes))
    switch way {
    case .code: _ = try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil)
    case .device:
      bench.provider.change { $0.deviceError = nil }
      bench.clock.advance(seconds: 5)
      try expect(engine.device.pollDevice(begun.transactionID), isNot: nil)
    case .oneTimeCode:
      _ = try engine.passwordless.submitCode(
        Secret("123456"), transactionID: begun.transactionID, cancellation: nil)
    }
    engine.outbox.sendOutbox(cancellation: nil)
  }

  @Test(
    "tokens for a code are kept where the answer is whole, and revoked where it is cut",
    arguments: Way.allCases)
  func code(way: LateTokensTests.Way) throws {
    let whole = try Bench(passwordless: .auth0)
    try signIn(way, whole, cutting: 0)
    try expect(whole.record.confirmed?.refreshToken, isNot: nil)
    #expect(whole.provider.revoked.isEmpty)

    let cut = try Bench(passwordless: .auth0)
    try signIn(way, cut, cutting: 1)
    #expect(try !cut.record.hasTokens)
    #expect(cut.provider.revoked.contains { $0.hasPrefix("refresh-") })
  }

  @Test("words before an object do not lose its tokens (R30)")
  func words() {
    let object = #"{"access_token":"a","token_type":"Bearer","refresh_token":"r2"}"#
    for words in [
      ")]}',\n", "<!-- cached -->\n", "<html>",
      "<br />\n<b>Warning</b>: date() in <b>/srv/t.php</b> on line 3<br />\n",
      "/* x */ ", "while(1);",
    ] {
      guard case .tokens(let response) = RefreshAnswer(processing: Fixture.json(words + object)) else {
        Issue.record("the tokens behind \(words) are lost")
        continue
      }
      expect(response.refreshToken, is: Secret("r2"))
    }
    guard case .tokens = RefreshAnswer(processing: Fixture.json("<p>" + object + "<p>")),
      case .rotatedOnly(Secret("r2"), _) = RefreshAnswer(processing: Fixture.json("<p>" + object.dropLast()))
    else {
      Issue.record("the tokens between words, or those of a cut object behind words, are lost")
      return
    }
    for text in [
      "<!-- refresh_token --> " + object, "{} " + object, "[" + object,
      #"<script>x = {"a":"# + object, #"<p>\u0072"# + object,
    ] {
      guard case .refused(_, .unclear) = RefreshAnswer(processing: Fixture.json(text)) else {
        Issue.record("\(text) was believed")
        continue
      }
    }
  }
}
