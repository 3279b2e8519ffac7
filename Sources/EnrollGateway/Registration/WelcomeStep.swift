// `/welcome/{activationToken}`: the link of the mail. Looking at it changes nothing; the form spends it, makes the person and the
// account in one step, and signs in, in whichever browser that is. Refused: a token that is old, used, replaced, or none.

import EnrollCore
import EnrollCrypto
import EnrollGatewayPages
import EnrollHTTP

extension Gateway {
  func welcomePage(
    _ request: WebRequest, _ token: String, _ registration: EmailRegistration
  ) throws(Interruption) -> WebResponse {
    let (link, _) = try live(token, .activation)
    // The sign-in page of the issuer adds where it wants the browser back.
    let asked = try visit(query(request))
    return try page(
      request, .welcome(email: link.email, asksForPassword: choosesPasswords(registration)),
      action: EmailRoute.welcomePrefix + token, asked == Visit() ? Visit(text: link.visit) : asked)
  }

  func welcome(
    _ request: WebRequest, _ token: String, _ registration: EmailRegistration
  ) throws(Interruption) -> WebResponse {
    let form = try form(request)
    let (link, hash) = try live(token, .activation)
    let visit = try visit(ofForm: form)
    let email: EmailAddress
    do throws(EmailAddress.Refusal) { email = try EmailAddress(link.email) } catch {
      throw .failure(.internalError)
    }
    var password: Secret?
    if choosesPasswords(registration) {
      let given = form["new-password"] ?? ""
      if let error = PasswordRule.error(in: given, email: email.text) {
        return try again(request, token, link, visit, error)
      }
      password = Secret(given)
    }
    guard let own = registration.own else {
      return try welcome(request, token, link, hash, email, password, visit, registration)
    }
    let id = try newID()
    var stored: String?
    if let password { stored = try asked { () throws(DirectoryFailure) in try own.hashed(password) } }
    return try arrive(
      request, visit, spending: hash, .activation, for: .newPerson(id: id, password: stored))
  }

  private func again(
    _ request: WebRequest, _ token: String, _ link: MailLink, _ visit: Visit, _ error: FieldError
  ) throws(Interruption) -> WebResponse {
    try page(
      request, .welcome(email: link.email, asksForPassword: true), action: EmailRoute.welcomePrefix + token,
      visit, status: 422
    ) { $0.passwordError = error }
  }

  /// Whether a registration ends with a password: one that the directory checks, or the provider of its house.
  private func choosesPasswords(_ registration: EmailRegistration) -> Bool {
    registration.settings.hasPasswords && (registration.directory.checksPasswords || house != nil)
  }

  /// In a directory that is not ours each step may be repeated; the link is spent when all of them are done. The activation comes first: in SCIM a
  /// new person is one whom nobody has changed.
  private func welcome(
    _ request: WebRequest, _ token: String, _ link: MailLink, _ hash: [UInt8], _ email: EmailAddress,
    _ password: Secret?, _ visit: Visit, _ registration: EmailRegistration
  ) throws(Interruption) -> WebResponse {
    let directory = registration.directory
    let person = try asked { () throws(DirectoryFailure) in
      try directory.create(email, name: link.name)
    }
    guard person.state != .suspended, person.state != .locked else { throw .failure(.accountLocked) }
    try asked { () throws(DirectoryFailure) in try directory.activate(person.id) }
    if let password {
      do throws(DirectoryFailure) { try directory.setPassword(password, of: person.id) } catch {
        guard case .invalidPassword = error else {
          return try asked { () throws(DirectoryFailure) in throw error }
        }
        return try again(request, token, link, visit, .passwordRefused)
      }
    }
    guard let house else {
      let id = try newID()
      return try arrive(
        request, visit, spending: hash, .activation,
        for: .identity(identity(of: person, registration), newAccountID: id))
    }
    var session: Secret?
    if let password, directory.checksPasswords {
      let check = try asked { () throws(DirectoryFailure) in try directory.check(password, of: email) }
      if case .right(_, let given) = check { session = given }
    }
    try spend(hash, .activation)
    return try handOver(request, to: house, session: session, email: email, visit)
  }

  /// Spends a link whose sign-in is the business of another.
  func spend(_ hash: [UInt8], _ purpose: NewMailLink.Purpose) throws(Interruption) {
    let now = now
    let isSpent = try stored { () throws(StoreFailure) in
      try store.spendLink(tokenHash: hash, purpose: purpose, at: now)
    }
    guard isSpent else { throw .failure(.linkUsed) }
  }
}
