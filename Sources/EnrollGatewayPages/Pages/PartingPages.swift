// The two pages at which a visit ends: signed out, and on to the app.

/// The session has ended.
public struct SignedOutPage: Sendable {
  /// All sessions of the account, not this browser's alone.
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

  func content(texts: Texts) -> Content {
    let heading = texts(.signedOutTitle)
    return Content(heading: heading) { html in
      html.element(.h1, phrase: heading)
      html.element(.p, .class("lead"), phrase: texts(isEverywhere ? .signedOutEverywhere : .signedOutHere))
      for provider in providers {
        html.element(.p, phrase: texts(.stillAtProvider, [.provider: provider]))
      }
      guard signIn != nil || app != nil else { return }
      html.element(.div, .class("actions")) { html in
        if let app {
          html.element(.a, .class("button"), .href(app.link), phrase: texts(.toApp, [.app: app.name]))
        }
        if let signIn {
          html.element(
            .a, .class(app == nil ? "button" : "button quiet"), .href(signIn), phrase: texts(.signInAgain))
        }
      }
    }
  }
}

/// The user is signed in, and goes on in the app: for a browser that does not follow a redirect to it.
public struct ContinuePage: Sendable {
  public var app: WaitingApp

  public init(_ app: WaitingApp) { self.app = app }

  func content(texts: Texts) -> Content {
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
