import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollTesting
import Expectations
import Foundation
import Testing

private let link = "https://app.example/welcome/token-1"
private let fallback = "com.example.app://identity/fallback"

extension Engine {
  fileprivate func follow(_ url: String) throws -> HandledLink? {
    try links.handleLink(url, listening: { _ throws(EnrollError) in nil }, cancellation: nil)
  }

  /// The transaction that the link begins.
  fileprivate func began(_ url: String) throws -> Transaction {
    guard case .begun(let begun) = try follow(url) else { throw Unexpected(what: "nothing was begun") }
    return begun
  }

  /// The reason why a link is refused; nil if it is not refused.
  fileprivate func refused(_ url: String) throws -> LinkRefusal.Reason? {
    guard case .refused(let refusal) = try follow(url) else { return nil }
    return refusal.reason
  }

  /// A registration whose user left the browser.
  fileprivate func waiting() throws -> Transaction {
    let begun = try signIn.begin(SignInOptions(kind: .register), cancellation: nil)
    _ = try registration.cancel(transactionID: begun.transactionID)
    return begun
  }

  fileprivate func finish(_ url: String) throws -> RegistrationState {
    guard case .succeeded(let state) = try signIn.resume(url, cancellation: nil).ending else {
      throw Unexpected(what: "the sign-in failed")
    }
    return state
  }
}

private func parameter(_ name: String, _ url: String) -> String? {
  URLComponents(string: url)?.queryItems?.first { $0.name == name }?.value
}

@Suite("Registration by e-mail link (flows.md §3)")
struct RegistrationLinkTests {
  @Test("begin by configuration: the authorize URL, the same with prompt=create, the gateway's own page")
  func begin() throws {
    let options = SignInOptions(kind: .register)
    let plain = try Bench().engine().signIn.begin(options, cancellation: nil)
    expect(parameter("prompt", plain.url), is: nil)
    let create = try Bench(registration: .promptCreate).engine().signIn.begin(options, cancellation: nil)
    expect(parameter("prompt", create.url), is: "create")
    let bench = try Bench(registration: .page("https://gate.example/register"))
    let engine = bench.engine()
    let page = try engine.signIn.begin(options, cancellation: nil)
    expect(page.action, is: .openURL("https://gate.example/register"))
    #expect(page.redirectURI == nil && page.survivesProcess)
    expect(engine.state, is: .authenticating(transactionID: page.transactionID, step: .emailPending))
    expect(bench.provider.count(.discovery), is: 0)
    expect(page.expiresAt.since(bench.clock.wallTime()), is: 86_400, "an e-mail wait: 24 hours (R12)")
  }

  @Test("what could not be sent to the gateway's own page is refused, not dropped")
  func pageOptions() throws {
    let engine = try Bench(registration: .page("https://gate.example/register")).engine()
    for options in [
      SignInOptions(kind: .register, prompt: "login"), SignInOptions(kind: .register, loginHint: "a"),
      SignInOptions(kind: .register, uiLocales: ["nl"]),
      SignInOptions(kind: .register, parameters: [("a", "b")]),
    ] {
      expect(code { _ = try engine.signIn.begin(options, cancellation: nil) }, is: .invalidArgument)
    }
    expect(engine.state, is: .unregistered)
  }

  @Test("nothing that comes back settles a transaction of the gateway's own page (R6)")
  func pageHasNoRedirect() throws {
    let bench = try Bench(registration: .page("https://gate.example/register"))
    let engine = bench.engine()
    _ = try engine.signIn.begin(SignInOptions(kind: .register), cancellation: nil)
    let before = try bench.record
    for url in ["com.example.app:/callback?code=a&state=", "com.example.app:/callback?code=a"] {
      expect(code { _ = try engine.signIn.resume(url, cancellation: nil) }, is: .unsolicited)
    }
    try expect(bench.record, is: before)
  }

  @Test("a browser that was left: the registration waits for its link, and a late redirect still wins (R12)")
  func left() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(kind: .register), cancellation: nil)
    expect(engine.state, is: .authenticating(transactionID: begun.transactionID, step: .browser))
    let waiting = RegistrationState.authenticating(transactionID: begun.transactionID, step: .emailPending)
    try expect(engine.registration.cancel(transactionID: begun.transactionID), is: waiting)
    try expect(engine.registration.cancel(transactionID: nil), is: waiting, "the hint may come again")
    try expect(engine.registration.adoptStoredState(), is: .known(waiting))
    try expect(engine.finish(bench.provider.signIn(at: begun.url)), is: .active(.confirmed))
  }

  @Test("the wait survives death and a reboot, and ends with emailWait")
  func survives() throws {
    let bench = try Bench()
    let begun = try bench.engine().signIn.begin(SignInOptions(kind: .register), cancellation: nil)
    let waiting = RegistrationState.authenticating(transactionID: begun.transactionID, step: .emailPending)
    try expect(
      bench.engine().registration.adoptStoredState(), is: .known(waiting),
      "the browser was left with the process")
    bench.clock.advance(seconds: 43_200)
    bench.clock.reboot(bootID: "boot-2")
    let later = bench.engine()
    try expect(later.registration.adoptStoredState(), is: .known(waiting))
    bench.clock.advance(seconds: 43_100)
    try expect(later.registration.adoptStoredState(), is: .known(waiting))
    bench.clock.advance(seconds: 200)
    try expect(later.registration.adoptStoredState(), is: .known(.unregistered))
    try expect(later.refused(link), is: .expired)
  }

  @Test(
    "the wait of a loopback redirect's registration survives its process, though its listener does not (R4)")
  func loopback() throws {
    let bench = try Bench(redirectURI: "http://127.0.0.1/callback")
    let begun = try bench.engine().signIn.begin(
      SignInOptions(kind: .register), loopbackRedirectURI: "http://127.0.0.1:5000/callback", cancellation: nil
    )
    #expect(!begun.survivesProcess)
    let later = bench.engine()
    try expect(
      later.registration.adoptStoredState(),
      is: .known(.authenticating(transactionID: begun.transactionID, step: .emailPending)))
    var asked: TransactionID?
    let outcome = try later.links.handleLink(
      link,
      listening: { origin throws(EnrollError) in
        asked = origin
        return "http://127.0.0.1:5001/callback"
      }, cancellation: nil)
    expect(asked, is: begun.transactionID)
    guard case .begun(let next) = outcome else { throw Unexpected(what: "\(String(describing: outcome))") }
    #expect(next.redirectURI == "http://127.0.0.1:5001/callback" && !next.survivesProcess)
  }

  @Test(
    "a link leads to a new authorize URL with its token, and from there to tokens that settle the wait too")
  func authorize() throws {
    let bench = try Bench(registration: .promptCreate, parameters: [("activation_token", "old")])
    let engine = bench.engine()
    let waiting = try engine.signIn.begin(
      SignInOptions(kind: .register, scopes: ["openid", "email"], maxAgeSeconds: 9_000_000_000),
      cancellation: nil)
    let next = try engine.began(link)
    expect(next.transactionID, isNot: waiting.transactionID)
    expect(parameter("activation_token", next.url), is: "token-1")
    expect(next.url.components(separatedBy: "activation_token=").count, is: 2, "once (RFC 6749 §3.1)")
    expect(parameter("prompt", next.url), is: nil, "the account is there")
    #expect(parameter("scope", next.url) == "openid email" && parameter("max_age", next.url) == "9000000000")
    expect(parameter("state", next.url), isNot: parameter("state", waiting.url))
    expect(engine.state, is: .authenticating(transactionID: next.transactionID, step: .browser))
    expect(next.expiresAt.since(bench.clock.wallTime()), is: 600)

    try expect(engine.finish(bench.provider.signIn(at: next.url)), is: .active(.confirmed))
    try expect(engine.transactions.transactionStatus(waiting.transactionID), is: .succeeded)
    try expect(engine.refused(link), is: .used)
    try expect(engine.refused("https://app.example/welcome/token-2"), is: .unsolicited)
    let late = bench.provider.signIn(at: waiting.url)
    expect(code { _ = try engine.signIn.resume(late, cancellation: nil) }, is: .alreadySettled)
  }

  @Test("a link that nobody asked for stores and completes nothing (R11)")
  func unsolicited() throws {
    let bench = try Bench()
    let engine = bench.engine()
    _ = try engine.registration.adoptStoredState()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let before = try bench.record
    let requests = bench.provider.count(.discovery)
    guard case .refused(let refusal) = try engine.follow(link) else { throw Unexpected(what: "begun") }
    expect(refusal, is: LinkRefusal(.unsolicited, offers: [.signIn, .register]))
    try expect(bench.record, is: before, "a sign-in waits for no link")
    expect(bench.provider.count(.discovery), is: requests)
    expect(engine.state, is: .authenticating(transactionID: begun.transactionID, step: .browser))
    // The same link works once the host has begun a registration.
    _ = try engine.signIn.begin(SignInOptions(kind: .register), cancellation: nil)
    _ = try engine.began(link)
  }

  @Test("a link works once, in this process and in any other (R11)")
  func twice() throws {
    let bench = try Bench()
    let engine = bench.engine()
    _ = try engine.waiting()
    _ = try engine.began(link)
    try expect(engine.refused(link), is: .used)
    try expect(bench.engine().refused(link + "#again"), is: .used)
    try expect(bench.record.transactions.count, is: 2)
    guard case .refused(let refusal) = try engine.follow(link) else { throw Unexpected(what: "begun") }
    expect(refusal.offers, is: [.signIn, .register])
    // The user requested another e-mail: its link works.
    _ = try engine.began("https://app.example/welcome/token-2")
  }

  @Test("the same link in two processes at once: one goes on")
  func atOnce() throws {
    let bench = try Bench()
    let engine = bench.engine()
    _ = try engine.waiting()
    let second = bench.engine()
    nonisolated(unsafe) var other: HandledLink?
    let fresh = bench.engine()
    bench.provider.next(.discovery, .during { other = try? second.follow(link) })
    let first = try fresh.follow(link)
    let outcomes = [first, other].map { outcome -> String in
      switch outcome {
      case .begun: "begun"
      case .refused(let refusal): refusal.reason.rawValue
      case nil: "nothing"
      }
    }
    expect(Set(outcomes), is: ["begun", "used"])
  }

  @Test("without a network the link is not used up")
  func offline() throws {
    let bench = try Bench()
    _ = try bench.engine().waiting()
    let engine = bench.engine()
    let before = try bench.record
    bench.provider.next(.discovery, .unreachable)
    expect(code { _ = try engine.follow(link) }, is: .network)
    try expect(bench.record, is: before)
    _ = try engine.began(link)
  }

  @Test("an activation that fails says so, and another link may come")
  func failed() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let waiting = try engine.waiting()
    let next = try engine.began(link)
    let answer = bench.provider.refuse(next.url, error: "access_denied")
    guard case .failed(let error) = try engine.signIn.resume(answer, cancellation: nil).ending else {
      throw Unexpected(what: "it succeeded")
    }
    #expect(error.code == .activationFailed && error.oauthError == "access_denied")
    expect(engine.state, is: .registrationFailed(error))
    try expect(engine.transactions.transactionStatus(waiting.transactionID), is: .pending)
    _ = try engine.began("https://app.example/welcome/token-2")
  }

  @Test("opened in another browser: signing in works beside the wait")
  func elsewhere() throws {
    let bench = try Bench()
    let engine = bench.engine()
    _ = try engine.waiting()
    let signIn = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    try expect(engine.finish(bench.provider.signIn(at: signIn.url)), is: .active(.confirmed))
    try expect(bench.engine().registration.adoptStoredState(), is: .known(.active(.valid)))
  }

  @Test("the tab of an activation was closed, or it took too long: the wait for a link is the state again")
  func backToWaiting() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let begun = try engine.waiting()
    let waiting = RegistrationState.authenticating(transactionID: begun.transactionID, step: .emailPending)
    let first = try engine.began(link)
    try expect(engine.registration.cancel(transactionID: first.transactionID), is: waiting)
    _ = try engine.began("https://app.example/welcome/token-2")
    bench.clock.advance(seconds: 601)
    try expect(engine.registration.adoptStoredState(), is: .known(waiting))
    // The redirect of a cancelled transaction may still succeed.
    let third = try engine.began("https://app.example/welcome/token-3")
    _ = try engine.registration.cancel(transactionID: third.transactionID)
    try expect(engine.finish(bench.provider.signIn(at: third.url)), is: .active(.confirmed))
  }

  @Test(
    "beside a session the session is the state again once the browser was left, and a link is taken all the same"
  )
  func besideSession() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let begun = try engine.signIn.begin(SignInOptions(kind: .register), cancellation: nil)
    try expect(engine.registration.cancel(transactionID: begun.transactionID), is: .active(.confirmed))
    try expect(engine.registration.adoptStoredState(), is: .known(.active(.confirmed)))
    try expect(bench.engine().registration.adoptStoredState(), is: .known(.active(.valid)))
    let next = try engine.began(link)
    try expect(engine.finish(bench.provider.signIn(at: next.url)), is: .active(.confirmed))
  }

  @Test("only retry gives the wait up; a link that comes all the same still works (R12)")
  func givenUp() throws {
    let bench = try Bench()
    let engine = bench.engine()
    _ = try engine.waiting()
    try expect(engine.registration.retry(cancellation: nil), is: .unregistered)
    try expect(bench.engine().registration.adoptStoredState(), is: .known(.unregistered))
    _ = try engine.began(link)
    try expect(engine.logout.clear(), is: .unregistered)
    try expect(engine.refused("https://app.example/welcome/token-2"), is: .unsolicited)
  }

  @Test("several registrations wait: the newest that waits gets the link, all are known")
  func several() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let first = try engine.signIn.begin(
      SignInOptions(kind: .register, scopes: ["openid", "a"]), cancellation: nil)
    _ = try engine.signIn.begin(SignInOptions(kind: .register, scopes: ["openid", "b"]), cancellation: nil)
    expect(parameter("scope", try engine.began(link).url), is: "openid b")
    try expect(engine.refused(link), is: .used)
    try expect(engine.finish(bench.provider.signIn(at: first.url)), is: .active(.confirmed))
  }

  @Test("the welcome page is rebuilt from its template and returns by the fallback (R10)")
  func openPage() throws {
    let bench = try Bench(
      activation: .openPage, welcomePage: "https://gate.example/welcome/{activationToken}/set")
    let engine = bench.engine()
    let waiting = try engine.waiting()
    let page = try engine.began(link + "#https://evil.example")
    expect(page.action, is: .openURL("https://gate.example/welcome/token-1/set"))
    expect(page.transactionID, is: waiting.transactionID)
    expect(engine.state, is: .authenticating(transactionID: waiting.transactionID, step: .browser))
    try expect(engine.refused(link), is: .used)
    let silent = try engine.began(fallback)
    #expect(parameter("prompt", silent.url) == "none" && parameter("activation_token", silent.url) == nil)
    try expect(engine.finish(bench.provider.signIn(at: silent.url)), is: .active(.confirmed))
    try expect(engine.transactions.transactionStatus(waiting.transactionID), is: .succeeded)
  }

  @Test("without a page of its own the link itself is opened")
  func openLink() throws {
    let engine = try Bench(activation: .openPage).engine()
    _ = try engine.waiting()
    try expect(engine.began(link).action, is: .openURL(link))
    _ = try engine.registration.cancel(transactionID: nil)
    #expect(try engine.began("https://app.example/welcome/token-2").url.hasSuffix("token-2"))
  }

  @Test("while a profile waits for confirmation no link begins anything")
  func confirmationFirst() throws {
    let bench = try Bench(requiresConfirmation: true)
    let engine = bench.engine()
    let waiting = try engine.waiting()
    let second = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    _ = try engine.finish(bench.provider.signIn(at: second.url))
    let before = try bench.record
    expect(code { _ = try engine.follow(link) }, is: .illegalState)
    try expect(bench.record, is: before)
    try expect(engine.transactions.transactionStatus(waiting.transactionID), is: .pending)
  }

  @Test("the token is in no record, state, event or error, and neither is its link")
  func secrecy() throws {
    let bench = try Bench()
    let engine = bench.engine()
    _ = try engine.waiting()
    _ = try engine.began("https://app.example/welcome/very-secret-token")
    var document = ""
    dump(try bench.record, to: &document)
    #expect(!document.contains("very-secret-token"))
    #expect(!"\(engine.state)".contains("very-secret-token"))
    let stored = AccountDocument(account: .default, lineage: "l", record: try bench.record).encoded()
    #expect(!stored.reveal().contains("very-secret-token"))
    try expect(AccountDocument(decoding: stored).record, is: bench.record)
  }

  @Test("forged links take the place of their own sign-in alone: what else waits is not pushed out")
  func forgedLinks() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let real = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    _ = try engine.waiting()
    for number in 0..<40 {
      _ = try engine.began("https://app.example/welcome/forged-\(number)")
      _ = try engine.began(fallback)
    }
    #expect(try bench.record.transactions.filter { $0.isOpen }.count <= 5)
    // The last link is accepted, and so is the redirect of the first transaction.
    let last = try engine.began("https://app.example/welcome/genuine")
    _ = try engine.finish(bench.provider.signIn(at: real.url))
    _ = try engine.finish(bench.provider.signIn(at: last.url))
  }

  @Test("remembered links are bounded")
  func bounded() throws {
    let bench = try Bench(activation: .openPage)
    let engine = bench.engine()
    _ = try engine.waiting()
    for number in 0..<40 { _ = try engine.began("https://app.example/welcome/t\(number)") }
    guard case .registration(let registration)? = try bench.record.transactions.first?.flow else {
      throw Unexpected(what: "no registration")
    }
    expect(registration.spentLinks.hashes.count, is: 32)
    try expect(engine.refused("https://app.example/welcome/t39"), is: .used)
  }
}

@Suite("The fallback link (flows.md §4)")
struct FallbackTests {
  @Test("with nothing pending it is unsolicited, and nothing happens")
  func unsolicited() throws {
    let bench = try Bench()
    let engine = bench.engine()
    guard case .refused(let refusal) = try engine.follow(fallback) else { throw Unexpected(what: "begun") }
    expect(refusal, is: LinkRefusal(.unsolicited, offers: [.signIn]))
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    _ = try engine.signIn.resume(url, cancellation: nil)
    try expect(engine.refused(fallback), is: .unsolicited, "settled is not pending")
    expect(bench.provider.count(.token), is: 1)
  }

  @Test("while a sign-in is pending it asks silently for the same, and settles both")
  func silent() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(
      SignInOptions(scopes: ["openid", "email"], acrValues: ["gold"]), cancellation: nil)
    let silent = try engine.began(fallback)
    expect(parameter("prompt", silent.url), is: "none")
    #expect(parameter("scope", silent.url) == "openid email" && parameter("acr_values", silent.url) == "gold")
    bench.provider.change { $0.claims = { $0["acr"] = .string("gold") } }
    try expect(engine.finish(bench.provider.signIn(at: silent.url)), is: .active(.confirmed))
    try expect(engine.transactions.transactionStatus(begun.transactionID), is: .succeeded)
  }

  @Test("after its deadline it is too late")
  func expired() throws {
    let bench = try Bench()
    let engine = bench.engine()
    _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    bench.clock.advance(seconds: 601)
    try expect(engine.refused(fallback), is: .expired)
  }

  @Test(
    "nobody is signed in there: an ordinary sign-in follows, once and never round in a circle",
    arguments: [
      ("login_required", EnrollError.Code.loginRequired), ("interaction_required", .interactionRequired),
      ("consent_required", .consentRequired),
    ])
  func noCircle(error: String, expected: EnrollError.Code) throws {
    let bench = try Bench()
    let engine = bench.engine()
    let first = try engine.signIn.begin(SignInOptions(scopes: ["openid", "email"]), cancellation: nil)
    let silent = try engine.began(fallback)
    let settlement = try engine.signIn.resume(
      bench.provider.refuse(silent.url, error: error), cancellation: nil)
    guard case .failed(let failure) = settlement.ending else { throw Unexpected(what: "it succeeded") }
    expect(failure.code, is: expected)
    // An answer with which the flow continues is not reported as a failure.
    #expect(bench.seen.reported.isEmpty)
    let ordinary = try #require(
      try engine.links.signIn(
        after: settlement, listening: { _ throws(EnrollError) in nil }, cancellation: nil))
    #expect(parameter("prompt", ordinary.url) == nil && parameter("scope", ordinary.url) == "openid email")
    guard case .refused(let refusal) = try engine.follow(fallback) else { throw Unexpected(what: "a circle") }
    expect(refusal, is: LinkRefusal(.used, offers: [.signIn]))
    // An error of the ordinary sign-in is final: no further sign-in follows.
    let answer = bench.provider.refuse(ordinary.url, error: error)
    let last = try engine.signIn.resume(answer, cancellation: nil)
    let after = try engine.links.signIn(
      after: last, listening: { _ throws(EnrollError) in nil }, cancellation: nil)
    expect(after, is: nil)
    expect(bench.seen.reported.map(\.code), is: [expected])
    try expect(engine.refused(fallback), is: .used)
    // The first transaction's own redirect still succeeds.
    try expect(engine.finish(bench.provider.signIn(at: first.url)), is: .active(.confirmed))
  }

  @Test("an ordinary refusal, and an answer without iss where all have one, start no automatic step (R17)")
  func noAutomaticStep() throws {
    for (error, extra) in [("access_denied", "&iss="), ("login_required", "&other=")] {
      let bench = try Bench()
      let engine = bench.engine()
      _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
      let silent = try engine.began(fallback)
      let answer = bench.provider.refuse(silent.url, error: error).replacingOccurrences(
        of: "&iss=", with: extra)
      let settlement = try engine.signIn.resume(answer, cancellation: nil)
      try expect(
        engine.links.signIn(
          after: settlement, listening: { _ throws(EnrollError) in nil }, cancellation: nil),
        is: nil)
    }
  }

  @Test("two fallbacks at once: one goes on")
  func atOnce() throws {
    let bench = try Bench()
    _ = try bench.engine().signIn.begin(SignInOptions(), cancellation: nil)
    let second = bench.engine()
    nonisolated(unsafe) var other: LinkRefusal.Reason?
    let engine = bench.engine()
    bench.provider.next(.discovery, .during { other = (try? second.refused(fallback)) ?? nil })
    let first = try engine.refused(fallback)
    #expect([first, other].contains(.used) && [first, other].contains(nil))
  }

  @Test("a new link of an e-mail may fall back anew; the same chain may not twice")
  func oncePerLink() throws {
    let bench = try Bench(activation: .openPage)
    let engine = bench.engine()
    _ = try engine.waiting()
    _ = try engine.began(link)
    _ = try engine.began(fallback)
    try expect(engine.refused(fallback), is: .used)
    _ = try engine.began("https://app.example/welcome/token-2")
    _ = try engine.began(fallback)
    try expect(engine.refused(fallback), is: .used)
  }

  @Test("a provider that announces no silent sign-in is not asked for one")
  func unsupported() throws {
    let bench = try Bench()
    bench.provider.change { $0.metadata = { $0["prompt_values_supported"] = .array([.string("login")]) } }
    let engine = bench.engine()
    _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    expect(code { _ = try engine.follow(fallback) }, is: .unsupported)
  }
}

@Suite("A closed tab is a hint (R12)")
struct ClosedTabTests {
  @Test("many at once, some cancelled, one after the other: every redirect still finds its own")
  func many() throws {
    let bench = try Bench(requiresConfirmation: false)
    let engine = bench.engine()
    let begun = try (0..<8).map { number in
      try engine.signIn.begin(
        SignInOptions(kind: number.isMultiple(of: 2) ? .signIn : .register), cancellation: nil)
    }
    _ = try engine.registration.cancel(transactionID: begun[0].transactionID)
    _ = try engine.registration.cancel(transactionID: begun[1].transactionID)
    _ = try engine.registration.cancel(transactionID: nil)
    for transaction in [begun[3], begun[0], begun[7], begun[1]] {
      let later = bench.engine()
      try expect(later.finish(bench.provider.signIn(at: transaction.url)), is: .active(.confirmed))
      try expect(later.transactions.transactionStatus(transaction.transactionID), is: .succeeded)
    }
    expect(bench.provider.count(.token), is: 4)
    try expect(engine.transactions.transactionStatus(begun[2].transactionID), is: .cancelled)
    try expect(engine.transactions.transactionStatus(begun[5].transactionID), is: .pending)
  }

  @Test("a cancelled one ends with its deadline")
  func deadline() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    _ = try engine.registration.cancel(transactionID: begun.transactionID)
    bench.clock.advance(seconds: 601)
    let url = bench.provider.signIn(at: begun.url)
    expect(code { _ = try engine.signIn.resume(url, cancellation: nil) }, is: .transactionExpired)
  }
}
