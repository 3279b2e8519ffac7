// The pages for changes of an account: the redirect to a provider, the confirmation of the user's identity,
// the merge of two accounts, the deletion of the account. Each page says what will happen before its button,
// and has a link back that changes nothing.

/// The page that a browser shows after a form that starts a sign-in, and before the provider's page. The form cannot be
/// redirected to the provider directly: the page's policy also applies to redirects of its forms (CSP 3 §4.2), and a
/// provider may redirect to any URLs.
public struct ProviderRedirectPage: Page {
  /// The provider's label.
  public var provider: String
  public var link: PageLink

  public init(provider: String, link: PageLink) {
    self.provider = provider
    self.link = link
  }

  package func content(texts: Texts) -> Content {
    let heading = texts(.leavingTitle, [.provider: provider])
    return Content(heading: heading) { html in
      html.element(.h1, phrase: heading)
      html.element(.p, .class("lead"), phrase: texts(.leavingLead))
      html.element(.div, .class("actions")) { html in
        html.element(
          .a, .class("button"), .href(link), phrase: texts(.leavingOpen, [.provider: provider]))
      }
    }
  }
}

/// The page that asks the user to sign in again before a change.
public struct ConfirmPage: Page {
  /// One of the account's ways to sign in.
  public struct SignInMethod: Sendable {
    /// The value of the form's field `provider`.
    public var name: String
    public var label: String
    public var sign: ProviderSign

    public init(name: String, label: String, sign: ProviderSign = .initial) {
      self.name = name
      self.label = label
      self.sign = sign
    }
  }

  public var methods: [SignInMethod]
  /// The target of the form. The form has the fields `provider` and `then`.
  public var action: PageLink
  /// The value of the field `then`: the page to which the user returns.
  public var then: String
  public var account: PageLink
  public var token: FormToken

  public init(methods: [SignInMethod], action: PageLink, then: String, account: PageLink, token: FormToken) {
    self.methods = methods
    self.action = action
    self.then = then
    self.account = account
    self.token = token
  }

  package func content(texts: Texts) -> Content {
    let heading = texts(.confirmTitle)
    return Content(heading: heading) { html in
      html.element(.h1, phrase: heading)
      html.element(.p, .class("lead"), phrase: texts(.confirmLead))
      html.element(.ul, .class("ways"), .role("list"), .label(texts(.choiceProviders).plain)) { html in
        for method in methods {
          html.element(.li) { html in
            html.form(to: action, token, hidden: ("provider", method.name), ("then", then)) { html in
              html.element(.button, .class("way"), .type("submit")) { html in
                html.sign(method.sign, of: method.label)
                html.element(
                  .span, .class("label"), phrase: texts(.signInWith, [.provider: method.label]))
              }
            }
          }
        }
      }
      html.back(to: account, texts(.pageToAccount))
    }
  }
}

/// The page for an identity that the user wanted to connect, and that belongs to another account.
public struct MergePage: Page {
  /// The provider's label.
  public var provider: String
  /// The address of the identity with which the user just signed in.
  public var email: String?
  public var action: PageLink
  public var account: PageLink
  public var token: FormToken

  public init(provider: String, email: String?, action: PageLink, account: PageLink, token: FormToken) {
    self.provider = provider
    self.email = email
    self.action = action
    self.account = account
    self.token = token
  }

  package func content(texts: Texts) -> Content {
    let heading = texts(.mergeTitle)
    return Content(heading: heading) { html in
      html.element(.h1, phrase: heading)
      html.element(.p, .class("lead")) { html in
        html.phrase(texts(.mergeLead, [.provider: provider]))
        if let email {
          html.text(" (")
          html.element(.bdi, text: email)
          html.text(")")
        }
      }
      html.element(.ul, .class("effects")) { html in
        for text in [PageText.mergeWays, .mergeSessions, .mergeKept] {
          html.element(.li, phrase: texts(text))
        }
      }
      html.element(.div, .class("actions")) { html in
        html.form(to: action, token) {
          $0.element(.button, .type("submit"), phrase: texts(.mergeJoin))
        }
        html.element(.a, .class("button quiet"), .href(account), phrase: texts(.mergeLeave))
      }
    }
  }
}

/// The page that asks for a confirmation before an account is deleted.
public struct DeletePage: Page {
  public var action: PageLink
  public var account: PageLink
  public var token: FormToken

  public init(action: PageLink, account: PageLink, token: FormToken) {
    self.action = action
    self.account = account
    self.token = token
  }

  package func content(texts: Texts) -> Content {
    let heading = texts(.deleteTitle)
    return Content(heading: heading) { html in
      html.element(.h1, phrase: heading)
      html.element(.p, .class("lead"), phrase: texts(.deleteLead))
      html.element(.ul, .class("effects")) { html in
        for text in [PageText.deleteWays, .deleteSessions, .deleteApps, .deleteAgain] {
          html.element(.li, phrase: texts(text))
        }
      }
      html.element(.div, .class("actions")) { html in
        html.form(to: action, token) {
          $0.element(.button, .type("submit"), phrase: texts(.deleteForGood))
        }
        html.element(.a, .class("button quiet"), .href(account), phrase: texts(.deleteKeep))
      }
    }
  }
}

/// The page after an account was deleted.
public struct DeletedPage: Page {
  public var signUp: PageLink?

  public init(signUp: PageLink? = nil) { self.signUp = signUp }

  package func content(texts: Texts) -> Content {
    let heading = texts(.deletedTitle)
    return Content(heading: heading) { html in
      html.element(.h1, phrase: heading)
      html.element(.p, .class("lead"), phrase: texts(.deletedLead))
      if let signUp {
        html.element(.div, .class("actions")) { html in
          html.element(.a, .class("button quiet"), .href(signUp), phrase: texts(.signInToSignUp))
        }
      }
    }
  }
}

/// The status of a deletion that a user requested at a provider. The page does not identify the user.
public struct DataDeletionPage: Page {
  /// Whether the deletion has been made; false if the gateway knows of no such deletion.
  public var isDone: Bool

  public init(isDone: Bool) { self.isDone = isDone }

  package func content(texts: Texts) -> Content {
    let heading = texts(isDone ? .dataDeletionDoneTitle : .dataDeletionUnknownTitle)
    return Content(heading: heading) { html in
      html.element(.h1, phrase: heading)
      html.element(
        .p, .class("lead"), phrase: texts(isDone ? .dataDeletionDoneLead : .dataDeletionUnknownLead))
    }
  }
}

extension HTML {
  /// Writes a link back that changes nothing.
  fileprivate mutating func back(to link: PageLink, _ phrase: Phrase) {
    element(.p, .class("back")) { $0.element(.a, .href(link), phrase: phrase) }
  }
}
