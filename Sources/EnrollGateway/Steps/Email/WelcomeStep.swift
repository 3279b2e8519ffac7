// `/welcome/{activationToken}`: the link in the e-mail. GET changes nothing; the form spends the link, creates the
// person and the account in one step, and signs the user in, in any browser. Refused: a token that is expired, used,
// replaced or unknown.

import EnrollCrypto
import EnrollGatewayPages
import EnrollHTTP

extension EmailSteps {
  func welcomePage(_ request: WebRequest, _ token: String) throws(Interruption) -> WebResponse {
    let (link, _) = try live(token, .activation)
    // The issuer's sign-in page may have added `fromURI`, the URL to which the browser has to return.
    let requested = try forms.destination(request.parameters())
    return try forms.page(
      request, .welcome(email: link.email, asksForPassword: choosesPasswords()),
      action: NewMailLink.Purpose.activation.path(token),
      requested == SignInDestination() ? SignInDestination(text: link.destination) : requested)
  }

  func welcome(_ request: WebRequest, _ token: String) throws(Interruption) -> WebResponse {
    let form = try forms.form(request)
    let (link, hash) = try live(token, .activation)
    let destination = try forms.destination(ofForm: form)
    let email: EmailAddress
    do throws(EmailAddress.Refusal) { email = try EmailAddress(link.email) } catch {
      throw .failure(.internalError)
    }
    var password: Secret?
    if choosesPasswords() {
      let given = form["new-password"] ?? ""
      if let error = PasswordRule.error(in: given, email: email.text) {
        return try again(request, token, link, destination, error)
      }
      password = Secret(given)
    }
    guard let own = registration.own else {
      return try welcome(request, token, link, hash, email, password, destination)
    }
    let id: PersonID = try sessions.newID()
    var stored: String?
    if let password {
      stored = try callingDirectory { () throws(DirectoryFailure) in try own.hashed(password) }
    }
    return try completeEmailSignIn(
      request, destination, spending: hash, .activation, for: .newPerson(id: id, password: stored))
  }

  private func again(
    _ request: WebRequest, _ token: String, _ link: MailLink, _ destination: SignInDestination,
    _ error: FieldError
  ) throws(Interruption) -> WebResponse {
    try forms.page(
      request, .welcome(email: link.email, asksForPassword: true),
      action: NewMailLink.Purpose.activation.path(token),
      destination, status: 422
    ) { $0.passwordError = error }
  }

  /// Whether the user chooses a password during the registration. This requires that the directory or its provider can
  /// check passwords.
  private func choosesPasswords() -> Bool {
    registration.settings.hasPasswords && (registration.directory.checksPasswords || directoryProvider != nil)
  }

  /// Registers a user in an external directory. Each step may be repeated; the link is spent after all steps.
  /// Activation comes before the password, because the gateway recognizes a new user of a SCIM directory by a resource
  /// that was never changed.
  private func welcome(
    _ request: WebRequest, _ token: String, _ link: MailLink, _ hash: [UInt8], _ email: EmailAddress,
    _ password: Secret?, _ destination: SignInDestination
  ) throws(Interruption) -> WebResponse {
    let directory = registration.directory
    let person = try callingDirectory { () throws(DirectoryFailure) in
      try directory.create(email, name: link.name)
    }
    guard person.state != .suspended, person.state != .locked else { throw .failure(.accountLocked) }
    try callingDirectory { () throws(DirectoryFailure) in try directory.activate(person.id) }
    if let password {
      do throws(DirectoryFailure) { try directory.setPassword(password, of: person.id) } catch {
        guard case .invalidPassword = error else {
          return try callingDirectory { () throws(DirectoryFailure) in throw error }
        }
        return try again(request, token, link, destination, .passwordRefused)
      }
    }
    guard let directoryProvider else {
      let id: AccountID = try sessions.newID()
      return try completeEmailSignIn(
        request, destination, spending: hash, .activation,
        for: .identity(identity(of: person), newAccountID: id))
    }
    var session: Secret?
    if let password, directory.checksPasswords {
      let check = try callingDirectory { () throws(DirectoryFailure) in
        try directory.check(password, of: email)
      }
      if case .accepted(_, let given) = check { session = given }
    }
    try spend(hash, .activation)
    return try starts.handOver(request, to: directoryProvider, session: session, email: email, destination)
  }

  /// Spends a link when the provider, not the gateway, signs the user in.
  func spend(_ hash: [UInt8], _ purpose: NewMailLink.Purpose) throws(Interruption) {
    let now = now
    let isSpent = try callingStore { () throws(StoreFailure) in
      try store.spendLink(tokenHash: hash, purpose: purpose, at: now)
    }
    guard isSpent else { throw .failure(.linkUsed) }
  }
}
