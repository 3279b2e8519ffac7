// A new password: with a mailed link if the user forgot the old one, or with the old password on the account
// page. In the gateway's own directory all other sessions of the account end. The user gets an e-mail.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollGatewayPages
import EnrollHTTP

/// The pages with which users who sign in by e-mail change their password.
struct PasswordSteps: GatewaySteps {
  let steps: EmailSteps

  var services: GatewayServices { steps.services }
  private var store: any SessionStore & AccountChanges & RegistrationStore & AuditStore { steps.store }
  private var registration: EmailRegistration { steps.registration }
  private var sessions: GatewaySessions { steps.sessions }
  private var forms: VisitorForms { steps.forms }

  func forgottenPage(_ request: WebRequest) throws(Interruption) -> WebResponse {
    try forms.page(
      request, .forgotten, action: "/password/forgotten", forms.destination(request.parameters()))
  }

  func forgotten(_ request: WebRequest) throws(Interruption) -> WebResponse {
    let form = try forms.form(request)
    let destination = try forms.destination(ofForm: form)
    let email: EmailAddress
    do throws(EmailAddress.Refusal) { email = try EmailAddress(form["email"] ?? "") } catch {
      return try forms.page(request, .forgotten, action: "/password/forgotten", destination, status: 422) {
        $0.email = PersonalText.shown(form["email"])
        $0.emailError = FieldError(error)
      }
    }
    let person = try steps.callingDirectory { () throws(DirectoryFailure) in
      try registration.directory.person(with: email)
    }
    let mayMail = try steps.limits.mayMail(email, request)
    let known = person.flatMap { $0.state == .active || $0.state == .locked ? $0 : nil }
    let address = known.flatMap { try? EmailAddress($0.email) }
    let mail = address.map {
      AccountMail(.passwordReset(link: ""), to: $0, in: views.language(request))
    }
    let subject = known.map { steps.identity(of: $0).subject }
    try steps.post(mail, .reset, email, request, mayMail: mayMail, destination) {
      $0.subject = subject
    }
    return .redirect(to: "/password/forgotten/email-sent")
  }

  func resetPage(_ request: WebRequest, _ token: String) throws(Interruption) -> WebResponse {
    let (link, _) = try steps.live(token, .reset)
    return try forms.page(
      request, .reset(email: link.email), action: NewMailLink.Purpose.reset.path(token),
      SignInDestination(text: link.destination))
  }

  func reset(_ request: WebRequest, _ token: String) throws(Interruption) -> WebResponse {
    let form = try forms.form(request)
    let (link, hash) = try steps.live(token, .reset)
    let destination = try forms.destination(ofForm: form)
    let action = NewMailLink.Purpose.reset.path(token)
    let given = form["new-password"] ?? ""
    if let error = PasswordRule.error(in: given, email: link.email) {
      return try forms.page(request, .reset(email: link.email), action: action, destination, status: 422) {
        $0.passwordError = error
      }
    }
    guard let subject = link.subject, let email = try? EmailAddress(link.email) else {
      throw .failure(.linkInvalid)
    }
    let password = Secret(given)
    if let own = registration.own {
      let stored = try steps.callingDirectory { () throws(DirectoryFailure) in try own.hashed(password) }
      let answer = try steps.completeEmailSignIn(
        request, destination, spending: hash, .reset, for: .knownPerson(password: stored))
      notifyOfPassword(
        IdentityKey(provider: RegistrationSettings.providerName, subject: subject), email, request)
      return answer
    }
    let id = steps.personID(ofSubject: subject)
    do throws(DirectoryFailure) { try registration.directory.setPassword(password, of: id) } catch {
      guard case .invalidPassword = error else {
        return try steps.callingDirectory { () throws(DirectoryFailure) in throw error }
      }
      return try forms.page(request, .reset(email: link.email), action: action, destination, status: 422) {
        $0.passwordError = .passwordRefused
      }
    }
    notePassword(ofSubject: subject)
    notifyOfPassword(
      IdentityKey(
        provider: services.directoryProvider?.name ?? RegistrationSettings.providerName, subject: subject),
      email,
      request)
    guard let directoryProvider = services.directoryProvider else {
      let identity = steps.identity(
        of: DirectoryPerson(id: id, email: link.email, state: .active))
      return try steps.completeEmailSignIn(
        request, destination, spending: hash, .reset,
        for: .identity(identity, newAccountID: try sessions.newID()))
    }
    try steps.spend(hash, .reset)
    let check = try steps.callingDirectory { () throws(DirectoryFailure) in
      try registration.directory.check(password, of: email)
    }
    guard case .accepted(_, let session) = check else { throw .failure(.accountLocked) }
    return try steps.starts.handOver(
      request, to: directoryProvider, session: session, email: email, destination)
  }

  /// Records a change in an external directory. The change has already happened, so a failure of the store is only logged.
  private func notePassword(ofSubject subject: String) {
    let name = services.directoryProvider?.name ?? RegistrationSettings.providerName
    do throws(StoreFailure) {
      guard let account = try store.account(of: IdentityKey(provider: name, subject: subject)) else { return }
      try store.append(AuditEntry(at: now, .passwordChanged, account: account, from: .current))
    } catch {
      log.write(.error, "the audit lacks a changed password: \(error.message)")
    }
  }

  // MARK: On the account page

  /// The user in the gateway's own directory to whom the account belongs; nil if there is none.
  private func ownPerson(of session: LiveSession) throws(Interruption) -> StoredPerson? {
    guard registration.own != nil else { return nil }
    let identities = try callingStore { () throws(StoreFailure) in
      try store.identities(ofAccount: session.account.id)
    }
    let own = identities.first { ASCII.equals($0.provider, RegistrationSettings.providerName) }
    guard let own else { return nil }
    return try callingStore { () throws(StoreFailure) in try store.person(id: own.subject) }
  }

  func changePasswordPage(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let hash = sessions.sessionHash(request), let session = try sessions.liveSession(request) else {
      return .redirect(to: "/login")
    }
    guard try ownPerson(of: session) != nil else { throw .failure(.notFound) }
    return try changeForm(request, hash)
  }

  private func changeForm(
    _ request: WebRequest, _ hash: [UInt8], status: Int = 200, current: FieldError? = nil,
    new: FieldError? = nil
  ) throws(Interruption) -> WebResponse {
    let formToken = try formToken(hash)
    guard let action = try? PageLink(path: "/account/password") else { throw .failure(.internalError) }
    var form = EmailForm(
      .changePassword,
      frame: FormFrame(action: action, token: FormToken(name: Views.formField, value: formToken)))
    form.currentPasswordError = current
    form.passwordError = new
    return views.answer(form, for: request, status: status)
  }

  func changePassword(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let (hash, session) = try sessions.ownForm(request) else { return .redirect(to: "/login") }
    guard let own = registration.own, let person = try ownPerson(of: session), let form = request.form,
      let email = try? EmailAddress(person.email)
    else { throw .failure(.notFound) }
    try steps.limits.countPassword(email, request)
    let (current, new) = (form["password"] ?? "", form["new-password"] ?? "")
    var isRight = false
    if (1...PasswordRule.longest).contains(current.utf8.count) {
      let check = try steps.callingDirectory { () throws(DirectoryFailure) in
        try own.check(Secret(current), of: email)
      }
      if case .accepted = check { isRight = true }
    }
    guard isRight else { return try changeForm(request, hash, status: 422, current: .currentPasswordWrong) }
    if let error = PasswordRule.error(in: new, email: person.email) {
      return try changeForm(request, hash, status: 422, new: error)
    }
    let stored = try steps.callingDirectory { () throws(DirectoryFailure) in try own.hashed(Secret(new)) }
    _ = try callingStore { () throws(StoreFailure) in
      try store.setPassword(stored, ofPerson: person.id, exceptTokenHash: hash, at: now)
    }
    notifyOfPassword(
      IdentityKey(provider: RegistrationSettings.providerName, subject: person.id), email, request)
    return .redirect(to: "/account")
  }

  /// Sends an e-mail about the changed password to every verified address of the account, and to the address of the identity.
  private func notifyOfPassword(_ key: IdentityKey, _ email: EmailAddress, _ request: WebRequest) {
    var identities = [
      Identity(provider: key.provider, subject: key.subject, email: email.text, isEmailVerified: true)
    ]
    do throws(StoreFailure) {
      if let account = try store.account(of: key) {
        identities += try store.identities(ofAccount: account)
      }
    } catch {
      log.write(.error, "a changed password is told at one address alone: \(error.message)")
    }
    steps.notices.notify(.passwordChanged, about: identities, for: request)
  }
}
