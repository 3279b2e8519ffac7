import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Expectations
import Foundation
import Testing

@Suite("Passwordless sign-in in Auth0's dialect (flows.md §6)")
struct PasswordlessStepTests {
  private static let mail = Recipient(.email, address: "alice@example.org")
  private static let phone = Recipient(.sms, address: "+31612345678")

  private func bench(requiresConfirmation: Bool = false) throws -> Bench {
    try Bench(requiresConfirmation: requiresConfirmation, passwordless: .auth0)
  }

  private func options(
    _ recipient: Recipient? = mail, _ message: PasswordlessMessage = .code
  ) -> SignInOptions {
    SignInOptions(kind: .passwordless, recipient: recipient, message: message)
  }

  private func body(_ request: HTTPRequest?) throws -> JSON { try JSON.parse(request?.body ?? []) }

  private func submit(_ engine: Engine, _ begun: Transaction, _ code: String) throws
    -> Settlement
  {
    try engine.passwordless.submitCode(Secret(code), transactionID: begun.transactionID, cancellation: nil)
  }

  @Test("a code by e-mail: D, codePending, G, H, and the type is PASSWORDLESS")
  func codeByMail() throws {
    let bench = try bench(requiresConfirmation: true)
    let engine = bench.engine()
    let begun = try engine.signIn.begin(options(), cancellation: nil)
    expect(begun.action, is: .enterCode(recipient: "alice@example.org"))
    #expect(begun.redirectURI == nil && begun.survivesProcess)
    expect(engine.state, is: .authenticating(transactionID: begun.transactionID, step: .codePending))
    let start = try #require(bench.provider.requests(.passwordless).first)
    #expect(start.freshConnection)
    try expect(
      body(start),
      is: .object([
        ("client_id", .string("native")), ("connection", .string("email")),
        ("email", .string("alice@example.org")), ("send", .string("code")),
      ]))

    guard case .succeeded(.awaitingConfirmation) = try submit(engine, begun, "123456").ending else {
      throw Unexpected(what: "\(engine.state)")
    }
    let redeem = try #require(bench.provider.requests(.token).first)
    #expect(redeem.freshConnection)
    expect(
      String(decoding: redeem.body, as: UTF8.self),
      is: "grant_type=http%3A%2F%2Fauth0.com%2Foauth%2Fgrant-type%2Fpasswordless%2Fotp"
        + "&username=alice%40example.org&otp=123456&realm=email&scope=openid+offline_access&client_id=native")
    try expect(engine.registration.confirm(), is: .active(.confirmed))
    try expect(engine.registration.readAccount().registrationType, is: "PASSWORDLESS")
    expect(code { _ = try submit(engine, begun, "123456") }, is: .alreadySettled)
  }

  @Test("a code by SMS")
  func codeBySMS() throws {
    let bench = try bench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(options(Self.phone), cancellation: nil)
    let start = try body(bench.provider.requests(.passwordless).first)
    #expect(start["connection"] == .string("sms") && start["phone_number"] == .string("+31612345678"))
    expect(start["email"], is: nil)
    guard case .succeeded = try submit(engine, begun, "123456").ending else {
      throw Unexpected(what: "\(engine.state)")
    }
    let redeem = String(decoding: try #require(bench.provider.requests(.token).first).body, as: UTF8.self)
    #expect(redeem.contains("username=%2B31612345678") && redeem.contains("realm=sms"))
  }

  @Test("a wrong code: said so, still pending, and the right one works, in another process too")
  func wrong() throws {
    let bench = try bench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(options(), cancellation: nil)
    do {
      _ = try submit(engine, begun, "000000")
      Issue.record("a wrong code was taken")
    } catch let error as EnrollError {
      #expect(error.code == .codeRejected && error.blame == .user && error.oauthError == "invalid_grant")
      #expect(error.message.contains("4 tries") && !error.message.contains("000000"))
    }
    expect(engine.state, is: .authenticating(transactionID: begun.transactionID, step: .codePending))
    #expect(bench.seen.names.contains("error.reported"))
    let second = bench.engine()
    expect(code { _ = try submit(second, begun, "000001") }, is: .codeRejected)
    expect(second.state, is: .authenticating(transactionID: begun.transactionID, step: .codePending))
    guard case .succeeded = try submit(second, begun, "123456").ending else {
      throw Unexpected(what: "\(second.state)")
    }
  }

  @Test("the fifth wrong code ends it, whatever the provider would allow, in any process")
  func bounded() throws {
    let bench = try bench()
    let begun = try bench.engine().signIn.begin(options(), cancellation: nil)
    for _ in 1...4 { expect(code { _ = try submit(bench.engine(), begun, "000000") }, is: .codeRejected) }
    let engine = bench.engine()
    guard case .failed(let error) = try submit(engine, begun, "000000").ending else {
      throw Unexpected(what: "\(engine.state)")
    }
    expect(error.code, is: .accessDenied)
    expect(engine.state.kind, is: .registrationFailed)
    expect(code { _ = try submit(engine, begun, "123456") }, is: .alreadySettled)
    expect(bench.provider.count(.token), is: 5)
  }

  @Test(
    "the provider takes no more tries: it ends as the provider says",
    arguments: [403, 429])
  func endedByProvider(status: Int) throws {
    let bench = try bench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(options(), cancellation: nil)
    bench.provider.next(.token, .status(status, body: #"{"error":"too_many_attempts"}"#))
    guard case .failed(let error) = try submit(engine, begun, "000000").ending else {
      throw Unexpected(what: "\(engine.state)")
    }
    #expect(error.oauthError == "too_many_attempts" && error.code == .oauth)
    expect(engine.state.kind, is: .registrationFailed)
  }

  @Test("trouble on the way or at the server costs no try, and the code may be sent again (R33)")
  func trouble() throws {
    let bench = try bench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(options(), cancellation: nil)
    bench.provider.next(.token, .unreachable, .timeout, .status(503), .status(429))
    for expected in [EnrollError.Code.network, .timeout, .server, .server] {
      expect(code { _ = try submit(engine, begun, "123456") }, is: expected)
      expect(engine.state, is: .authenticating(transactionID: begun.transactionID, step: .codePending))
    }
    for _ in 1...4 { expect(code { _ = try submit(engine, begun, "000000") }, is: .codeRejected) }
    guard case .succeeded = try submit(engine, begun, "123456").ending else {
      throw Unexpected(what: "\(engine.state)")
    }
  }

  static let elsewhere: [(Int, String)] = [
    (200, "<html>Sign in to the Wi-Fi"), (200, ""), (200, #"{"status":"ok"}"#), (400, "<html>"),
    (401, "<html>"),
    (401, ""), (403, "<html>Forbidden"), (403, #"{"message":"Forbidden"}"#),
    (404, #"{"error":"invalid_grant"}"#), (407, #"{"error":"access_denied"}"#), (451, "<html>"),
  ]

  @Test("what only somebody in between can have said costs no try, and ends nothing", arguments: elsewhere)
  func somebodyElse(status: Int, body: String) throws {
    let bench = try bench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(options(), cancellation: nil)
    for _ in 1...6 {
      bench.provider.next(.token, .status(status, body: body))
      expect(code { _ = try submit(engine, begun, "123456") }, is: .responseInvalid)
      expect(engine.state, is: .authenticating(transactionID: begun.transactionID, step: .codePending))
    }
    guard case .succeeded = try submit(engine, begun, "123456").ending else {
      throw Unexpected(what: "\(engine.state)")
    }
  }

  @Test("a code is not spent while the tokens could not be checked: keys first")
  func keysFirst() throws {
    let bench = try bench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(options(), cancellation: nil)
    bench.provider.next(.keys, .unreachable)
    expect(code { _ = try submit(engine, begun, "123456") }, is: .keysUnavailable)
    expect(bench.provider.count(.token), is: 0)
  }

  @Test("tries are counted before the code leaves: a process that dies gives none back")
  func countedFirst() throws {
    let bench = try bench()
    let begun = try bench.engine().signIn.begin(options(), cancellation: nil)
    nonisolated(unsafe) var tries: Int64 = -1
    bench.provider.next(
      .token,
      .during {
        if case .oneTimeCode(let code?) = (try? bench.record)?.transactions.first?.flow { tries = code.tries }
      })
    _ = try submit(bench.engine(), begun, "123456")
    expect(tries, is: 1)
  }

  @Test("after the deadline a code is not sent (R12)")
  func expired() throws {
    let bench = try bench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(options(), cancellation: nil)
    bench.clock.advance(seconds: 600)
    expect(code { _ = try submit(engine, begun, "123456") }, is: .transactionExpired)
    expect(bench.provider.count(.token), is: 0)
  }

  @Test("a code for what waits for none is refused")
  func notAwaited() throws {
    let bench = try bench()
    let engine = bench.engine()
    let signIn = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    expect(code { _ = try submit(engine, signIn, "123456") }, is: .illegalState)
    let link = try engine.signIn.begin(options(Self.mail, .link), cancellation: nil)
    expect(code { _ = try submit(engine, link, "123456") }, is: .illegalState)
    expect(
      code {
        _ = try engine.passwordless.submitCode(Secret("1"), transactionID: "nobody", cancellation: nil)
      },
      is: .notFound)
    let begun = try engine.signIn.begin(options(), cancellation: nil)
    for bad in ["", "12 34", "12\n", String(repeating: "1", count: 65), "é"] {
      expect(code { _ = try submit(engine, begun, bad) }, is: .invalidArgument)
    }
    expect(bench.provider.count(.token), is: 0)
  }

  @Test("a link by e-mail comes back as a redirect, with state, nonce and PKCE (R7, R13)")
  func link() throws {
    let bench = try bench(requiresConfirmation: true)
    let begun = try bench.engine().signIn.begin(options(Self.mail, .link), cancellation: nil)
    expect(begun.action, is: .awaitLink(recipient: "alice@example.org"))
    expect(begun.redirectURI, is: "com.example.app:/callback")
    // The transaction has the same lifetime as every transaction with an e-mail.
    expect(begun.expiresAt, is: bench.clock.wallTime() + 86_400)
    let start = try body(bench.provider.requests(.passwordless).first)
    let parameters = try #require(start["authParams"])
    expect(start["send"], is: .string("link"))
    expect(parameters["response_type"], is: .string("code"))
    expect(parameters["redirect_uri"], is: .string("com.example.app:/callback"))
    expect(parameters["code_challenge_method"], is: .string("S256"))
    expect(parameters["scope"], is: .string("openid offline_access"))
    let query = (parameters.object?.members ?? []).map { "\($0.key)=\($0.value.string ?? "")" }
      .joined(separator: "&").replacingOccurrences(of: " ", with: "%20")

    // Another process, much later.
    bench.clock.advance(seconds: 20_000)
    let engine = bench.engine()
    try expect(
      engine.registration.adoptStoredState(),
      is: .known(.authenticating(transactionID: begun.transactionID, step: .emailPending)))
    expect(
      code {
        _ = try engine.signIn.resume("com.example.app:/callback?code=x&state=nobody", cancellation: nil)
      },
      is: .unsolicited)
    let redirect = bench.provider.signIn(at: "https://id.example/authorize?client_id=native&" + query)
    guard
      case .succeeded(.awaitingConfirmation) = try engine.signIn.resume(redirect, cancellation: nil).ending
    else { throw Unexpected(what: "\(engine.state)") }
    try expect(engine.registration.confirm(), is: .active(.confirmed))
    try expect(engine.registration.readAccount().registrationType, is: "PASSWORDLESS")
  }

  @Test(
    "what can be no address or number is refused before anything is sent",
    arguments: [
      (Recipient.Connection.email, ""), (.email, "alice"), (.email, "@example.org"), (.email, "alice@"),
      (.email, "a@b@example.org"), (.email, "al ice@example.org"), (.email, "alice@example.org\nBcc: x@y"),
      (.email, "alice@.example.org"), (.email, "alice@example..org"), (.email, "alice@-example.org"),
      (.email, ".alice@example.org"), (.email, "alice<x>@example.org"), (.email, "\"alice\"@example.org"),
      (.email, String(repeating: "a", count: 65) + "@example.org"),
      (.email, "a@" + String(repeating: "b", count: 256)),
      (.sms, ""), (.sms, "0612345678"), (.sms, "+0612345678"), (.sms, "+31 6 12345678"), (.sms, "+1234567"),
      (.sms, "+1234567890123456"), (.sms, "+3161234567x"), (.sms, "alice@example.org"),
    ])
  func badRecipient(connection: Recipient.Connection, address: String) throws {
    let bench = try bench()
    do {
      _ = try bench.engine().signIn.begin(options(Recipient(connection, address: address)), cancellation: nil)
      Issue.record("\(address) was taken")
    } catch {
      expect(error.code, is: .invalidArgument)
      expect(error.field, is: connection == .email ? "email" : "phoneNumber")
    }
    expect(bench.provider.count(.passwordless), is: 0)
    #expect(try bench.record.transactions.isEmpty)
  }

  @Test(
    "addresses and numbers that people have",
    arguments: [
      (Recipient.Connection.email, "a.b+c@sub.example.co"), (.email, "o'neil_1@example.org"),
      (.email, "j\u{f6}rg@m\u{fc}nchen.example"), (.email, "alice@localhost"), (.sms, "+31612345678"),
      (.sms, "+12345678"), (.sms, "+123456789012345"),
    ])
  func goodRecipient(connection: Recipient.Connection, address: String) throws {
    _ = try bench().engine().signIn.begin(options(Recipient(connection, address: address)), cancellation: nil)
  }

  @Test("no dialect, no recipient, a link by SMS, options without a place: refused with words")
  func refusals() throws {
    expect(code { _ = try Bench().engine().signIn.begin(options(), cancellation: nil) }, is: .unsupported)
    let bench = try bench()
    var odd = options()
    odd.prompt = "login"
    var oddLink = options(Self.mail, .link)
    oddLink.acrValues = ["a"]
    let wrong: [(String, SignInOptions)] = [
      ("email", options(nil)), ("message", options(Self.phone, .link)), ("prompt", odd),
      ("acrValues", oddLink),
      ("email", SignInOptions(kind: .signIn, recipient: Self.mail)),
    ]
    for (field, options) in wrong {
      do {
        _ = try bench.engine().signIn.begin(options, cancellation: nil)
        Issue.record("\(field) was accepted")
      } catch {
        #expect(error.code == .invalidArgument && error.field == field)
      }
    }
    expect(bench.provider.count(.passwordless), is: 0)
  }

  @Test("a provider that sends nothing begins nothing, and says why")
  func notSent() throws {
    let bench = try bench()
    let engine = bench.engine()
    bench.provider.next(.passwordless, .status(400, body: #"{"error":"bad.email"}"#), .status(503))
    do {
      _ = try engine.signIn.begin(options(), cancellation: nil)
      Issue.record("begun")
    } catch {
      #expect(error.code == .oauth && error.oauthError == "bad.email")
    }
    expect(code { _ = try engine.signIn.begin(options(Self.mail, .link), cancellation: nil) }, is: .server)
    #expect(try bench.record.transactions.isEmpty)
    expect(engine.state, is: .unregistered)
  }
}
