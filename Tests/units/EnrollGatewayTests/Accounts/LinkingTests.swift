// Tests of linking, unlinking and merging accounts with a browser: who may do it, when, and what must never happen.

import EnrollRules
import EnrollJSON
import EnrollGatewayStore
import EnrollTesting
import Expectations
import Testing

@testable import EnrollGateway
import EnrollHTTP

@Suite("linking identities")
struct LinkingTests {
  let world: AccountWorld

  init() throws { world = try AccountWorld() }

  // MARK: Linking

  @Test("an identity that is connected leads to the account from then on, and the person is told by mail")
  func connect() throws {
    let browser = world.browser("alice")
    let start = try world.startConnecting(browser)
    // The gateway does not answer the form with a redirect to the provider, because browsers would block that redirect
    // (CSP, form-action).
    expect(start.status, is: 200)
    expect(start.header("Refresh")?.hasPrefix("0;url=https://id.example/authorize?"), is: true)
    #expect(text(start).contains("href=\"https://id.example/authorize?"))
    world.person("alice.work")
    let back = browser.comeBack(from: start, by: world.world.provider)
    expect(back.header("Location"), is: "/account?notice=connected")
    let account = try #require(try world.account("alice"))
    try expect(world.account("alice.work", at: "other"), is: account)
    #expect(text(browser.get("/account?notice=connected")).contains("The sign-in has been connected"))
    let mails = world.world.mails.all
    expect(mails.map(\.kind), is: [.identityLinked(provider: "other")])
    expect(mails.map(\.recipient.text), is: ["somebody@example.org"])
    let later = world.browser("alice.work", at: "other")
    expect(text(later.get("/account")).contains("alice.work"), is: true)
    try expect(world.store.count("accounts"), is: 1)
  }

  @Test("an e-mail address links nothing, verified or not")
  func email() throws {
    _ = world.browser("alice")
    _ = world.browser("bob", at: "other")
    try expect(world.account("alice"), isNot: world.account("bob", at: "other"))
    #expect(world.world.mails.all.isEmpty)
  }

  @Test("the attempt of another browser links nothing, even where that browser is signed in")
  func otherBrowser() throws {
    let (mine, victim) = (world.browser("mallory"), world.browser("alice"))
    let start = try world.startConnecting(mine)
    world.person("mallory.work")
    let target = mine.callback(from: start, by: world.world.provider)
    expect(victim.get(target).header("Location"), is: "/account")
    try expect(world.account("mallory.work", at: "other"), is: nil)
  }

  @Test("connected once more, an identity is connected already")
  func twice() throws {
    let browser = world.browser("alice")
    try world.connect(browser, "alice.work")
    let again = try world.connect(browser, "alice.work")
    expect(again.header("Location"), is: "/account?notice=connected-before")
    try expect(
      world.connect(browser, "alice", at: "fake").header("Location"), is: "/account?notice=connected-before")
    expect(world.world.mails.all.count, is: 1)
  }

  @Test("of two browsers that connect one identity at once, one has it; the other may join the accounts")
  func atOnce() throws {
    let (first, second) = (world.browser("alice"), world.browser("bob"))
    let starts = [try world.startConnecting(first), try world.startConnecting(second)]
    world.person("work")
    expect(
      first.comeBack(from: starts[0], by: world.world.provider).header("Location"),
      is: "/account?notice=connected")
    expect(
      second.comeBack(from: starts[1], by: world.world.provider).header("Location"), is: "/account/merge")
    try expect(world.account("work", at: "other"), is: world.account("alice"))
  }

  @Test("a session that ended meanwhile links nothing, and makes no account")
  func ended() throws {
    let browser = world.browser("alice")
    let starts = [try world.startConnecting(browser), try world.startConnecting(browser)]
    let cookies = browser.cookies
    _ = try world.press(browser, "/signout")
    for (start, jar) in zip(starts, [browser.cookies, cookies]) {
      browser.cookies = jar
      world.person("alice.work")
      expect(browser.comeBack(from: start, by: world.world.provider).status, is: 403)
    }
    try expect(world.account("alice.work", at: "other"), is: nil)
    try expect(world.store.count("accounts"), is: 1)
  }

  @Test("whoever signed in as somebody else meanwhile links nothing")
  func otherAccount() throws {
    let browser = world.browser("alice")
    let start = try world.startConnecting(browser)
    world.signIn(browser, "bob")
    world.person("alice.work")
    expect(browser.comeBack(from: start, by: world.world.provider).status, is: 403)
    try expect(world.account("alice.work", at: "other"), is: nil)
  }

  @Test("both proofs are younger than ten minutes, or the person is asked for a new one")
  func late() throws {
    let browser = world.browser("alice")
    world.world.clock.advance(seconds: 540)
    let start = try world.startConnecting(browser)
    world.world.clock.advance(seconds: 61)
    world.person("alice.work")
    expect(browser.comeBack(from: start, by: world.world.provider).header("Location"), is: "/account/confirm")
    try expect(world.startConnecting(browser).header("Location"), is: "/account/confirm")
    try expect(world.account("alice.work", at: "other"), is: nil)
    // The provider's answer is older than ten minutes.
    world.signIn(browser, "alice")
    let slow = try world.startConnecting(browser)
    let target = browser.callback(from: slow, by: world.world.provider)
    world.world.clock.advance(seconds: 601)
    expect(browser.get(target).status, is: 400)
  }

  @Test("what the person refuses at the provider leads back to the account")
  func refused() throws {
    let browser = world.browser("alice")
    let start = try world.startConnecting(browser)
    let url = String((start.header("Refresh") ?? "").dropFirst("0;url=".count))
    let answer = browser.get(
      "/v1/auth/other/callback?error=access_denied&state=\(parameter("state", of: url) ?? "")&iss=https://id.example"
    )
    expect(answer.status, is: 400)
    #expect(text(answer).contains("href=\"/account\""))
  }

  // MARK: The proof

  @Test("an identity of the account proves it, and the person goes on to what they wanted")
  func confirm() throws {
    let browser = world.browser("alice")
    world.world.clock.advance(seconds: 601)
    expect(browser.get("/account/delete").header("Location"), is: "/account/confirm?then=delete")
    let page = text(browser.get("/account/confirm?then=delete"))
    #expect(page.contains("value=\"fake\"") && !page.contains("value=\"other\""))
    let start = try world.press(
      browser, "/account/confirm/start", [("provider", "fake"), ("then", "delete")])
    world.person("alice")
    expect(browser.comeBack(from: start, by: world.world.provider).header("Location"), is: "/account/delete")
    expect(browser.get("/account/delete").status, is: 200)
  }

  @Test("another identity proves nothing, and makes no account")
  func confirmByAnother() throws {
    let browser = world.browser("alice")
    _ = world.browser("bob")
    world.world.clock.advance(seconds: 601)
    for name in ["bob", "nobody"] {
      let start = try world.press(
        browser, "/account/confirm/start", [("provider", "fake"), ("then", "account")])
      world.person(name)
      expect(browser.comeBack(from: start, by: world.world.provider).status, is: 403)
    }
    expect(browser.get("/account/delete").header("Location"), is: "/account/confirm?then=delete")
    try expect(world.store.count("accounts"), is: 2)
    let elsewhere = try world.press(
      browser, "/account/confirm/start", [("provider", "fake"), ("then", "https://evil.example")])
    expect(elsewhere.status, is: 400)
  }

  // MARK: Unlinking

  @Test("an identity is taken away with the sessions that it began; its person is told")
  func disconnect() throws {
    let browser = world.browser("alice")
    try world.connect(browser, "alice.work")
    let other = world.browser("alice.work", at: "other")
    let fields = [("identity", world.key("alice.work", at: "other").formText)]
    let answer = try world.press(browser, "/account/disconnect", fields)
    expect(answer.header("Location"), is: "/account?notice=disconnected")
    expect(other.get("/account").header("Location"), is: "/login")
    expect(browser.get("/account").status, is: 200)
    try expect(world.account("alice.work", at: "other"), is: nil)
    expect(world.world.mails.all.last?.kind, is: .identityUnlinked(provider: "other"))
    // The form is sent again, as from another tab: it names an identity that has been removed already.
    try expect(world.press(browser, "/account/disconnect", fields).header("Location"), is: "/account")
  }

  @Test("the identity of this session may go, and the session goes with it")
  func disconnectOwn() throws {
    let browser = world.browser("alice")
    try world.connect(browser, "alice.work")
    let answer = try world.press(
      browser, "/account/disconnect", [("identity", world.key("alice").formText)])
    expect(answer.header("Location"), is: "/signed-out")
    #expect(browser.cookies.isEmpty)
  }

  @Test("the last identity stays, nobody's is taken, and an old session takes none")
  func keepLast() throws {
    let browser = world.browser("alice")
    _ = world.browser("bob")
    let own = [("identity", world.key("alice").formText)]
    try expect(
      world.press(browser, "/account/disconnect", own).header("Location"), is: "/account?notice=last-way")
    #expect(!text(browser.get("/account")).contains("/account/disconnect"))
    let foreign = [("identity", world.key("bob").formText)]
    try expect(world.press(browser, "/account/disconnect", foreign).header("Location"), is: "/account")
    for bad in ["", "fake", " x", "a/b c"] {
      try expect(world.press(browser, "/account/disconnect", [("identity", bad)]).status, is: 400)
    }
    try world.connect(browser, "alice.work")
    #expect(text(browser.get("/account")).contains("/account/disconnect"))
    world.world.clock.advance(seconds: 601)
    try expect(world.press(browser, "/account/disconnect", own).header("Location"), is: "/account/confirm")
    try expect(world.store.count("identities"), is: 3)
  }

  // MARK: Merging

  @Test("two accounts of one person become one, on a page, and the old sessions of the other end")
  func merge() throws {
    let browser = world.browser("alice")
    let old = world.browser("alice.work", at: "other")
    let other = try #require(try world.account("alice.work", at: "other"))
    try expect(world.connect(browser, "alice.work").header("Location"), is: "/account/merge")
    try expect(world.account("alice.work", at: "other"), is: other)
    let page = text(browser.get("/account/merge"))
    #expect(page.contains("You have two accounts") && page.contains("somebody@example.org"))
    let merged = try world.press(browser, "/account/merge/confirm")
    expect(merged.header("Location"), is: "/account?notice=merged")
    try expect(world.account("alice.work", at: "other"), is: world.account("alice"))
    expect(old.get("/account").header("Location"), is: "/login")
    expect(browser.get("/account").status, is: 200)
    // The cookie with the offer to merge is removed.
    expect(browser.cookies.map { $0.name }.sorted(), is: ["__Host-enroll", GatewaySessions.proofCookie])
    expect(world.world.mails.all.map(\.kind), is: [.accountsMerged])
    // At the second attempt there is nothing to merge.
    try expect(world.press(browser, "/account/merge/confirm").status, is: 403)
  }

  @Test("an offer to join works for its session alone, for ten minutes, and by its page alone")
  func offer() throws {
    let (browser, other) = (world.browser("alice"), world.browser("bob", at: "other"))
    try world.connect(browser, "bob")
    let offer = try #require(browser.cookies.first { $0.name == MergeOffer.cookie })
    expect(browser.post("/account/merge/confirm", form: []).status, is: 403)
    // The merge is refused for the user whose account would disappear, and for a new session of the same
    // user.
    other.cookies.append(offer)
    expect(other.get("/account/merge").header("Location"), is: "/account")
    try expect(world.press(other, "/account/merge/confirm").status, is: 403)
    let again = world.browser("alice")
    again.cookies.append(offer)
    try expect(world.press(again, "/account/merge/confirm").status, is: 403)
    browser.cookies = browser.cookies.map { $0.name == offer.name ? ($0.name, $0.value + "A") : $0 }
    try expect(world.press(browser, "/account/merge/confirm").status, is: 403)
    browser.cookies = browser.cookies.filter { $0.name != offer.name } + [offer]
    world.world.clock.advance(seconds: 601)
    try expect(world.press(browser, "/account/merge/confirm").status, is: 403)
    try expect(world.store.count("accounts"), is: 2)
  }

  @Test("A into B while B into A: one account is left, with both identities")
  func mutual() throws {
    let (alice, bob) = (world.browser("alice"), world.browser("bob", at: "other"))
    try world.connect(alice, "bob")
    try world.connect(bob, "alice", at: "fake")
    let tokens = [try world.formToken(alice), try world.formToken(bob)]
    let first = alice.post("/account/merge/confirm", form: [("token", tokens[0])])
    expect(first.header("Location"), is: "/account?notice=merged")
    // Bob's session has ended together with his account.
    expect(bob.post("/account/merge/confirm", form: [("token", tokens[1])]).header("Location"), is: "/login")
    try expect(world.account("alice"), is: world.account("bob", at: "other"))
    try expect(world.store.count("accounts"), is: 1)
  }

  // MARK: Asking again

  /// The URL to which the page in the answer `start` sends the browser by itself (`Refresh`).
  private func target(of start: WebResponse) -> String {
    String((start.header("Refresh") ?? "").dropFirst("0;url=".count))
  }

  @Test("a proof makes the provider ask whom it asked more than ten minutes ago; a sign-in does not")
  func asksAgain() throws {
    let world = try AccountWorld()
    let browser = world.browser("alice")
    let url = target(of: try world.startConnecting(browser))
    expect(parameter("prompt", of: url), is: nil)
    expect(parameter("max_age", of: url), is: "600")
    let signIn = try #require(browser.get("/v1/auth/fake").header("Location"))
    expect(parameter("prompt", of: signIn), is: nil)
    expect(parameter("max_age", of: signIn), is: nil)
  }

  @Test(
    "who was asked by the provider within ten minutes proves it at once",
    arguments: [0, 600, -600] as [Int64])
  func authTime(asked: Int64) throws {
    let world = try AccountWorld()
    let browser = world.browser("alice")
    let start = try world.startConnecting(browser)
    world.person("bob", asked: asked)
    let back = browser.comeBack(from: start, by: world.world.provider)
    expect(back.header("Location"), is: "/account?notice=connected")
  }

  @Test("a time with a fraction is one (Canaille)")
  func fraction() throws {
    let world = try AccountWorld()
    let browser = world.browser("alice")
    let start = try world.startConnecting(browser)
    let now = Double(world.now.seconds)
    world.person("bob")
    world.world.provider.change { provider in
      let claims = provider.claims
      provider.claims = {
        claims(&$0)
        $0["auth_time"] = .number(now - 1.25)
      }
    }
    let back = browser.comeBack(from: start, by: world.world.provider)
    expect(back.header("Location"), is: "/account?notice=connected")
  }

  @Test(
    "a provider that does not say so is asked once more, by prompt; then who was asked long ago proves nothing",
    arguments: [
      (601, 601, false), (-601, -601, false), (nil, nil, true), (nil, 601, false), (601, 0, true),
    ]
      as [(Int64?, Int64?, Bool)])
  func askedByPrompt(first: Int64?, second: Int64?, isProof: Bool) throws {
    let world = try AccountWorld()
    let browser = world.browser("alice")
    let start = try world.startConnecting(browser)
    world.person("bob", asked: first)
    let again = browser.comeBack(from: start, by: world.world.provider)
    let url = target(of: again)
    expect(parameter("prompt", of: url), is: "login")
    expect(parameter("max_age", of: url), is: "600")
    try expect(world.account("bob", at: "other"), is: nil)
    world.person("bob", asked: second)
    let back = browser.comeBack(from: again, by: world.world.provider)
    expect((back.header("Location") == "/account?notice=connected"), is: isProof)
    expect((try world.account("bob", at: "other") != nil), is: isProof)
    expect(world.world.log.all.contains { $0.contains("auth_time") }, is: !isProof)
    #expect(!browser.cookies.contains { $0.name.hasPrefix("__Host-enroll-signin-") })
  }

  @Test(
    "a plain sign-in proves who sits there only if the provider says that it asked within ten minutes",
    arguments: [(0, true), (600, true), (601, false), (-601, false), (nil, false)] as [(Int64?, Bool)])
  func plainSignIn(asked: Int64?, isProof: Bool) throws {
    let world = try AccountWorld()
    let browser = TestBrowser(world.world.gateway)
    world.person("alice", asked: asked)
    _ = browser.comeBack(from: browser.get("/v1/auth/fake"), by: world.world.provider)
    expect(browser.get("/account").status, is: 200)
    expect(
      browser.get("/account/delete").header("Location"), is: isProof ? nil : "/account/confirm?then=delete")
    let connect = try world.startConnecting(browser)
    expect((connect.header("Location") == "/account/confirm"), is: !isProof)
    let deleted = try world.press(browser, "/account/delete/confirm")
    expect(deleted.header("Location"), is: isProof ? "/account-deleted" : "/account/confirm?then=delete")
    expect((try world.account("alice") == nil), is: isProof)
  }

  @Test("the proof of one session is none of another")
  func otherSession() throws {
    let world = try AccountWorld()
    let browser = world.browser("alice")
    let proof = try #require(browser.cookies.first { $0.name == GatewaySessions.proofCookie })
    world.person("alice", asked: 3_600)
    let later = TestBrowser(world.world.gateway)
    _ = later.comeBack(from: later.get("/v1/auth/fake"), by: world.world.provider)
    later.cookies.append(proof)
    expect(later.get("/account/delete").header("Location"), is: "/account/confirm?then=delete")
  }
}
