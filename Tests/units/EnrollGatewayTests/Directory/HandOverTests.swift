// Signs in on the gateway's pages and continues at the directory's provider: with a session of the directory,
// or with a password that the provider asks for. The browser then returns to the destination of the sign-in.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollGatewayPages
import EnrollJSON
import EnrollPosix
import EnrollTesting
import Expectations
import Foundation
import Testing

@testable import EnrollGateway
import EnrollHTTP

/// An external directory with one user.
final class HandOverDirectory: Directory {
  struct State {
    var person = DirectoryPerson(id: "7", email: "ada@example.org", state: .staged)
    var check: PasswordCheck = .rejected
    var passwordFailure: DirectoryFailure?
    var calls: [String] = []
  }

  let name = "house"
  let checksPasswords: Bool
  private let state: Guarded<State>

  init(checksPasswords: Bool = true) {
    self.checksPasswords = checksPasswords
    state = Guarded(State(), by: Mutex())
  }

  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
  var calls: [String] { state.withLock { $0.calls } }
  private func note(_ call: String) -> State {
    state.withLock { state in
      state.calls.append(call)
      return state
    }
  }

  func person(with email: EmailAddress) throws(DirectoryFailure) -> DirectoryPerson? { note("find").person }
  func create(_ email: EmailAddress, name: String?) throws(DirectoryFailure) -> DirectoryPerson {
    note("create").person
  }
  func activate(_ id: String) throws(DirectoryFailure) { _ = note("activate") }
  func setPassword(_ password: Secret, of id: String) throws(DirectoryFailure) {
    if let failure = note("password").passwordFailure { throw failure }
  }
  func check(_ password: Secret, of email: EmailAddress) throws(DirectoryFailure) -> PasswordCheck {
    note("check").check
  }
  func state(of id: String) throws(DirectoryFailure) -> DirectoryPerson.State { note("state").person.state }
}

/// A gateway with a directory whose users sign in at the provider `fake`.
struct HandOverWorld {
  let base: TestGateway
  let directory: HandOverDirectory
  let gateway: Gateway
  let browser: TestBrowser

  static let fromURI = "https://id.example/oauth2/v1/authorize?okta_key=a%2Fb"
  static let password = "four words, put together"

  init(checksPasswords: Bool = true) throws {
    let kind =
      checksPasswords
      ? #"{"kind": "okta", "url": "https://org.example", "token": "t", "provider": "fake"}"#
      : #"{"kind": "scim", "url": "https://org.example", "token": "t", "provider": "fake"}"#
    let mail =
      #"{"server": "smtp://127.0.0.1:25", "unencrypted": true, "from": "accounts@gateway.example"}"#
    let app =
      #"{"native": {"title": "App", "redirectUris": ["com.example.app:/cb"], "fallbackUri": "com.example.app://identity/fallback"}}"#
    func json(_ text: String) throws -> JSON { try JSON.parse(Array(text.utf8)) }
    let settings = [
      ("directory", try json(kind)), ("mail", try json(mail)),
      ("registration", try json(#"{"passwords": true}"#)), ("apps", try json(app)),
    ]
    base = try TestGateway(settings)
    let read = try TestGateway.settings(settings)
    let directory = HandOverDirectory(checksPasswords: checksPasswords)
    self.directory = directory
    let pages = Pages(theme: try Theme(product: "Test"), languages: try Languages())
    let keys = try TestGateway.ring(base.clock)
    let outbox = Outbox(
      try #require(read.mail), store: base.store, keys: keys, pages: pages, clock: base.clock,
      random: SystemRandomSource(), log: base.log, makeLock: { Mutex() })
    gateway = Gateway(
      settings: read, keys: keys, store: base.store, providers: base.gateway.services.providers, pages: pages,
      clock: base.clock, random: SystemRandomSource(), log: base.log, mailer: outbox,
      registration: EmailRegistration(
        try #require(read.registration), outbox: outbox, store: base.store, other: directory,
        hasher: PasswordHasher(gate: AlwaysOpen(), random: SystemRandomSource())), makeLock: { Mutex() })
    browser = TestBrowser(gateway)
  }

  private final class AlwaysOpen: WorkGate {
    func acquire() -> Bool { true }
    func release() {}
  }

  /// Fills in the form of a page.
  func submit(_ page: WebResponse, to path: String, _ fields: [(String, String)]) -> WebResponse {
    let markup = text(page)
    let hidden = ["token", "visit"].compactMap { name -> (String, String)? in
      guard let found = markup.firstRange(of: "name=\"\(name)\" value=\"") else { return nil }
      return (name, String(markup[found.upperBound...].prefix { $0 != "\"" }))
    }
    return browser.post(path, form: hidden + fields)
  }

  func signIn(_ query: String) -> WebResponse {
    submit(
      browser.get("/signin" + query), to: "/signin",
      [("email", "ada@example.org"), ("password", Self.password)])
  }

  /// A link that was mailed.
  func link() throws -> String {
    let (token, hash) = try RandomToken.make(SystemRandomSource())
    let link = NewMailLink(
      tokenHash: hash, purpose: .activation, email: try EmailAddress("ada@example.org"),
      expires: base.clock.wallTime() + 3600)
    let mail = NewMail(
      id: try #require(MailID("01990000-0000-7000-8000-000000000001")), sealed: "x",
      expires: base.clock.wallTime() + 1)
    try base.store.keep(link, mail: mail, at: base.clock.wallTime())
    return "/welcome/" + token
  }

  func accept() {
    let ada = DirectoryPerson(id: "7", email: "ada@example.org", state: .active)
    directory.change { $0.check = .accepted(ada, session: Secret("20111sessionToken")) }
  }

  func comesBack(from answer: WebResponse) -> WebResponse {
    browser.comeBack(from: answer, by: base.provider)
  }
}

@Suite("from the gateway to the directory's provider")
struct HandOverTests {
  @Test("a right password becomes the provider's session, and the request that waits goes on")
  func fromURI() throws {
    let world = try HandOverWorld()
    world.accept()
    let page = world.browser.get(
      "/signin?clientId=native&fromURI=" + PercentEncoding.encode(HandOverWorld.fromURI))
    expect(page.status, is: 200)
    #expect(!text(page).contains("okta_key"))
    expect(
      page.header("Content-Security-Policy")?.contains(
        "form-action 'self' https://id.example"), is: true)
    let sent = world.submit(
      page, to: "/signin", [("email", "ada@example.org"), ("password", HandOverWorld.password)])
    let location = sent.header("Location") ?? ""
    #expect(location.hasPrefix("https://id.example/"))
    expect(parameter("sessionToken", of: location), is: "20111sessionToken")
    expect(parameter("prompt", of: location), is: "none")
    let back = world.comesBack(from: sent)
    expect(back.header("Location"), is: HandOverWorld.fromURI)
    #expect(world.browser.cookies.contains { $0.name == GatewaySessions.sessionCookie })
    #expect(
      !world.base.log.all.contains { $0.contains("20111sessionToken") || $0.contains(HandOverWorld.password) }
    )
  }

  @Test("an answer that a browser repeats is no error, and no URL has where the first one went")
  func repeated() throws {
    let world = try HandOverWorld()
    world.accept()
    let target = world.browser.callback(from: world.signIn("?clientId=native"), by: world.base.provider)
    let before = world.browser.cookies
    expect(world.browser.get(target).header("Location"), is: "com.example.app://identity/fallback")
    let after = world.browser.cookies
    world.browser.cookies = before
    let second = try #require(world.browser.get(target).header("Location"))
    #expect(second.hasSuffix("/callback?used=1"))
    world.browser.cookies = after
    expect(world.browser.get(second).header("Location"), is: "/account")
  }

  @Test(
    "without a fromURI the app's fallback is next, then the address of the list, then the account page",
    arguments: [
      ("?clientId=native", "com.example.app://identity/fallback"),
      ("?return_to=https://app.example/welcome", "https://app.example/welcome"),
      ("?clientId=nobody", "/account"), ("", "/account"),
    ])
  func destinations(query: String, destination: String) throws {
    let world = try HandOverWorld()
    world.accept()
    expect(world.comesBack(from: world.signIn(query)).header("Location"), is: destination)
  }

  @Test(
    "a fromURI that is not the issuer's authorize address is refused, on every page that takes one",
    arguments: [
      "https://evil.example/oauth2/v1/authorize", "https://id.example/logout", "javascript:alert(1)", "",
    ])
  func foreignAddresses(address: String) throws {
    let world = try HandOverWorld()
    for path in ["/signin", "/register", try world.link()] {
      let page = world.browser.get(path + "?fromURI=" + PercentEncoding.encode(address))
      expect(page.status, is: 400)
      #expect(!text(page).contains("evil"))
    }
  }

  @Test("a field of the form that this gateway did not seal leads nowhere")
  func forgedVisits() throws {
    let world = try HandOverWorld()
    world.accept()
    let page = world.browser.get("/signin")
    let answer = world.submit(
      page, to: "/signin",
      [("email", "ada@example.org"), ("password", HandOverWorld.password), ("visit", "one.AAAA")])
    expect(answer.status, is: 403)
    expect(world.directory.calls, is: [])
  }

  @Test("what the directory says instead of yes signs nobody in")
  func otherAnswers() throws {
    let world = try HandOverWorld()
    expect(world.signIn("").status, is: 422)
    world.directory.change { $0.check = .locked }
    expect(world.signIn("").status, is: 422)
    world.directory.change { $0.check = .incomplete }
    let step = world.signIn("")
    expect(step.status, is: 403)
    #expect(text(step).contains("One more step is needed"))
    world.directory.change { $0.check = .expired }
    expect(world.signIn("").header("Location"), is: "/password/forgotten")
    #expect(!world.browser.cookies.contains { $0.name == GatewaySessions.sessionCookie })
  }

  @Test("a registration ends with activation, password and session; one identity stands for the person")
  func welcome() throws {
    let world = try HandOverWorld()
    world.accept()
    let link = try world.link()
    let page = world.browser.get(link + "?fromURI=" + PercentEncoding.encode(HandOverWorld.fromURI))
    expect(world.directory.calls, is: [])
    let sent = world.submit(page, to: link, [("new-password", HandOverWorld.password)])
    expect(world.directory.calls, is: ["create", "activate", "password", "check"])
    expect(parameter("sessionToken", of: sent.header("Location") ?? ""), is: "20111sessionToken")
    expect(world.comesBack(from: sent).header("Location"), is: HandOverWorld.fromURI)
    expect(world.base.log.all.filter { $0.contains(" registered") }.count, is: 1)
    expect(world.browser.get(link).status, is: 410)
  }

  @Test("a password that the directory refuses is asked for again, and the link stays good")
  func refusedPassword() throws {
    let world = try HandOverWorld()
    world.accept()
    world.directory.change { $0.passwordFailure = .invalidPassword("no") }
    let link = try world.link()
    let again = world.submit(world.browser.get(link), to: link, [("new-password", HandOverWorld.password)])
    expect(again.status, is: 422)
    world.directory.change { $0.passwordFailure = .unavailable("away") }
    let away = world.submit(world.browser.get(link), to: link, [("new-password", HandOverWorld.password)])
    expect(away.status, is: 503)
    world.directory.change { $0.passwordFailure = nil }
    expect(
      world.submit(world.browser.get(link), to: link, [("new-password", HandOverWorld.password)]).status,
      is: 303)
  }

  @Test(
    "somebody whom the directory has suspended is not activated",
    arguments: [DirectoryPerson.State.suspended, .locked])
  func suspended(state: DirectoryPerson.State) throws {
    let world = try HandOverWorld()
    world.directory.change { $0.person.state = state }
    let link = try world.link()
    let answer = world.submit(world.browser.get(link), to: link, [("new-password", HandOverWorld.password)])
    expect(answer.status, is: 403)
    expect(world.directory.calls, is: ["create"])
  }

  @Test("where the directory checks no passwords, the provider asks for them")
  func withoutChecks() throws {
    let world = try HandOverWorld(checksPasswords: false)
    expect(world.browser.get("/signin").header("Location"), is: "/v1/auth/fake")
    let toProvider = try #require(
      world.browser.get("/signin?return_to=https://app.example/welcome").header("Location"))
    #expect(toProvider.hasPrefix("/v1/auth/fake?visit="))
    let back = world.comesBack(from: world.browser.get(toProvider))
    expect(back.header("Location"), is: "https://app.example/welcome")
    let link = try world.link()
    let sent = world.submit(world.browser.get(link), to: link, [("new-password", HandOverWorld.password)])
    expect(world.directory.calls, is: ["create", "activate", "password"])
    let location = sent.header("Location") ?? ""
    #expect(location.hasPrefix("https://id.example/"))
    expect(parameter("sessionToken", of: location), is: nil)
    expect(parameter("prompt", of: location), is: nil)
    expect(parameter("login_hint", of: location), is: "ada@example.org")
    expect(world.comesBack(from: sent).header("Location"), is: "/account")
  }
}
