// Makes every page of the gateway, from plain values to bytes. No page needs a script; one page has a script that submits its
// form. Pages load nothing from other origins, and cannot be framed (RFC 9700 §4.16). The caller chooses the status.

/// Makes pages with one theme and its languages. It is a value: make it once, use it on any thread.
public struct Pages: Sendable {
  public let theme: Theme
  public let languages: Languages
  /// The files that pages load. Serve each at its path.
  public let assets: [Asset]
  private let style: PageLink
  private let mark: PageLink
  private let formSubmitter: PageLink

  public init(theme: Theme, languages: Languages) {
    self.theme = theme
    self.languages = languages
    let style = theme.styleSheet()
    let mark = theme.mark()
    let formSubmitter = Asset.formSubmitter
    assets = [style, mark, formSubmitter]
    self.style = PageLink(asset: style.path)
    self.mark = PageLink(asset: mark.path)
    self.formSubmitter = PageLink(asset: formSubmitter.path)
  }

  /// The page as bytes, in the language of the context.
  package func page(_ page: some Page, in context: PageContext) -> PageContent {
    let texts = Texts(catalogue: languages.catalogue(of: context.language), product: theme.product)
    let content = page.content(texts: texts)
    let frame = PageFrame(
      theme: theme, style: style, mark: mark, formSubmitter: formSubmitter, texts: texts, context: context)
    return PageContent(
      title: frame.title(content), language: texts.language, bytes: frame.write(content),
      formTargets: context.formTargets, hasScript: content.submitsForm)
  }
}

/// A page of the gateway. Its values come from the steps of the gateway; the page writes texts of the catalogue around
/// these values.
package protocol Page: Sendable {
  func content(texts: Texts) -> Content
}

/// The language of a page, and URLs that depend on the request: the page in other languages, and redirects of its
/// forms.
public struct PageContext: Sendable {
  public var language: Language
  /// Links to this page in other languages, for the footer. If the list is empty, the footer has no choice of
  /// languages.
  public var otherLanguages: [(language: Language, link: PageLink)]
  /// The URLs to which a form of this page may be redirected, in addition to the gateway, such as an app's redirect
  /// URI: browsers also apply `form-action` to redirects.
  public var formTargets: [PageLink]

  public init(
    _ language: Language, otherLanguages: [(language: Language, link: PageLink)] = [],
    formTargets: [PageLink] = []
  ) {
    self.language = language
    self.otherLanguages = otherLanguages
    self.formTargets = formTargets
  }
}

/// A page that is ready to send.
public struct PageContent: Sendable {
  /// The title in the browser's tab.
  public let title: String
  public let language: Language
  /// HTML in UTF-8.
  public let bytes: [UInt8]
  /// The headers of the answer: content type, language, security policy, no caching.
  public let headers: [(name: String, value: String)]

  init(
    title: String, language: Language, bytes: [UInt8], formTargets: [PageLink], hasScript: Bool
  ) {
    self.title = title
    self.language = language
    self.bytes = bytes
    headers = [
      ("Content-Type", "text/html; charset=utf-8"), ("Content-Language", language.tag.text),
      ("Content-Security-Policy", Self.policy(formTargets, hasScript: hasScript)),
      ("X-Frame-Options", "DENY"),
      ("X-Content-Type-Options", "nosniff"),
      // `no-referrer` would make browsers send `Origin: null` with the page's own forms.
      ("Referrer-Policy", "same-origin"), ("Cache-Control", "no-store"), ("Vary", "Accept-Language, Cookie"),
    ]
  }

  private static func policy(_ formTargets: [PageLink], hasScript: Bool) -> String {
    let targets = formTargets.compactMap(\.origin).map { " " + $0 }.joined()
    return
      "default-src 'none'; \(hasScript ? "script-src 'self'; " : "")style-src 'self'; img-src 'self'; form-action 'self'\(targets); base-uri 'none'; "
      + "frame-ancestors 'none'"
  }
}

/// An app that waits until the user returns from the browser.
public struct WaitingApp: Sendable, Equatable {
  /// The app's name for users.
  public var name: String
  /// The URL of the app. For a cancelled sign-in it has `error=access_denied` and the app's `state`.
  public var link: PageLink

  public init(name: String, link: PageLink) {
    self.name = name
    self.link = link
  }
}

/// A value that the gateway puts into the forms of this browser's pages. No other site knows the value, so no other
/// site can submit these forms (OWASP, synchronizer token).
public struct FormToken: Sendable, Equatable {
  /// The name of the form field.
  public var name: String
  public var value: String

  public init(name: String = "csrf", value: String) {
    self.name = name
    self.value = value
  }
}
