// The pages for registration and sign-in by e-mail: register, e-mail sent, welcome, sign in, new password. Each is one
// short form. A form with errors keeps the entered values except passwords, and begins with a message that something
// must be corrected.

/// The target of a form and its two hidden fields.
public struct FormFrame: Sendable {
  public var action: PageLink
  public var token: FormToken
  /// The field with the destination after the form, whose value the gateway has sealed; nil if the form has no such
  /// field.
  public var destination: (name: String, value: String)?

  public init(action: PageLink, token: FormToken, destination: (name: String, value: String)? = nil) {
    self.action = action
    self.token = token
    self.destination = destination
  }
}

/// A page with one form.
public struct EmailForm: Page {
  public enum Purpose: Sendable, Equatable {
    /// `/register`.
    case register
    /// `/welcome/…`, for this address.
    case welcome(email: String, asksForPassword: Bool)
    /// `/signin`, where the user enters a password or asks for a link by e-mail.
    case signIn(byPassword: Bool)
    /// `/signin/…`; `device` is the browser that asked for the link, if a different browser opened it.
    case confirmSignIn(email: String, device: String?)
    /// `/password/forgotten`.
    case forgotten
    /// `/password/reset/…`, for this address.
    case reset(email: String)
    /// `/account/password`.
    case changePassword
  }

  public var purpose: Purpose
  public var frame: FormFrame
  /// The values that the user entered before the form was shown again.
  public var email: String?
  public var name: String?
  public var emailError: FieldError?
  /// The error of the password or the new password.
  public var passwordError: FieldError?
  public var currentPasswordError: FieldError?
  /// Another way to sign in: the choice of providers, or registration.
  public var other: PageLink?
  /// The page for a forgotten password.
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

  package func content(texts: Texts) -> Content {
    let heading = texts(title)
    return Content(heading: heading) { html in
      html.element(.h1, phrase: heading)
      html.element(.p, .class("lead"), phrase: lead(texts))
      if case .confirmSignIn(_, let device?) = purpose {
        let name = Device(device)?.knownName(texts) ?? texts(.deviceUnknown).plain
        html.element(.p, .class("notice"), phrase: texts(.linkSignInElsewhere, [.device: name]))
      }
      if case .welcome(_, true) = purpose { html.element(.p, phrase: texts(.welcomePassword)) }
      if hasErrors { html.element(.p, .class("notice bad"), .role("alert"), phrase: texts(.formHasErrors)) }
      html.element(.form, .class("fields"), .post, .action(frame.action), .noValidate) { html in
        html.void(.input, .type("hidden"), .named(frame.token.name), .value(frame.token.value))
        if let destination = frame.destination {
          html.void(.input, .type("hidden"), .named(destination.name), .value(destination.value))
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

/// The page after an e-mail was requested. It does not say whether an e-mail was sent.
public struct EmailSentPage: Page {
  public enum Purpose: Sendable { case register, signIn, reset }

  public var purpose: Purpose
  public var again: PageLink?

  public init(_ purpose: Purpose, again: PageLink? = nil) {
    self.purpose = purpose
    self.again = again
  }

  package func content(texts: Texts) -> Content {
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
