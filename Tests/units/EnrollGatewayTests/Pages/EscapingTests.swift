// Outside data is text: no value of any page can become markup.

import Expectations
import Testing

@testable import EnrollGatewayPages

@Suite struct EscapingTests {
  static let hostile = [
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onmouseover='alert(1)", "</title><h1>",
    "&lt;b&gt; &amp; &#39;", "<!-- -->", "]]>", "javascript:alert(1)", "{product}", "a\u{0}b\u{1B}c\rd",
    "\u{202E}gro.elpmaxe", "<", "&", "\"", "'", "Ärger & Söhne", "עדה",
  ]

  @Test("every value is text wherever it stands, and changes the shape of no page", arguments: hostile)
  func values(_ text: String) throws {
    let harmless = try SamplePages()
    let attacked = try SamplePages(.everywhere(text))
    for language in harmless.pages.languages.all {
      for (one, other) in zip(try harmless.all(in: language), try attacked.all(in: language)) {
        let expected = try Markup(page: one.content.bytes)
        let found = try Markup(page: other.content.bytes)
        // Values that may be written from right to left have a separate element.
        expect(Self.shape(found), is: Self.shape(expected), "\(one.name)")
        // U+FFFD replaces characters that a page must not contain.
        let shown = String(
          String.UnicodeScalarView(
            text.unicodeScalars.map { $0.value < 0x20 ? "\u{FFFD}" : $0 }))
        if one.name == "account" {
          #expect(found.text.contains(shown))
          #expect(found.all("input").contains { $0.attributes["value"] == shown })
        }
      }
    }
  }

  private static func shape(_ markup: Markup) -> String {
    var shape = markup.shape.replacing("bdi()", with: "")
    while shape.contains(",,") { shape = shape.replacing(",,", with: ",") }
    return shape.replacing("(,", with: "(").replacing(",)", with: ")")
  }

  @Test("text, attributes and elements are written as browsers read them")
  func writing() {
    var html = HTML()
    html.element(.p, .class("soft"), .label("a \"b\" <c>")) { html in
      html.text("1 < 2 & 'x'")
      html.void(.input, .type("hidden"), .named("n"), .value("\u{0}"))
    }
    #expect(
      String(decoding: html.bytes, as: UTF8.self) == """
        <p class="soft" aria-label="a &quot;b&quot; &lt;c&gt;">1 &lt; 2 &amp; &#39;x&#39;\
        <input type="hidden" name="n" value="\u{FFFD}">
        </p>
        """)
  }

  @Test("a value that may be written from right to left cannot reorder what surrounds it")
  func isolation() throws {
    let texts = Texts(catalogue: try Catalogue(json: PackageResources.en_json), product: "Notes")
    var html = HTML()
    html.phrase(texts(.signInWith, [.provider: "\u{202E}elgooG"]))
    html.phrase(texts(.signInWith, [.provider: "Google"]))
    expect(
      String(decoding: html.bytes, as: UTF8.self),
      is: "Sign in with <bdi>\u{202E}elgooG</bdi>Sign in with Google")
  }
}

@Suite struct PageLinkTests {
  @Test(
    "a path of the gateway begins with one slash",
    arguments: [
      ("/", true), ("/login?return_to=%2Fa&b=c#d", true), ("/it's", true), ("", false), ("login", false),
      ("//evil.example", false), ("/\\evil.example", false), ("\\\\evil.example", false), ("/a b", false),
      ("/a\"b", false), ("/a<b", false), ("/ä", false), ("/a\nb", false), ("/a\tb", false),
      ("https://a.example", false),
    ])
  func paths(_ text: String, _ isGood: Bool) {
    expect(((try? PageLink(path: text)) != nil), is: isGood)
  }

  @Test(
    "the address of an app is https, http on this computer, or a scheme with a dot",
    arguments: [
      ("https://app.example/cb?code=1", "https://app.example"),
      ("HTTPS://app.example", "https://app.example"),
      ("https://app.example:8443/cb", "https://app.example:8443"),
      ("http://127.0.0.1:5000/cb", "http://127.0.0.1:5000"),
      ("http://[::1]:5000/cb", "http:"), ("https://[2001:db8::7]/cb", "https:"),
      ("http://localhost/cb", "http://localhost"),
      ("com.example.app:/cb?state=1", "com.example.app:"), ("Com.Example.App:/cb", "com.example.app:"),
      ("http://app.example/cb", nil), ("https:/cb", nil), ("https://", nil),
      ("https://user@app.example/", nil),
      ("https://app.example:x/", nil), ("https://app.example:+80/", nil), ("https://app.example:70000/", nil),
      ("https://a;script-src/", nil), ("javascript:alert(1)", nil), ("JavaScript:alert(1)", nil),
      ("data:text/html,x", nil), ("vbscript:x", nil), ("blob:https://app.example/1", nil),
      ("file:///etc/passwd", nil),
      ("app:/cb", nil), ("1.app:/cb", nil), ("com.example.app:", nil), ("com.example.app:/a b", nil),
      ("com.example.app", nil), (":", nil), ("", nil), ("java\nscript.x:/", nil),
    ] as [(String, String?)])
  func apps(_ text: String, _ origin: String?) {
    expect((try? PageLink(app: text))?.origin, is: origin)
  }

  @Test("a link of the theme is a page on the web")
  func web() {
    expect((try? PageLink(web: "https://notes.example/help")), isNot: nil)
    expect((try? PageLink(web: "com.example.app:/help")), is: nil)
    expect((try? PageLink(web: "http://notes.example/help")), is: nil)
  }

  @Test("an address that is too long is refused")
  func length() {
    let text = "/" + String(repeating: "a", count: PageLink.longest - 1)
    expect((try? PageLink(path: text)), isNot: nil)
    expect((try? PageLink(path: text + "a")), is: nil)
  }
}
