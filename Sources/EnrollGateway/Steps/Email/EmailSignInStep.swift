// `/signin`: users who registered by e-mail sign in with their password, or with a link that is mailed. The answers do
// not reveal whether an address is known: a known and an unknown address get the same answers, and for both a password
// is hashed. If the owner of an unknown address may register, the address gets the e-mail of a registration. A link
// signs in the browser that opens it. The page that the link opens shows the account's address and, if another browser
// asked for the link, the name of that browser.

import EnrollRules
import EnrollCrypto
import EnrollGatewayPages
import EnrollHTTP

extension EmailSteps {
  func emailSignInPage(_ request: WebRequest) throws(Interruption) -> WebResponse {
    let destination = try forms.destination(request.parameters())
    // If the directory does not check passwords, its provider asks for the address and the password on its own page.
    if let directoryProvider, !registration.directory.checksPasswords, destination.app == nil {
      return .redirect(
        to: try path(
          "/v1/auth/\(directoryProvider.name)", keeping: SignInDestination(returnTo: destination.returnTo)))
    }
    return try signInForm(request, destination)
  }

  private func signInForm(
    _ request: WebRequest, _ destination: SignInDestination, status: Int = 200, email: String? = nil,
    emailError: FieldError? = nil, passwordError: FieldError? = nil
  ) throws(Interruption) -> WebResponse {
    let byPassword = registration.asksForPasswords
    let other = try link("/login", keeping: destination)
    let forgotten = byPassword ? try link("/password/forgotten", keeping: destination) : nil
    return try forms.page(
      request, .signIn(byPassword: byPassword), action: "/signin", destination, status: status
    ) {
      $0.email = email
      $0.emailError = emailError
      $0.passwordError = passwordError
      $0.other = other
      $0.forgotten = forgotten
    }
  }

  func emailSignIn(_ request: WebRequest) throws(Interruption) -> WebResponse {
    let form = try forms.form(request)
    let destination = try forms.destination(ofForm: form)
    let email: EmailAddress
    do throws(EmailAddress.Refusal) { email = try EmailAddress(form["email"] ?? "") } catch {
      return try signInForm(
        request, destination, status: 422, email: PersonalText.shown(form["email"]),
        emailError: FieldError(error))
    }
    guard registration.asksForPasswords else {
      if let directoryProvider, !registration.directory.checksPasswords {
        return try starts.handOver(request, to: directoryProvider, session: nil, email: email, destination)
      }
      try sendSignInLink(request, email, destination)
      return .redirect(to: try path("/signin/email-sent", keeping: destination))
    }
    try limits.countPassword(email, request)
    let given = form["password"] ?? ""
    let wrong: () throws(Interruption) -> WebResponse = { () throws(Interruption) in
      self.metrics.signedIn(at: RegistrationSettings.providerName, .refused)
      return try self.signInForm(
        request, destination, status: 422, email: email.text, passwordError: .passwordWrong)
    }
    guard (1...PasswordRule.longest).contains(given.utf8.count) else { return try wrong() }
    let before = try checkedPassword(of: email)
    let check = try callingDirectory { () throws(DirectoryFailure) in
      try registration.directory.check(Secret(given), of: email)
    }
    switch check {
    // A locked user gets the answer for a wrong password. The directory reports the lock before it checks the password,
    // so the lock does not prove that the caller knows the password.
    case .rejected, .locked: return try wrong()
    // Without a session the browser is not redirected to the provider: a provider whose own sign-in page redirects to
    // this page would send the browser back at once.
    case .expired: return .redirect(to: "/password/forgotten")
    case .incomplete: throw .failure(.stepMissing)
    case .accepted(let person, let session):
      guard person.state == .active else { throw .failure(.accountLocked) }
      if let directoryProvider {
        return try starts.handOver(
          request, to: directoryProvider, session: session, email: email, destination)
      }
      let identity = identity(of: person)
      var isReplaced = false
      let answer = try completeEmailSignIn(request, destination) { (credential) throws(Interruption) in
        _ = try completion.signIn(identity, creating: credential, for: request)
        isReplaced = try !isStill(before, of: person)
        if isReplaced, case .session(let session) = credential {
          try callingStore { () throws(StoreFailure) in
            try store.endSession(tokenHash: session.tokenHash, at: now, from: AuditOrigin(of: request))
          }
        }
      }
      return isReplaced ? try wrong() : answer
    }
  }

  /// The hash with which the password will be compared; nil for a directory that compares passwords itself.
  private func checkedPassword(
    of email: EmailAddress
  ) throws(Interruption) -> String? {
    guard registration.own != nil else { return nil }
    return try callingStore { () throws(StoreFailure) in try store.person(emailKey: email.key)?.password }
  }

  /// Whether the password that was compared is still the person's password. During the comparison, another request may
  /// replace the password and end the sessions. A session that begins with the old password after the replacement must
  /// end, and the user gets the answer for a wrong password.
  private func isStill(_ password: String?, of person: DirectoryPerson) throws(Interruption) -> Bool {
    guard let password else { return true }
    guard let id = PersonID(person.id) else { return false }
    return try callingStore { () throws(StoreFailure) in try store.isCurrent(password, ofPerson: id) }
  }

  private func sendSignInLink(
    _ request: WebRequest, _ email: EmailAddress, _ destination: SignInDestination
  ) throws(Interruption) {
    let person = try callingDirectory { () throws(DirectoryFailure) in
      try registration.directory.person(with: email)
    }
    guard let person, person.state == .active, let address = try? EmailAddress(person.email) else {
      return try sendActivation(request, email, name: nil, destination)
    }
    let subject = identity(of: person).subject
    try post(
      AccountMail(.signInLink(link: "", device: nil), to: address, in: views.language(request)), .signIn,
      email, request, mayMail: try limits.mayMail(email, request), destination
    ) { $0.subject = subject }
  }

  func linkPage(_ request: WebRequest, _ token: String) throws(Interruption) -> WebResponse {
    let (link, _) = try live(token, .signIn)
    let isSameBrowser = link.browserHash != nil && link.browserHash == forms.browserHash(request)
    return try forms.page(
      request,
      .confirmSignIn(email: link.email, device: isSameBrowser ? nil : link.device ?? "?"),
      action: NewMailLink.Purpose.signIn.path(token), SignInDestination(text: link.destination))
  }

  func signInByLink(_ request: WebRequest, _ token: String) throws(Interruption) -> WebResponse {
    let form = try forms.form(request)
    let (link, hash) = try live(token, .signIn)
    let destination = try forms.destination(ofForm: form)
    guard let subject = link.subject else { throw .failure(.linkInvalid) }
    let id = personID(ofSubject: subject)
    let state = try callingDirectory { () throws(DirectoryFailure) in
      try registration.directory.state(of: id)
    }
    guard state == .active else { throw .failure(.accountLocked) }
    guard registration.own == nil else {
      return try completeEmailSignIn(
        request, destination, spending: hash, .signIn, for: .knownPerson(password: nil))
    }
    let identity = identity(
      of: DirectoryPerson(id: id, email: link.email, state: state))
    return try completeEmailSignIn(
      request, destination, spending: hash, .signIn,
      for: .identity(identity, newAccountID: try sessions.newID()))
  }
}
