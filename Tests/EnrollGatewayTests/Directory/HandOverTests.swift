// From the gateway's pages to the provider of the directory's house: with a session of the directory's, or with a password that the provider
// asks for; and from there to where the visit leads.

import EnrollCore
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

/// A directory elsewhere, with one person.
final class HouseDirectory: Directory {
  struct State {
    var person = DirectoryPerson(id: "7", email: "ada@example.org", state: .staged)
    var check: PasswordCheck = .wrong
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

/// A gateway whose people are in a house with the provider `fake`.
struct House {
  let base: TestGateway
  let directory: HouseDirectory
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
    let directory = HouseDirectory(checksPasswords: checksPasswords)
    self.directory = directory
    let pages = Pages(theme: try Theme(product: "Test"), languages: try Languages())
    let keys = try TestGateway.ring(base.clock)
    let outbox = Outbox(
      try #require(read.mail), store: base.store, keys: keys, pages: pages, clock: base.clock,
      random: SystemRandomSource(), log: base.log, makeLock: { Mutex() })
    gateway = Gateway(
      settings: read, keys: keys, store: base.store, providers: base.gateway.providers, pages: pages,
      clock: base.clock, random: SystemRandomSource(), log: base.log, mailer: outbox,
      registration: EmailRegistration(
        try #require(read.registration), outbox: outbox, store: base.store, other: directory,
        hasher: PasswordHasher(gate: AlwaysOpen(), random: SystemRandomSource())), makeLock: { Mutex() })
    browser = TestBrowser(gateway)
  }

  private final class AlwaysOpen: WorkGate {
    func enter() -> Bool { true }
    func leave() {}
  }

  /// Fills the form of a page in.
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
    let (token, hash) = try OneTimeText.make(SystemRandomSource())
    let link = NewMailLink(
      tokenHash: hash, purpose: .activation, email: try EmailAddress("ada@example.org"),
      expires: base.clock.wallTime() + 3600)
    let mail = NewMail(
      id: "01990000-0000-7000-8000-000000000001", sealed: "x", expires: base.clock.wallTime() + 1)
    try base.store.keep(link, mail: mail, at: base.clock.wallTime())
    return "/welcome/" + token
  }

  func accept() {
    let ada = DirectoryPerson(id: "7", email: "ada@example.org", state: .active)
    directory.change { $0.check = .right(ada, session: Secret("20111sessionToken")) }
  }

  func comesBack(from answer: WebResponse) -> WebResponse {
    browser.comeBack(from: answer, by: base.provider)
  }
}

@Suite("from the gateway to the provider of the house")
struct HandOverTests {
  @Test("a right password becomes the provider's session, and the request that waits goes on")
  func fromURI() throws {
    let house = try House()
    house.accept()
    let page = house.browser.get("/signin?clientId=native&fromURI=" + PercentEncoding.encode(House.fromURI))
    expect(page.status, is: 200)
    #expect(!text(page).contains("okta_key"))
    expect(
      page.header("Content-Security-Policy")?.contains(
        "form-action 'self' https://id.example"), is: true)
    let sent = house.submit(
      page, to: "/signin", [("email", "ada@example.org"), ("password", House.password)])
    let location = sent.header("Location") ?? ""
    #expect(location.hasPrefix("https://id.example/"))
    expect(parameter("sessionToken", of: location), is: "20111sessionToken")
    expect(parameter("prompt", of: location), is: "none")
    let back = house.comesBack(from: sent)
    expect(back.header("Location"), is: House.fromURI)
    #expect(house.browser.cookies.contains { $0.name == Gateway.sessionCookie })
    #expect(
      !house.base.log.all.contains { $0.contains("20111sessionToken") || $0.contains(House.password) })
  }

  @Test("an answer that a browser repeats is no error, and no URL has where the first one went")
  func repeated() throws {
    let house = try House()
    house.accept()
    let target = house.browser.callback(from: house.signIn("?clientId=native"), by: house.base.provider)
    let before = house.browser.cookies
    expect(house.browser.get(target).header("Location"), is: "com.example.app://identity/fallback")
    let after = house.browser.cookies
    house.browser.cookies = before
    let second = try #require(house.browser.get(target).header("Location"))
    #expect(second.hasSuffix("/callback?used=1"))
    house.browser.cookies = after
    expect(house.browser.get(second).header("Location"), is: "/account")
  }

  @Test(
    "without a fromURI the app's fallback is next, then the address of the list, then the account page",
    arguments: [
      ("?clientId=native", "com.example.app://identity/fallback"),
      ("?return_to=https://app.example/welcome", "https://app.example/welcome"),
      ("?clientId=nobody", "/account"), ("", "/account"),
    ])
  func destinations(query: String, destination: String) throws {
    let house = try House()
    house.accept()
    expect(house.comesBack(from: house.signIn(query)).header("Location"), is: destination)
  }

  @Test(
    "a fromURI that is not the issuer's authorize address is refused, on every page that takes one",
    arguments: [
      "https://evil.example/oauth2/v1/authorize", "https://id.example/logout", "javascript:alert(1)", "",
    ])
  func foreignAddresses(address: String) throws {
    let house = try House()
    for path in ["/signin", "/register", try house.link()] {
      let page = house.browser.get(path + "?fromURI=" + PercentEncoding.encode(address))
      expect(page.status, is: 400)
      #expect(!text(page).contains("evil"))
    }
  }

  @Test("a field of the form that this gateway did not seal leads nowhere")
  func forgedVisits() throws {
    let house = try House()
    house.accept()
    let page = house.browser.get("/signin")
    let answer = house.submit(
      page, to: "/signin",
      [("email", "ada@example.org"), ("password", House.password), ("visit", "one.AAAA")])
    expect(answer.status, is: 403)
    expect(house.directory.calls, is: [])
  }

  @Test("what the directory says instead of yes signs nobody in")
  func otherAnswers() throws {
    let house = try House()
    expect(house.signIn("").status, is: 422)
    house.directory.change { $0.check = .locked }
    expect(house.signIn("").status, is: 422)
    house.directory.change { $0.check = .incomplete }
    let step = house.signIn("")
    expect(step.status, is: 403)
    #expect(text(step).contains("One more step is needed"))
    house.directory.change { $0.check = .expired }
    expect(house.signIn("").header("Location"), is: "/password/forgotten")
    #expect(!house.browser.cookies.contains { $0.name == Gateway.sessionCookie })
  }

  @Test("a registration ends with activation, password and session; one identity stands for the person")
  func welcome() throws {
    let house = try House()
    house.accept()
    let link = try house.link()
    let page = house.browser.get(link + "?fromURI=" + PercentEncoding.encode(House.fromURI))
    expect(house.directory.calls, is: [])
    let sent = house.submit(page, to: link, [("new-password", House.password)])
    expect(house.directory.calls, is: ["create", "activate", "password", "check"])
    expect(parameter("sessionToken", of: sent.header("Location") ?? ""), is: "20111sessionToken")
    expect(house.comesBack(from: sent).header("Location"), is: House.fromURI)
    expect(house.base.log.all.filter { $0.contains(" registered") }.count, is: 1)
    expect(house.browser.get(link).status, is: 410)
  }

  @Test("a password that the directory refuses is asked for again, and the link stays good")
  func refusedPassword() throws {
    let house = try House()
    house.accept()
    house.directory.change { $0.passwordFailure = .invalidPassword("no") }
    let link = try house.link()
    let again = house.submit(house.browser.get(link), to: link, [("new-password", House.password)])
    expect(again.status, is: 422)
    house.directory.change { $0.passwordFailure = .unavailable("away") }
    let away = house.submit(house.browser.get(link), to: link, [("new-password", House.password)])
    expect(away.status, is: 503)
    house.directory.change { $0.passwordFailure = nil }
    expect(
      house.submit(house.browser.get(link), to: link, [("new-password", House.password)]).status, is: 303)
  }

  @Test(
    "somebody whom the directory has suspended is not activated",
    arguments: [DirectoryPerson.State.suspended, .locked])
  func suspended(state: DirectoryPerson.State) throws {
    let house = try House()
    house.directory.change { $0.person.state = state }
    let link = try house.link()
    let answer = house.submit(house.browser.get(link), to: link, [("new-password", House.password)])
    expect(answer.status, is: 403)
    expect(house.directory.calls, is: ["create"])
  }

  @Test("where the directory checks no passwords, the provider asks for them")
  func withoutChecks() throws {
    let house = try House(checksPasswords: false)
    expect(house.browser.get("/signin").header("Location"), is: "/v1/auth/fake")
    expect(
      house.browser.get("/signin?return_to=https://app.example/welcome").header("Location"),
      is: "/v1/auth/fake?return_to=https%3A%2F%2Fapp.example%2Fwelcome")
    let link = try house.link()
    let sent = house.submit(house.browser.get(link), to: link, [("new-password", House.password)])
    expect(house.directory.calls, is: ["create", "activate", "password"])
    let location = sent.header("Location") ?? ""
    #expect(location.hasPrefix("https://id.example/"))
    expect(parameter("sessionToken", of: location), is: nil)
    expect(parameter("prompt", of: location), is: nil)
    expect(parameter("login_hint", of: location), is: "ada@example.org")
    expect(house.comesBack(from: sent).header("Location"), is: "/account")
  }
}
