// The user sets a new password on the account page, and enters the old one. The page exists only for the gateway's own
// directory. All other sessions of the account end. The user gets an e-mail.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollGatewayPages
import EnrollHTTP

/// The page on which a user changes their password.
struct PasswordChange: GatewaySteps {
  let services: GatewayServices
  let store: any SessionStore & AccountChanges & RegistrationStore
  /// The gateway's own directory. It is nil if the gateway uses another directory: then only the pages of that
  /// directory change a password.
  let own: OwnDirectory?
  let sessions: GatewaySessions
  let notices: AccountNotices
  let limits: Limits

  /// The user in the gateway's own directory to whom the account belongs; nil if there is no such user.
  private func ownPerson(of session: LiveSession) throws(Interruption) -> StoredPerson? {
    guard own != nil else { return nil }
    let identities = try callingStore { () throws(StoreFailure) in
      try store.identities(ofAccount: session.account.id)
    }
    let identity = identities.first { ASCII.equals($0.provider, RegistrationSettings.providerName) }
    guard let id = identity.flatMap({ PersonID($0.subject) }) else { return nil }
    return try callingStore { () throws(StoreFailure) in try store.person(id: id) }
  }

  func changePage(_ request: WebRequest) throws(Interruption) -> WebResponse {
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

  func change(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let (hash, session) = try sessions.ownForm(request) else { return .redirect(to: "/login") }
    guard let own, let person = try ownPerson(of: session), let form = request.form,
      let email = try? EmailAddress(person.email)
    else { throw .failure(.notFound) }
    try limits.countPassword(email, request)
    let (current, new) = (form["password"] ?? "", form["new-password"] ?? "")
    var isRight = false
    if (1...PasswordRule.longest).contains(current.utf8.count) {
      let check = try callingDirectory { () throws(DirectoryFailure) in
        try own.check(Secret(current), of: email)
      }
      if case .accepted = check { isRight = true }
    }
    guard isRight else { return try changeForm(request, hash, status: 422, current: .currentPasswordWrong) }
    if let error = PasswordRule.error(in: new, email: person.email) {
      return try changeForm(request, hash, status: 422, new: error)
    }
    let stored = try callingDirectory { () throws(DirectoryFailure) in try own.hashed(Secret(new)) }
    _ = try callingStore { () throws(StoreFailure) in
      try store.setPassword(stored, ofPerson: person.id, exceptTokenHash: hash, at: now)
    }
    notify(
      IdentityKey(provider: RegistrationSettings.providerName, subject: person.id.text), email, request)
    return .redirect(to: "/account")
  }

  /// Sends an e-mail about the changed password to every verified address of the account, and to the address of the identity.
  func notify(_ key: IdentityKey, _ email: EmailAddress, _ request: WebRequest) {
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
    notices.notify(.passwordChanged, about: identities, for: request)
  }
}
