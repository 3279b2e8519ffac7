// The start of signing in and signing up: one link for each provider. Links work without a script, can be opened in another
// tab, and show their target before they are followed.

/// The choice of providers.
public struct ChoicePage: Page {
  public enum Purpose: Sendable { case signIn, signUp }

  /// Why the user sees this page instead of the requested one.
  public enum Notice: Sendable {
    /// The user's session has ended.
    case sessionEnded
    /// The requested page needs a session.
    case signInFirst
  }

  /// One way to sign in.
  public struct Provider: Sendable {
    /// The provider's name for users: `Google`.
    public var label: String
    /// The link that starts the sign-in at the provider, with all parameters.
    public var link: PageLink
    public var sign: ProviderSign

    public init(label: String, link: PageLink, sign: ProviderSign = .initial) {
      self.label = label
      self.link = link
      self.sign = sign
    }
  }

  public var purpose: Purpose
  /// The providers, in the order of the page.
  public var providers: [Provider]
  /// The link from the sign-in page to the registration page, or the reverse; nil if there is no such page.
  public var other: PageLink?
  /// The app that waits for the sign-in.
  public var app: WaitingApp?
  public var notice: Notice?
  /// The link to registration or sign-in by e-mail.
  public var email: PageLink?

  public init(
    _ purpose: Purpose, providers: [Provider], other: PageLink? = nil, app: WaitingApp? = nil,
    notice: Notice? = nil
  ) {
    self.purpose = purpose
    self.providers = providers
    self.other = other
    self.app = app
    self.notice = notice
  }

  package func content(texts: Texts) -> Content {
    let isSignUp = purpose == .signUp
    let heading = texts(isSignUp ? .signUpTitle : .signInTitle)
    return Content(heading: heading) { html in
      html.element(.h1, phrase: heading)
      html.element(.p, .class("lead")) { html in
        html.phrase(texts(isSignUp ? .signUpLead : .signInLead))
        if let app {
          html.text(" ")
          html.phrase(texts(.choiceForApp, [.app: app.name]))
        }
      }
      if let notice {
        let text: PageText = notice == .sessionEnded ? .choiceSessionEnded : .choiceSignInFirst
        html.element(.p, .class("notice"), .role("status"), phrase: texts(text))
      }
      ways(texts, into: &html)
      if let other {
        html.element(.p, .class("switch")) { html in
          html.phrase(texts(isSignUp ? .signUpHaveAccount : .signInNoAccount))
          html.text(" ")
          html.element(.a, .href(other), phrase: texts(isSignUp ? .signUpToSignIn : .signInToSignUp))
        }
      }
      if let app {
        html.element(.p, .class("back")) { html in
          html.element(.a, .href(app.link), phrase: texts(.choiceCancel, [.app: app.name]))
        }
      }
    }
  }

  private func ways(_ texts: Texts, into html: inout HTML) {
    guard !providers.isEmpty || email != nil else {
      html.element(.p, .class("notice"), .role("status"), phrase: texts(.choiceNone))
      return
    }
    html.element(.ul, .class("ways"), .role("list"), .label(texts(.choiceProviders).plain)) { html in
      for provider in providers {
        html.element(.li) { html in
          html.element(.a, .class("way"), .href(provider.link)) { html in
            html.sign(provider.sign, of: provider.label)
            let text: PageText = purpose == .signUp ? .signUpWith : .signInWith
            html.element(.span, .class("label"), phrase: texts(text, [.provider: provider.label]))
          }
        }
      }
      if let email {
        html.element(.li) { html in
          html.element(.a, .class("way"), .href(email)) { html in
            html.element(.span, .class("tile"), .hidden, text: "@")
            html.element(.span, .class("label"), phrase: texts(.emailWith))
          }
        }
      }
    }
  }
}
