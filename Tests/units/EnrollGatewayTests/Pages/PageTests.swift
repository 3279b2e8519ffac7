// Properties of all pages: the structure that assistive technology needs, and nothing that a strict
// Content-Security-Policy would refuse.

import Expectations
import Testing

@testable import EnrollGatewayPages

@Suite struct PageTests {
  private static func everyPage() throws -> [(name: String, content: PageContent, markup: Markup)] {
    let sample = try SamplePages()
    return try sample.pages.languages.all.flatMap { language in
      try sample.all(in: language).map { page in
        (page.name + "." + language.tag.text, page.content, try Markup(page: page.content.bytes))
      }
    }
  }

  @Test("every page has its language, one main heading, and a title that begins with it")
  func heads() throws {
    for (name, content, page) in try Self.everyPage() {
      expect(page.attributes, is: ["lang": content.language.tag.text, "dir": "ltr"], "\(name)")
      expect(page.all("h1").count, is: 1, "\(name)")
      let title = try #require(page.all("title").first).text
      let heading = try #require(page.all("h1").first).text
      #expect(
        title == content.title && title.hasPrefix(heading) && title.contains("Notes"), "\(name): \(title)")
      let head = try #require(page.all("head").first).all.dropFirst().map(\.name)
      expect(head.prefix(2), is: ["meta", "title"], "\(name)")
      #expect(page.all("meta").contains { $0.attributes["name"] == "viewport" })
    }
  }

  @Test("every page has one main landmark, the skip link that leads there comes first, and no id comes twice")
  func landmarks() throws {
    for (name, _, page) in try Self.everyPage() {
      expect(page.all("main").map { $0.attributes["id"] }, is: ["main"], "\(name)")
      #expect(page.all("header").count == 1 && page.all("footer").count == 1, "\(name)")
      let first = try #require(page.all.first { ["a", "button", "input"].contains($0.name) })
      expect(first.attributes["href"], is: "#main", "\(name)")
      let ids = page.all.compactMap { $0.attributes["id"] }
      expect(Set(ids).count, is: ids.count, "\(name)")
      for reference in page.all.compactMap({ $0.attributes["aria-labelledby"] }).flatMap({
        $0.split(separator: " ")
      }) {
        #expect(ids.contains(String(reference)), "\(name): \(reference)")
      }
      for nav in page.all("nav") { expect(nav.attributes["aria-label"]?.isEmpty, is: false, "\(name)") }
      // Headings skip no level.
      let levels = page.all.compactMap { ["h1": 1, "h2": 2, "h3": 3][$0.name] }
      #expect(levels.first == 1 && zip(levels, levels.dropFirst()).allSatisfy { $1 <= $0 + 1 }, "\(name)")
    }
  }

  @Test("nothing in a page needs a script, a style of its own, or anything from elsewhere")
  func policy() throws {
    let elements: Set<String> = [
      "html", "head", "meta", "title", "link", "body", "a", "div", "header", "img", "span", "main", "h1",
      "h2", "p", "ul",
      "li", "footer", "nav", "section", "dl", "dt", "dd", "bdi", "strong", "time", "form", "input", "button",
      "label",
    ]
    for (name, content, page) in try Self.everyPage() {
      for element in page.all {
        #expect(elements.contains(element.name), "\(name): \(element.name)")
        for attribute in element.attributes.keys {
          #expect(attribute != "style" && !attribute.hasPrefix("on"), "\(name): \(attribute)")
        }
        for key in ["src", "srcset", "action"] {
          guard let address = element.attributes[key] else { continue }
          #expect(address.hasPrefix("/") && !address.hasPrefix("//"), "\(name): \(address)")
        }
        guard let address = element.attributes["href"], element.name == "a" else { continue }
        let isOwn = address.hasPrefix("/") && !address.hasPrefix("//") || address == "#main"
        #expect(isOwn || address.hasPrefix("com.example.notes:/"), "\(name): \(address)")
      }
      let html = String(decoding: content.bytes, as: UTF8.self)
      for forbidden in ["<script", "javascript:", "http:", "https:", "style="] {
        #expect(!html.contains(forbidden), "\(name): \(forbidden)")
      }
    }
  }

  @Test("what a page loads is served: the style sheet and the mark, by their hashed names, and no script")
  func assets() throws {
    let sample = try SamplePages()
    let paths = Set(sample.pages.assets.map(\.path).filter { !$0.hasSuffix(".js") })
    expect(paths.count, is: 2)
    for (name, _, page) in try Self.everyPage() {
      let loaded = page.all("link").compactMap { $0.attributes["href"] }
      expect(Set(loaded), is: paths, "\(name)")
      for picture in page.all("img") { expect(picture.attributes["alt"], isNot: nil, "\(name)") }
    }
  }

  @Test("pages are sent with a policy that forbids scripts, frames and everything from elsewhere")
  func headers() throws {
    let sample = try SamplePages()
    let context = PageContext(
      sample.pages.languages.standard, formTargets: [try PageLink(web: "https://id.example:8443/logout")])
    let page = sample.pages.page(FailurePage(.notFound), in: context)
    func value(_ name: String) -> String? { page.headers.first { $0.name == name }?.value }
    expect(
      value("Content-Security-Policy"),
      is: "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self' https://id.example:8443; "
        + "base-uri 'none'; frame-ancestors 'none'")
    expect(value("Content-Type"), is: "text/html; charset=utf-8")
    expect(value("Content-Language"), is: "en")
    expect(value("Cache-Control"), is: "no-store")
    expect(value("X-Content-Type-Options"), is: "nosniff")
    expect(value("Referrer-Policy"), is: "same-origin")
  }

  @Test("every form is a POST with the token, and its button says what it does")
  func forms() throws {
    for (name, _, page) in try Self.everyPage() {
      for form in page.all("form") {
        expect(form.attributes["method"], is: "post", "\(name)")
        let token = form.all("input").filter { $0.attributes["name"] == "csrf" }
        expect(token.map { $0.attributes["value"] }, is: ["form-token"], "\(name)")
        // Each input for text has a label.
        let labelled = form.all("label").map { $0.attributes["for"] }
        #expect(
          form.all("input").allSatisfy {
            $0.attributes["type"] == "hidden" || labelled.contains($0.attributes["id"])
          }, "\(name)")
        let buttons = form.all("button")
        #expect(
          buttons.count == 1 && buttons.allSatisfy { $0.attributes["type"] == "submit" && !$0.text.isEmpty })
      }
      expect(page.all("button").count, is: page.all("form").count, "\(name)")
      #expect(page.all("a").allSatisfy { !$0.text.isEmpty }, "\(name)")
    }
  }

  @Test("the account page marks this browser, and ends each other session by its own button")
  func sessions() throws {
    let sample = try SamplePages()
    let english = sample.pages.languages.standard
    let page = try #require(try sample.all(in: english).first { $0.name == "account" })
    let markup = try Markup(page: page.content.bytes)
    let list = try #require(markup.all("ul").first { $0.has("sessions") })
    let rows = list.children.compactMap { child -> Markup? in
      guard case .element(let row) = child else { return nil }
      return row
    }
    expect(rows.count, is: 3)
    // The current session is first. A text marks it, and its button signs out.
    #expect(rows[0].text.hasPrefix("Firefox on Linux This browser Active now"))
    expect(rows[0].all("form").map { $0.attributes["action"] }, is: ["/logout"])
    for (row, id) in zip(rows.dropFirst(), ["0193-tablet", "0193-session"]) {
      #expect(!row.text.contains("This browser"))
      expect(row.all("form").map { $0.attributes["action"] }, is: ["/account/sessions/end"])
      #expect(
        row.all("input").contains { $0.attributes["name"] == "session" && $0.attributes["value"] == id })
      // The button's accessible name contains the session, for users who hear only the buttons.
      let names = try #require(row.all("button").first?.attributes["aria-labelledby"]).split(separator: " ")
      let spoken = names.compactMap { name in markup.all.first { $0.attributes["id"] == String(name) }?.text }
      #expect(spoken.joined(separator: " ").hasPrefix("End session "))
    }
    #expect(rows[1].text.contains("Unknown device Last used on 21 November 2026, 10:05 UTC"))
    #expect(
      rows[2].text.contains("Notes for Android · Firefox on Linux Active now Signed in on 26 August 2026"))
    #expect(markup.all("form").contains { $0.attributes["action"] == "/logout/everywhere" })
  }

  @Test("whoever sees no session of this browser can sign out all the same")
  func signingOut() throws {
    let sample = try SamplePages()
    let pages = try sample.all(in: sample.pages.languages.standard)
    let page = try #require(pages.first { $0.name == "account-from-an-app" })
    let markup = try Markup(page: page.content.bytes)
    expect(markup.all("form").filter { $0.attributes["action"] == "/logout" }.count, is: 1)
    #expect(
      markup.all.contains { $0.attributes["role"] == "status" && $0.text == "The session has been ended." })
  }

  @Test("an e-mail address is called confirmed only where the provider vouches for it")
  func emails() throws {
    let sample = try SamplePages()
    let page = try #require(
      try sample.all(in: sample.pages.languages.standard).first { $0.name == "account" })
    let texts = try Markup(page: page.content.bytes).all("dd").filter { $0.has("identity") }.map(\.text)
    expect(
      texts,
      is: [
        "G Google ada@example.org · confirmed by Google Disconnect",
        "G GitHub ada@example.org · not confirmed Disconnect",
        "F Facebook no e-mail address shared Disconnect",
      ])
  }

  @Test("the choice has one link for each provider, the other page, and a way back to the app")
  func choice() throws {
    let sample = try SamplePages()
    let page = try #require(
      try sample.all(in: sample.pages.languages.standard).first { $0.name == "sign-up" })
    let main = try #require(try Markup(page: page.content.bytes).all("main").first)
    let links = main.all("a").map { [$0.text, $0.attributes["href"] ?? ""] }
    expect(
      links,
      is: [
        ["GSign up with Google", "/v1/auth/google?return_to=%2Faccount&a=1"],
        ["GSign up with GitHub", "/v1/auth/github"],
        ["SSign up with Stadtwerke Musterstadt – Mitarbeiterportal", "/v1/auth/city"],
        ["Sign up with Apple", "/v1/auth/apple"], ["Sign in", "/login"],
        ["Cancel and return to Notes for Android", "com.example.notes:/cb?error=access_denied&state=a%20b"],
      ])
    // The letter on the tile is only decorative.
    let tiles = main.all.filter { $0.has("tile") }
    #expect(tiles.count == 4 && tiles.allSatisfy { $0.attributes["aria-hidden"] == "true" })
  }

  @Test(
    "a failure says what happened and what helps, and every way on that there is", arguments: Failure.allCases
  )
  func failures(_ failure: Failure) throws {
    let sample = try SamplePages()
    for language in sample.pages.languages.all {
      let page = try #require(try sample.all(in: language).first { $0.name == "failure-\(failure.rawValue)" })
      let main = try #require(try Markup(page: page.content.bytes).all("main").first)
      expect(main.all("p").count, is: 3)
      #expect(main.all("p").allSatisfy { $0.text.count > 20 })
      let ways = ["/v1/auth/google", "/login", "com.example.notes:/cb?error=access_denied&state=a%20b"]
      expect(main.all("a").map { $0.attributes["href"] }, is: ways)
      #expect(main.text.contains(" 7f3a91"))
      expect(failure.namesProvider, is: main.text.contains("Google"))
    }
  }

  @Test("a provider without a known name is called the sign-in service")
  func unnamedProvider() throws {
    let sample = try SamplePages()
    let page = try #require(
      try sample.all(in: sample.pages.languages.standard).first { $0.name == "failure-without-provider" })
    let text = try Markup(page: page.content.bytes).text
    #expect(text.contains("The sign-in service did not complete the sign-in."))
    #expect(text.contains("Go to the start page"))
  }
}
