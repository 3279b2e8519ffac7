// The pages at which somebody changes an account: on to a provider, once more the proof of who they are, two accounts that become one,
// the end of an account. Each says what will happen before its button, and has a way back without it.

/// Between the form that begins a sign-in and the provider. The form cannot be redirected there: the page's policy holds for redirects
/// of its forms (CSP 3 §4.2), and nobody knows over which addresses a provider leads.
public struct LeavingPage: Sendable {
  /// The provider's label.
  public var provider: String
  public var link: PageLink

  public init(provider: String, link: PageLink) {
    self.provider = provider
    self.link = link
  }

  func content(texts: Texts) -> Content {
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

/// Somebody is to prove once more who they are.
public struct ConfirmPage: Sendable {
  /// A way to sign in that the account has.
  public struct Way: Sendable {
    /// Goes back with the form.
    public var name: String
    public var label: String
    public var sign: ProviderSign

    public init(name: String, label: String, sign: ProviderSign = .initial) {
      self.name = name
      self.label = label
      self.sign = sign
    }
  }

  public var ways: [Way]
  /// Takes the field `provider`, and what is in ``then``.
  public var action: PageLink
  /// What the user wanted, for the field `then`.
  public var then: String
  public var account: PageLink
  public var token: FormToken

  public init(ways: [Way], action: PageLink, then: String, account: PageLink, token: FormToken) {
    self.ways = ways
    self.action = action
    self.then = then
    self.account = account
    self.token = token
  }

  func content(texts: Texts) -> Content {
    let heading = texts(.confirmTitle)
    return Content(heading: heading) { html in
      html.element(.h1, phrase: heading)
      html.element(.p, .class("lead"), phrase: texts(.confirmLead))
      html.element(.ul, .class("ways"), .role("list"), .label(texts(.providers).plain)) { html in
        for way in ways {
          html.element(.li) { html in
            html.form(to: action, token, hidden: ("provider", way.name), ("then", then)) { html in
              html.element(.button, .class("way"), .type("submit")) { html in
                html.sign(way.sign, of: way.label)
                html.element(
                  .span, .class("label"), phrase: texts(.signInWith, [.provider: way.label]))
              }
            }
          }
        }
      }
      html.back(to: account, texts(.toAccount))
    }
  }
}

/// An identity that somebody wanted to connect belongs to another account of theirs.
public struct MergePage: Sendable {
  /// The provider's label.
  public var provider: String
  /// The address of the identity that was proven.
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

  func content(texts: Texts) -> Content {
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

/// The last question before an account is deleted.
public struct DeletePage: Sendable {
  public var action: PageLink
  public var account: PageLink
  public var token: FormToken

  public init(action: PageLink, account: PageLink, token: FormToken) {
    self.action = action
    self.account = account
    self.token = token
  }

  func content(texts: Texts) -> Content {
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

/// The account is gone.
public struct DeletedPage: Sendable {
  public var signUp: PageLink?

  public init(signUp: PageLink? = nil) { self.signUp = signUp }

  func content(texts: Texts) -> Content {
    let heading = texts(.deletedTitle)
    return Content(heading: heading) { html in
      html.element(.h1, phrase: heading)
      html.element(.p, .class("lead"), phrase: texts(.deletedLead))
      if let signUp {
        html.element(.div, .class("actions")) { html in
          html.element(.a, .class("button quiet"), .href(signUp), phrase: texts(.toSignUp))
        }
      }
    }
  }
}

/// The status of a deletion that a person requested at a provider. The page does not say who the person is.
public struct DataDeletionPage: Sendable {
  /// False: no deletion is known.
  public var isDone: Bool

  public init(isDone: Bool) { self.isDone = isDone }

  func content(texts: Texts) -> Content {
    let heading = texts(isDone ? .dataDeletedTitle : .dataDeletionUnknownTitle)
    return Content(heading: heading) { html in
      html.element(.h1, phrase: heading)
      html.element(.p, .class("lead"), phrase: texts(isDone ? .dataDeletedLead : .dataDeletionUnknownLead))
    }
  }
}

extension HTML {
  /// A way back that changes nothing.
  fileprivate mutating func back(to link: PageLink, _ phrase: Phrase) {
    element(.p, .class("back")) { $0.element(.a, .href(link), phrase: phrase) }
  }
}
