// `/register`: the user enters an address, and gets an e-mail at this address. The page does not reveal whether the
// address has an account: the answer and the gateway's work are the same in both cases, and no answer waits for a mail
// server. E-mail for a user of the directory goes to the address in the directory, never to the address that was typed.

import EnrollRules
import EnrollCrypto
import EnrollGatewayPages
import EnrollHTTP

extension EmailSteps {
  func registerPage(_ request: WebRequest) throws(Interruption) -> WebResponse {
    let destination = try forms.destination(request.parameters())
    let other = try link("/signup", keeping: destination)
    return try forms.page(request, .register, action: "/register", destination) { $0.other = other }
  }

  func register(_ request: WebRequest) throws(Interruption) -> WebResponse {
    let form = try forms.form(request)
    let destination = try forms.destination(ofForm: form)
    let name = PersonalText.shown(form["name"], maximumBytes: 100)
    let email: EmailAddress
    do throws(EmailAddress.Refusal) { email = try EmailAddress(form["email"] ?? "") } catch {
      let other = try link("/signup", keeping: destination)
      return try forms.page(request, .register, action: "/register", destination, status: 422) {
        $0.email = PersonalText.shown(form["email"])
        $0.name = name
        $0.emailError = FieldError(error)
        $0.other = other
      }
    }
    try sendActivation(request, email, name: name, destination)
    return .redirect(to: try path("/register/email-sent", keeping: destination))
  }

  /// Queues the e-mail that completes a registration, or the e-mail which says that the address has an account.
  func sendActivation(
    _ request: WebRequest, _ email: EmailAddress, name: String?, _ destination: SignInDestination
  ) throws(Interruption) {
    let person = try callingDirectory { () throws(DirectoryFailure) in
      try registration.directory.person(with: email)
    }
    let mayMail = try limits.mayMail(email, request)
    if let person, person.state != .staged {
      let signIn = settings.publicURL + (try path("/signin", keeping: destination))
      let mail = (try? EmailAddress(person.email)).map {
        AccountMail(.accountExists(signIn: signIn), to: $0, in: views.language(request))
      }
      return try post(mail, .activation, email, request, mayMail: mayMail, destination) { _ in }
    }
    try post(
      AccountMail(.activation(link: ""), to: email, in: views.language(request)), .activation, email, request,
      mayMail: mayMail && registration.settings.isOpen, destination
    ) { $0.name = name }
  }

  /// Makes a link and queues its e-mail. If no e-mail may be sent, a link that nobody gets is stored, so that the
  /// gateway does the same work.
  /// - Parameter mail: the e-mail, whose empty link is replaced with the new link. If e-mails of this kind have no
  ///   link, the e-mail is sent, and no link is stored.
  func post(
    _ mail: AccountMail?, _ purpose: NewMailLink.Purpose, _ email: EmailAddress, _ request: WebRequest,
    mayMail: Bool, _ destination: SignInDestination,
    _ fill: (inout NewMailLink) -> Void
  ) throws(Interruption) {
    let (token, hash) = try internalCall { () throws(EnrollError) in try RandomToken.make(random) }
    let seconds =
      switch purpose {
      case .activation: EmailRegistration.activationSeconds
      case .signIn: EmailRegistration.signInSeconds
      case .reset: EmailRegistration.resetSeconds
      }
    var link = NewMailLink(
      tokenHash: hash, purpose: purpose, email: mail?.recipient ?? email,
      device: PersonalText.shown(request.value(of: "User-Agent")), browserHash: forms.browserHash(request),
      destination: destination.text, expires: now + seconds)
    fill(&link)
    var sent = mayMail ? mail : nil
    let url = settings.publicURL + purpose.path(token)
    switch sent?.kind {
    case .activation: sent?.kind = .activation(link: url)
    case .signInLink: sent?.kind = .signInLink(link: url, device: link.device)
    case .passwordReset: sent?.kind = .passwordReset(link: url)
    case nil:
      // This link must not replace a link that was mailed before.
      link = NewMailLink(
        tokenHash: hash, purpose: purpose, email: email, expires: link.expires)
      return try callingStore { () throws(StoreFailure) in
        try store.keep(link, mail: nil, replacingOlder: false, at: now)
      }
    default:
      guard let sent else { return }
      return try callingStore { () throws(StoreFailure) in try registration.outbox.post(sent) }
    }
    guard let sent else { return }
    let kept = link
    try callingStore { () throws(StoreFailure) in try registration.outbox.post(sent, with: kept) }
  }
}
