// Every page of the gateway, from plain values to bytes. No page needs a script; one has a script that presses its button. None loads anything from elsewhere, and none may be
// framed (RFC 9700 §4.16). The status is the caller's.

/// Makes pages in one theme and its languages. A value: make it once, use it from any thread.
public struct Pages: Sendable {
  public let theme: Theme
  public let languages: Languages
  /// What pages load. Serve each at its path.
  public let assets: [Asset]
  private let style: PageLink
  private let mark: PageLink
  private let sender: PageLink

  public init(theme: Theme, languages: Languages) {
    self.theme = theme
    self.languages = languages
    let style = theme.styleSheet()
    let mark = theme.mark()
    let sender = Asset.sender
    assets = [style, mark, sender]
    self.style = PageLink(asset: style.path)
    self.mark = PageLink(asset: mark.path)
    self.sender = PageLink(asset: sender.path)
  }

  /// `/login` and `/signup`: the providers to choose from.
  public func page(_ choice: ChoicePage, in context: PageContext) -> PageContent {
    page(context) { choice.content(texts: $0) }
  }

  /// Something did not work. For a path or method that does not exist, and for maintenance as well.
  public func page(_ failure: FailurePage, in context: PageContext) -> PageContent {
    page(context) { failure.content(texts: $0) }
  }

  /// Who somebody is, and where they are signed in.
  public func page(_ account: AccountPage, in context: PageContext) -> PageContent {
    page(context) { account.content(texts: $0) }
  }

  /// On to a provider, by a link that is followed at once.
  public func page(_ leaving: LeavingPage, in context: PageContext) -> PageContent {
    page(context) { leaving.content(texts: $0) }
  }

  /// The proof that is asked for before an account changes.
  public func page(_ confirm: ConfirmPage, in context: PageContext) -> PageContent {
    page(context) { confirm.content(texts: $0) }
  }

  /// Whether two accounts become one.
  public func page(_ merge: MergePage, in context: PageContext) -> PageContent {
    page(context) { merge.content(texts: $0) }
  }

  /// Whether an account is deleted.
  public func page(_ deletion: DeletePage, in context: PageContext) -> PageContent {
    page(context) { deletion.content(texts: $0) }
  }

  /// An account was deleted.
  public func page(_ deleted: DeletedPage, in context: PageContext) -> PageContent {
    page(context) { deleted.content(texts: $0) }
  }

  /// The status of a deletion that a person requested at a provider.
  public func page(_ deletion: DataDeletionPage, in context: PageContext) -> PageContent {
    page(context) { deletion.content(texts: $0) }
  }

  /// The session has ended.
  public func page(_ signedOut: SignedOutPage, in context: PageContext) -> PageContent {
    page(context) { signedOut.content(texts: $0) }
  }

  /// For a browser that does not open the app by itself.
  public func page(_ continuing: ContinuePage, in context: PageContext) -> PageContent {
    page(context) { continuing.content(texts: $0) }
  }

  /// A provider's answer that another site's form brought.
  public func page(_ again: SendAgainPage, in context: PageContext) -> PageContent {
    page(context) { again.content(texts: $0) }
  }

  func page(_ context: PageContext, _ make: (Texts) -> Content) -> PageContent {
    let texts = Texts(catalogue: languages.catalogue(of: context.language), product: theme.product)
    let content = make(texts)
    let frame = PageFrame(
      theme: theme, style: style, mark: mark, sender: sender, texts: texts, context: context)
    return PageContent(
      title: frame.title(content), language: texts.language, bytes: frame.write(content),
      formTargets: context.formTargets, hasScript: content.sendsItself)
  }
}

/// In which language a page is, and where else it may lead.
public struct PageContext: Sendable {
  public var language: Language
  /// The same page in other languages, for the foot of the page. Empty: no choice is shown.
  public var otherLanguages: [(language: Language, link: PageLink)]
  /// Where a form of this page may be redirected, beside the gateway: the provider's address for signing out. Browsers apply
  /// `form-action` to redirects, too.
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

/// A page, ready to be sent.
public struct PageContent: Sendable {
  /// As it stands in the browser's tab.
  public let title: String
  public let language: Language
  /// UTF-8.
  public let bytes: [UInt8]
  /// What a page is sent with: its type, its language, its policy, and that nobody keeps it.
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

/// An app that is waiting for the user.
public struct WaitingApp: Sendable, Equatable {
  /// As people know it.
  public var name: String
  /// Leads back to it: with `error=access_denied` and the app's `state` where the user cancels.
  public var link: PageLink

  public init(name: String, link: PageLink) {
    self.name = name
    self.link = link
  }
}

/// What only this browser's session can send with a form, so that no other site can (OWASP, synchronizer token).
public struct FormToken: Sendable, Equatable {
  /// The name of the field.
  public var name: String
  public var value: String

  public init(name: String = "csrf", value: String) {
    self.name = name
    self.value = value
  }
}
