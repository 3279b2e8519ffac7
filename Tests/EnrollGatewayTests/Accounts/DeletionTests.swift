// The end of an account, a copy of its data, and the marks of all forms that change an account.

import EnrollCore
import EnrollGatewayStore
import EnrollJSON
import EnrollTesting
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
    #expect(answer.header("Location") == "/account-deleted")
    #expect(browser.cookies.isEmpty)
    #expect(browser.get("/account-deleted").status == 200)
    #expect(second.get("/account").header("Location") == "/login")
    for table in ["accounts", "identities", "sessions", "app_codes"] {
      #expect(try world.store.count(table) == 0, "\(table)")
    }
    #expect(world.world.mails.all.last?.kind == .accountDeleted)
    // Whoever comes back is somebody new.
    _ = world.browser("alice")
    #expect(try world.account("alice") != before)
  }

  @Test("deleted again, and by a form from before, nothing happens")
  func twice() throws {
    let (browser, tab) = (world.browser("alice"), TestBrowser(world.world.gateway))
    tab.cookies = browser.cookies
    let mark = try world.mark(tab)
    #expect(try world.press(browser, "/account/delete/confirm").status == 303)
    #expect(
      tab.post("/account/delete/confirm", form: [("token", mark)]).header("Location") == "/login")
    #expect(world.world.mails.all.count == 1)
  }

  @Test("a sign-in of more than ten minutes ago deletes nothing")
  func old() throws {
    let browser = world.browser("alice")
    let mark = try world.mark(browser)
    world.world.clock.advance(seconds: 601)
    let answer = browser.post("/account/delete/confirm", form: [("token", mark)])
    #expect(answer.header("Location") == "/account/confirm?then=delete")
    #expect(try world.store.count("accounts") == 1)
  }

  @Test(
    "a form of another session, of another site, or without a mark changes no account (CSRF)",
    arguments: [
      "/account/connect", "/account/disconnect", "/account/confirm/start", "/account/merge/confirm",
      "/account/export", "/account/delete/confirm",
    ])
  func forgery(path: String) throws {
    let browser = world.browser("alice")
    try world.connect(browser, "alice.work")
    let foreign = try world.mark(world.browser("bob"))
    let own = try world.mark(browser)
    let fields = [
      ("provider", "other"), ("then", "account"),
      ("identity", world.key("alice.work", at: "other").formText),
    ]
    #expect(browser.get(path).status == 405)
    for (form, headers) in [
      ([], []), ([("token", foreign)], []), ([("token", "")], []),
      ([("token", own)], [HTTPHeader("Origin", "https://evil.example")]),
      ([("token", own)], [HTTPHeader("Sec-Fetch-Site", "cross-site")]),
    ] as [([(String, String)], [HTTPHeader])] {
      #expect(browser.post(path, form: form + fields, headers: headers).status == 403)
    }
    #expect(try world.store.count("identities") == 3)
    #expect(try world.store.count("accounts") == 2)
    let nobody = TestBrowser(world.world.gateway)
    #expect(nobody.post(path, form: [("token", own)] + fields).header("Location") == "/login")
  }

  @Test("the copy of the data has the account, its identities and its sessions, and nothing that opens one")
  func export() throws {
    let browser = world.browser("alice")
    try world.connect(browser, "alice.work")
    _ = world.browser("bob")
    let answer = try world.press(browser, "/account/export")
    #expect(answer.status == 200)
    #expect(answer.header("Content-Disposition") == "attachment; filename=\"account.json\"")
    #expect(answer.header("Cache-Control") == "no-store")
    let json = try JSON.parse(answer.body)
    #expect(json["account"]?["id"]?.string == (try world.account("alice")))
    #expect(json["identities"]?.array?.compactMap { $0["provider"]?.string } == ["fake", "other"])
    #expect(json["identities"]?.array?.first?["email"]?.string == "somebody@example.org")
    #expect(json["sessions"]?.array?.count == 1)
    let events = json["audit"]?.array?.compactMap { $0["event"]?.string } ?? []
    #expect(events.first == "exported" && events.contains("linked") && events.contains("registered"))
    #expect(!text(answer).contains(browser.cookies[0].value))
    #expect(!text(answer).contains("bob"))
  }
}
