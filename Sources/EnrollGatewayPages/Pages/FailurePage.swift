// The page for a failure: it says what happened, what helps, and where to continue. The page shows no text
// from the provider or the request, only the provider's configured name.

/// The page of a failure.
public struct FailurePage: Page {
  public var failure: Failure
  /// The provider's label; nil if the page says "The sign-in service" instead.
  public var provider: String?
  /// The link that starts the sign-in again.
  public var retry: PageLink?
  /// The choice of providers.
  public var otherWay: PageLink?
  public var start: PageLink?
  /// The app that waits for the sign-in. The page's link to this app reports the failure to the app.
  public var app: WaitingApp?
  /// A text by which the failure can be found in the log: the failure's name, the request's id, or both.
  public var reference: String?

  public init(
    _ failure: Failure, provider: String? = nil, retry: PageLink? = nil, otherWay: PageLink? = nil,
    start: PageLink? = nil, app: WaitingApp? = nil, reference: String? = nil
  ) {
    self.failure = failure
    self.provider = provider
    self.retry = retry
    self.otherWay = otherWay
    self.start = start
    self.app = app
    self.reference = reference
  }

  package func content(texts: Texts) -> Content {
    let heading = texts(failure, .title)
    return Content(heading: heading) { html in
      html.element(.span, .class("sign"), .hidden, text: "!")
      html.element(.h1, phrase: heading)
      let provider = provider ?? texts(.failureSomeProvider).plain
      html.element(.p, .class("lead"), phrase: texts(failure, .explanation, [.provider: provider]))
      html.element(.p, phrase: texts(failure, .help))
      actions(texts, into: &html)
      if let reference {
        html.element(.p, .class("reference"), phrase: texts(.failureReference, [.reference: reference]))
      }
    }
  }

  /// Writes the links of the page. The first link is the main link.
  private func actions(_ texts: Texts, into html: inout HTML) {
    var actions: [(Phrase, PageLink)] = []
    if let retry { actions.append((texts(.failureTryAgain), retry)) }
    if let otherWay { actions.append((texts(.failureOtherWay), otherWay)) }
    if let app { actions.append((texts(.pageToApp, [.app: app.name]), app.link)) }
    if let start { actions.append((texts(.failureToStart), start)) }
    guard !actions.isEmpty else { return }
    html.element(.div, .class("actions")) { html in
      for (place, action) in actions.enumerated() {
        html.element(.a, .class(place == 0 ? "button" : "button quiet"), .href(action.1), phrase: action.0)
      }
    }
  }
}
