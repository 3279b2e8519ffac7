// The language of a page (RFC 9110 §12.5.4, RFC 4647 §3.4).

import Expectations
import Testing

@testable import EnrollGatewayPages

@Suite struct LanguageTests {
  private static func language(_ tag: String) throws -> Language {
    Language(tag: try #require(LanguageTag(tag)), name: tag, direction: .leftToRight)
  }

  @Test(
    "Accept-Language chooses among en, de and pt-BR; what it does not say is answered in en",
    arguments: [
      ("de", "de"), ("de-AT", "de"), ("de-AT-1996", "de"), ("DE-at", "de"), ("en-GB,en;q=0.9", "en"),
      ("fr,de;q=0.5", "de"), ("fr;q=0.9, de;q=0.8, en;q=0.7", "de"), ("en;q=0.5,de;q=0.6", "de"),
      ("en;q=0.5,de;q=0.5", "en"), ("de;q=0.5,en;q=0.5", "de"), ("pt", "pt-BR"), ("pt-BR", "pt-BR"),
      ("pt-PT", "en"), ("pt-PT,pt;q=0.9", "pt-BR"), ("fr", "en"), ("", "en"), (" , ,", "en"), (",de,", "de"),
      ("*", "en"), ("fr,*;q=0.1", "en"), ("en;q=0,*", "de"), ("en;q=0,de;q=0,*;q=0.5", "pt-BR"),
      ("de, *;q=0", "de"), ("*;q=0", "en"), ("de;q=0", "en"), ("de;q=0, de-AT", "en"),
      ("de-AT;q=0, de", "de"),
      ("de ; q=0.8 , en ; q=0.2", "de"), ("de\t;\tq=1", "de"), ("de;Q=0.9", "de"), ("de;q=1.000", "de"),
      ("de;q=0.123", "de"), ("de;q=0.", "en"), ("de;q=1.", "de"),
      // Malformed headers are ignored as a whole.
      ("de;q=1.001", "en"), ("de;q=2", "en"), ("de;q=0.1234", "en"), ("de;q=-1", "en"), ("de;q=", "en"),
      ("de;q", "en"), ("de;x=1", "en"), ("de;q=0.5;q=1", "en"), ("de;", "en"), ("d", "en"), ("de_AT", "en"),
      ("de--AT", "en"), ("-de", "en"), ("de AT", "en"), ("*-de", "en"), ("abcdefghi,de", "en"), ("d€", "en"),
      ("<script>", "en"), ("de\u{0}", "en"),
    ])
  func header(_ header: String, _ expected: String) throws {
    let languages = try ["en", "de", "pt-BR"].map(Self.language)
    let chosen = AcceptLanguage(header)?.choice(among: languages) ?? languages[0]
    expect(chosen.tag.text, is: expected)
  }

  @Test("a header that is too long says nothing")
  func length() {
    let long = "de," + String(repeating: " ", count: AcceptLanguage.longest)
    #expect(AcceptLanguage(long) == nil)
    #expect(AcceptLanguage(String(long.prefix(AcceptLanguage.longest))) != nil)
  }

  @Test(
    "what was set explicitly goes before what the browser asks for",
    arguments: [
      ("de", "en", "de"), ("fr de-CH en", "en", "de"), ("fr", "de", "de"), ("", "de", "de"),
      ("<>", "de", "de"),
      ("fr", "fr", "en"),
    ])
  func explicit(_ setting: String, _ header: String, _ expected: String) throws {
    let languages = try Languages()
    expect(languages.choose(explicit: setting, acceptLanguage: header).tag.text, is: expected)
  }

  @Test("without a setting and a header, pages are in the default language")
  func standard() throws {
    var languages = try Languages()
    expect(languages.choose().tag.text, is: "en")
    try languages.setStandard("de")
    expect(languages.choose(acceptLanguage: "fr").tag.text, is: "de")
    expect(languages.choose(acceptLanguage: "en-GB").tag.text, is: "en")
  }

  @Test(
    "tags are spelled as they usually are",
    arguments: [
      ("de", "de"), ("DE-at", "de-AT"), ("ZH-hant-tw", "zh-Hant-TW"), ("sl-ROZAJ", "sl-rozaj"),
      ("es-419", "es-419"),
      ("", nil), ("d", nil), ("1a", nil), ("de-", nil), ("de-abcdefghi", nil), ("de-ä", nil),
    ] as [(String, String?)])
  func tags(_ text: String, _ expected: String?) {
    expect(LanguageTag(text)?.text, is: expected)
  }

  @Test(
    "dates are those of UTC",
    arguments: [
      (0, "1970-01-01T00:00Z"), (-1, "1969-12-31T23:59Z"), (951_782_400, "2000-02-29T00:00Z"),
      (1_795_514_700, "2026-11-24T10:05Z"), (4_107_542_399, "2100-02-28T23:59Z"),
      (4_107_542_400, "2100-03-01T00:00Z"),
      (Int64.max, "9999-12-31T23:59Z"), (Int64.min, "0001-01-01T00:00Z"),
    ])
  func dates(_ seconds: Int64, _ expected: String) {
    expect(CalendarTime(seconds).machineText, is: expected)
  }

  @Test("dates are written as each language writes them")
  func writtenDates() throws {
    let english = Texts(catalogue: try Catalogue(json: PackageResources.en_json), product: "Notes")
    let german = Texts(catalogue: try Catalogue(json: PackageResources.de_json), product: "Notes")
    expect(CalendarTime(1_795_514_700).moment(english), is: "24 November 2026, 10:05\u{A0}UTC")
    expect(CalendarTime(951_782_400).day(german), is: "29. Februar 2000")
  }

  @Test(
    "a User-Agent is named by its browser and its system",
    arguments: [
      ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
      (
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 "
          + "Safari/537.36 Edg/140.0.0.0", "Edge on Windows"
      ),
      (
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
          + "Version/18.0 Mobile/15E148 Safari/604.1", "Safari on iPhone"
      ),
      (
        "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile "
          + "Safari/537.36", "Chrome on Android"
      ),
      (
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 "
          + "Safari/605.1.15", "Safari on macOS"
      ),
      ("Ada's  phone\n", "Ada's phone"), ("curl/8.0", "curl/8.0"), ("Mozilla/5.0", "Mozilla/5.0"),
      ("My iPhone with Firefox/1", "My iPhone with Firefox/1"),
      (String(repeating: "x", count: 61), String(repeating: "x", count: 59) + "…"),
      (String(repeating: "x", count: 60), String(repeating: "x", count: 60)), (" \n", nil), ("", nil),
    ] as [(String, String?)])
  func devices(_ text: String, _ expected: String?) throws {
    let texts = Texts(catalogue: try Catalogue(json: PackageResources.en_json), product: "Notes")
    expect(Device(text)?.name(texts), is: expected)
  }

  @Test(
    "what asked for a link is named on its page and in its mail only as a browser or a system that is known",
    arguments: [
      ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
      ("call 0800 123 now", "Unknown device"), ("Mozilla/5.0 call 0800 123 now", "Unknown device"),
      ("Mozilla/5.0 call 0800 123 now Firefox/1", "Firefox"), ("curl/8.0", "Unknown device"),
    ])
  func strangers(_ text: String, _ expected: String) throws {
    let pages = Pages(theme: try Theme(product: "Notes"), languages: try Languages())
    let language = pages.languages.standard
    let link = try PageLink(web: "https://gateway.example/signin/x")
    let mail = pages.mail(MailPage(.signInLink, link: link, device: text), in: language)
    let form = EmailForm(
      .confirmSignIn(email: "ada@example.org", device: text),
      frame: FormFrame(action: try PageLink(path: "/signin/x"), token: FormToken(value: "v")))
    let page = pages.page(form, in: PageContext(language)).bytes
    for shown in [
      mail.text, String(decoding: mail.html, as: UTF8.self), String(decoding: page, as: UTF8.self),
    ] {
      #expect(shown.contains(": \(expected)."))
      #expect(!shown.contains("0800"))
    }
  }
}
