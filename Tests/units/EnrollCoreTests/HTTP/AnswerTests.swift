import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollPosix
import EnrollStore
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@Suite("Answers as every rule reads them")
struct AnswerTests {
  /// A transport that puts a byte order mark in front of the body of each response.
  private final class Marking: Transport {
    private let provider: FakeProvider

    init(_ provider: FakeProvider) { self.provider = provider }

    func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
      var response = try provider.send(request, cancellation: cancellation)
      if !response.body.isEmpty { response.body = [0xEF, 0xBB, 0xBF] + response.body }
      return response
    }
  }

  private func engine(_ bench: Bench) -> Engine {
    Engine(
      configuration: bench.configuration, account: .default, platform: Platform(),
      transport: Marking(bench.provider), store: bench.store, clock: bench.clock,
      random: SystemRandomSource(),
      observer: bench.seen, exclusion: { Mutex() })
  }

  @Test("a byte order mark before discovery, keys, tokens and a refusal changes nothing")
  func mark() throws {
    let bench = try Bench()
    let engine = engine(bench)
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let ending = try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil).ending
    guard case .succeeded = ending else { throw Unexpected(what: "\(ending)") }
    bench.provider.endSessions()
    bench.clock.advance(seconds: 3700)
    guard case .reauthenticate = try engine.access() else {
      throw Unexpected(what: "the refusal was not read")
    }
  }

  @Test(
    "a page in answer to the request for a one-time code is no sent message",
    arguments: ["<html>Welcome to the hotel</html>", "\n <!DOCTYPE html>", "\u{FEFF}<html>"])
  func portal(body: String) throws {
    let bench = try Bench(passwordless: .auth0)
    let engine = bench.engine()
    bench.provider.next(.passwordless, .status(200, body: body))
    let mail = SignInOptions(kind: .passwordless, recipient: Recipient(.email, address: "alice@example.org"))
    expect(code { _ = try engine.signIn.begin(mail, cancellation: nil) }, is: .responseInvalid)
    #expect(try bench.record.transactions.isEmpty)
  }

  @Test(
    "a signed id_token of a renewal that names another client or user ends the session, whatever else it lacks (R27)",
    arguments: [("aud", JSON.array([])), ("aud", .array([.null])), ("sub", .string(""))], [true, false])
  func signed(claim: (String, JSON), hasKeys: Bool) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 3700)
    bench.provider.change { $0.claims = { $0[claim.0] = claim.1 } }
    if !hasKeys {
      bench.provider.change { $0.keyID = "unknown" }
      bench.provider.next(.keys, .unreachable, .unreachable)
    }
    let outcome = try engine.access()
    if case .reauthenticate = outcome { #expect(hasKeys) } else { #expect(!hasKeys, "\(outcome)") }
    try expect((bench.record.sessionEnded != nil), is: hasKeys)
  }

  @Test(
    "the content of an answer says what it is, whatever type it is declared as: no rotated refresh token is lost (R30)",
    arguments: [
      ("application/x-www-form-urlencoded", true), ("application/x-www-form-urlencoded;charset=UTF-8", true),
      ("text/html", true), ("application/json", false), ("text/html", false),
      ("application/octet-stream", false),
      ("text/plain", false), ("", false),
    ], ["", "\r\n "])
  func declared(as answer: (type: String, isJSON: Bool), surrounded: String) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 3700)
    let body =
      answer.isJSON
      ? #"{"access_token":"new","token_type":"Bearer","refresh_token":"r=2&","expires_in":3600}"#
      : "token_type=Bearer&access_token=new&refresh_token=r%3D2%26&expires_in=3600"
    var headers = answer.type.isEmpty ? [] : [HTTPHeader("Content-Type", answer.type)]
    if !answer.isJSON { headers.append(HTTPHeader("Transfer-Encoding", "chunked")) }
    bench.provider.next(.token, .status(200, headers: headers, body: surrounded + body + surrounded))
    try expect(engine.token(), is: "new")
    try expect(bench.record.confirmed?.refreshToken, is: Secret("r=2&"))
  }

  @Test("a form whose end nothing shows may be cut: its last value is not used, and one before it is")
  func formWithoutEnd() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 3700)
    let before = try bench.record.confirmed?.refreshToken
    for (body, kept) in [
      ("access_token=new&token_type=Bearer&refresh_token=half", before),
      ("token_type=Bearer&refresh_token=whole&access_token=half", Secret("whole")),
    ] {
      bench.provider.next(.token, .status(200, body: body), .status(200, body: body))
      guard case .expired(_, _, let error) = try engine.access() else { throw Unexpected(what: "taken") }
      #expect(error.code == .responseInvalid && error.message.contains("Content-Length"))
      try expect(bench.record.confirmed?.refreshToken, is: kept)
      bench.provider.recover(.token)
      bench.clock.advance(seconds: 120)
    }
  }

  @Test("nor does such a form sign anybody in")
  func codeInFormWithoutEnd() throws {
    let bench = try Bench(scopes: [])
    let engine = bench.engine()
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    bench.provider.next(.token, .status(200, body: "token_type=Bearer&access_token=half"))
    try expect(engine.failure(of: url), is: .responseInvalid)
    #expect(try !bench.record.hasTokens)
  }
}
