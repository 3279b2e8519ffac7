// The deletion of an account, the copy of its data, and the tokens against CSRF in all forms that change an
// account.

import EnrollRules
import EnrollGatewayStore
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@testable import EnrollGateway
import EnrollHTTP

@Suite("deleting an account")
struct DeletionTests {
  let world: AccountWorld

  init() throws { world = try AccountWorld() }

  @Test("everything of the account goes at once, in every browser; the person is told")
  func delete() throws {
    let (browser, second) = (world.browser("alice"), world.browser("alice"))
    try world.connect(browser, "alice.work")
    let before = try #require(try world.account("alice"))
    #expect(text(browser.get("/account/delete")).contains("This cannot be undone."))
    let answer = try world.press(browser, "/account/delete/confirm")
    expect(answer.header("Location"), is: "/account-deleted")
    #expect(browser.cookies.isEmpty)
    expect(browser.get("/account-deleted").status, is: 200)
    expect(second.get("/account").header("Location"), is: "/login")
    for table in ["accounts", "identities", "sessions", "app_codes"] {
      try expect(world.store.count(table), is: 0, "\(table)")
    }
    expect(world.world.mails.all.last?.kind, is: .accountDeleted)
    // A user who comes back gets a new account.
    _ = world.browser("alice")
    try expect(world.account("alice"), isNot: before)
  }

  @Test("deleted again, and by a form from before, nothing happens")
  func twice() throws {
    let (browser, tab) = (world.browser("alice"), TestBrowser(world.world.gateway))
    tab.cookies = browser.cookies
    let token = try world.formToken(tab)
    try expect(world.press(browser, "/account/delete/confirm").status, is: 303)
    expect(tab.post("/account/delete/confirm", form: [("token", token)]).header("Location"), is: "/login")
    expect(world.world.mails.all.count, is: 1)
  }

  @Test("a sign-in of more than ten minutes ago deletes nothing")
  func old() throws {
    let browser = world.browser("alice")
    let token = try world.formToken(browser)
    world.world.clock.advance(seconds: 601)
    let answer = browser.post("/account/delete/confirm", form: [("token", token)])
    expect(answer.header("Location"), is: "/account/confirm?then=delete")
    try expect(world.store.count("accounts"), is: 1)
  }

  @Test(
    "a form of another session, of another site, or without a token changes no account (CSRF)",
    arguments: [
      "/account/connect", "/account/disconnect", "/account/confirm/start", "/account/merge/confirm",
      "/account/export", "/account/delete/confirm",
    ])
  func forgery(path: String) throws {
    let browser = world.browser("alice")
    try world.connect(browser, "alice.work")
    let foreign = try world.formToken(world.browser("bob"))
    let own = try world.formToken(browser)
    let fields = [
      ("provider", "other"), ("then", "account"),
      ("identity", world.key("alice.work", at: "other").formText),
    ]
    expect(browser.get(path).status, is: 405)
    for (form, headers) in [
      ([], []), ([("token", foreign)], []), ([("token", "")], []),
      ([("token", own)], [HTTPHeader("Origin", "https://evil.example")]),
      ([("token", own)], [HTTPHeader("Sec-Fetch-Site", "cross-site")]),
    ] as [([(String, String)], [HTTPHeader])] {
      expect(browser.post(path, form: form + fields, headers: headers).status, is: 403)
    }
    try expect(world.store.count("identities"), is: 3)
    try expect(world.store.count("accounts"), is: 2)
    let nobody = TestBrowser(world.world.gateway)
    expect(nobody.post(path, form: [("token", own)] + fields).header("Location"), is: "/login")
  }

  @Test("the copy of the data has the account, its identities and its sessions, and nothing that opens one")
  func export() throws {
    let browser = world.browser("alice")
    try world.connect(browser, "alice.work")
    _ = world.browser("bob")
    let answer = try world.press(browser, "/account/export")
    expect(answer.status, is: 200)
    expect(answer.header("Content-Disposition"), is: "attachment; filename=\"account.json\"")
    expect(answer.header("Cache-Control"), is: "no-store")
    let json = try JSON.parse(answer.body)
    expect(json["account"]?["id"]?.string, is: try world.account("alice")?.text)
    expect(json["identities"]?.array?.compactMap { $0["provider"]?.string }, is: ["fake", "other"])
    expect(json["identities"]?.array?.first?["email"]?.string, is: "somebody@example.org")
    expect(json["sessions"]?.array?.count, is: 1)
    let events = json["audit"]?.array?.compactMap { $0["event"]?.string } ?? []
    #expect(events.first == "exported" && events.contains("linked") && events.contains("registered"))
    #expect(!text(answer).contains(browser.cookies[0].value))
    #expect(!text(answer).contains("bob"))
  }
}
