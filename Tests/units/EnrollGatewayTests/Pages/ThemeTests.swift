// A theme contains only what a deployer may change, and cannot make a page unreadable.

import EnrollJSON
import Expectations
import Testing

@testable import EnrollGatewayPages

@Suite struct ThemeTests {
  private static func theme(_ json: String) throws -> Theme {
    try Theme(json: try #require(JSON.parse(Array(json.utf8)).object))
  }

  @Test(
    "a colour is # with three or six digits",
    arguments: [
      ("#0b5d53", "#0b5d53"), ("#FFF", "#ffffff"), ("#a1C", "#aa11cc"), ("0b5d53", nil), ("#0b5d5", nil),
      ("#0b5d533", nil), ("#0b5d5g", nil), ("red", nil), ("rgb(0,0,0)", nil),
      ("#fff;}body{display:none", nil),
      ("#ffff", nil), ("", nil), ("#", nil), ("#äb", nil),
    ] as [(String, String?)])
  func colours(_ text: String, _ expected: String?) {
    expect(Colour(text)?.text, is: expected)
  }

  @Test(
    "contrast is that of WCAG",
    arguments: [
      ("#000", "#fff", 21.0), ("#fff", "#fff", 1.0), ("#777", "#fff", 4.478), ("#767676", "#fff", 4.542),
      ("#f00", "#fff", 3.998), ("#00f", "#ff0", 8.001), ("#0b5d53", "#fff", 7.764),
      ("#010101", "#000", 1.006),
    ])
  func contrast(_ one: String, _ other: String, _ expected: Double) throws {
    let (one, other) = (try #require(Colour(one)), try #require(Colour(other)))
    #expect(abs(one.contrast(against: other) - expected) < 0.01)
    expect(one.contrast(against: other), is: other.contrast(against: one))
  }

  @Test("the colours of the house can be read, with room to spare for text")
  func house() throws {
    for palette in [Palette.light, Palette.dark] {
      #expect(palette.unreadablePair() == nil)
      #expect(palette[.text].contrast(against: palette[.card]) >= 12)
      #expect(palette[.mutedText].contrast(against: palette[.card]) >= 7)
      #expect(palette[.accent].contrast(against: palette[.card]) >= 7)
    }
  }

  @Test(
    "an accent alone is enough: the text on it, its darker shade and the dark pages' accent are computed",
    arguments: ["#0b5d53", "#b00020", "#1a56c4", "#000000", "#5b21b6", "#767600", "#00f"])
  func accents(_ text: String) throws {
    let accent = try #require(Colour(text))
    let theme = try Theme(product: "Notes", light: [.accent: accent])
    expect(theme.light[.accent], is: accent)
    #expect(theme.light.unreadablePair() == nil)
    #expect(theme.dark.unreadablePair() == nil)
    #expect(theme.dark[.accent].contrast(against: theme.dark[.card]) >= 6)
  }

  @Test(
    "the text on an accent is white or nearly black, whichever can be read better, also under the pointer",
    arguments: [
      ("#ffd400", "#111111"), ("#0000ff", "#ffffff"), ("#ffffff", "#111111"), ("#000000", "#ffffff"),
    ])
  func textOnAccents(_ text: String, _ expected: String) throws {
    for house in [Palette.light, Palette.dark] {
      let palette = house.changed([.accent: try #require(Colour(text))])
      expect(palette[.onAccent].text, is: expected)
      #expect(
        palette[.onAccent].contrast(against: palette[.accentHover])
          >= palette[.onAccent].contrast(against: palette[.accent]))
    }
  }

  @Test(
    "what is wrong in a theme is named",
    arguments: [
      (#"{}"#, .malformed("product", expected: "a name")),
      (#"{"product": ""}"#, .malformed("product", expected: "a name of 1 to 60 bytes")),
      (#"{"product": "a\nb"}"#, .malformed("product", expected: "a name of 1 to 60 bytes")),
      (#"{"product": "N", "color": "x"}"#, .unknownKey("color")),
      (#"{"product": "N", "radius": 25}"#, .malformed("radius", expected: "0 to 24 pixels")),
      (#"{"product": "N", "radius": "1px"}"#, .malformed("radius", expected: "0 to 24 pixels")),
      (#"{"product": "N", "light": []}"#, .malformed("light", expected: "an object")),
      (##"{"product": "N", "light": {"akzent": "#000"}}"##, .unknownKey("light.akzent")),
      (
        #"{"product": "N", "dark": {"accent": "red"}}"#,
        .malformed("dark.accent", expected: "a colour such as #0b5d53")
      ),
      (
        #"{"product": "N", "logo": "https://cdn.example/logo.svg"}"#,
        .malformed("logo", expected: "a path of the gateway such as /files/logo.svg")
      ),
      (
        #"{"product": "N", "logo": "//cdn.example/logo.svg"}"#,
        .malformed("logo", expected: "a path of the gateway such as /files/logo.svg")
      ),
      (#"{"product": "N", "logoDark": "/a.svg"}"#, .malformed("logoDark", expected: "a logo beside it")),
      (
        #"{"product": "N", "logo": "/a.svg", "logoContainsName": 1}"#,
        .malformed("logoContainsName", expected: "true or false")
      ),
      (#"{"product": "N", "links": {"shop": "/shop"}}"#, .unknownKey("links.shop")),
      (
        #"{"product": "N", "links": {"help": "javascript:alert(1)"}}"#,
        .malformed("links.help", expected: "an https address or a path of the gateway")
      ),
    ] as [(String, ThemeError)])
  func refused(_ json: String, _ expected: ThemeError) {
    #expect(throws: expected) { try Self.theme(json) }
    #expect(expected.message.hasSuffix("."))
  }

  @Test(
    "colours that cannot be read together are refused, with their contrast",
    arguments: [
      (
        ##"{"light": {"accent": "#ffd400"}}"##, "light",
        "accent #ffd400 on card #ffffff has a contrast of 1.4:1"
      ),
      (
        ##"{"light": {"accent": "#777777"}}"##, "light",
        "accent #777777 on card #ffffff has a contrast of 4.4:1"
      ),
      (##"{"light": {"onAccent": "#888888"}}"##, "light", "onAccent #888888 on accent #0b5d53"),
      (##"{"light": {"text": "#999999"}}"##, "light", "text #999999 on card #ffffff"),
      (##"{"dark": {"card": "#808080"}}"##, "dark", "text #eeece7 on card #808080"),
      (##"{"dark": {"accent": "#333333"}}"##, "dark", "accent #333333 on card #1b1e1d"),
      (##"{"light": {"edge": "#dddddd"}}"##, "light", "edge #dddddd on card #ffffff"),
    ])
  func faint(_ colours: String, _ scheme: String, _ part: String) throws {
    let json = #"{"product": "N", "# + colours.dropFirst()
    let error = #expect(throws: ThemeError.self) { try Self.theme(json) }
    let message = try #require(error).message
    #expect(message.hasPrefix("In the \(scheme) colours, " + part), "\(message)")
  }

  @Test("the style sheet has the theme's variables, and a name of its own for every content")
  func styleSheet() throws {
    let house = try Theme(product: "Notes").styleSheet()
    let other = try Self.theme(##"{"product": "N", "radius": 4, "light": {"accent": "#1a56c4"}}"##)
      .styleSheet()
    let text = String(decoding: other.bytes, as: UTF8.self)
    #expect(text.hasPrefix(":root{color-scheme:light dark;--radius:4px;--page:#"))
    #expect(text.contains("--accent:#1a56c4;--on-accent:#ffffff;"))
    expect(house.path, isNot: other.path)
    expect(house, is: try Theme(product: "Else").styleSheet())
    #expect(house.path.wholeMatch(of: /\/assets\/style-[0-9a-f]{16}\.css/) != nil)
    #expect(house.headers.contains { $0 == ("Cache-Control", "public, max-age=31536000, immutable") })
  }

  @Test("the style sheet loads nothing, and uses no variable that the theme lacks")
  func styleSheetIsClosed() throws {
    let text = String(decoding: try Theme(product: "Notes").styleSheet().bytes, as: UTF8.self)
    for forbidden in ["url(", "@import", "http", "expression", "/*"] { #expect(!text.contains(forbidden)) }
    let known = Set(ColourRole.allCases.map(\.variable) + ["--radius"])
    let used = Set(text.matches(of: /var\((--[a-z-]+)\)/).map { String($0.1) })
    expect(used, is: known)
    expect(text.filter { $0 == "{" }.count, is: text.filter { $0 == "}" }.count)
  }

  @Test("a logo stands for the product: with the name beside it, or with the name in it")
  func logo() throws {
    let languages = try Languages()
    func header(_ json: String) throws -> Markup {
      let pages = Pages(theme: try Self.theme(json), languages: languages)
      let page = pages.page(ChoicePage(.signIn, providers: []), in: PageContext(languages.standard))
      return try #require(try Markup(page: page.bytes).all("header").first)
    }
    let beside = try header(#"{"product": "Notes", "logo": "/files/a.svg"}"#)
    expect(beside.all("img").map { $0.attributes["alt"] }, is: [""])
    expect(beside.text, is: "Notes")
    let inside = try header(
      #"{"product": "Notes", "logo": "/files/a.svg", "logoDark": "/files/b.svg", "logoContainsName": true}"#)
    expect(inside.all("img").map { $0.attributes["alt"] }, is: ["Notes"])
    expect(inside.all("source").map { $0.attributes["srcset"] }, is: ["/files/b.svg"])
    expect(inside.text, is: "")
  }
}
