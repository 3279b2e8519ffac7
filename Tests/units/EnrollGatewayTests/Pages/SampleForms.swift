// The pages for users with an e-mail address, in every variant, and the mails.

@testable import EnrollGatewayPages

extension SamplePages {
  func forms(_ context: PageContext) throws -> [(String, PageContent)] {
    let frame = FormFrame(
      action: try PageLink(path: "/register"), token: FormToken(value: values.token),
      destination: ("visit", values.session))
    let other = try PageLink(path: "/login")
    func form(
      _ name: String, _ purpose: EmailForm.Purpose, _ email: FieldError? = nil, _ password: FieldError? = nil,
      current: FieldError? = nil, forgotten: PageLink? = nil
    ) -> (String, PageContent) {
      (
        name,
        pages.page(
          EmailForm(
            purpose, frame: frame, email: email == nil ? nil : values.email, name: values.name,
            emailError: email,
            passwordError: password, currentPasswordError: current, other: other, forgotten: forgotten),
          in: context)
      )
    }
    let welcome = EmailForm.Purpose.welcome(email: values.email, asksForPassword: true)
    var made = [
      form("register", .register), form("register-empty", .register, .emailEmpty),
      form("register-malformed", .register, .emailMalformed), form("register-long", .register, .emailTooLong),
      form("register-not-ascii", .register, .emailNotASCII),
      form("welcome", .welcome(email: values.email, asksForPassword: false)),
      form("welcome-password", welcome),
      form("welcome-short", welcome, nil, .passwordShort), form("welcome-long", welcome, nil, .passwordLong),
      form("welcome-common", welcome, nil, .passwordCommon),
      form("welcome-refused", welcome, nil, .passwordRefused),
      form("email-sign-in", .signIn(byPassword: false)),
      form(
        "email-sign-in-password", .signIn(byPassword: true),
        forgotten: try PageLink(path: "/password/forgotten")),
      form("email-sign-in-wrong", .signIn(byPassword: true), nil, .passwordWrong),
      form("link-sign-in", .confirmSignIn(email: values.email, device: nil)),
      form("link-sign-in-elsewhere", .confirmSignIn(email: values.email, device: values.device)),
      form("forgotten", .forgotten), form("new-password", .reset(email: values.email)),
      form("change-password", .changePassword),
      form("change-password-wrong", .changePassword, current: .currentPasswordWrong),
    ]
    for (name, purpose) in [
      ("register", EmailSentPage.Purpose.register), ("sign-in", .signIn), ("reset", .reset),
    ] {
      made.append(("email-sent-" + name, pages.page(EmailSentPage(purpose, again: other), in: context)))
    }
    return made
  }

  /// The text of every mail.
  func mails(in language: Language) throws -> String {
    let link = try PageLink(web: "https://id.example/welcome/a")
    return Mail.allCases.map { mail in
      let page = MailPage(
        mail, link: mail.hasLink ? link : nil, provider: values.provider, device: values.device)
      let content = pages.mail(page, in: language)
      return content.subject + content.text + String(decoding: content.html, as: UTF8.self)
    }.joined()
  }
}
