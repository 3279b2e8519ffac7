// Tests of registration and sign-in by e-mail: the rules of addresses, passwords and mails, and every form from a
// browser to the store.

import EnrollRules
import EnrollSteps
import EnrollCrypto
@testable import EnrollGatewayPages
import EnrollJSON
import EnrollPosix
import EnrollTesting
import Expectations
import Foundation
import Testing

@testable import EnrollGateway
@testable import EnrollGatewayStore
import EnrollHTTP

/// A mail server in memory.
final class TestMailServer: MailTransport {
  private let state = Guarded<(outcomes: [MailOutcome], sent: [MailMessage])>(([], []), by: Mutex())

  /// Sets the next answers; after them, every mail is accepted.
  func answer(_ outcomes: MailOutcome...) { state.withLock { $0.outcomes = outcomes } }

  func send(_ message: MailMessage) -> MailOutcome {
    state.withLock { state in
      let outcome = state.outcomes.isEmpty ? .sent : state.outcomes.removeFirst()
      if outcome == .sent { state.sent.append(message) }
      return outcome
    }
  }

  var sent: [MailMessage] { state.withLock { $0.sent } }
}

/// Admits every call, and runs an action once, just after a password was compared.
final class MomentGate: WorkGate {
  private let moment = Guarded<(@Sendable () -> Void)?>(nil, by: Mutex())

  func atNextMoment(_ body: @escaping @Sendable () -> Void) { moment.withLock { $0 = body } }
  func acquire() -> Bool { true }

  func release() {
    let body = moment.withLock { moment in
      defer { moment = nil }
      return moment
    }
    body?()
  }
}

final class OpenGate: WorkGate {
  private let full: Bool

  init(full: Bool = false) { self.full = full }

  func acquire() -> Bool { !full }
  func release() {}
}

extension MailMessage {
  var text: String {
    String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "=\r\n", with: "")
      .replacingOccurrences(of: "=3D", with: "=")
  }

  /// The first URL in the mail, without the origin.
  var target: String? {
    text.firstRange(of: TestGateway.origin + "/").map { range in
      "/" + text[range.upperBound...].prefix { !$0.isWhitespace && $0 != "<" && $0 != "\"" }
    }
  }
}

/// A gateway with registration, its outbox, and a mail server.
final class TestMailing {
  let base: TestGateway
  let server = TestMailServer()
  let outbox: Outbox
  let gateway: Gateway

  static let mail = JSON.object([
    ("server", .string("smtp://127.0.0.1:25")), ("from", .string("accounts@gateway.example")),
    ("unencrypted", .bool(true)),
  ])

  init(
    passwords: Bool = false, open: Bool = true, gate: any WorkGate = OpenGate(),
    _ more: [(String, JSON)] = []
  ) throws {
    let settings: [(String, JSON)] =
      [
        ("mail", Self.mail),
        ("registration", .object([("passwords", .bool(passwords)), ("open", .bool(open))])),
      ] + more
    base = try TestGateway(settings)
    let read = try TestGateway.settings(settings)
    let pages = Pages(theme: try Theme(product: "Test"), languages: try Languages())
    let (keys, mail, registration) = (
      try TestGateway.ring(base.clock), try #require(read.mail), try #require(read.registration)
    )
    outbox = Outbox(
      mail, store: base.store, keys: keys, pages: pages, clock: base.clock, random: SystemRandomSource(),
      log: base.log, makeLock: { Mutex() })
    gateway = Gateway(
      settings: read, keys: keys, store: base.store, providers: base.gateway.services.providers, pages: pages,
      clock: base.clock, random: SystemRandomSource(), log: base.log, mailer: outbox,
      registration: EmailRegistration(
        registration, outbox: outbox, store: base.store,
        hasher: PasswordHasher(gate: gate, random: SystemRandomSource())), makeLock: { Mutex() })
  }

  /// Sends the queued mails.
  /// - Returns: the mails of this call.
  func deliver() throws -> [MailMessage] {
    let before = server.sent.count
    while try outbox.send(by: server) > 0 {}
    return Array(server.sent.dropFirst(before))
  }

  /// Fills in a form and sends it.
  func fill(
    _ browser: TestBrowser, _ target: String, _ fields: [(String, String)] = [],
    headers: [HTTPHeader] = []
  ) -> WebResponse {
    let page = text(browser.get(target))
    let hidden = ["token", "visit"].compactMap { name in
      Self.hidden(name, in: page).map { (name, $0) }
    }
    let action = target.split(separator: "?").first.map { String($0) } ?? target
    return browser.post(action, form: hidden + fields, headers: headers)
  }

  static func hidden(_ name: String, in page: String) -> String? {
    guard let start = page.firstRange(of: "name=\"\(name)\" value=\"") else { return nil }
    return String(page[start.upperBound...].prefix { $0 != "\"" })
  }

  /// Registers, from the first form to the session.
  @discardableResult
  func register(_ browser: TestBrowser, _ email: String, password: String? = nil) throws -> WebResponse {
    _ = fill(browser, "/register", [("email", email), ("name", "Ada")])
    let link = try #require(try deliver().last?.target)
    return fill(browser, link, password.map { [("new-password", $0)] } ?? [])
  }
}

@Suite("Registration by e-mail")
struct EmailTests {
  private static let password = "five words nobody else says"

  @Test("a registration goes from the form over the mail to an account and a session")
  func whole() throws {
    let test = try TestMailing()
    let browser = TestBrowser(test.gateway)
    #expect(text(browser.get("/signup")).contains("href=\"/register\""))
    let sent = test.fill(browser, "/register", [("email", "Ada@Example.org"), ("name", "Ada")])
    expect(sent.header("Location"), is: "/register/email-sent")
    expect(browser.get("/register/email-sent").status, is: 200)
    let mail = try #require(try test.deliver().first)
    expect(mail.recipient, is: "Ada@Example.org")
    let link = try #require(mail.target)
    #expect(link.hasPrefix("/welcome/"))
    // The user opens the link in another browser, because the user reads the mail on a phone.
    let phone = TestBrowser(test.gateway)
    let arrived = test.fill(phone, link)
    expect(arrived.header("Location"), is: "/account")
    let page = text(phone.get("/account"))
    #expect(page.contains("Ada@Example.org"))
    let account = try #require(try test.base.store.person(emailKey: "ada@example.org"))
    let identities = try test.base.store.identities(ofAccount: AccountID(bytes: account.id.bytes))
    expect(identities.map(\.subject), is: [account.id.text])
    expect(identities.map(\.isEmailVerified), is: [true])
  }

  @Test("a scanner that opens every link spends none, and a link works once")
  func scanner() throws {
    let test = try TestMailing()
    let browser = TestBrowser(test.gateway)
    _ = test.fill(browser, "/register", [("email", "ada@example.org")])
    let link = try #require(try test.deliver().first?.target)
    for _ in 0..<5 { expect(TestBrowser(test.gateway).get(link).status, is: 200) }
    // A POST without the page's cookie and token must not use up the link either.
    expect(TestBrowser(test.gateway).post(link, form: []).status, is: 403)
    expect(test.fill(browser, link).status, is: 303)
    expect(browser.get(link).status, is: 410)
    let other = TestBrowser(test.gateway)
    _ = test.fill(other, "/register", [("email", "eve@example.org")])
    let fresh = try #require(try test.deliver().first?.target)
    let page = text(other.get(fresh))
    let token = try #require(TestMailing.hidden("token", in: page))
    expect(other.post(link, form: [("token", token)]).status, is: 410)
    expect(other.get("/welcome/" + String(repeating: "A", count: 43)).status, is: 404)
    expect(other.get("/welcome/short").status, is: 404)
    test.base.clock.advance(seconds: 86_400)
    expect(other.get(fresh).status, is: 410)
  }

  @Test("known and unknown addresses get the same answer; the mail goes to the address that is known")
  func sameAnswer() throws {
    let test = try TestMailing()
    try test.register(TestBrowser(test.gateway), "ada@example.org")
    let answers = ["ADA@example.org", "new@example.org"].map {
      // Mails are sent in the order of their times, which are whole seconds, so each mail gets another
      // second.
      test.base.clock.advance(seconds: 1)
      let answer = test.fill(TestBrowser(test.gateway), "/register", [("email", $0)])
      return [answer.status.description, answer.header("Location") ?? ""]
    }
    expect(answers[0], is: answers[1])
    let mails = try test.deliver()
    expect(mails.map(\.recipient), is: ["ada@example.org", "new@example.org"])
    expect(mails[0].target, is: "/signin")
    #expect(mails[0].text.contains("have one already"))
    #expect(mails[1].target?.hasPrefix("/welcome/") ?? false)
  }

  @Test("one address gets five mails in an hour, and the sixth answer is the same")
  func fewMails() throws {
    let test = try TestMailing()
    for _ in 0..<7 {
      test.base.clock.advance(seconds: 1)
      let answer = test.fill(TestBrowser(test.gateway), "/register", [("email", "ada@example.org")])
      expect(answer.header("Location"), is: "/register/email-sent")
    }
    try expect(test.deliver().count, is: 5)
    // The link of the newest sent mail must still work: an unsent mail must not replace that link.
    let link = try #require(test.server.sent.last?.target)
    expect(test.fill(TestBrowser(test.gateway), link).status, is: 303)
    test.base.clock.advance(seconds: 3_600)
    _ = test.fill(TestBrowser(test.gateway), "/register", [("email", "ada@example.org")])
    try expect(test.deliver().count, is: 1)
  }

  @Test("where registration is closed an unknown address gets no mail and the same answer")
  func closed() throws {
    let test = try TestMailing(open: false)
    let answer = test.fill(TestBrowser(test.gateway), "/register", [("email", "ada@example.org")])
    expect(answer.header("Location"), is: "/register/email-sent")
    #expect(try test.deliver().isEmpty)
  }

  @Test("without a password a mailed link signs in, and says which browser asked when it is another")
  func magicLink() throws {
    let test = try TestMailing()
    try test.register(TestBrowser(test.gateway), "ada@example.org")
    let browser = TestBrowser(test.gateway)
    let sent = test.fill(browser, "/signin", [("email", "ada@EXAMPLE.org")])
    expect(sent.header("Location"), is: "/signin/email-sent")
    let link = try #require(try test.deliver().first?.target)
    #expect(link.hasPrefix("/signin/"))
    #expect(!text(browser.get(link)).contains("another browser"))
    let other = TestBrowser(test.gateway)
    let page = text(other.get(link))
    #expect(page.contains("another browser") && page.contains("ada@example.org"))
    expect(test.fill(browser, link).header("Location"), is: "/account")
    expect(test.fill(browser, link).status, is: 403)
    expect(other.get(link).status, is: 410)
  }

  @Test(
    "an unknown address at the sign-in by link gets the mail of a registration, and a link lives a quarter of an hour"
  )
  func unknownLink() throws {
    let test = try TestMailing()
    let browser = TestBrowser(test.gateway)
    _ = test.fill(browser, "/signin", [("email", "new@example.org")])
    #expect(try test.deliver().first?.target?.hasPrefix("/welcome/") ?? false)
    try test.register(TestBrowser(test.gateway), "ada@example.org")
    _ = test.fill(browser, "/signin", [("email", "ada@example.org")])
    let link = try #require(try test.deliver().first?.target)
    test.base.clock.advance(seconds: 900)
    expect(browser.get(link).status, is: 410)
  }

  @Test(
    "with passwords: set on the welcome page, used at sign-in, replaced by mail and on the account page")
  func passwords() throws {
    let test = try TestMailing(passwords: true)
    let browser = TestBrowser(test.gateway)
    _ = test.fill(browser, "/register", [("email", "ada@example.org")])
    let link = try #require(try test.deliver().first?.target)
    let short = test.fill(browser, link, [("new-password", "too short")])
    expect(short.status, is: 422)
    #expect(text(short).contains("aria-describedby=\"new-password-error new-password-hint\""))
    #expect(!text(short).contains("too short\""))
    expect(test.fill(browser, link, [("new-password", Self.password)]).status, is: 303)

    let second = TestBrowser(test.gateway)
    let wrong = test.fill(second, "/signin", [("email", "ada@example.org"), ("password", "wrong")])
    let unknown = test.fill(second, "/signin", [("email", "ads@example.org"), ("password", "wrong")])
    #expect(wrong.status == 422 && unknown.status == 422)
    #expect(text(wrong).contains("or the password is wrong"))
    expect(text(wrong).replacingOccurrences(of: "ada@", with: "ads@").count, is: text(unknown).count)
    expect(
      test.fill(second, "/signin", [("email", "ADA@example.org"), ("password", Self.password)])
        .header("Location"), is: "/account")

    let third = TestBrowser(test.gateway)
    _ = test.fill(third, "/password/forgotten", [("email", "nobody@example.org")])
    #expect(try test.deliver().isEmpty)
    _ = test.fill(third, "/password/forgotten", [("email", "ada@example.org")])
    let reset = try #require(try test.deliver().first?.target)
    expect(test.fill(third, reset, [("new-password", "another five words to say")]).status, is: 303)
    #expect(try test.deliver().first?.text.contains("was changed") ?? false)
    expect(second.get("/account").header("Location"), is: "/login")
    expect(third.get("/account").status, is: 200)

    let unchanged = test.fill(
      third, "/account/password", [("password", Self.password), ("new-password", "x")])
    #expect(text(unchanged).contains("not your current password"))
    let changed = test.fill(
      third, "/account/password",
      [("password", "another five words to say"), ("new-password", "and yet another set of words")])
    expect(changed.header("Location"), is: "/account")
    try expect(test.deliver().map(\.recipient), is: ["ada@example.org"])
    expect(
      test.fill(
        TestBrowser(test.gateway), "/signin",
        [("email", "ada@example.org"), ("password", "and yet another set of words")]
      ).status, is: 303)
  }

  @Test("who has to confirm by e-mail that it is them goes on to the page that they wanted")
  func confirmation() throws {
    let test = try TestMailing()
    let browser = TestBrowser(test.gateway)
    try test.register(browser, "ada@example.org")
    test.base.clock.advance(seconds: 601)
    let confirm = try #require(browser.get("/account/delete").header("Location"))
    let form = try #require(browser.get(confirm).header("Location"))
    _ = test.fill(browser, form, [("email", "ada@example.org")])
    let link = try #require(try test.deliver().first?.target)
    expect(test.fill(browser, link).header("Location"), is: "/account/delete")
    expect(browser.get("/account/delete").status, is: 200)
  }

  @Test("whose password is replaced while it is compared is not signed in by the one from before")
  func replacedMeanwhile() throws {
    let gate = MomentGate()
    let test = try TestMailing(passwords: true, gate: gate)
    try test.register(TestBrowser(test.gateway), "ada@example.org", password: Self.password)
    let (store, now) = (test.base.store, test.base.clock.wallTime())
    let person = try #require(try store.person(emailKey: "ada@example.org"))
    let account = AccountID(bytes: person.id.bytes)
    try expect(store.sessions(ofAccount: account, at: now).count, is: 1)
    gate.atNextMoment {
      _ = try? store.setPassword(
        "of a reset", ofPerson: person.id, exceptTokenHash: nil, at: UnixTime(seconds: 0))
    }
    let thief = TestBrowser(test.gateway)
    let answer = test.fill(thief, "/signin", [("email", "ada@example.org"), ("password", Self.password)])
    expect(answer.status, is: 422)
    expect(thief.get("/account").header("Location"), is: "/login")
    #expect(try store.sessions(ofAccount: account, at: now).isEmpty)
  }

  @Test(
    "an address may be tried ten times in an hour, by all clients together; other addresses give it no more"
  )
  func tries() throws {
    let test = try TestMailing(passwords: true)
    func status(of email: String, from client: String) -> Int {
      let browser = TestBrowser(test.gateway, client: client)
      // An empty password is not hashed, but the attempt must count.
      return test.fill(browser, "/signin", [("email", email), ("password", "")]).status
    }
    for number in 0..<10 { expect(status(of: "a@example.org", from: "192.0.2.\(number)"), is: 422) }
    expect(status(of: "A@example.org", from: "198.51.100.1"), is: 429)
    for number in 0..<300 { _ = status(of: "b\(number)@example.org", from: "203.0.113.\(number % 20)") }
    expect(status(of: "a@example.org", from: "198.51.100.2"), is: 429)
  }

  @Test("one client may try thirty passwords in ten minutes, whosever they are")
  func triesOfAClient() throws {
    let test = try TestMailing(passwords: true)
    let browser = TestBrowser(test.gateway, client: "192.0.2.1")
    for number in 0..<30 {
      let fields = [("email", "a\(number)@example.org"), ("password", "")]
      expect(test.fill(browser, "/signin", fields).status, is: 422)
    }
    let refused = test.fill(browser, "/signin", [("email", "z@example.org"), ("password", "")])
    expect(refused.status, is: 429)
    expect(refused.header("Retry-After"), isNot: nil)
  }

  @Test("the account page leads to the page for a new password where there is one")
  func passwordLink() throws {
    for passwords in [true, false] {
      let test = try TestMailing(passwords: passwords)
      let browser = TestBrowser(test.gateway)
      try test.register(browser, "ada@example.org", password: passwords ? Self.password : nil)
      expect(text(browser.get("/account")).contains("href=\"/account/password\""), is: passwords)
      expect(browser.get("/account/password").status, is: passwords ? 200 : 404)
    }
  }

  @Test("a changed password is told at every verified address of the account, once each")
  func passwordIsTold() throws {
    let test = try TestMailing(passwords: true)
    let browser = TestBrowser(test.gateway)
    try test.register(browser, "ada@example.org", password: Self.password)
    let store = test.base.store
    let person = try #require(try store.person(emailKey: "ada@example.org"))
    let account = AccountID(bytes: person.id.bytes)
    for (subject, email, isVerified) in [
      ("1", "work@example.org", true), ("2", "ADA@example.org", true), ("3", "liar@example.org", false),
    ] {
      let other = try store.signIn(
        Identity(provider: "fake", subject: subject, email: email, isEmailVerified: isVerified),
        newAccountID: try #require(AccountID(UUID().uuidString.lowercased())),
        creating: .code(
          NewAppCode(
            codeHash: [UInt8](repeating: UInt8(subject) ?? 0, count: 32), app: "sample", provider: "fake",
            challenge: "c", expires: test.base.clock.wallTime())),
        at: test.base.clock.wallTime(), from: .program
      ).account.id
      _ = try store.number(
        "UPDATE identities SET account = (SELECT account FROM identities WHERE provider = 'email') "
          + "WHERE subject = '\(subject)'")
      expect(other, isNot: account)
    }
    let changed = test.fill(
      browser, "/account/password",
      [("password", Self.password), ("new-password", "another five words to say")])
    expect(changed.header("Location"), is: "/account")
    try expect(test.deliver().map(\.recipient).sorted(), is: ["ada@example.org", "work@example.org"])
  }

  @Test("without passwords there is no page for them")
  func noPasswordPages() throws {
    let test = try TestMailing()
    let browser = TestBrowser(test.gateway)
    for path in ["/password/forgotten", "/password/reset/x", "/account/password"] {
      expect(browser.get(path).status, is: 404)
    }
    let base = try TestGateway()
    for path in ["/register", "/signin", "/welcome/x"] {
      expect(TestBrowser(base.gateway).get(path).status, is: 404)
    }
  }

  @Test("a form of another site, or of another browser, is refused")
  func crossSite() throws {
    let test = try TestMailing()
    let browser = TestBrowser(test.gateway)
    let foreign = [HTTPHeader("Origin", "https://evil.example")]
    let field = [("email", "ada@example.org")]
    expect(test.fill(browser, "/register", field, headers: foreign).status, is: 403)
    let token = try #require(TestMailing.hidden("token", in: text(browser.get("/register"))))
    let other = TestBrowser(test.gateway)
    _ = other.get("/register")
    expect(other.post("/register", form: field + [("token", token)]).status, is: 403)
    #expect(try test.deliver().isEmpty)
  }

  @Test("bad addresses come back beside the field, and nothing is sent")
  func badAddresses() throws {
    let test = try TestMailing()
    for email in [
      "", "ada", "ada@", "@b.example", "a@b@c.example", "ada@example.org\r\nBcc: x@y.example",
      "\u{0430}da@example.org", "ada@ex\u{212A}ample.org", "\"a b\"@example.org", "a@[127.0.0.1]",
      String(repeating: "a", count: 65) + "@example.org", "a..b@example.org", "a@example",
      "a\u{0}@b.example",
      String(repeating: "a@", count: 5_000),
    ] {
      let answer = test.fill(TestBrowser(test.gateway), "/register", [("email", email)])
      #expect([422, 403].contains(answer.status), "\(email.debugDescription)")
      if answer.status == 422 { #expect(text(answer).contains("aria-invalid=\"true\"")) }
    }
    #expect(try test.deliver().isEmpty)
  }

  @Test("an app that waits gets its code after the welcome page, in whichever browser that is")
  func app() throws {
    let test = try TestMailing()
    let verifier = String(repeating: "v", count: 43)
    let challenge = try PKCE.challenge(for: Secret(verifier))
    let browser = TestBrowser(test.gateway)
    let started = browser.get(
      "/v1/auth/email?platform=mobile&prompt=create&state=s&code_challenge=\(challenge)&code_challenge_method=S256"
    )
    let page = try #require(started.header("Location"))
    #expect(page.hasPrefix("/register?visit="))
    _ = test.fill(browser, page, [("email", "ada@example.org")])
    let link = try #require(try test.deliver().first?.target)
    let phone = TestBrowser(test.gateway)
    let shown = phone.get(link)
    #expect(shown.header("Content-Security-Policy")?.contains("com.example.app:") ?? false)
    let arrived = try #require(test.fill(phone, link).header("Location"))
    #expect(arrived.hasPrefix("com.example.app:/callback?code="))
    expect(parameter("state", of: arrived), is: "s")
    let code = try #require(parameter("code", of: arrived))
    let body = JSON.object([("code", .string(code)), ("code_verifier", .string(verifier))]).serialized()
    let redeemed = test.gateway.answer(
      WebRequest(
        .post, "/v1/auth/email/redeem", headers: [HTTPHeader("Content-Type", "application/json")],
        body: body))
    expect(redeemed.status, is: 200)
    try expect(JSON.parse(redeemed.body)["session_token"]?.string, isNot: nil)
  }

  /// The link of a page whose path begins with this text.
  private func link(_ path: String, in page: WebResponse) -> String? {
    let page = text(page)
    guard let start = page.firstRange(of: "href=\"\(path)?") ?? page.firstRange(of: "href=\"\(path)\"") else {
      return nil
    }
    return String(page[start.lowerBound...].dropFirst("href=\"".count).prefix { $0 != "\"" })
      .replacing("&amp;", with: "&")
  }

  /// The form that an app's user gets.
  private func appStart(_ browser: TestBrowser, _ more: String = "") throws -> String {
    let challenge = try PKCE.challenge(for: Secret(String(repeating: "v", count: 43)))
    return try #require(
      browser.get(
        "/v1/auth/email?platform=mobile&state=s&code_challenge=\(challenge)&code_challenge_method=S256\(more)"
      ).header("Location"))
  }

  @Test("a user who forgot the password gets back to the app that waits")
  func forgottenForApp() throws {
    let test = try TestMailing(passwords: true)
    try test.register(TestBrowser(test.gateway), "ada@example.org", password: Self.password)
    let browser = TestBrowser(test.gateway)
    let form = browser.get(try appStart(browser))
    let forgotten = try #require(link("/password/forgotten", in: form))
    let sent = test.fill(browser, forgotten, [("email", "ada@example.org")])
    let page = browser.get(try #require(sent.header("Location")))
    // The page has a link to the form, which sends another e-mail.
    let again = try #require(link("/password/forgotten", in: page))
    _ = try test.deliver()
    test.base.clock.advance(seconds: 1)
    _ = test.fill(browser, again, [("email", "ada@example.org")])
    let reset = try #require(try test.deliver().first?.target)
    let arrived = try #require(
      test.fill(browser, reset, [("new-password", "another five words to say")]).header("Location"))
    #expect(arrived.hasPrefix("com.example.app:/callback?code="))
    expect(parameter("state", of: arrived), is: "s")
  }

  @Test(
    "each link between the pages of a sign-in keeps the app that waits, and so does the choice of providers")
  func linksForApp() throws {
    let test = try TestMailing()
    let browser = TestBrowser(test.gateway)
    let signIn = try #require(link("/login", in: browser.get(try appStart(browser))))
    let choice = browser.get(signIn)
    let other = browser.get(try #require(link("/signup", in: choice)))
    let register = try #require(link("/register", in: other))
    let sent = test.fill(browser, register, [("email", "ada@example.org")])
    let page = browser.get(try #require(sent.header("Location")))
    let again = try #require(link("/register", in: page))
    #expect(TestMailing.hidden("visit", in: text(browser.get(again))) != nil)
    let signUp = try #require(link("/signup", in: browser.get(again)))
    let provider = try #require(link("/v1/auth/fake", in: browser.get(signUp)))
    let back = browser.comeBack(from: browser.get(provider), by: test.base.provider)
    let arrived = try #require(back.header("Location"))
    #expect(arrived.hasPrefix("com.example.app:/callback?code="), "\(arrived)")
    expect(parameter("state", of: arrived), is: "s")
    let invalid = browser.get("/login?visit=x")
    expect(invalid.status, is: 403)
    expect(browser.get("/v1/auth/fake?visit=x").status, is: 403)
    expect(browser.get("/signin/email-sent?visit=x").status, is: 403)
  }

  @Test(
    "the e-mail that says that an address has an account leads back to the app, and a link back to `return_to`"
  )
  func mailForApp() throws {
    let test = try TestMailing()
    try test.register(TestBrowser(test.gateway), "ada@example.org")
    let browser = TestBrowser(test.gateway)
    _ = test.fill(browser, try appStart(browser, "&prompt=create"), [("email", "ada@example.org")])
    let signIn = try #require(try test.deliver().last?.target)
    #expect(signIn.hasPrefix("/signin?visit="))
    let sent = test.fill(browser, signIn, [("email", "ada@example.org")])
    #expect(sent.header("Location")?.hasPrefix("/signin/email-sent?visit=") ?? false)
    let arrived = test.fill(browser, try #require(try test.deliver().last?.target)).header("Location")
    #expect(arrived?.hasPrefix("com.example.app:/callback?code=") ?? false)

    let address = PercentEncoding.encode("https://app.example/welcome")
    let other = TestBrowser(test.gateway)
    let choice = other.get(try #require(link("/login", in: other.get("/signin?return_to=\(address)"))))
    let back = other.comeBack(
      from: other.get(try #require(link("/v1/auth/fake", in: choice))), by: test.base.provider)
    expect(back.header("Location"), is: "https://app.example/welcome")
  }

  @Test("the policy of a form for an app at [::1] allows the scheme: a policy cannot name an IPv6 address")
  func policyOfIPv6() throws {
    let app = JSON.object([
      ("title", .string("Sample")), ("redirectUris", .array([.string("http://[::1]/callback")])),
    ])
    let test = try TestMailing([("apps", .object([("sample", app)]))])
    let browser = TestBrowser(test.gateway)
    let address = PercentEncoding.encode("http://[::1]:1234/callback")
    let page = browser.get(try appStart(browser, "&redirect_uri=\(address)"))
    let policy = try #require(page.header("Content-Security-Policy"))
    #expect(policy.contains("form-action 'self' http:;"), "\(policy)")
    #expect(!policy.contains("["))
  }

  @Test(
    "the app that named itself by clientId is returned to by its fallback address; no other address is followed"
  )
  func fallback() throws {
    let app = JSON.object([
      ("title", .string("Sample")), ("redirectUris", .array([.string("com.example.app:/callback")])),
      ("fallbackUri", .string("com.example.app://identity/fallback")),
    ])
    let test = try TestMailing([("apps", .object([("sample", app)]))])
    let browser = TestBrowser(test.gateway)
    _ = test.fill(browser, "/register?clientId=sample", [("email", "ada@example.org")])
    let link = try #require(try test.deliver().first?.target)
    expect(test.fill(browser, link).header("Location"), is: "com.example.app://identity/fallback")
    _ = test.fill(browser, "/signin?clientId=unknown", [("email", "ada@example.org")])
    let second = try #require(try test.deliver().first?.target)
    expect(test.fill(browser, second).header("Location"), is: "/account")
    for query in ["fromURI=https://evil.example/", "return_to=https://evil.example/", "visit=forged"] {
      #expect([400, 403].contains(browser.get("/register?" + query).status))
    }
    _ = test.fill(
      browser, "/signin?return_to=https%3A%2F%2Fapp.example%2Fwelcome", [("email", "ada@example.org")])
    let third = try #require(try test.deliver().first?.target)
    expect(test.fill(browser, third).header("Location"), is: "https://app.example/welcome")
  }
}

@Suite("Mail")
struct MailRuleTests {
  @Test("addresses are compared without case, and by nothing cleverer")
  func keys() throws {
    try expect(EmailAddress(" Ada.L+x@Example.ORG ").key, is: "ada.l+x@example.org")
    try expect(EmailAddress("Ada@x.example").text, is: "Ada@x.example")
    try expect(EmailAddress("a.b@gmail.com").key, isNot: EmailAddress("ab@gmail.com").key)
    #expect(throws: EmailAddress.Refusal.notASCII) { try EmailAddress("\u{212A}ate@example.org") }
  }

  @Test("a mail that the server refuses for now waits longer each time, one refused for good is gone")
  func backoff() throws {
    let test = try TestMailing()
    _ = test.fill(TestBrowser(test.gateway), "/register", [("email", "ada@example.org")])
    for pause: Int64 in [30, 60, 120] {
      test.server.answer(.failed("451"))
      try expect(test.outbox.send(by: test.server), is: 1)
      test.base.clock.advance(seconds: pause - 1)
      try expect(test.outbox.send(by: test.server), is: 0)
      test.base.clock.advance(seconds: 1)
    }
    try expect(test.deliver().count, is: 1)
    try expect(test.base.store.waitingMails(), is: 0)
    _ = test.fill(TestBrowser(test.gateway), "/register", [("email", "eve@example.org")])
    test.server.answer(.refused("550"))
    try expect(test.outbox.send(by: test.server), is: 1)
    try expect(test.base.store.waitingMails(), is: 0)
    #expect(!test.base.log.all.joined().contains("example.org"))
  }

  @Test("a crash between sending and removing sends the mail again, under the same Message-ID")
  func again() throws {
    let test = try TestMailing()
    _ = test.fill(TestBrowser(test.gateway), "/register", [("email", "ada@example.org")])
    // A replica leased the mail, and died.
    try expect(test.base.store.takeMails(1, leaseSeconds: 120, at: test.base.clock.wallTime()).count, is: 1)
    try expect(test.outbox.send(by: test.server), is: 0)
    test.base.clock.advance(seconds: 120)
    try expect(test.deliver().count, is: 1)
  }

  @Test("after its link's end a mail is given up")
  func givenUp() throws {
    let test = try TestMailing()
    _ = test.fill(TestBrowser(test.gateway), "/register", [("email", "ada@example.org")])
    test.base.clock.advance(seconds: 86_400)
    try expect(test.outbox.send(by: test.server), is: 1)
    #expect(test.server.sent.isEmpty)
    try expect(test.base.store.waitingMails(), is: 0)
  }

  @Test("the database has no token and no address of a mail that waits")
  func sealed() throws {
    let test = try TestMailing()
    _ = test.fill(TestBrowser(test.gateway), "/register", [("email", "ada@example.org")])
    let taken = try test.base.store.takeMails(1, leaseSeconds: 1, at: test.base.clock.wallTime())
    expect(taken.count, is: 1)
    #expect(!taken[0].sealed.contains("ada@") && !taken[0].sealed.contains("/welcome/"))
  }

  @Test("no value begins a header, every line is short ASCII, and both parts say the same")
  func message() throws {
    let settings = try MailSettings(
      json: .object([
        ("server", .string("smtps://mail.example:465")), ("from", .string("a@gateway.example")),
        ("fromName", .string("Ämter, \"Nord\" <x@y.example>")),
      ]))
    let pages = Pages(
      theme: try Theme(product: "Zo\u{eb}’s.Notes"), languages: try Languages())
    let link = try PageLink(web: "https://gateway.example/welcome/" + String(repeating: "a", count: 43))
    for language in pages.languages.all {
      for mail in Mail.allCases {
        let content = pages.mail(
          MailPage(
            mail, link: mail.hasLink ? link : nil, provider: "G\r\nBcc: eve@example.org",
            device: "x\r\nBcc: eve"),
          in: language)
        let message = MailMessage(
          content, from: settings, product: "Zo\u{eb}", to: try EmailAddress("ada@example.org"),
          language: language, id: "id", boundary: "b0undary", at: UnixTime(seconds: 1_795_514_700))
        let lines = String(decoding: message.bytes, as: UTF8.self).components(separatedBy: "\r\n")
        #expect(lines.allSatisfy { $0.utf8.count <= 78 && $0.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } })
        let head = lines.prefix { !$0.isEmpty }
        #expect(head.contains("Date: Tue, 24 Nov 2026 10:05:00 +0000"))
        #expect(!head.contains { $0.lowercased().hasPrefix("bcc") || $0.contains("<x@y") })
        #expect(!lines.contains { $0.hasPrefix(".") })
        expect(lines.count { $0 == "--b0undary" }, is: 2)
      }
    }
  }
}

@Suite("Passwords")
struct PasswordTests {
  @Test("a hash verifies its own password alone, and has its parameters with it")
  func hash() throws {
    let hasher = PasswordHasher(gate: OpenGate(), random: SystemRandomSource())
    let password = "\u{1F9A6} köpft keine Äpfel, nie"
    let stored = try hasher.hash(Secret(password))
    #expect(stored.hasPrefix("$scrypt$15$8$1$"))
    #expect(try hasher.verify(Secret(password), against: stored))
    #expect(try !hasher.verify(Secret(password + " "), against: stored))
    #expect(try !hasher.verify(Secret(password), against: nil))
    try expect(hasher.hash(Secret(password)), isNot: stored)
    #expect(throws: EnrollError.self) { try hasher.verify(Secret("x"), against: "$md5$1") }
    let full = PasswordHasher(gate: OpenGate(full: true), random: SystemRandomSource())
    #expect(throws: EnrollError.self) { try full.hash(Secret(password)) }
  }

  @Test(
    "which passwords are taken",
    arguments: [
      ("fourteen chars", FieldError.passwordShort), ("fifteen chars..", nil),
      ("passwordpassword", .passwordCommon), ("Password1234567!", .passwordCommon),
      ("aaaaaaaaaaaaaaaaaa", .passwordCommon), ("abcdeabcdeabcdeabcde", .passwordCommon),
      ("abcdefghijklmnopq", .passwordCommon), ("1234567890123456", .passwordCommon),
      ("ada.lovelace@example.org", .passwordCommon), ("ada.lovelace@example.org1", .passwordCommon),
      ("Ada.Lovelace@example.orgada.lovelace@example.org", .passwordCommon),
      ("AdaLovelace2026", .passwordCommon), ("ada.lovelace on a bicycle", nil),
      ("sieben Zwerge im Wald", nil),
      ("tab\tin a long password", .passwordRefused), ("nul\u{0}in a long password", .passwordRefused),
      ("жёлтая подводная лодка", nil), ("👩🏽‍🚀👩🏽‍🚀👩🏽‍🚀👩🏽‍🚀", .passwordCommon),
    ] as [(String, FieldError?)])
  func rule(password: String, error: FieldError?) {
    expect(PasswordRule.error(in: password, email: "ada.lovelace@example.org"), is: error)
  }

  @Test("a password of 10,000 bytes is refused before it is hashed")
  func long() {
    expect(
      PasswordRule.error(in: String(repeating: "äb", count: 3_334), email: "a@b.example"), is: .passwordLong)
  }
}
