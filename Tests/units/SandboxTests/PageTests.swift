import EnrollJSON
@testable import EnrollSandbox
import Foundation
import Testing

@Suite struct PageTests {
  @Test(
    "every page has a language, a title of its own, one heading, a main landmark and labels for all fields")
  func accessibility() async throws {
    try await withSandbox { client async throws in
      let pages = try await everyPage(client)
      for (name, page) in pages {
        let html = page.text
        #expect(html.hasPrefix("<!doctype html>\n<html lang=\"en\">"), "\(name)")
        #expect(
          html.contains("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"),
          "\(name)")
        #expect(count("<h1>", in: html) == 1 && count("<main>", in: html) == 1, "\(name)")
        for input in elements("input", of: html) where !input.contains("type=\"hidden\"") {
          let id = attribute("id", of: input)
          #expect(html.contains("<label for=\"\(id)\">"), "\(name): \(id)")
          #expect(input.contains("autocomplete="), "\(name): \(id)")
        }
        for name in ["aria-describedby", "aria-labelledby"] {
          for part in html.components(separatedBy: name + "=\"").dropFirst() {
            for id in (part.components(separatedBy: "\"").first ?? "").split(separator: " ") {
              #expect(html.contains("id=\"\(id)\""), "\(name): \(id)")
            }
          }
        }
        #expect(elements("button", of: html).allSatisfy { $0.contains("type=\"submit\"") }, "\(name)")
      }
      let titles = pages.map { name, page in
        page.text.components(separatedBy: "<title>").last?.components(separatedBy: "</title>").first ?? name
      }
      #expect(Set(titles).count == titles.count)
      #expect(titles.allSatisfy { $0.hasSuffix(" – EnrollKit Sandbox") })
    }
  }

  @Test("no page runs a script, loads anything or may be framed")
  func policy() async throws {
    try await withSandbox { client async throws in
      for (name, page) in try await everyPage(client) {
        let policy = page.headers["content-security-policy"] ?? ""
        #expect(
          policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "\(name)")
        #expect(!policy.contains("unsafe"), "\(name)")
        #expect(!page.text.contains("<script") && !page.text.contains("src="), "\(name)")
        #expect(page.text.range(of: " (style|on[a-z]+)=", options: .regularExpression) == nil, "\(name)")
        #expect(page.headers["cache-control"] == "no-store", "\(name)")
        #expect(page.headers["referrer-policy"] == "no-referrer", "\(name)")
      }
    }
  }

  @Test(
    "a form may lead to its own redirect and nowhere else",
    arguments: [
      ("com.example.app:/callback", "form-action 'self' com.example.app:;"),
      ("http://127.0.0.1:4711/callback", "form-action 'self' http://127.0.0.1:4711;"),
    ])
  func formAction(_ uri: String, _ directive: String) async throws {
    try await withSandbox { client async throws in
      let page = try await client.browser.open(client.authorize(["redirect_uri": uri]))
      #expect(page.headers["content-security-policy"]?.contains(directive) == true)
    }
  }

  @Test("an error is announced, tied to its field, and named in the title")
  func errors() async throws {
    try await withSandbox { client async throws in
      let page = try await client.browser.open(client.authorize(["prompt": "create"]))
      let fields = [("username", "A B"), ("name", "Al"), ("email", "a@b"), ("password", "12345678")]
      let reply = try await client.browser.submit(page, fields + [("action", "continue")])
      #expect(reply.text.contains("<title>Error: Create an account"))
      #expect(count("role=\"alert\"", in: reply.text) == 1)
      let input = elements("input", of: reply.text).first { $0.contains("name=\"username\"") } ?? ""
      #expect(input.contains("aria-invalid=\"true\"") && input.contains("username-problem"))
      #expect(input.contains("value=\"A B\""), "what was typed is kept")
      #expect(!reply.text.contains("12345678"), "but never a password")
    }
  }

  @Test(
    "text stands out 4.5 to 1 and controls 3 to 1, light and dark (WCAG 2.2 AA)",
    arguments: [
      ("text", "page", 4.5), ("text", "card", 4.5), ("text", "note", 4.5), ("soft", "page", 4.5),
      ("soft", "card", 4.5),
      ("soft", "note", 4.5), ("accent", "card", 4.5), ("accent", "note", 4.5), ("on-accent", "accent", 4.5),
      ("on-accent", "accent-dark", 4.5), ("bad", "bad-page", 4.5), ("bad", "card", 4.5),
      ("edge", "card", 3),
    ])
  func contrast(_ front: String, _ back: String, _ least: Double) throws {
    let schemes = Style.sheet.components(separatedBy: "prefers-color-scheme:dark")
    #expect(schemes.count == 2)
    let light = try colors(schemes[0])
    let dark = light.merging(try colors(schemes[1])) { $1 }
    for scheme in [light, dark] {
      let (one, other) = (try luminance(scheme[front]), try luminance(scheme[back]))
      let ratio = (max(one, other) + 0.05) / (min(one, other) + 0.05)
      #expect(ratio >= least, "\(front) on \(back): \(ratio)")
    }
  }

  @Test("what comes from outside is escaped on every page")
  func escaping() {
    let nasty = "<b>&\"'"
    let html: HTML = "\(nasty)"
    #expect(html.text == "&lt;b&gt;&amp;&quot;&#39;")
  }

  private func everyPage(_ client: TestClient) async throws -> [(String, Reply)] {
    let browser = client.browser
    var pages: [(String, Reply)] = [("home", try await browser.get("/"))]
    let signIn = try await browser.open(client.authorize())
    pages.append(("sign in", signIn))
    let wrong = [("username", "alice"), ("password", "no"), ("action", "continue")]
    pages.append(("sign in, refused", try await browser.submit(signIn, wrong)))
    let create = try await browser.open(client.authorize(["prompt": "create"]))
    pages.append(("create", create))
    pages.append(("create, refused", try await browser.submit(create, [("action", "continue")])))
    let right = [("username", "alice"), ("password", "alice-password"), ("action", "continue")]
    pages.append(("consent", try await browser.submit(signIn, right)))
    pages.append(("choose", try await browser.open(client.authorize(["prompt": "select_account"]))))
    pages.append(("error", try await browser.get("/authorize")))
    let device = try await client.browser.post("/device/authorize", [("client_id", "sample-app")])
    let code = device.json["user_code"]?.string ?? ""
    pages.append(("device", try await browser.get("/device?user_code=\(code)")))
    pages.append(("device, refused", try await browser.post("/device", [("user_code", "WRONG")])))
    let wish = #"""
      {"client_id":"sample-app","connection":"email","email":"alice@example.com","send":"link","authParams":
        {"response_type":"code","redirect_uri":"\#(TestClient.redirectURI)","state":"s","scope":"openid",
         "code_challenge":"\#(TestClient.challenge)","code_challenge_method":"S256"}}
      """#
    _ = try await browser.send(
      "POST", "/passwordless/start", headers: ["Content-Type": "application/json"], body: Data(wish.utf8))
    pages.append(("link", try await browser.get(client.provider.passwordlessMessages.last?.link ?? "")))
    for action in ["cancel", "continue"] {
      let begun = try await client.browser.post("/device/authorize", [("client_id", "sample-app")])
      var page = try await browser.post("/device", [("user_code", begun.json["user_code"]?.string ?? "")])
      while let location = page.location { page = try await browser.get(location) }
      pages.append(("device, \(action)", try await browser.submit(page, [("action", action)])))
    }
    let signOut = try await browser.get("/end-session?client_id=sample-app")
    pages.append(("sign out", signOut))
    pages.append(("stay", try await browser.post("/end-session", [("action", "stay")])))
    let link = try await browser.send("POST", "/other-app/init").json["link"]?.string ?? ""
    let otherApp = try await browser.get(link)
    pages.append(("the other app", otherApp))
    pages.append(("nothing told", try await browser.post("/other-app", otherApp.hiddenFields)))
    pages.append(("signed out", try await browser.post("/end-session", [("action", "sign-out")])))
    return pages
  }

  private func count(_ piece: String, in text: String) -> Int {
    text.components(separatedBy: piece).count - 1
  }

  private func elements(_ name: String, of html: String) -> [String] {
    html.components(separatedBy: "<\(name) ").dropFirst().map {
      $0.components(separatedBy: ">").first ?? ""
    }
  }

  private func attribute(_ name: String, of element: String) -> String {
    element.components(separatedBy: "\(name)=\"").dropFirst().first?.components(separatedBy: "\"").first
      ?? ""
  }

  private func colors(_ css: String) throws -> [String: String] {
    var found: [String: String] = [:]
    for part in css.components(separatedBy: "--").dropFirst() {
      let sides = part.components(separatedBy: ":")
      guard sides.count > 1, sides[1].hasPrefix("#") else { continue }
      found[sides[0]] = String(sides[1].dropFirst().prefix { $0.isHexDigit })
    }
    return found
  }

  /// WCAG's relative luminance.
  private func luminance(_ color: String?) throws -> Double {
    var hex = try #require(color)
    if hex.count == 3 { hex = hex.map { "\($0)\($0)" }.joined() }
    let value = try #require(Int(hex, radix: 16))
    let parts = [value >> 16 & 255, value >> 8 & 255, value & 255].map { part -> Double in
      let share = Double(part) / 255
      return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
    }
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
  }
}
