// Catalogues: every text exists in every language, every text is on a page, and pages have no other texts.

import EnrollJSON
import Expectations
import Testing

@testable import EnrollGatewayPages

@Suite struct CatalogueTests {
  @Test("both languages have every text, with the same placeholders")
  func complete() throws {
    let english = try CatalogueFile(json: PackageResources.en_json)
    let german = try CatalogueFile(json: PackageResources.de_json)
    expect(english.patterns.count, is: TextKey.allCases.count)
    expect(german.patterns.count, is: TextKey.allCases.count)
    for key in TextKey.allCases {
      expect(english.patterns[key]?.placeholders, is: german.patterns[key]?.placeholders, "\(key.path)")
    }
  }

  @Test("German is German: hardly a text is the same in both languages")
  func translated() throws {
    let english = try CatalogueFile(json: PackageResources.en_json)
    let german = try CatalogueFile(json: PackageResources.de_json)
    let same = TextKey.allCases.filter { english.patterns[$0] == german.patterns[$0] }.map(\.path)
    expect(same, is: ["texts.form.name", "texts.account.name", "texts.device.appOnDevice"])
  }

  @Test("every text of a catalogue is shown by some page, and pages show no other text")
  func used() throws {
    let values = SampleValues(
      product: "‹product›", provider: "‹provider›", app: "‹app›", name: "‹name›", email: "‹email›",
      device: "‹device›", reference: "‹reference›", session: "s", token: "t")
    var languages = try Languages()
    try languages.add(json: Self.marked())
    let sample = try SamplePages(values, languages: languages)
    let language = languages.choose(explicit: "ar")
    expect(language.tag.text, is: "ar")
    var shown = ""
    for page in try sample.all(in: language) {
      let markup = try Markup(page: page.content.bytes)
      for element in markup.all {
        for name in ["aria-label", "alt"] { shown += element.attributes[name] ?? "" }
      }
      shown += markup.text
      expect(Self.unmarked(markup), is: "", "\(page.name)")
    }
    // A known User-Agent is shown with a text from the catalogue.
    let usual = try SamplePages(languages: languages)
    for page in try usual.all(in: language) { shown += try Markup(page: page.content.bytes).text }
    shown += try usual.mails(in: language)
    // This page has a script, so it is not in the samples.
    let again = SendAgainPage(provider: "Apple", action: try PageLink(path: "/"), fields: [])
    shown += try Markup(page: usual.pages.page(again, in: PageContext(language)).bytes).text
    for key in TextKey.allCases { #expect(shown.contains("⟦\(key.path)⟧"), "\(key.path) is on no page") }
    for month in [8, 10, 11] { #expect(shown.contains("⟦month \(month)⟧")) }
  }

  /// A catalogue in which each text is the name of its key.
  static func marked() -> [UInt8] {
    func text(_ key: TextKey) -> JSON {
      .string("⟦\(key.path)⟧" + key.placeholders.map(\.rawValue).sorted().map { " {\($0)}" }.joined())
    }
    return JSON.object([
      ("language", .string("ar")), ("name", .string("⟦Arabic⟧")), ("direction", .string("rtl")),
      ("months", .array((1...12).map { .string("⟦month \($0)⟧") })),
      ("texts", .object(PageText.allCases.map { ($0.rawValue, text(.text($0))) })),
      (
        "failures",
        .object(
          Failure.allCases.map { failure in
            (
              failure.rawValue,
              .object(FailurePart.allCases.map { ($0.rawValue, text(.failure(failure, $0))) })
            )
          })
      ),
      (
        "mails",
        .object(
          Mail.allCases.map { mail in
            (mail.rawValue, .object(mail.parts.map { ($0.rawValue, text(.mail(mail, $0))) }))
          })
      ),
    ]).serialized()
  }

  /// The letters of a page that are neither from the catalogue nor from outside data.
  private static func unmarked(_ markup: Markup) -> String {
    var text = visible(markup)
    for own in [
      "GitHub", "Facebook", "Apple", "Stadtwerke Musterstadt – Mitarbeiterportal", "English", "Deutsch",
    ] {
      text = text.replacing(own, with: "")
    }
    var depth = 0
    var rest = ""
    for character in text {
      switch character {
      case "⟦", "‹": depth += 1
      case "⟧", "›": depth -= 1
      default: if depth == 0, character.isLetter { rest.append(character) }
      }
    }
    return rest
  }

  private static func visible(_ markup: Markup) -> String {
    guard !markup.has("tile") else { return "" }
    return markup.children.map { child in
      switch child {
      case .text(let text): text
      case .element(let element): visible(element)
      }
    }.joined(separator: " ")
  }

  @Test("no placeholder is left in a page, whatever the language")
  func filled() throws {
    let sample = try SamplePages()
    for language in sample.pages.languages.all {
      for page in try sample.all(in: language) {
        let html = String(decoding: page.content.bytes, as: UTF8.self)
        #expect(!html.contains("{") && !html.contains("}"), "\(page.name)")
        #expect(!page.content.title.contains("{"))
      }
    }
  }

  @Test("a deployer changes single texts, and may name the product in each")
  func changed() throws {
    var languages = try Languages()
    try languages.add(
      json: Array(#"{"language": "de", "texts": {"account.title": "Mein {product}"}}"#.utf8))
    let sample = try SamplePages(languages: languages)
    let pages = try sample.all(in: languages.choose(explicit: "de"))
    let account = try Markup(page: try #require(pages.first { $0.name == "account" }).content.bytes)
    expect(account.all("h1").map(\.text), is: ["Mein Notes"])
    #expect(account.text.contains("Hier sind Sie angemeldet"))
    expect(languages.all.map(\.name), is: ["English", "Deutsch"])
  }

  @Test("a language that runs from right to left says so, and comes before the others when it is the default")
  func added() throws {
    var languages = try Languages()
    try languages.add(json: Self.marked())
    try languages.setStandard("AR")
    expect(languages.all.map(\.tag.text), is: ["ar", "en", "de"])
    let sample = try SamplePages(languages: languages)
    let page = try #require(try sample.all(in: languages.standard).first)
    let markup = try Markup(page: page.content.bytes)
    expect(markup.attributes, is: ["lang": "ar", "dir": "rtl"])
    #expect(throws: CatalogueError.unknownLanguage("fr", known: ["ar", "en", "de"])) {
      try languages.setStandard("fr")
    }
  }

  @Test(
    "what is wrong in a file is named",
    arguments: [
      (#"["#, .none), (#"[]"#, .notJSON("expected an object, got array")),
      (#"{"language": "en", "extra": 1}"#, .unknownKey("extra")),
      (#"{"texts": {}}"#, .malformed("language", expected: "a language tag such as \"fr\" or \"pt-BR\"")),
      (#"{"language": "x"}"#, .malformed("language", expected: "a language tag such as \"fr\" or \"pt-BR\"")),
      (#"{"language": "en", "direction": "up"}"#, .malformed("direction", expected: "\"ltr\" or \"rtl\"")),
      (#"{"language": "en", "name": ""}"#, .malformed("name", expected: "a text of at most 100 bytes")),
      (
        #"{"language": "en", "months": ["May"]}"#,
        .malformed("months", expected: "the names of the twelve months")
      ),
      (#"{"language": "en", "texts": []}"#, .malformed("texts", expected: "an object")),
      (#"{"language": "en", "texts": {"signIn.titel": "x"}}"#, .unknownKey("texts.signIn.titel")),
      (
        #"{"language": "en", "texts": {"signIn.title": 1}}"#,
        .malformed("texts.signIn.title", expected: "a text")
      ),
      (#"{"language": "en", "texts": {"signIn.title": " "}}"#, .empty("texts.signIn.title")),
      (#"{"language": "en", "texts": {"signIn.title": "a\nb"}}"#, .controlCharacter("texts.signIn.title")),
      (
        #"{"language": "en", "texts": {"signIn.with": "Go"}}"#,
        .missingPlaceholder("texts.signIn.with", name: "provider")
      ),
      (
        #"{"language": "en", "texts": {"signIn.with": "Go {provider} {app}"}}"#,
        .unknownPlaceholder("texts.signIn.with", name: "app")
      ),
      (
        #"{"language": "en", "texts": {"signIn.title": "{ product}"}}"#,
        .unknownPlaceholder("texts.signIn.title", name: " product")
      ),
      (#"{"language": "en", "texts": {"signIn.title": "a } b"}}"#, .strayBrace("texts.signIn.title")),
      (#"{"language": "en", "texts": {"signIn.title": "a {b"}}"#, .strayBrace("texts.signIn.title")),
      (#"{"language": "en", "failures": {"gone": {}}}"#, .unknownKey("failures.gone")),
      (
        #"{"language": "en", "failures": {"cancelled": {"why": "x"}}}"#, .unknownKey("failures.cancelled.why")
      ),
      (
        #"{"language": "en", "failures": {"cancelled": {"what": "x"}}}"#,
        .missingPlaceholder("failures.cancelled.what", name: "provider")
      ),
    ] as [(String, CatalogueError?)])
  func refused(_ json: String, _ expected: CatalogueError?) throws {
    var languages = try Languages()
    let error = #expect(throws: CatalogueError.self) { try languages.add(json: Array(json.utf8)) }
    if let expected { expect(error, is: expected) }
    expect(error?.message.hasSuffix("."), is: true)
    expect(languages.all.map(\.name), is: ["English", "Deutsch"])
  }

  @Test("a new language needs every text, and the refusal names the first that are missing")
  func incomplete() throws {
    var languages = try Languages()
    let error = #expect(throws: CatalogueError.self) {
      try languages.add(
        json: Array(#"{"language": "fr", "name": "Français", "texts": {"frame.skip": "x"}}"#.utf8))
    }
    guard case .incomplete("fr", let missing)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    expect(missing.first, is: "months")
    expect(missing.count, is: TextKey.allCases.count)
  }

  @Test("a text that is too long is refused")
  func length() throws {
    let long = String(repeating: "a", count: TextPattern.longest)
    #expect(throws: Never.self) { try TextPattern(long, for: .text(.frameSkip)) }
    #expect(throws: CatalogueError.tooLong("texts.frame.skip")) {
      try TextPattern(long + "a", for: .text(.frameSkip))
    }
  }
}
