// `/signin`: people who registered by e-mail come back, with their password or by a link that is mailed. Nobody learns whether an address
// is known: the answers are the same, an unknown address costs the same hash, and the mail to one that may register is that of a
// registration. A link signs in the browser that opens it; its page says as whom, and which browser asked when that is another.

import EnrollCore
import EnrollCrypto
import EnrollGatewayPages
import EnrollHTTP

extension Gateway {
  func emailSignInPage(_ request: WebRequest) throws(Interruption) -> WebResponse {
    let visit = try visit(query(request))
    // The provider of the house asks for the password, and for the address as well.
    if let house, let registration, !registration.directory.checksPasswords, visit.app == nil {
      var query = FormEncoding(.query)
      if let returnTo = visit.returnTo { query.add("return_to", returnTo) }
      return .redirect(to: "/v1/auth/\(house.name)" + (query.bytes.isEmpty ? "" : "?" + query.text))
    }
    return try signInForm(request, visit)
  }

  private func signInForm(
    _ request: WebRequest, _ visit: Visit, status: Int = 200, email: String? = nil,
    emailError: FieldError? = nil, passwordError: FieldError? = nil
  ) throws(Interruption) -> WebResponse {
    let byPassword = registration?.asksForPasswords ?? false
    return try page(request, .signIn(byPassword: byPassword), action: "/signin", visit, status: status) {
      $0.email = email
      $0.emailError = emailError
      $0.passwordError = passwordError
      $0.other = try? PageLink(path: "/login")
      $0.forgotten = byPassword ? try? PageLink(path: "/password/forgotten") : nil
    }
  }

  func emailSignIn(
    _ request: WebRequest, _ registration: EmailRegistration
  ) throws(Interruption) -> WebResponse {
    let form = try form(request)
    let visit = try visit(ofForm: form)
    let email: EmailAddress
    do throws(EmailAddress.Refusal) { email = try EmailAddress(form["email"] ?? "") } catch {
      return try signInForm(
        request, visit, status: 422, email: PersonalText.shown(form["email"]), emailError: FieldError(error))
    }
    guard registration.asksForPasswords else {
      if let house, !registration.directory.checksPasswords {
        return try handOver(request, to: house, session: nil, email: email, visit)
      }
      try sendSignInLink(request, email, visit, registration)
      return .redirect(to: "/signin/email-sent")
    }
    try limitPasswords(email, request)
    let given = form["password"] ?? ""
    let wrong: () throws(Interruption) -> WebResponse = { () throws(Interruption) in
      self.metrics.signedIn(at: RegistrationSettings.providerName, .refused)
      return try self.signInForm(
        request, visit, status: 422, email: email.text, passwordError: .passwordWrong)
    }
    guard (1...PasswordRule.longest).contains(given.utf8.count) else { return try wrong() }
    let before = try checkedPassword(of: email, registration)
    let check = try asked { () throws(DirectoryFailure) in
      try registration.directory.check(Secret(given), of: email)
    }
    switch check {
    // One that is locked is told so by nobody who does not know the password: the directory answers before it has looked.
    case .wrong, .locked: return try wrong()
    // Handed over without a session, people of a house whose sign-in page leads here would come back at once.
    case .expired: return .redirect(to: "/password/forgotten")
    case .incomplete: throw .failure(.stepMissing)
    case .right(let person, let session):
      guard person.state == .active else { throw .failure(.accountLocked) }
      if let house { return try handOver(request, to: house, session: session, email: email, visit) }
      let identity = identity(of: person, registration)
      var isReplaced = false
      let answer = try arrive(request, visit) { (beginning) throws(Interruption) in
        _ = try signIn(identity, beginning: beginning, for: request)
        isReplaced = try !isStill(before, of: person)
        if isReplaced, case .session(let begun) = beginning {
          try stored { () throws(StoreFailure) in
            try store.endSession(tokenHash: begun.tokenHash, at: now, from: origin(of: request))
          }
        }
      }
      return isReplaced ? try wrong() : answer
    }
  }

  /// The hash that a password is about to be compared with; nil for a directory that compares by itself.
  private func checkedPassword(
    of email: EmailAddress, _ registration: EmailRegistration
  ) throws(Interruption) -> String? {
    guard registration.own != nil else { return nil }
    return try stored { () throws(StoreFailure) in try store.person(emailKey: email.key)?.password }
  }

  /// Comparing takes a while, in which the password may be replaced and its sessions ended. Whoever began one after that, with the
  /// password from before, is told nothing of it.
  private func isStill(_ password: String?, of person: DirectoryPerson) throws(Interruption) -> Bool {
    guard let password else { return true }
    return try stored { () throws(StoreFailure) in try store.isCurrent(password, ofPerson: person.id) }
  }

  private func sendSignInLink(
    _ request: WebRequest, _ email: EmailAddress, _ visit: Visit, _ registration: EmailRegistration
  ) throws(Interruption) {
    let person = try asked { () throws(DirectoryFailure) in try registration.directory.person(with: email) }
    guard let person, person.state == .active, let address = try? EmailAddress(person.email) else {
      return try sendActivation(request, email, name: nil, visit, registration)
    }
    let subject = identity(of: person, registration).subject
    try post(
      AccountMail(.signInLink(link: "", device: nil), to: address, in: views.language(request)), .signIn,
      email, request, mayMail: try mayMail(email, request), visit, registration
    ) { $0.subject = subject }
  }

  func linkPage(_ request: WebRequest, _ token: String) throws(Interruption) -> WebResponse {
    let (link, _) = try live(token, .signIn)
    let isSameBrowser = link.browserHash != nil && link.browserHash == browserHash(request)
    return try page(
      request,
      .confirmSignIn(email: link.email, device: isSameBrowser ? nil : link.device ?? "?"),
      action: EmailRoute.signInPrefix + token, Visit(text: link.visit))
  }

  func signInByLink(
    _ request: WebRequest, _ token: String, _ registration: EmailRegistration
  ) throws(Interruption) -> WebResponse {
    let form = try form(request)
    let (link, hash) = try live(token, .signIn)
    let visit = try visit(ofForm: form)
    guard let subject = link.subject else { throw .failure(.linkInvalid) }
    let id = personID(ofSubject: subject, registration)
    let state = try asked { () throws(DirectoryFailure) in try registration.directory.state(of: id) }
    guard state == .active else { throw .failure(.accountLocked) }
    guard registration.own == nil else {
      return try arrive(request, visit, spending: hash, .signIn, for: .knownPerson(password: nil))
    }
    let identity = identity(
      of: DirectoryPerson(id: id, email: link.email, state: state), registration)
    return try arrive(
      request, visit, spending: hash, .signIn, for: .identity(identity, newAccountID: try newID()))
  }
}
