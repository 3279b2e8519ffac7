// The pages of people who come by e-mail: register, the mail is sent, welcome, sign in, a new password. Each is one short form.
// A form that came back wrong keeps what was written, but for passwords, and says first that something is to be corrected.

/// The two fields that are not seen, and where the form goes.
public struct FormFrame: Sendable {
  public var action: PageLink
  public var token: FormToken
  /// Sealed by the gateway: where the person goes afterwards. nil: there is no such field.
  public var visit: (name: String, value: String)?

  public init(action: PageLink, token: FormToken, visit: (name: String, value: String)? = nil) {
    self.action = action
    self.token = token
    self.visit = visit
  }
}

/// A page that is one form.
public struct EmailForm: Sendable {
  public enum Purpose: Sendable, Equatable {
    /// `/register`.
    case register
    /// `/welcome/…`, of this address.
    case welcome(email: String, asksForPassword: Bool)
    /// `/signin`, with a password or by a mailed link.
    case signIn(byPassword: Bool)
    /// `/signin/…`; `device` is the browser that asked for the link, where that is another one.
    case confirmSignIn(email: String, device: String?)
    /// `/password/forgotten`.
    case forgotten
    /// `/password/reset/…`, of this address.
    case reset(email: String)
    /// `/account/password`.
    case changePassword
  }

  public var purpose: Purpose
  public var frame: FormFrame
  /// What was written before.
  public var email: String?
  public var name: String?
  public var emailError: FieldError?
  /// Of the password, or the new password.
  public var passwordError: FieldError?
  public var currentPasswordError: FieldError?
  /// Another way: the choice of providers, or registering.
  public var other: PageLink?
  /// Where a forgotten password is replaced.
  public var forgotten: PageLink?

  public init(
    _ purpose: Purpose, frame: FormFrame, email: String? = nil, name: String? = nil,
    emailError: FieldError? = nil, passwordError: FieldError? = nil, currentPasswordError: FieldError? = nil,
    other: PageLink? = nil, forgotten: PageLink? = nil
  ) {
    self.purpose = purpose
    self.frame = frame
    self.email = email
    self.name = name
    self.emailError = emailError
    self.passwordError = passwordError
    self.currentPasswordError = currentPasswordError
    self.other = other
    self.forgotten = forgotten
  }

  private var hasErrors: Bool { emailError != nil || passwordError != nil || currentPasswordError != nil }

  func content(texts: Texts) -> Content {
    let heading = texts(title)
    return Content(heading: heading) { html in
      html.element(.h1, phrase: heading)
      html.element(.p, .class("lead"), phrase: lead(texts))
      if case .confirmSignIn(_, let device?) = purpose {
        let name = Device(device)?.knownName(texts) ?? texts(.unknownDevice).plain
        html.element(.p, .class("notice"), phrase: texts(.linkSignInElsewhere, [.device: name]))
      }
      if case .welcome(_, true) = purpose { html.element(.p, phrase: texts(.welcomePassword)) }
      if hasErrors { html.element(.p, .class("notice bad"), .role("alert"), phrase: texts(.formHasErrors)) }
      html.element(.form, .class("fields"), .post, .action(frame.action), .noValidate) { html in
        html.void(.input, .type("hidden"), .named(frame.token.name), .value(frame.token.value))
        if let visit = frame.visit {
          html.void(.input, .type("hidden"), .named(visit.name), .value(visit.value))
        }
        for field in fields { html.field(field, texts) }
        html.element(.button, .type("submit"), phrase: texts(submit))
      }
      below(texts, into: &html)
    }
  }

  private func below(_ texts: Texts, into html: inout HTML) {
    guard forgotten != nil || other != nil else { return }
    html.element(.p, .class("switch")) { html in
      if let forgotten {
        html.element(.a, .href(forgotten), phrase: texts(.emailSignInForgotten))
        if other != nil { html.text(" · ") }
      }
      if let other { html.element(.a, .href(other), phrase: texts(.registerOther)) }
    }
  }

  private var title: PageText {
    switch purpose {
    case .register: .registerTitle
    case .welcome: .welcomeTitle
    case .signIn: .emailSignInTitle
    case .confirmSignIn: .linkSignInTitle
    case .forgotten: .forgottenTitle
    case .reset: .newPasswordTitle
    case .changePassword: .changePasswordTitle
    }
  }

  private func lead(_ texts: Texts) -> Phrase {
    switch purpose {
    case .register: texts(.registerLead)
    case .welcome(let email, _): texts(.welcomeLead, [.email: email])
    case .signIn(let byPassword): texts(byPassword ? .emailSignInLead : .emailSignInLinkLead)
    case .confirmSignIn(let email, _): texts(.linkSignInLead, [.email: email])
    case .forgotten: texts(.forgottenLead)
    case .reset(let email): texts(.newPasswordLead, [.email: email])
    case .changePassword: texts(.changePasswordLead)
    }
  }

  private var fields: [FormField] {
    switch purpose {
    case .register: [.email(email, error: emailError), .name(name)]
    case .welcome(_, let asksForPassword): asksForPassword ? [.newPassword(error: passwordError)] : []
    case .signIn(let byPassword):
      [.email(email, error: emailError)] + (byPassword ? [.password(error: passwordError)] : [])
    case .confirmSignIn: []
    case .forgotten: [.email(email, error: emailError)]
    case .reset: [.newPassword(error: passwordError)]
    case .changePassword:
      [.currentPassword(error: currentPasswordError), .newPassword(error: passwordError)]
    }
  }

  private var submit: PageText {
    switch purpose {
    case .register: .registerSend
    case .welcome: .welcomeFinish
    case .signIn(let byPassword): byPassword ? .emailSignInSubmit : .emailSignInSend
    case .confirmSignIn: .linkSignInSubmit
    case .forgotten: .forgottenSend
    case .reset, .changePassword: .newPasswordSave
    }
  }
}

/// A mail is on its way, or is not: the page tells nobody.
public struct EmailSentPage: Sendable {
  public enum Purpose: Sendable { case register, signIn, reset }

  public var purpose: Purpose
  public var again: PageLink?

  public init(_ purpose: Purpose, again: PageLink? = nil) {
    self.purpose = purpose
    self.again = again
  }

  func content(texts: Texts) -> Content {
    let heading = texts(.emailSentTitle)
    return Content(heading: heading) { html in
      html.element(.h1, phrase: heading)
      let lead: PageText =
        switch purpose {
        case .register: .emailSentRegister
        case .signIn: .emailSentSignIn
        case .reset: .emailSentReset
        }
      html.element(.p, .class("lead"), phrase: texts(lead))
      html.element(.p, phrase: texts(.emailSentHelp))
      if let again {
        html.element(.p, .class("switch")) { $0.element(.a, .href(again), phrase: texts(.emailSentAgain)) }
      }
    }
  }
}

extension Pages {
  /// Register, welcome, sign in, a new password.
  public func page(_ form: EmailForm, in context: PageContext) -> PageContent {
    page(context) { form.content(texts: $0) }
  }

  /// `/register/email-sent` and its like.
  public func page(_ sent: EmailSentPage, in context: PageContext) -> PageContent {
    page(context) { sent.content(texts: $0) }
  }
}
