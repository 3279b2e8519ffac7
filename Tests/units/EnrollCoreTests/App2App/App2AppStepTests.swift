import EnrollPosix
@testable import EnrollStore
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollTesting
import Expectations
import Foundation
import TestVectors
import Testing

/// An engine with a scripted gateway, and an issuer that renews.
struct App2AppBench {
  let clock = FakeClock()
  let gateway = ScriptedServer()
  let issuer: FakeProvider
  let store: MemoryTokenStore
  let seen = Recorder()
  let configuration: Configuration

  init(
    allowedLinks: [String] = ["https://other.example/app"], redirectURI: String = "com.example.app:/callback",
    artefactIDField: String = "artefactId", scopes: [String] = ["read"], requiresConfirmation: Bool = false,
    withoutExpirySeconds: Int64 = 300
  ) throws {
    issuer = try FakeProvider(clock: clock)
    store = MemoryTokenStore(clock: clock)
    configuration = try Configuration(
      issuer: issuer.issuer, clientID: "native", redirectURI: redirectURI
    ) {
      $0.scopes = scopes
      $0.withoutExpirySeconds = withoutExpirySeconds
      $0.requiresConfirmation = requiresConfirmation
      $0.app2app = App2AppSettings(
        initURI: "https://gate.example/init", completeURI: "https://gate.example/complete",
        sessionIDField: "sessionID", linkField: "digidRequest", artefactIDField: artefactIDField,
        allowedLinks: allowedLinks)
    }
  }

  func engine() -> Engine {
    Engine(
      configuration: configuration, account: .default, platform: Platform(),
      transport: Routes(("https://gate.example", gateway), (issuer.issuer, issuer)), store: store,
      clock: clock, random: SystemRandomSource(), observer: seen, exclusion: { Mutex() })
  }

  /// Begins a transaction after the gateway returned the other app's link for this session.
  func begin(
    _ engine: Engine, session: String = "session-1", link: String = "https://other.example/app?r=1"
  ) throws -> Transaction {
    gateway.next(
      String(
        decoding: JSON.object([("sessionID", .string(session)), ("digidRequest", .string(link))])
          .serialized(),
        as: UTF8.self))
    return try engine.signIn.begin(SignInOptions(kind: .app2app), cancellation: nil)
  }

  func answer(_ artefact: String = "artefact-1") -> String {
    "com.example.app:/callback?artefactId=\(artefact)"
  }

  var record: AccountRecord { get throws { try store.read(.default) ?? AccountRecord() } }
}

@Suite("Registration with another app in two steps (flows.md §9)")
struct App2AppStepTests {
  static let tokens = #"{"access_token": "access-1", "token_type": "Bearer", "refresh_token": "refresh-0"}"#

  @Test("init with empty data, the other app, its way back, complete: G with userinfo, H, and a token")
  func whole() throws {
    let bench = try App2AppBench(requiresConfirmation: true)
    let engine = bench.engine()
    let begun = try bench.begin(engine)
    expect(begun.action, is: .openOtherApp("https://other.example/app?r=1"))
    #expect(begun.survivesProcess)
    expect(engine.state, is: .authenticating(transactionID: begun.transactionID, step: .otherApp))
    let first = try #require(bench.gateway.requests.first)
    #expect(first.url == "https://gate.example/init" && first.method == .post && first.body.isEmpty)

    bench.gateway.next(Self.tokens)
    let ending = try engine.signIn.resume(bench.answer(), cancellation: nil).ending
    guard case .succeeded(.awaitingConfirmation(_, let profile)) = ending else {
      throw Unexpected(what: "\(ending)")
    }
    expect(profile["email"], is: .string("alice@example.com"))
    let second = try #require(bench.gateway.requests.last)
    #expect(second.url == "https://gate.example/complete" && second.freshConnection)
    expect(
      bench.gateway.lastBody,
      is: .object([("sessionID", .string("session-1")), ("artefactId", .string("artefact-1"))]))
    try expect(engine.registration.confirm(), is: .active(.confirmed))
    try expect(engine.token(), is: "access-1")
    try expect(engine.registration.readAccount().registrationType, is: nil)
    guard case .app2app(let app2app)? = try bench.record.transactions.first?.flow else {
      throw Unexpected(what: "another flow")
    }
    expect(app2app.session, is: nil)
  }

  @Test("the way back reaches another process (R12); a second one is for nobody, or was settled before")
  func anotherProcess() throws {
    let bench = try App2AppBench()
    let begun = try bench.begin(bench.engine())
    let second = bench.engine()
    try expect(
      second.registration.adoptStoredState(),
      is: .known(.authenticating(transactionID: begun.transactionID, step: .otherApp)))
    bench.gateway.next(Self.tokens)
    try expect(second.failure(of: bench.answer()), is: nil)
    expect(code { _ = try second.signIn.resume(bench.answer(), cancellation: nil) }, is: .unsolicited)
    let named = code {
      _ = try second.signIn.resume(bench.answer(), transactionID: begun.transactionID, cancellation: nil)
    }
    expect(named, is: .alreadySettled)
    expect(bench.gateway.requests.count, is: 2)
  }

  @Test("userinfo that cannot be had leaves an empty profile, and the tokens")
  func noUserinfo() throws {
    let bench = try App2AppBench(requiresConfirmation: true)
    let engine = bench.engine()
    let begun = try bench.begin(engine)
    bench.gateway.next(Self.tokens)
    bench.issuer.next(.userinfo, .status(500))
    try expect(
      engine.signIn.resume(bench.answer(), cancellation: nil).ending,
      is: .succeeded(.awaitingConfirmation(transactionID: begun.transactionID, profile: JSONObject())))
  }

  @Test("tokens of another app that come out of a cache are somebody else's")
  func cached() throws {
    let bench = try App2AppBench()
    let engine = bench.engine()
    _ = try bench.begin(engine)
    bench.gateway.next { _ in
      HTTPResponse(status: 200, headers: [HTTPHeader("Age", "30")], body: Array(Self.tokens.utf8))
    }
    try expect(engine.failure(of: bench.answer()), is: .responseInvalid)
    #expect(try !bench.record.hasTokens)
  }

  @Test("the life of tokens without expires_in is configured here, too")
  func withoutExpiry() throws {
    let bench = try App2AppBench(withoutExpirySeconds: 7200)
    let engine = bench.engine()
    _ = try bench.begin(engine)
    bench.gateway.next(Self.tokens)
    try expect(engine.failure(of: bench.answer()), is: nil)
    try expect(bench.record.confirmed?.expiry.lifetimeSeconds, is: 7200)
    _ = try bench.begin(engine)
    bench.gateway.next(#"{"refresh_token": "refresh-9"}"#)
    bench.issuer.next(
      .token, .status(200, body: #"{"access_token": "access-9", "token_type": "Bearer"}"#))
    try expect(engine.failure(of: bench.answer()), is: nil)
    try expect(bench.record.confirmed?.expiry.lifetimeSeconds, is: 7200)
  }

  @Test("only a refresh token: renewed at once, tried again within bounds")
  func refreshTokenOnly() throws {
    let bench = try App2AppBench()
    let engine = bench.engine()
    // The issuer must know the refresh token that the gateway returns.
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    _ = try engine.signIn.resume(bench.issuer.signIn(at: begun.url), cancellation: nil)
    let known = try #require(try bench.record.confirmed?.refreshToken?.reveal())

    _ = try bench.begin(engine)
    bench.gateway.next(#"{"refresh_token": "\#(known)"}"#)
    bench.issuer.next(.token, .unreachable)
    try expect(engine.failure(of: bench.answer()), is: nil)
    let tokens = try #require(try bench.record.confirmed)
    expect(tokens.refreshToken?.reveal(), isNot: known, "rotated")
    try expect(engine.token(), is: tokens.accessToken.reveal())

    let rotated = try #require(tokens.refreshToken?.reveal())
    _ = try bench.begin(engine)
    bench.gateway.next(#"{"refresh_token": "\#(rotated)"}"#)
    bench.issuer.next(.token, .unreachable, .timeout)
    try expect(engine.failure(of: bench.answer()), is: .timeout)
    engine.outbox.sendOutbox(cancellation: nil)
    #expect(
      bench.issuer.revoked.isEmpty, "the session stays, and nobody knows whose the other token is (R35)")

    _ = try bench.begin(engine)
    bench.gateway.next(#"{"refresh_token": "unknown"}"#)
    let before = bench.issuer.count(.token)
    try expect(engine.failure(of: bench.answer()), is: .oauth)
    expect(bench.issuer.count(.token), is: before + 1, "a refusal is not tried again")
    engine.outbox.sendOutbox(cancellation: nil)
    #expect(bench.issuer.revoked.isEmpty)
  }

  @Test("a renewal that brings nothing but a new refresh token is followed by one with that token (R30)")
  func rotatedOnly() throws {
    let bench = try App2AppBench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    _ = try engine.signIn.resume(bench.issuer.signIn(at: begun.url), cancellation: nil)
    let known = try #require(try bench.record.confirmed?.refreshToken?.reveal())

    _ = try bench.begin(engine)
    bench.gateway.next(#"{"refresh_token": "first"}"#)
    bench.issuer.next(.token, .status(200, body: #"{"refresh_token": "\#(known)"}"#))
    try expect(engine.failure(of: bench.answer()), is: nil)
    let sent = bench.issuer.requests(.token).suffix(2).map { String(decoding: $0.body, as: UTF8.self) }
    #expect(sent.first?.contains("refresh_token=first") ?? false)
    #expect(sent.last?.contains("refresh_token=\(known)") ?? false)
  }

  @Test("an id_token that comes along is checked like any other, and is the profile")
  func idToken() throws {
    for isGood in [true, false] {
      let bench = try App2AppBench(scopes: ["openid"])
      let engine = bench.engine()
      let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
      _ = try engine.signIn.resume(bench.issuer.signIn(at: begun.url), cancellation: nil)
      let idToken = try #require(try bench.record.confirmed?.idToken?.reveal())
      _ = try engine.logout.clear()
      _ = try bench.begin(engine)
      let text = isGood ? idToken : idToken.dropLast(4) + "AAAA"
      bench.gateway.next(#"{"access_token": "a", "token_type": "Bearer", "id_token": "\#(text)"}"#)
      try expect(engine.failure(of: bench.answer()), is: isGood ? nil : .idTokenInvalid)
      try expect(bench.record.confirmed?.identity?.subject, is: isGood ? "alice" : nil)
    }
  }

  @Test("two pending: the way back settles only the one that the host names (R6)")
  func twoPending() throws {
    let bench = try App2AppBench()
    let engine = bench.engine()
    let first = try bench.begin(engine, session: "session-1")
    let second = try bench.begin(engine, session: "session-2")
    let signIn = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let before = try bench.record
    expect(code { _ = try engine.signIn.resume(bench.answer(), cancellation: nil) }, is: .unsolicited)
    for (id, expected) in [("nobody", EnrollError.Code.notFound), (signIn.transactionID, .unsolicited)] {
      let refused = code {
        _ = try engine.signIn.resume(bench.answer(), transactionID: id, cancellation: nil)
      }
      expect(refused, is: expected)
    }
    #expect(try bench.record == before && bench.gateway.requests.count == 2)
    bench.gateway.next(Self.tokens)
    _ = try engine.signIn.resume(bench.answer(), transactionID: second.transactionID, cancellation: nil)
    expect(bench.gateway.lastBody["sessionID"], is: .string("session-2"))
    // The other transaction is now the only pending transaction.
    bench.gateway.next(Self.tokens)
    let settled = try engine.signIn.resume(bench.answer(), cancellation: nil)
    expect(settled.transactionID, is: first.transactionID)
  }

  @Test("a cancelled one still counts, an expired one does not (R12)")
  func late() throws {
    let bench = try App2AppBench()
    let engine = bench.engine()
    let old = try bench.begin(engine)
    bench.clock.advance(seconds: 500)
    let begun = try bench.begin(engine, session: "session-2")
    _ = try engine.registration.cancel(transactionID: begun.transactionID)
    expect(code { _ = try engine.signIn.resume(bench.answer(), cancellation: nil) }, is: .unsolicited)
    bench.clock.advance(seconds: 200)
    let expired = code {
      _ = try engine.signIn.resume(bench.answer(), transactionID: old.transactionID, cancellation: nil)
    }
    expect(expired, is: .transactionExpired)
    bench.gateway.next(Self.tokens)
    try expect(engine.signIn.resume(bench.answer(), cancellation: nil).transactionID, is: begun.transactionID)
  }

  @Test(
    "a return that is none has no effect (R5, R6, R8)",
    arguments: [
      ("com.example.app:/callback", EnrollError.Code.unsolicited),
      ("com.example.app:/callback?artefactid=a", .unsolicited),
      ("com.example.app:/callback?artefactId=a&state=nobody", .unsolicited),
      ("com.example.app:/callback?error=access_denied", .unsolicited),
      ("com.example.app:/other?artefactId=a", .redirectMismatch),
      ("https://app.example/callback?artefactId=a", .redirectMismatch),
      ("com.example.app:/callback?artefactId=a&artefactId=b", .redirectMalformed),
      ("com.example.app:/callback?artefactId=a&artefact%49d=b", .redirectMalformed),
      ("com.example.app:/callback?artefactId=", .redirectMalformed),
      ("com.example.app:/callback?artefactId=a%0Ab", .redirectMalformed),
      ("com.example.app:/callback?artefactId=a%20b", .redirectMalformed),
      ("com.example.app:/callback?artefactId=" + String(repeating: "a", count: 4097), .redirectMalformed),
    ])
  func badReturns(url: String, expected: EnrollError.Code) throws {
    let bench = try App2AppBench()
    let engine = bench.engine()
    _ = try bench.begin(engine)
    let before = try bench.record
    expect(code { _ = try engine.signIn.resume(url, cancellation: nil) }, is: expected)
    #expect(try bench.record == before && bench.gateway.requests.count == 1)
    bench.gateway.next(Self.tokens)
    try expect(engine.failure(of: bench.answer()), is: nil)
  }

  @Test("with no transaction of this kind, a return is for nobody")
  func unsolicited() throws {
    let bench = try App2AppBench()
    let engine = bench.engine()
    expect(code { _ = try engine.signIn.resume(bench.answer(), cancellation: nil) }, is: .unsolicited)
    _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    expect(code { _ = try engine.signIn.resume(bench.answer(), cancellation: nil) }, is: .unsolicited)
  }

  @Test(
    "complete that fails, or gives nothing that can be used, ends in F and is never sent again (R15)")
  func completeRefused() throws {
    let cases: [(String, Int, EnrollError.Code)] = [
      ("{}", 500, .server), ("{}", 200, .responseInvalid), ("<html>", 200, .responseInvalid),
      ("", 307, .responseInvalid),
      (#"{"access_token": "a b", "token_type": "Bearer"}"#, 200, .responseInvalid),
      (#"{"refresh_token": ""}"#, 200, .responseInvalid),
      (#"{"refresh_token": "\#(String(repeating: "r", count: 65_537))"}"#, 200, .responseInvalid),
    ]
    for (body, status, expected) in cases {
      let bench = try App2AppBench()
      let engine = bench.engine()
      let begun = try bench.begin(engine)
      bench.gateway.next(body, status: status)
      try expect(engine.failure(of: bench.answer()), is: expected, "\(body) \(status)")
      expect(engine.state.kind, is: .registrationFailed)
      #expect(try !bench.record.hasTokens)
      let again = code {
        _ = try engine.signIn.resume(bench.answer(), transactionID: begun.transactionID, cancellation: nil)
      }
      expect(again, is: .alreadySettled)
      expect(bench.gateway.requests.count, is: 2)
    }
  }

  @Test(
    "a forged artefact, which the gateway refuses, leaves the transaction open for the right one",
    arguments: [(#"{"error": "invalid_grant"}"#, 400), ("", 403), ("not found", 404), ("", 429)])
  func forgedArtefact(body: String, status: Int) throws {
    let bench = try App2AppBench()
    let engine = bench.engine()
    let begun = try bench.begin(engine)
    bench.gateway.next(body, status: status)
    expect(
      code { _ = try engine.signIn.resume(bench.answer("forged"), cancellation: nil) }, is: .codeRejected)
    expect(engine.state, is: .authenticating(transactionID: begun.transactionID, step: .otherApp))
    #expect(bench.seen.reported.isEmpty, "whoever forges links must not cause reports (R6)")
    bench.gateway.next(Self.tokens)
    try expect(engine.failure(of: bench.answer()), is: nil)
    try expect(engine.token(), is: "access-1")
  }

  @Test("no more than ten artefacts are tried, and none after the deadline")
  func artefactTries() throws {
    let bench = try App2AppBench()
    let engine = bench.engine()
    _ = try bench.begin(engine)
    for _ in 1..<10 {
      bench.gateway.next("{}", status: 400)
      // Each attempt runs in another engine, as if in another process.
      expect(
        code { _ = try bench.engine().signIn.resume(bench.answer(), cancellation: nil) }, is: .codeRejected)
    }
    bench.gateway.next("{}", status: 400)
    try expect(engine.failure(of: bench.answer()), is: .oauth)
    expect(code { _ = try engine.signIn.resume(bench.answer(), cancellation: nil) }, is: .unsolicited)

    _ = try bench.begin(engine)
    bench.gateway.next("{}", status: 400)
    expect(code { _ = try engine.signIn.resume(bench.answer(), cancellation: nil) }, is: .codeRejected)
    bench.clock.advance(seconds: 600)
    expect(code { _ = try engine.signIn.resume(bench.answer(), cancellation: nil) }, is: .unsolicited)
  }

  @Test("an issuer that cannot be reached before complete leaves the transaction pending")
  func prepare() throws {
    let bench = try App2AppBench()
    let engine = bench.engine()
    _ = try bench.begin(engine)
    bench.issuer.next(.discovery, .unreachable)
    expect(code { _ = try engine.signIn.resume(bench.answer(), cancellation: nil) }, is: .network)
    expect(bench.gateway.requests.count, is: 1)
    bench.gateway.next(Self.tokens)
    try expect(engine.failure(of: bench.answer()), is: nil)
  }

  @Test("an init that gives no session or no link begins nothing")
  func badInit() throws {
    let link = "https://other.example/app"
    let cases: [(String, Int, EnrollError.Code)] = [
      (#"{"sessionID": "s"}"#, 200, .responseInvalid),
      (#"{"digidRequest": "\#(link)"}"#, 200, .responseInvalid),
      (#"{"sessionId": "s", "link": "\#(link)"}"#, 200, .responseInvalid),
      (#"{"sessionID": "", "digidRequest": "\#(link)"}"#, 200, .responseInvalid),
      (#"{"sessionID": "a\nb", "digidRequest": "\#(link)"}"#, 200, .responseInvalid),
      (#"{"sessionID": 7, "digidRequest": "\#(link)"}"#, 200, .responseInvalid),
      (#"{"sessionID": "s", "digidRequest": 7}"#, 200, .responseInvalid),
      ("[]", 200, .responseInvalid), ("", 200, .responseInvalid), ("{}", 503, .server),
      ("{}", 404, .responseInvalid),
      (#"{"error": "unauthorized_client"}"#, 400, .oauth),
    ]
    for (body, status, expected) in cases {
      let bench = try App2AppBench()
      bench.gateway.next(body, status: status)
      let refused = code {
        _ = try bench.engine().signIn.begin(SignInOptions(kind: .app2app), cancellation: nil)
      }
      expect(refused, is: expected, "\(body) \(status)")
      #expect(try bench.record.transactions.isEmpty)
    }
  }

  @Test(
    "a link is opened only if it begins as one that is allowed, up to a whole host or path segment",
    arguments: [
      ("https://other.example/app", true), ("https://other.example/app?r=1", true),
      ("https://other.example/app/sub?r=https://evil.example/", true), ("https://other.example/apple", false),
      ("https://other.example/", false), ("https://other.example/App", false),
      ("https://other.example/app%2Fsub", false), ("https://other.example/app/../x", false),
      ("https://other.example/app/%2e%2e/x", false), ("https://other.example.evil/app", false),
      ("https://evil.example/app", false), ("https://other.example@evil.example/app", false),
      ("https://other.example:8443/app", false), ("https://OTHER.example/app", false),
      ("https://other.example./app", false), ("https://other.example\\@evil.example/app", false),
      ("https://evil.example/https://other.example/app", false), ("http://other.example/app", false),
      ("http://127.0.0.1/app", false), ("javascript:alert(1)", false), ("intent://other.example/app", false),
      ("file:///app", false), ("data:text/html,x", false), ("other.example/app", false), ("", false),
      ("https://other.example/app#fragment", false), ("nl.other:/start", true), ("nl.other:/start/x", true),
      ("nl.other:/started", false), ("nl.other://start", false), ("nl.others:/start", false),
      ("nl.third://host", true), ("nl.third://host/x", true), ("nl.third://host?x", true),
      ("nl.third://hostile", false), ("nl.third://host.evil/x", false), ("https://whole.example/x", true),
      ("https://whole.example.evil/x", false),
    ])
  func links(link: String, isAllowed: Bool) throws {
    let bench = try App2AppBench(allowedLinks: [
      "https://other.example/app", "nl.other:/start", "nl.third://host", "https://whole.example/",
    ])
    let error = refusal { try bench.begin(bench.engine(), link: link) }
    expect(error?.code, is: isAllowed ? nil : .responseInvalid)
    expect(error?.message.contains("evil"), isNot: true, "no error text repeats the link")
    try expect(bench.record.transactions.isEmpty, isNot: isAllowed)
  }

  @Test("of the look-alikes, none is opened for the claimed host", arguments: Vectors.atHand)
  func lookAlikes(vectors: Vectors) throws {
    var tried = 0
    for file in ["openredirects", "Open-Redirect-payloads", "open_redirect_wordlist"] {
      for payload in try vectors.json("open-redirect/\(file).json").array ?? [] {
        guard let text = payload.string else { continue }
        tried += 1
        let bench = try App2AppBench(allowedLinks: ["https://www.whitelisteddomain.tld/"])
        let begun = try? bench.begin(bench.engine(), link: text)
        // A browser that opens a URL with this prefix goes to the claimed host, because everything after the prefix is
        // path and query.
        #expect(begun == nil || text.hasPrefix("https://www.whitelisteddomain.tld/"), "\(text)")
      }
    }
    #expect(tried >= vectors.least(own: 60, published: 150))
  }

  @Test("the other app is missing: F, told apart; beside a session, that session")
  func missing() throws {
    let bench = try App2AppBench()
    let engine = bench.engine()
    let begun = try bench.begin(engine)
    guard
      case .failed(let error) = try engine.app2app.otherAppMissing(transactionID: begun.transactionID).ending
    else {
      throw Unexpected(what: "it did not fail")
    }
    #expect(error.code == .otherAppMissing && error.blame == .user)
    expect(engine.state, is: .registrationFailed(error))
    #expect(bench.seen.names.contains("error.reported"))
    expect(
      code { _ = try engine.app2app.otherAppMissing(transactionID: begun.transactionID) }, is: .alreadySettled
    )
    expect(code { _ = try engine.signIn.resume(bench.answer(), cancellation: nil) }, is: .unsolicited)

    let signIn = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    expect(
      code { _ = try engine.app2app.otherAppMissing(transactionID: signIn.transactionID) }, is: .illegalState)
    expect(code { _ = try engine.app2app.otherAppMissing(transactionID: "nobody") }, is: .notFound)
    try expect(engine.failure(of: bench.issuer.signIn(at: signIn.url)), is: nil)
    let beside = try bench.begin(engine)
    _ = try engine.app2app.otherAppMissing(transactionID: beside.transactionID)
    expect(engine.state, is: .active(.confirmed))
  }

  @Test("what cannot be asked for is refused by its field; so is a redirect that no app link can reach")
  func refused() throws {
    let changes: [(String, (inout SignInOptions) -> Void)] = [
      ("scopes", { $0.scopes = ["read"] }), ("prompt", { $0.prompt = "login" }),
      ("connection", { $0.connection = "x" }), ("parameters", { $0.parameters = [("a", "b")] }),
      ("maxAge", { $0.maxAgeSeconds = 1 }),
    ]
    let bench = try App2AppBench()
    for (field, change) in changes {
      var options = SignInOptions(kind: .app2app)
      change(&options)
      let error = refusal { try bench.engine().signIn.begin(options, cancellation: nil) }
      #expect(error?.code == .invalidArgument && error?.field == field)
    }
    let loopback = try App2AppBench(redirectURI: "http://127.0.0.1/callback")
    expect(refusal { try loopback.begin(loopback.engine()) }?.field, is: "redirectUri")
    let none = try Bench().engine()
    expect(
      refusal { try none.signIn.begin(SignInOptions(kind: .app2app), cancellation: nil) }?.field,
      is: "app2app")
    #expect(bench.gateway.requests.isEmpty)
  }

  @Test("links and names that the configuration may not have")
  func configuration() {
    for link in ["http://127.0.0.1/app", "https://other.example/app?x=1", "https://OTHER.example/"] {
      expect(refusal { try App2AppBench(allowedLinks: [link]) }?.field, is: "app2app.allowedLinks[0]")
    }
    expect(refusal { try App2AppBench(allowedLinks: []) }?.field, is: "app2app.allowedLinks")
    expect(refusal { try App2AppBench(artefactIDField: "state") }?.field, is: "app2app.fields.artefactId")
    expect(refusal { try App2AppBench(artefactIDField: "sessionID") }?.field, is: "app2app.fields")
  }
}
