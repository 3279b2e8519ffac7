// A new password: by a mailed link for who forgot the old one, or with the old one on the account page. Either way every other session of
// the account ends, and the person is told by mail.

import EnrollCore
import EnrollCrypto
import EnrollGatewayPages
import EnrollHTTP

extension Gateway {
  func forgottenPage(_ request: WebRequest) throws(Interruption) -> WebResponse {
    try page(request, .forgotten, action: "/password/forgotten", visit(query(request)))
  }

  func forgotten(
    _ request: WebRequest, _ registration: EmailRegistration
  ) throws(Interruption) -> WebResponse {
    let form = try form(request)
    let visit = try visit(ofForm: form)
    let email: EmailAddress
    do throws(EmailAddress.Refusal) { email = try EmailAddress(form["email"] ?? "") } catch {
      return try page(request, .forgotten, action: "/password/forgotten", visit, status: 422) {
        $0.email = PersonalText.shown(form["email"])
        $0.emailError = FieldError(error)
      }
    }
    let person = try asked { () throws(DirectoryFailure) in try registration.directory.person(with: email) }
    let mayMail = try mayMail(email, request)
    let known = person.flatMap { $0.state == .active || $0.state == .locked ? $0 : nil }
    let address = known.flatMap { try? EmailAddress($0.email) }
    let mail = address.map {
      AccountMail(.passwordReset(link: ""), to: $0, in: views.language(request))
    }
    let subject = known.map { identity(of: $0, registration).subject }
    try post(mail, .reset, email, request, mayMail: mayMail, visit, registration) { $0.subject = subject }
    return .redirect(to: "/password/forgotten/email-sent")
  }

  func resetPage(_ request: WebRequest, _ token: String) throws(Interruption) -> WebResponse {
    let (link, _) = try live(token, .reset)
    return try page(
      request, .reset(email: link.email), action: EmailRoute.resetPrefix + token, Visit(text: link.visit))
  }

  func reset(
    _ request: WebRequest, _ token: String, _ registration: EmailRegistration
  ) throws(Interruption) -> WebResponse {
    let form = try form(request)
    let (link, hash) = try live(token, .reset)
    let visit = try visit(ofForm: form)
    let action = EmailRoute.resetPrefix + token
    let given = form["new-password"] ?? ""
    if let error = PasswordRule.error(in: given, email: link.email) {
      return try page(request, .reset(email: link.email), action: action, visit, status: 422) {
        $0.passwordError = error
      }
    }
    guard let subject = link.subject, let email = try? EmailAddress(link.email) else {
      throw .failure(.linkInvalid)
    }
    let password = Secret(given)
    if let own = registration.own {
      let stored = try asked { () throws(DirectoryFailure) in try own.hashed(password) }
      let answer = try arrive(request, visit, spending: hash, .reset, for: .knownPerson(password: stored))
      tellOfPassword(
        IdentityKey(provider: RegistrationSettings.providerName, subject: subject), email, request)
      return answer
    }
    let id = personID(ofSubject: subject, registration)
    do throws(DirectoryFailure) { try registration.directory.setPassword(password, of: id) } catch {
      guard case .invalidPassword = error else {
        return try asked { () throws(DirectoryFailure) in throw error }
      }
      return try page(request, .reset(email: link.email), action: action, visit, status: 422) {
        $0.passwordError = .passwordRefused
      }
    }
    notePassword(ofSubject: subject, registration)
    tellOfPassword(
      IdentityKey(provider: house?.name ?? RegistrationSettings.providerName, subject: subject), email,
      request)
    guard let house else {
      let identity = identity(
        of: DirectoryPerson(id: id, email: link.email, state: .active), registration)
      return try arrive(
        request, visit, spending: hash, .reset, for: .identity(identity, newAccountID: try newID()))
    }
    try spend(hash, .reset)
    let check = try asked { () throws(DirectoryFailure) in
      try registration.directory.check(password, of: email)
    }
    guard case .right(_, let session) = check else { throw .failure(.accountLocked) }
    return try handOver(request, to: house, session: session, email: email, visit)
  }

  /// The directory is another's: what it changed is noted afterwards, and a store that is away undoes nothing.
  private func notePassword(ofSubject subject: String, _ registration: EmailRegistration) {
    let name = house?.name ?? RegistrationSettings.providerName
    do throws(StoreFailure) {
      guard let account = try store.account(of: IdentityKey(provider: name, subject: subject)) else { return }
      try store.append(AuditEntry(at: now, .passwordChanged, account: account, from: .current))
    } catch {
      log.write(.error, "the audit lacks a changed password: \(error.message)")
    }
  }

  // MARK: On the account page

  /// The person of the gateway's own directory whose account this is; nil for none.
  private func ownPerson(of session: LiveSession) throws(Interruption) -> StoredPerson? {
    guard registration?.own != nil else { return nil }
    let identities = try stored { () throws(StoreFailure) in
      try store.identities(ofAccount: session.account.id)
    }
    let own = identities.first { ASCII.equals($0.provider, RegistrationSettings.providerName) }
    guard let own else { return nil }
    return try stored { () throws(StoreFailure) in try store.person(id: own.subject) }
  }

  func changePasswordPage(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let hash = sessionHash(request), let session = try liveSession(request) else {
      return .redirect(to: "/login")
    }
    guard try ownPerson(of: session) != nil else { throw .failure(.notFound) }
    return try changeForm(request, hash)
  }

  private func changeForm(
    _ request: WebRequest, _ hash: [UInt8], status: Int = 200, current: FieldError? = nil,
    new: FieldError? = nil
  ) throws(Interruption) -> WebResponse {
    let mark = try owned { () throws(EnrollError) in try keys.mark(hash, for: .form, at: now) }
    guard let action = try? PageLink(path: "/account/password") else { throw .failure(.internalError) }
    var form = EmailForm(
      .changePassword,
      frame: FormFrame(action: action, token: FormToken(name: Views.formField, value: mark)))
    form.currentPasswordError = current
    form.passwordError = new
    return views.form(form, targets: [], status: status, headers: [], for: request)
  }

  func changePassword(
    _ request: WebRequest, _ registration: EmailRegistration
  ) throws(Interruption) -> WebResponse {
    guard let (hash, session) = try ownForm(request) else { return .redirect(to: "/login") }
    guard let own = registration.own, let person = try ownPerson(of: session), let form = request.form,
      let email = try? EmailAddress(person.email)
    else { throw .failure(.notFound) }
    try limitPasswords(email, request)
    let (current, new) = (form["password"] ?? "", form["new-password"] ?? "")
    var isRight = false
    if (1...PasswordRule.longest).contains(current.utf8.count) {
      let check = try asked { () throws(DirectoryFailure) in try own.check(Secret(current), of: email) }
      if case .right = check { isRight = true }
    }
    guard isRight else { return try changeForm(request, hash, status: 422, current: .currentPasswordWrong) }
    if let error = PasswordRule.error(in: new, email: person.email) {
      return try changeForm(request, hash, status: 422, new: error)
    }
    let stored = try asked { () throws(DirectoryFailure) in try own.hashed(Secret(new)) }
    _ = try self.stored { () throws(StoreFailure) in
      try store.setPassword(stored, ofPerson: person.id, exceptTokenHash: hash, at: now)
    }
    tellOfPassword(
      IdentityKey(provider: RegistrationSettings.providerName, subject: person.id), email, request)
    return .redirect(to: "/account")
  }

  /// A changed password is told at every verified address of the account, and at that of the identity.
  private func tellOfPassword(_ key: IdentityKey, _ email: EmailAddress, _ request: WebRequest) {
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
    tell(.passwordChanged, about: identities, for: request)
  }
}
