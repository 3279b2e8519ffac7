import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollStore
import EnrollTesting
import Expectations
import Foundation
import Testing

@Suite("The device grant (RFC 8628)")
struct DeviceStepTests {
  private func begun(_ bench: Bench, _ options: SignInOptions = SignInOptions(kind: .device)) throws -> (
    Engine, Transaction
  ) {
    let engine = bench.engine()
    return (engine, try engine.signIn.begin(options, cancellation: nil))
  }

  /// Lets the interval pass and polls.
  private func poll(_ engine: Engine, _ begun: Transaction, _ bench: Bench, after seconds: Int64 = 5)
    throws -> Settlement?
  {
    bench.clock.advance(seconds: seconds)
    return try engine.device.pollDevice(begun.transactionID)
  }

  private func polls(_ bench: Bench) -> Int { bench.provider.count(.token) }

  @Test("a code to show, pending, then tokens: D, browser, G")
  func whole() throws {
    let bench = try Bench(requiresConfirmation: true)
    let (engine, begun) = try begun(bench)
    expect(
      begun.action,
      is: .showDeviceCode(
        DeviceCode(
          userCode: "WDJB-MJHT", verificationURI: "https://id.example/activate",
          verificationURIComplete: "https://id.example/activate?user_code=WDJB-MJHT")))
    #expect(begun.redirectURI == nil && begun.survivesProcess)
    expect(begun.expiresAt, is: bench.clock.wallTime() + 600)
    expect(engine.state, is: .authenticating(transactionID: begun.transactionID, step: .browser))
    let asked = try #require(bench.provider.requests(.deviceAuthorization).first)
    let body = String(decoding: asked.body, as: UTF8.self)
    #expect(body.hasPrefix("scope=openid+offline_access&code_challenge="))
    #expect(body.hasSuffix("&code_challenge_method=S256&client_id=native"))

    try expect(poll(engine, begun, bench), is: nil)
    bench.provider.change { $0.deviceError = nil }
    guard case .succeeded(.awaitingConfirmation(_, let profile)) = try poll(engine, begun, bench)?.ending
    else {
      throw Unexpected(what: "\(engine.state)")
    }
    expect(profile["sub"], is: .string("alice"))
    try expect(engine.registration.confirm(), is: .active(.confirmed))
    try expect(engine.token(), is: "access-2")
    let sent = try #require(bench.provider.requests(.token).first)
    let poll = String(decoding: sent.body, as: UTF8.self)
    #expect(
      poll.hasPrefix(
        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&device_code=device-1&code_verifier="
      ))
    #expect(poll.hasSuffix("&client_id=native"))
    // The server returns the tokens only once, so the transport must not repeat the request by itself (R15).
    #expect(sent.freshConnection)
    let transaction = try #require(try bench.record.transactions.first)
    #expect(transaction.status == .succeeded && transaction.flow == .device(nil))
    try expect(bench.record.registrationType, is: nil)
  }

  @Test("openid is granted and no id_token comes, as RFC 8628 promises none: userinfo names the user")
  func withoutIDToken() throws {
    let bench = try Bench(requiresConfirmation: true)
    let (engine, begun) = try begun(bench)
    bench.provider.change {
      $0.deviceError = nil
      $0.tokens = { $0["id_token"] = nil }
    }
    guard case .succeeded(.awaitingConfirmation(_, let profile)) = try poll(engine, begun, bench)?.ending
    else {
      throw Unexpected(what: "\(engine.state)")
    }
    #expect(profile["sub"] == .string("alice") && profile["email"] == .string("alice@example.com"))
    try expect(engine.registration.confirm(), is: .active(.confirmed))
    try expect(engine.identity.profile()["email"], is: .string("alice@example.com"))
    try expect(engine.token(), is: "access-2")
    #expect(bench.seen.warned.isEmpty)
    bench.clock.advance(seconds: 3550)
    try expect(engine.token(), is: "access-3")
    // From now on userinfo is compared with this subject (R28).
    bench.provider.change { $0.userinfoSubject = "mallory" }
    expect(code { _ = try engine.identity.userinfo(cancellation: nil) }, is: .profileMismatch)
  }

  @Test("a verification_uri_complete that is no https address counts as none")
  func incomplete() throws {
    let bench = try Bench()
    bench.provider.change {
      $0.deviceAuthorization = { $0["verification_uri_complete"] = .string("com.example.app:/x") }
    }
    guard case .showDeviceCode(let shown) = try begun(bench).1.action else {
      throw Unexpected(what: "no code")
    }
    expect(shown.verificationURIComplete, is: nil)
    expect(shown.verificationURI, is: "https://id.example/activate")
  }

  @Test("no poll comes before the server's interval, and one that comes early is not sent (§3.5)")
  func interval() throws {
    let bench = try Bench()
    let (engine, begun) = try begun(bench)
    #expect(try poll(engine, begun, bench, after: 4) == nil && polls(bench) == 0)
    #expect(try !engine.device.isDevicePollDue(begun.transactionID))
    #expect(try poll(engine, begun, bench, after: 1) == nil && polls(bench) == 1)
    try expect(engine.device.pollDevice(begun.transactionID), is: nil)
    #expect(try poll(engine, begun, bench, after: 4) == nil && polls(bench) == 1)
    #expect(try poll(engine, begun, bench, after: 1) == nil && polls(bench) == 2)
  }

  @Test("slow_down adds five seconds, for this poll and for all later ones, in other processes too (§3.5)")
  func slowDown() throws {
    let bench = try Bench()
    let (engine, begun) = try begun(bench)
    bench.provider.change { $0.deviceError = "slow_down" }
    #expect(try poll(engine, begun, bench) == nil && polls(bench) == 1)
    #expect(try poll(engine, begun, bench, after: 9) == nil && polls(bench) == 1)
    bench.provider.change { $0.deviceError = "authorization_pending" }
    #expect(try poll(engine, begun, bench, after: 1) == nil && polls(bench) == 2)
    let second = bench.engine()
    #expect(try poll(second, begun, bench, after: 9) == nil && polls(bench) == 2)
    #expect(try poll(second, begun, bench, after: 1) == nil && polls(bench) == 3)
  }

  @Test("5xx, 429 and lost connections do not end it (R33)")
  func trouble() throws {
    let bench = try Bench()
    let (engine, begun) = try begun(bench)
    bench.provider.next(.token, .status(503), .status(500, body: "<html>"), .unreachable)
    for _ in 1...3 { try expect(poll(engine, begun, bench), is: nil) }
    // The server's Retry-After sets the pause.
    bench.provider.next(.token, .status(429, headers: [HTTPHeader("Retry-After", "30")]))
    #expect(try poll(engine, begun, bench) == nil && polls(bench) == 4)
    #expect(try poll(engine, begun, bench, after: 29) == nil && polls(bench) == 4)
    bench.provider.change { $0.deviceError = nil }
    guard case .succeeded = try poll(engine, begun, bench, after: 1)?.ending else {
      throw Unexpected(what: "\(engine.state)")
    }
  }

  static let elsewhere: [(Int, String)] = [
    (400, ""), (400, "<html>"), (400, #"{"error":"Bad Request"}"#), (400, #"{"error":7}"#),
    (400, #"{"error":"invalid_dpop_proof"}"#), (401, ""), (401, #"{"error":"Not Found"}"#),
    (403, "<html>Forbidden"), (403, ""), (403, #"{"error":"invalid_request"}"#),
    (403, #"{"error":"invalid_client"}"#), (404, ""), (404, #"{"error":"unsupported_grant_type"}"#),
    (405, ""), (413, "<html>"), (421, ""), (302, ""),
    (404, #"{"error":"access_denied"}"#), (407, #"{"error":"expired_token"}"#),
    (429, #"{"error":"invalid_grant"}"#), (451, #"{"error":"access_denied"}"#), (200, ""),
    (200, "<html>Sign in to the Wi-Fi"),
    (200, "{}"), (200, #"{"status":"ok"}"#), (204, ""), (429, #"{"error":"rate_limited"}"#), (502, "<html>"),
  ]

  @Test("what only somebody in between can have said does not end it", arguments: elsewhere)
  func somebodyElse(status: Int, body: String) throws {
    let bench = try Bench()
    let (engine, begun) = try begun(bench)
    bench.provider.next(.token, .status(status, body: body))
    bench.provider.change { $0.deviceError = nil }
    try expect(poll(engine, begun, bench), is: nil)
    try expect(engine.transactions.transactionStatus(begun.transactionID), is: .pending)
    guard case .succeeded = try poll(engine, begun, bench)?.ending else {
      throw Unexpected(what: "\(engine.state)")
    }
  }

  @Test("an answer that is not HTTP does not end it")
  func notHTTP() throws {
    let bench = try Bench()
    let (engine, begun) = try begun(bench)
    bench.provider.next(.token, .garbled)
    #expect(try poll(engine, begun, bench) == nil && polls(bench) == 1)
    #expect(try poll(engine, begun, bench) == nil && polls(bench) == 2)
  }

  @Test(
    "a wait goes on with any status of a refusal, and ends with those that a token endpoint gives (§3.5)",
    arguments: [(428, 400), (429, 401), (403, 403), (200, 200)])
  func ownCodes(waiting: Int, ending: Int) throws {
    func answer(_ code: String, _ status: Int) -> FakeProvider.Reply {
      .status(status, body: #"{"error":"\#(code)"}"#)
    }
    let bench = try Bench()
    let (engine, begun) = try begun(bench)
    bench.provider.next(
      .token, answer("authorization_pending", waiting), answer("slow_down", waiting),
      answer("access_denied", ending))
    #expect(try poll(engine, begun, bench) == nil && polls(bench) == 1)
    #expect(try poll(engine, begun, bench) == nil && polls(bench) == 2)
    #expect(try poll(engine, begun, bench, after: 9) == nil && polls(bench) == 2)
    guard case .failed(let failure) = try poll(engine, begun, bench, after: 1)?.ending else {
      throw Unexpected(what: "\(engine.state)")
    }
    #expect(failure.code == .accessDenied && failure.oauthError == "access_denied")
  }

  @Test("tokens come once: those of an answer that is no acceptable JSON are taken where it leaves no doubt")
  func unacceptableAnswer() throws {
    let bench = try Bench()
    let (engine, begun) = try begun(bench)
    bench.provider.next(
      .token,
      .status(
        200,
        body: #"{"access_token":"access-9","token_type":"Bearer","expires_in":3600,"#
          + #""refresh_token":"refresh-9","x":1,"x":2}"#))
    guard case .succeeded = try poll(engine, begun, bench)?.ending else {
      throw Unexpected(what: "\(engine.state)")
    }
    try expect(engine.token(), is: "access-9")
    try expect(bench.record.confirmed?.refreshToken, is: Secret("refresh-9"))
  }

  @Test("tokens that such an answer leaves in doubt are gone, and the wait ends with words")
  func doubtfulAnswer() throws {
    let bench = try Bench()
    let (engine, begun) = try begun(bench)
    bench.provider.next(
      .token, .status(200, body: #"{"access_token":"a","token_type":"Bearer","access_token":"b"}"#))
    guard case .failed(let error) = try poll(engine, begun, bench)?.ending else {
      throw Unexpected(what: "\(engine.state)")
    }
    expect(error.code, is: .responseInvalid)
  }

  @Test("after a time-out the next polls come half as often (§3.5)")
  func timeout() throws {
    let bench = try Bench()
    let (engine, begun) = try begun(bench)
    bench.provider.next(.token, .timeout)
    #expect(try poll(engine, begun, bench) == nil && polls(bench) == 1)
    #expect(try poll(engine, begun, bench, after: 9) == nil && polls(bench) == 1)
    #expect(try poll(engine, begun, bench, after: 1) == nil && polls(bench) == 2)
  }

  @Test(
    "a refusal ends it, typed (§3.5)",
    arguments: [
      ("access_denied", EnrollError.Code.accessDenied), ("expired_token", .transactionExpired),
      ("invalid_grant", .oauth), ("invalid_client", .oauth), ("invalid_request", .oauth),
      ("unauthorized_client", .oauth), ("unsupported_grant_type", .oauth), ("invalid_scope", .oauth),
    ])
  func refused(error: String, expected: EnrollError.Code) throws {
    let bench = try Bench()
    let (engine, begun) = try begun(bench)
    bench.provider.change { $0.deviceError = error }
    guard case .failed(let failure) = try poll(engine, begun, bench)?.ending else {
      throw Unexpected(what: "\(engine.state)")
    }
    #expect(failure.code == expected && failure.oauthError == error)
    expect(engine.state.kind, is: .registrationFailed)
    #expect(try poll(engine, begun, bench) == nil && polls(bench) == 1)
    #expect(bench.seen.names.contains("error.reported"))
  }

  @Test("half a minute after expires_in nobody is asked any more (R12)")
  func expired() throws {
    let bench = try Bench()
    bench.provider.change { $0.deviceAuthorization = { $0["expires_in"] = .integer(60) } }
    let (engine, begun) = try begun(bench)
    expect(begun.expiresAt, is: bench.clock.wallTime() + 60)
    #expect(try poll(engine, begun, bench, after: 90) == nil && polls(bench) == 0)
    expect(
      code { _ = try engine.transactions.transactionStatus(begun.transactionID) }, is: .transactionExpired)
    try expect(engine.registration.adoptStoredState(), is: .known(.unregistered))
  }

  @Test("a code that lives shorter than the interval is polled once, shortly before its end")
  func longInterval() throws {
    let bench = try Bench()
    bench.provider.change {
      $0.deviceError = nil
      $0.deviceAuthorization = {
        $0["expires_in"] = .integer(60)
        $0["interval"] = .integer(120)
      }
    }
    let (engine, begun) = try begun(bench)
    #expect(try poll(engine, begun, bench, after: 49) == nil && polls(bench) == 0)
    guard case .succeeded = try poll(engine, begun, bench, after: 1)?.ending else {
      throw Unexpected(what: "\(engine.state)")
    }
  }

  @Test("another process goes on with it, also after a reboot (R12)")
  func anotherProcess() throws {
    let bench = try Bench()
    let (_, begun) = try begun(bench)
    bench.clock.advance(seconds: 60)
    bench.clock.reboot(bootID: "boot-2")
    bench.provider.change { $0.deviceError = nil }
    let later = bench.engine()
    try expect(
      later.registration.adoptStoredState(),
      is: .known(.authenticating(transactionID: begun.transactionID, step: .browser)))
    guard case .succeeded = try later.device.pollDevice(begun.transactionID)?.ending else {
      throw Unexpected(what: "\(later.state)")
    }
    try expect(later.token(), is: "access-2")
  }

  @Test("while one process polls, no other does; a process that died holds nobody up for long")
  func oneAtATime() throws {
    let bench = try Bench()
    let (engine, begun) = try begun(bench)
    let second = bench.engine()
    nonisolated(unsafe) var seen: (Settlement?, Bool) = (nil, true)
    bench.provider.next(
      .token,
      .during {
        bench.clock.advance(seconds: 20)
        seen = ((try? second.device.pollDevice(begun.transactionID)) ?? nil, false)
      })
    try expect(poll(engine, begun, bench), is: nil)
    #expect(seen == (nil, false) && polls(bench) == 1)
    // The record looks as if a process had taken the lock and died. Another process continues after the
    // longest time that a request may take.
    try bench.store.update(.default) { record throws(EnrollError) in
      guard case .device(var device?) = record.transactions[0].flow else { return }
      device.notBefore = Expiry(lifetimeSeconds: 35, from: bench.clock.moment())
      record.transactions[0].flow = .device(device)
    }
    #expect(try poll(second, begun, bench, after: 34) == nil && polls(bench) == 1)
    #expect(try poll(second, begun, bench, after: 1) == nil && polls(bench) == 2)
  }

  /// Lets the process die that polls: nothing of its poll's response is stored.
  private func pollAndDie(_ engine: Engine, _ begun: Transaction, _ bench: Bench) throws {
    nonisolated(unsafe) var record: AccountRecord?
    bench.provider.next(.token, .during { record = try? bench.record })
    _ = try poll(engine, begun, bench)
    let sent = try #require(record)
    try bench.store.update(.default) { record throws(EnrollError) in record = sent }
  }

  @Test("a code whose tokens came to a process that died ends with words about the lost answer")
  func lostAnswer() throws {
    for (refusal, isLost) in [("invalid_grant", true), ("expired_token", true), ("access_denied", false)] {
      let bench = try Bench()
      let (engine, begun) = try begun(bench)
      try pollAndDie(engine, begun, bench)
      // An answer that is not the provider's changes nothing.
      let second = bench.engine()
      bench.provider.next(.token, .status(503))
      #expect(try poll(second, begun, bench, after: 35) == nil)
      bench.provider.change { $0.deviceError = refusal }
      guard case .failed(let error)? = try poll(second, begun, bench)?.ending else {
        throw Unexpected(what: "\(second.state)")
      }
      expect(error.oauthError, is: refusal)
      expect(error.message.contains("begin the sign-in again, with a new code"), is: isLost, "\(refusal)")
    }
  }

  @Test("a wait that ends by our clock after a lost answer says that the tokens may be lost")
  func lostAtTheEnd() throws {
    let bench = try Bench()
    let (engine, begun) = try begun(bench)
    try pollAndDie(engine, begun, bench)
    bench.clock.advance(seconds: 700)
    let error = refusal { _ = try engine.transactions.transactionStatus(begun.transactionID) }
    expect(error?.code, is: .transactionExpired)
    #expect(error?.message.contains("If the code was approved, the tokens are lost") ?? false)
  }

  @Test("after a lost answer, pending shows that no tokens came with it")
  func lostAndPending() throws {
    let bench = try Bench()
    let (engine, begun) = try begun(bench)
    try pollAndDie(engine, begun, bench)
    #expect(try poll(engine, begun, bench, after: 35) == nil)
    bench.provider.change { $0.deviceError = "invalid_grant" }
    guard case .failed(let error)? = try poll(engine, begun, bench)?.ending else {
      throw Unexpected(what: "\(engine.state)")
    }
    #expect(!error.message.contains("lost"))
  }

  @Test("a code is not spent while the tokens could not be checked: keys first")
  func keysFirst() throws {
    let bench = try Bench()
    let (engine, begun) = try begun(bench)
    bench.provider.change { $0.deviceError = nil }
    bench.provider.next(.keys, .unreachable)
    #expect(try poll(engine, begun, bench) == nil && polls(bench) == 0)
    guard case .succeeded = try poll(engine, begun, bench)?.ending else {
      throw Unexpected(what: "\(engine.state)")
    }
  }

  @Test("an id_token that breaks a rule yields no token (R24)")
  func badIDToken() throws {
    let bench = try Bench()
    let (engine, begun) = try begun(bench)
    bench.provider.change {
      $0.deviceError = nil
      $0.claims = { $0["aud"] = .string("other") }
    }
    guard case .failed(let failure) = try poll(engine, begun, bench)?.ending else {
      throw Unexpected(what: "\(engine.state)")
    }
    expect(failure.code, is: .idTokenInvalid)
    #expect(try !bench.record.hasTokens)
  }

  @Test("the user who gave up is a hint: a late yes still wins (R12)")
  func cancelled() throws {
    let bench = try Bench()
    let (engine, begun) = try begun(bench)
    try expect(engine.registration.cancel(transactionID: begun.transactionID), is: .unregistered)
    bench.provider.change { $0.deviceError = nil }
    guard case .succeeded = try poll(engine, begun, bench)?.ending else {
      throw Unexpected(what: "\(engine.state)")
    }
  }

  @Test("no URL settles a device transaction: it has no state to match (R6)")
  func noRedirect() throws {
    let bench = try Bench()
    let (engine, _) = try begun(bench)
    for url in ["com.example.app:/callback?code=x", "com.example.app:/callback?code=x&state="] {
      expect(code { _ = try engine.signIn.resume(url, cancellation: nil) }, is: .unsolicited)
    }
  }

  @Test("a provider without the endpoint, and options that cannot be sent, are refused with words")
  func refusals() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let wrong: [(String, SignInOptions)] = [
      ("prompt", SignInOptions(kind: .device, prompt: "login")),
      ("loginHint", SignInOptions(kind: .device, loginHint: "alice")),
      ("maxAge", SignInOptions(kind: .device, maxAgeSeconds: 1)),
      ("acrValues", SignInOptions(kind: .device, acrValues: ["a"])),
      ("uiLocales", SignInOptions(kind: .device, uiLocales: ["en"])),
      ("idTokenHint", SignInOptions(kind: .device, idTokenHint: Secret("a.b.c"))),
      ("connection", SignInOptions(kind: .device, connection: "google")),
      ("parameters", SignInOptions(kind: .device, parameters: [("client_id", "x")])),
    ]
    for (field, options) in wrong {
      do {
        _ = try engine.signIn.begin(options, cancellation: nil)
        Issue.record("\(field) was accepted")
      } catch {
        #expect(error.code == .invalidArgument && error.field == field)
      }
    }
    expect(bench.provider.count(.deviceAuthorization), is: 0)
    let other = try Bench()
    other.provider.change { $0.metadata = { $0["device_authorization_endpoint"] = nil } }
    expect(
      code { _ = try other.engine().signIn.begin(SignInOptions(kind: .device), cancellation: nil) },
      is: .unsupported
    )
  }

  @Test(
    "an answer that cannot be used begins nothing",
    arguments: [
      ("device_code", JSON.null), ("device_code", .string("")), ("user_code", .null),
      ("user_code", .string(String(repeating: "A", count: 64))), ("user_code", .string("A\u{7}B")),
      ("verification_uri", .null), ("verification_uri", .string("http://id.example/activate")),
      ("verification_uri", .string("http://127.0.0.1/activate")),
      ("verification_uri", .string("javascript:alert(1)")),
      ("verification_uri", .string("https://id.example@evil.example/")),
    ])
  func badAnswer(member: String, value: JSON) throws {
    let bench = try Bench()
    bench.provider.change { $0.deviceAuthorization = { $0[member] = value } }
    expect(
      code { _ = try bench.engine().signIn.begin(SignInOptions(kind: .device), cancellation: nil) },
      is: .responseInvalid)
    #expect(try bench.record.transactions.isEmpty)
  }

  @Test(
    "expires_in and interval: a stated default or a clamp, never a crash, never forever (R32)",
    arguments: [
      (JSON.null, Int64(600), Int64(5)), (.integer(-1), 600, 5), (.string("soon"), 600, 5),
      (.integer(0), 600, 5),
      (.string("120"), 120, 120), (.number(90.9), 90, 90), (.integer(.max), 86_400, 300),
      (.number(1e300), 86_400, 300),
    ])
  func numbers(value: JSON, lifetime: Int64, interval: Int64) throws {
    let bench = try Bench()
    bench.provider.change {
      $0.deviceAuthorization = {
        $0["expires_in"] = value
        $0["interval"] = value
      }
    }
    let (_, begun) = try begun(bench)
    expect(begun.expiresAt, is: bench.clock.wallTime() + lifetime)
    guard case .device(let device?) = try bench.record.transactions.first?.flow else {
      throw Unexpected(what: "no device transaction")
    }
    expect(device.intervalSeconds, is: interval)
  }
}
