// The pages after a sign-out, and after a sign-in for an app.

/// The page after the session has ended.
public struct SignedOutPage: Page {
  /// Whether all sessions of the account have ended, not only the session of this browser.
  public var isEverywhere: Bool
  /// The labels of providers at which the user may still be signed in.
  public var providers: [String]
  public var signIn: PageLink?
  public var app: WaitingApp?

  public init(
    isEverywhere: Bool = false, providers: [String] = [], signIn: PageLink? = nil, app: WaitingApp? = nil
  ) {
    self.isEverywhere = isEverywhere
    self.providers = providers
    self.signIn = signIn
    self.app = app
  }

  package func content(texts: Texts) -> Content {
    let heading = texts(.signedOutTitle)
    return Content(heading: heading) { html in
      html.element(.h1, phrase: heading)
      html.element(.p, .class("lead"), phrase: texts(isEverywhere ? .signedOutEverywhere : .signedOutHere))
      for provider in providers {
        html.element(.p, phrase: texts(.signedOutStillAtProvider, [.provider: provider]))
      }
      guard signIn != nil || app != nil else { return }
      html.element(.div, .class("actions")) { html in
        if let app {
          html.element(.a, .class("button"), .href(app.link), phrase: texts(.pageToApp, [.app: app.name]))
        }
        if let signIn {
          html.element(
            .a, .class(app == nil ? "button" : "button quiet"), .href(signIn),
            phrase: texts(.signedOutSignInAgain))
        }
      }
    }
  }
}

/// The page after a sign-in for an app, for a browser that does not follow a redirect to the app.
public struct ContinuePage: Page {
  public var app: WaitingApp

  public init(_ app: WaitingApp) { self.app = app }

  package func content(texts: Texts) -> Content {
    let heading = texts(.continueTitle, [.app: app.name])
    return Content(heading: heading) { html in
      html.element(.h1, phrase: heading)
      html.element(.p, .class("lead"), phrase: texts(.continueWhat, [.app: app.name]))
      html.element(.div, .class("actions")) { html in
        html.element(.a, .class("button"), .href(app.link), phrase: texts(.continueOpen, [.app: app.name]))
      }
      html.element(.p, .class("soft"), phrase: texts(.continueHelp, [.app: app.name]))
    }
  }
}
