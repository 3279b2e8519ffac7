// Where signing in and signing up begin: one link for each provider. They are links, so that they work without a script, open in
// another tab, and can be read before they are followed.

/// The choice of providers.
public struct ChoicePage: Sendable {
  public enum Purpose: Sendable { case signIn, signUp }

  /// Why the user meets this page instead of the one they asked for.
  public enum Notice: Sendable {
    /// Their session has ended.
    case sessionEnded
    /// The page needs a session.
    case signInFirst
  }

  /// One way to sign in.
  public struct Provider: Sendable {
    /// As people know it: `Google`.
    public var label: String
    /// Starts the sign-in there, whatever is to be carried included.
    public var link: PageLink
    public var sign: ProviderSign

    public init(label: String, link: PageLink, sign: ProviderSign = .initial) {
      self.label = label
      self.link = link
      self.sign = sign
    }
  }

  public var purpose: Purpose
  /// In the order in which they are shown.
  public var providers: [Provider]
  /// The other of the two pages; nil where there is no other.
  public var other: PageLink?
  /// The app that waits for the sign-in.
  public var app: WaitingApp?
  public var notice: Notice?
  /// Registers, or signs in, by e-mail.
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

  func content(texts: Texts) -> Content {
    let isSignUp = purpose == .signUp
    let heading = texts(isSignUp ? .signUpTitle : .signInTitle)
    return Content(heading: heading) { html in
      html.element(.h1, phrase: heading)
      html.element(.p, .class("lead")) { html in
        html.phrase(texts(isSignUp ? .signUpLead : .signInLead))
        if let app {
          html.text(" ")
          html.phrase(texts(.forApp, [.app: app.name]))
        }
      }
      if let notice {
        let text: PageText = notice == .sessionEnded ? .sessionEnded : .signInFirst
        html.element(.p, .class("notice"), .role("status"), phrase: texts(text))
      }
      ways(texts, into: &html)
      if let other {
        html.element(.p, .class("switch")) { html in
          html.phrase(texts(isSignUp ? .haveAccount : .noAccount))
          html.text(" ")
          html.element(.a, .href(other), phrase: texts(isSignUp ? .toSignIn : .toSignUp))
        }
      }
      if let app {
        html.element(.p, .class("back")) { html in
          html.element(.a, .href(app.link), phrase: texts(.cancel, [.app: app.name]))
        }
      }
    }
  }

  private func ways(_ texts: Texts, into html: inout HTML) {
    guard !providers.isEmpty || email != nil else {
      html.element(.p, .class("notice"), .role("status"), phrase: texts(.noProviders))
      return
    }
    html.element(.ul, .class("ways"), .role("list"), .label(texts(.providers).plain)) { html in
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
            html.element(.span, .class("label"), phrase: texts(.withEmail))
          }
        }
      }
    }
  }
}
