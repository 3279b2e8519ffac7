@testable import EnrollSandbox
import EnrollCrypto
import EnrollJSON
import Foundation
import Testing

/// Tests of the gateway in a registration by e-mail link (flows.md §3, §4).
@Suite struct GatewayTests {
  @Test("whoever has to sign in gets the hosted login page, whose script names fromURI and clientId")
  func hostedLogin() async throws {
    try await withGateway { client async throws in
      let page = try await client.browser.open(client.authorize(["state": "secret-state"]))
      #expect(page.text.contains("data-client-id=\"sample-app\""))
      #expect(page.text.contains("data-path=\"/signin\""))
      let fromURI = try #require(attribute("data-from-uri", of: page.text))
      #expect(fromURI.hasPrefix(client.browser.issuer + "/authorize?okta_key="))
      #expect(!page.text.contains("secret-state"), "the request stays here")
      let policy = page.headers["content-security-policy"] ?? ""
      let script = page.text.components(separatedBy: "<script>").last?.components(separatedBy: "</script>")
        .first
      let hash = Data(try Digest.sha256.hash(Array((script ?? "").utf8))).base64EncodedString()
      #expect(policy.contains("script-src 'sha256-\(hash)';") && !policy.contains("unsafe"))
      let welcome = try await client.browser.open(
        client.authorize(["activation_token": String(repeating: "t", count: 43)]))
      #expect(welcome.text.contains("data-path=\"/welcome/ttt"))
      let create = try await client.browser.open(client.authorize(["prompt": "create"]))
      #expect(create.text.contains("data-path=\"/register\""))
    }
  }

  @Test("sign-in: session token, the gateway's own callback, okta_key, and the app's redirect")
  func signIn() async throws {
    try await withGateway { client async throws in
      let page = try await signInPage(client)
      let wrong = try await press(client, page, [("username", "alice"), ("password", "no")])
      #expect(wrong.status == 422 && wrong.text.contains("role=\"alert\""))
      let right = [("username", "alice@example.com"), ("password", "alice-password")]
      let first = try await client.browser.post(
        "/signin", page.hiddenFields + right + [("action", "continue")])
      let authorize = try #require(first.location)
      #expect(authorize.contains("prompt=none") && authorize.contains("sessionToken="))
      let back = try await client.browser.get(authorize)
      let callback = try #require(back.location)
      #expect(callback.contains("/oauth/authorization-code/callback?code="))
      let key = try await client.browser.get(String(callback.dropFirst(client.browser.issuer.count)))
      #expect(key.location?.hasPrefix("/authorize?okta_key=") == true)
      let consent = try await client.browser.open(key.location ?? "")
      let done = try await client.browser.submit(consent, [("action", "continue")])
      #expect(done.parameters["code"] != nil && done.parameters["state"] == "state-1")
      #expect(try await client.redeem(done.parameters["code"] ?? "").status == 200)
      // The session token, the code and the key in these URLs each work only once.
      let stranger = TestBrowser(client.browser.issuer)
      #expect(try await stranger.get(authorize).parameters["error"] == "login_required")
      #expect(try await stranger.get(String(callback.dropFirst(client.browser.issuer.count))).status == 400)
      #expect(try await stranger.get(key.location ?? "").status == 400)
    }
  }

  @Test("registration: STAGED, PROVISIONED with a link in the inbox, ACTIVE with a password, signed in")
  func register() async throws {
    try await withGateway { client async throws in
      try await register(client)
      let inbox = try await client.browser.get("/inbox")
      #expect(inbox.text.contains("carol@example.com") && inbox.text.contains("/welcome/"))
      #expect(try await history(client) == ["STAGED", "PROVISIONED"])
      let token = try await newestToken(client)
      let page = try await hosted(client, client.authorize(["activation_token": token]))
      #expect(page.text.contains("<h1>Welcome</h1>"))
      let short = try await press(client, page, [("password", "short")])
      #expect(short.status == 422)
      let consent = try await press(client, page, [("password", "carol-password")])
      let done = try await client.browser.submit(consent, [("action", "continue")])
      let tokens = try await client.redeem(done.parameters["code"] ?? "").json
      let claims = TestIDToken(tokens["id_token"]?.string)?.claims
      #expect(claims?["email"] == .string("carol@example.com"))
      #expect(claims?["email_verified"] == .bool(true))
      #expect(try await history(client) == ["STAGED", "PROVISIONED", "ACTIVE"])
      let again = try await client.browser.get("/welcome/\(token)")
      #expect(again.status == 410 && again.text.contains("used before"))
    }
  }

  @Test("looking at a link does not use it up; a scanner that presses every button does")
  func scanner() async throws {
    try await withGateway { client async throws in
      try await register(client)
      let token = try await newestToken(client)
      for _ in 0..<3 { #expect(try await client.browser.get("/welcome/\(token)").status == 200) }
      await client.provider.scanMails()
      let dead = try await client.browser.get("/welcome/\(token)")
      #expect(dead.status == 410)
      #expect(dead.text.contains("ask for another e-mail") && dead.text.contains("sign in"))
    }
  }

  @Test("another e-mail makes the link before it useless, and a link grows old")
  func newest() async throws {
    try await withGateway { client async throws in
      try await register(client)
      let first = try await newestToken(client)
      try await register(client)
      let second = try await newestToken(client)
      #expect(try await client.browser.get("/welcome/\(first)").status == 410)
      #expect(try await client.browser.get("/welcome/\(second)").status == 200)
      await client.provider.advanceClock(seconds: 86_401)
      let old = try await client.browser.get("/welcome/\(second)")
      #expect(old.status == 410 && old.text.contains("too old"))
      #expect(try await client.browser.get("/welcome/nobodys").text.contains("not known"))
    }
  }

  @Test("the page tells nobody who has an account; the e-mail does")
  func known() async throws {
    try await withGateway { client async throws in
      let one = try await register(client, "carol@example.com")
      let other = try await register(client, "alice@example.com")
      #expect(one.text == other.text)
      let mails = await client.provider.mails
      #expect(mails.map { $0.link != nil } == [true, false])
    }
  }

  @Test("without fromURI the gateway falls back to the app's own link, with the session set")
  func fallback() async throws {
    try await withGateway { client async throws in
      _ = try await client.provider.control(
        .object([("do", .string("gateway")), ("readsFromURI", .bool(false))]))
      let page = try await signInPage(client)
      let done = try await press(client, page, [("username", "alice"), ("password", "alice-password")])
      #expect(done.location == "com.example.app://identity/fallback")
      let silent = try await client.browser.get(client.authorize(["prompt": "none"]))
      #expect(silent.parameters["error"] == "consent_required")
    }
  }

  @Test(
    "a fromURI that is not an authorize request that waits here is never followed",
    arguments: [
      "https://evil.example/authorize?okta_key=x", "/authorize?okta_key=x", "javascript:alert(1)",
      "//evil.example", "http://127.0.0.1@evil.example/",
    ])
  func foreignFromURI(_ uri: String) async throws {
    try await withGateway { client async throws in
      var query = URLComponents()
      query.queryItems = [
        URLQueryItem(name: "fromURI", value: uri), URLQueryItem(name: "clientId", value: "sample-app"),
      ]
      let page = try await client.browser.get("/signin?" + (query.percentEncodedQuery ?? ""))
      #expect(!page.text.contains("evil.example") && !page.text.contains("javascript"))
      let done = try await press(client, page, [("username", "alice"), ("password", "alice-password")])
      #expect(done.location == "com.example.app://identity/fallback")
    }
  }

  @Test("a form of another browser is refused")
  func foreignForm() async throws {
    try await withGateway { client async throws in
      let page = try await signInPage(client)
      let stranger = TestBrowser(client.browser.issuer)
      _ = try await stranger.get("/signin")
      let fields = page.hiddenFields + [("username", "alice"), ("password", "alice-password")]
      #expect(try await stranger.post("/signin", fields).status == 403)
      #expect(try await client.browser.post("/register", [("email", "a@b.example")]).status == 403)
    }
  }

  @Test("whoever turns back goes to the app with access_denied")
  func cancel() async throws {
    try await withGateway { client async throws in
      let page = try await signInPage(client)
      let fields = page.hiddenFields + [("action", "cancel")]
      let done = try await client.browser.post("/signin", fields)
      #expect(done.parameters["error"] == "access_denied" && done.parameters["state"] == "state-1")
    }
  }

  @Test("prompt=login is satisfied by the gateway, once")
  func promptLogin() async throws {
    try await withGateway { client async throws in
      let right = [("username", "alice"), ("password", "alice-password")]
      let first = try await press(client, signInPage(client), right)
      _ = try await client.browser.submit(first, [("action", "continue")])
      #expect(try await client.browser.open(client.authorize()).parameters["code"] != nil)
      await client.provider.advanceClock(seconds: 10)
      let page = try await hosted(client, client.authorize(["prompt": "login"]))
      #expect(page.text.contains("<h1>Sign in</h1>"))
      #expect(try await press(client, page, right).parameters["code"] != nil)
    }
  }

  @Test("the app's associations are JSON, as Android and Apple read them")
  func associations() async throws {
    try await withSandbox { client async throws in
      let android = try await client.browser.get("/.well-known/assetlinks.json")
      #expect(android.headers["content-type"] == "application/json")
      #expect(android.json.array?.first?["target"]?["package_name"] == .string("com.example.app"))
      let apple = try await client.browser.get("/.well-known/apple-app-site-association")
      #expect(apple.headers["content-type"] == "application/json")
      let detail = apple.json["applinks"]?["details"]?.array?.first
      #expect(detail?["components"]?.array?.first?["/"] == .string("/welcome/*"))
    }
  }

  @Test("tokens are in no log, and every page of the gateway is as accessible as the others")
  func pages() async throws {
    try await withGateway { client async throws in
      try await register(client)
      let token = try await newestToken(client)
      var pages: [Reply] = []
      pages.append(try await client.browser.get("/signin"))
      pages.append(try await press(client, pages[0], [("username", "x"), ("password", "y")]))
      pages.append(try await client.browser.get("/register"))
      pages.append(try await press(client, pages[2], [("email", "<script>")]))
      pages.append(try await client.browser.get("/register/email-sent"))
      pages.append(try await client.browser.get("/welcome/\(token)"))
      pages.append(try await press(client, pages[5], [("password", "short")]))
      pages.append(try await client.browser.get("/welcome/gone"))
      pages.append(try await client.browser.get("/inbox"))
      pages.append(try await client.browser.open(client.authorize()))
      for page in pages {
        let html = page.text
        #expect(html.hasPrefix("<!doctype html>\n<html lang=\"en\">"))
        #expect(html.components(separatedBy: "<h1>").count == 2)
        #expect(html.components(separatedBy: "<main>").count == 2)
        for input in html.components(separatedBy: "<input ").dropFirst()
        where !input.hasPrefix("type=\"hidden\"") {
          let id = attribute("id", of: input) ?? ""
          #expect(html.contains("<label for=\"\(id)\">") && input.contains("autocomplete="), "\(id)")
        }
        for part in html.components(separatedBy: "aria-describedby=\"").dropFirst() {
          for id in (part.components(separatedBy: "\"").first ?? "").split(separator: " ") {
            #expect(html.contains("id=\"\(id)\""), "\(id)")
          }
        }
        #expect(page.headers["content-security-policy"]?.contains("default-src 'none'") == true)
        #expect(!html.contains("<script>alert") && !html.contains("value=\"<script>"))
      }
      let titles = pages.map { $0.text.components(separatedBy: "<title>").last?.prefix { $0 != "<" } ?? "" }
      #expect(Set(titles).count == titles.count)
      #expect(await !client.provider.requestLog.joined().contains(token))
    }
  }

  // MARK: Steps

  private func withGateway(_ body: (TestClient) async throws -> Void) async throws {
    try await withSandbox({ $0.gateway.isUsed = true }, body)
  }

  /// The page that the script of the hosted login page opens.
  private func hosted(_ client: TestClient, _ path: String) async throws -> Reply {
    let page = try await client.browser.open(path)
    let link = try #require(
      attribute("href", of: page.text.components(separatedBy: "id=\"login\"").last ?? ""))
    return try await client.browser.get(link.replacingOccurrences(of: "&amp;", with: "&"))
  }

  private func signInPage(_ client: TestClient) async throws -> Reply {
    try await hosted(client, client.authorize())
  }

  /// Sends the page's form, then follows the redirects until there are no more, or until a redirect leads to another
  /// site.
  private func press(_ client: TestClient, _ page: Reply, _ fields: [(String, String)]) async throws
    -> Reply
  {
    let path = attribute("action", of: page.text.components(separatedBy: "<form ").last ?? "") ?? ""
    var reply = try await client.browser.post(
      path, page.hiddenFields + fields + [("action", "continue")])
    while let location = reply.location {
      if location.hasPrefix("/") {
        reply = try await client.browser.get(location)
      } else if location.hasPrefix(client.browser.issuer) {
        reply = try await client.browser.get(String(location.dropFirst(client.browser.issuer.count)))
      } else {
        break
      }
    }
    return reply
  }

  @discardableResult
  private func register(_ client: TestClient, _ email: String = "carol@example.com") async throws -> Reply {
    let page = try await client.browser.get("/register?clientId=sample-app")
    let sent = try await press(client, page, [("email", email)])
    #expect(sent.text.contains("<h1>Check your e-mail</h1>"))
    return sent
  }

  private func newestToken(_ client: TestClient) async throws -> String {
    let link = await client.provider.mails.last { $0.link != nil }?.link ?? ""
    return link.components(separatedBy: "/").last ?? ""
  }

  private func history(_ client: TestClient) async throws -> [String] {
    let answer = try await client.provider.control(.object([("do", .string("accounts"))]))
    return answer["accounts"]?["carol@example.com"]?.array?.compactMap { $0.string } ?? []
  }

  private func attribute(_ name: String, of text: String) -> String? {
    let parts = text.components(separatedBy: "\(name)=\"")
    return parts.count > 1 ? parts[1].components(separatedBy: "\"").first : nil
  }
}
