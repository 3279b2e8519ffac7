// A user who forgot the password gets a link by e-mail, and sets a new password on the link's page. If the user is in
// the gateway's own directory, all sessions of the account end. The user gets an e-mail about the change.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollGatewayPages
import EnrollHTTP

extension EmailSteps {
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
    let person = try callingDirectory { () throws(DirectoryFailure) in
      try registration.directory.person(with: email)
    }
    let mayMail = try limits.mayMail(email, request)
    let known = person.flatMap { $0.state == .active || $0.state == .locked ? $0 : nil }
    let address = known.flatMap { try? EmailAddress($0.email) }
    let mail = address.map {
      AccountMail(.passwordReset(link: ""), to: $0, in: views.language(request))
    }
    let subject = known.map { identity(of: $0).subject }
    try post(mail, .reset, email, request, mayMail: mayMail, destination) {
      $0.subject = subject
    }
    return .redirect(to: try path("/password/forgotten/email-sent", keeping: destination))
  }

  func resetPage(_ request: WebRequest, _ token: String) throws(Interruption) -> WebResponse {
    let (link, _) = try live(token, .reset)
    return try forms.page(
      request, .reset(email: link.email), action: NewMailLink.Purpose.reset.path(token),
      SignInDestination(text: link.destination))
  }

  func reset(_ request: WebRequest, _ token: String) throws(Interruption) -> WebResponse {
    let form = try forms.form(request)
    let (link, hash) = try live(token, .reset)
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
      let stored = try callingDirectory { () throws(DirectoryFailure) in try own.hashed(password) }
      let answer = try completeEmailSignIn(
        request, destination, spending: hash, .reset, for: .knownPerson(password: stored))
      passwordChange.notify(
        IdentityKey(provider: RegistrationSettings.providerName, subject: subject), email, request)
      return answer
    }
    let id = personID(ofSubject: subject)
    do throws(DirectoryFailure) { try registration.directory.setPassword(password, of: id) } catch {
      guard case .invalidPassword = error else {
        return try callingDirectory { () throws(DirectoryFailure) in throw error }
      }
      return try forms.page(request, .reset(email: link.email), action: action, destination, status: 422) {
        $0.passwordError = .passwordRefused
      }
    }
    notePassword(ofSubject: subject)
    passwordChange.notify(
      IdentityKey(
        provider: directoryProvider?.name ?? RegistrationSettings.providerName, subject: subject),
      email,
      request)
    guard let directoryProvider = directoryProvider else {
      let identity = identity(
        of: DirectoryPerson(id: id, email: link.email, state: .active))
      return try completeEmailSignIn(
        request, destination, spending: hash, .reset,
        for: .identity(identity, newAccountID: try sessions.newID()))
    }
    try spend(hash, .reset)
    let check = try callingDirectory { () throws(DirectoryFailure) in
      try registration.directory.check(password, of: email)
    }
    guard case .accepted(_, let session) = check else { throw .failure(.accountLocked) }
    return try starts.handOver(
      request, to: directoryProvider, session: session, email: email, destination)
  }

  /// Records a change in an external directory. The change has already happened, so a failure of the store is only logged.
  private func notePassword(ofSubject subject: String) {
    let name = directoryProvider?.name ?? RegistrationSettings.providerName
    do throws(StoreFailure) {
      guard let account = try store.account(of: IdentityKey(provider: name, subject: subject)) else { return }
      try store.append(AuditEntry(at: now, .passwordChanged, account: account, from: .current))
    } catch {
      log.write(.error, "the audit lacks a changed password: \(error.message)")
    }
  }
}
