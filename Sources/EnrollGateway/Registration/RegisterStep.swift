// `/register`: an address is written, and a mail goes there. Whoever writes it learns nothing about the address: the answer and the work
// are the same whether it has an account or not, and no answer waits for a mail server. What goes to a person of the directory goes
// to the address that the directory has, never to what was typed.

import EnrollCore
import EnrollCrypto
import EnrollGatewayPages
import EnrollHTTP

extension Gateway {
  func registerPage(_ request: WebRequest) throws(Interruption) -> WebResponse {
    try page(request, .register, action: "/register", visit(query(request))) {
      $0.other = try? PageLink(path: "/signup")
    }
  }

  func register(
    _ request: WebRequest, _ registration: EmailRegistration
  ) throws(Interruption) -> WebResponse {
    let form = try form(request)
    let visit = try visit(ofForm: form)
    let name = PersonalText.shown(form["name"], maximumBytes: 100)
    let email: EmailAddress
    do throws(EmailAddress.Refusal) { email = try EmailAddress(form["email"] ?? "") } catch {
      return try page(request, .register, action: "/register", visit, status: 422) {
        $0.email = PersonalText.shown(form["email"])
        $0.name = name
        $0.emailError = FieldError(error)
        $0.other = try? PageLink(path: "/signup")
      }
    }
    try sendActivation(request, email, name: name, visit, registration)
    return .redirect(to: "/register/email-sent")
  }

  /// Posts the mail that ends a registration, or the one that says that there is an account.
  func sendActivation(
    _ request: WebRequest, _ email: EmailAddress, name: String?, _ visit: Visit,
    _ registration: EmailRegistration
  ) throws(Interruption) {
    let person = try asked { () throws(DirectoryFailure) in try registration.directory.person(with: email) }
    let mayMail = try mayMail(email, request)
    if let person, person.state != .staged {
      let mail = (try? EmailAddress(person.email)).map {
        AccountMail(
          .accountExists(signIn: settings.publicURL + "/signin"), to: $0, in: views.language(request))
      }
      return try post(mail, .activation, email, request, mayMail: mayMail, visit, registration) { _ in }
    }
    try post(
      AccountMail(.activation(link: ""), to: email, in: views.language(request)), .activation, email, request,
      mayMail: mayMail && registration.settings.isOpen, visit, registration
    ) { $0.name = name }
  }

  /// Makes a link and posts its mail. Where nothing may be sent a link is kept all the same, which nobody knows: the work is the
  /// same.
  /// - Parameter mail: an empty link in it becomes the new one; one that has another link, or none, is sent without.
  func post(
    _ mail: AccountMail?, _ purpose: NewMailLink.Purpose, _ email: EmailAddress, _ request: WebRequest,
    mayMail: Bool, _ visit: Visit, _ registration: EmailRegistration,
    _ fill: (inout NewMailLink) -> Void
  ) throws(Interruption) {
    let (token, hash) = try owned { () throws(EnrollError) in try OneTimeText.make(random) }
    let seconds =
      switch purpose {
      case .activation: EmailRegistration.activationSeconds
      case .signIn: EmailRegistration.signInSeconds
      case .reset: EmailRegistration.resetSeconds
      }
    var link = NewMailLink(
      tokenHash: hash, purpose: purpose, email: mail?.recipient ?? email,
      device: PersonalText.shown(request.value(of: "User-Agent")), browserHash: browserHash(request),
      visit: visit.text, expires: now + seconds)
    fill(&link)
    var sent = mayMail ? mail : nil
    let base = settings.publicURL
    switch sent?.kind {
    case .activation: sent?.kind = .activation(link: base + EmailRoute.welcomePrefix + token)
    case .signInLink:
      sent?.kind = .signInLink(link: base + EmailRoute.signInPrefix + token, device: link.device)
    case .passwordReset: sent?.kind = .passwordReset(link: base + EmailRoute.resetPrefix + token)
    case nil:
      // It must not take the place of a link that was sent before.
      link = NewMailLink(
        tokenHash: hash, purpose: purpose, email: email, expires: link.expires)
      return try stored { () throws(StoreFailure) in
        try store.keep(link, mail: nil, replacingOlder: false, at: now)
      }
    default:
      guard let sent else { return }
      return try stored { () throws(StoreFailure) in try registration.outbox.post(sent) }
    }
    guard let sent else { return }
    let kept = link
    try stored { () throws(StoreFailure) in try registration.outbox.post(sent, with: kept) }
  }
}
