// Steps that all pages for registration and sign-in by e-mail share: they report failures of the directory, and end a
// sign-in with a session for the browser, or with a code for the app that waits.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollGatewayPages
import EnrollHTTP

/// The pages for users who register or sign in by e-mail.
struct EmailSteps: GatewaySteps {
  let services: GatewayServices
  let store: any SessionStore & AccountChanges & RegistrationStore & AuditStore
  let registration: EmailRegistration
  let sessions: GatewaySessions
  let forms: VisitorForms
  let completion: SignInCompletion
  let starts: SignInStart
  let passwordChange: PasswordChange
  let limits: Limits
  let metrics: GatewayMetrics

  /// The provider that signs in the directory's users; nil if the gateway signs them in itself.
  var directoryProvider: SignInProvider? { services.directoryProvider }

  // MARK: Directory

  /// The identity of a directory's user. Its key is the directory's id, never the address.
  func identity(of person: DirectoryPerson) -> Identity {
    let subject =
      registration.own == nil ? registration.directory.name + " " + person.id : person.id
    return Identity(
      provider: RegistrationSettings.providerName, subject: subject,
      email: SignInProvider.email(person.email), isEmailVerified: true, name: PersonalText.shown(person.name))
  }

  /// The directory's id of a user, read from the subject of the user's identity.
  func personID(ofSubject subject: String) -> String {
    guard registration.own == nil else { return subject }
    return String(Substring(subject.utf8.dropFirst(registration.directory.name.utf8.count + 1)))
  }

  // MARK: The end

  /// Signs the user in, then redirects the browser: to the app that waits, or, with a new session, to the destination.
  func completeEmailSignIn(
    _ request: WebRequest, _ destination: SignInDestination,
    _ signIn: (NewCredential) throws(Interruption) -> Void
  ) throws(Interruption) -> WebResponse {
    if let waiting = destination.app,
      let app = settings.apps.first(where: { ASCII.equals($0.id, waiting.id) }),
      app.redirectURI(named: waiting.redirectURI) != nil
    {
      let created = try completion.credential(
        for: app, by: RegistrationSettings.providerName, challenge: waiting.challenge, request)
      try signIn(created.credential)
      return starts.returnToApp(
        app, waiting.redirectURI, state: waiting.state, [created.parameter], for: request)
    }
    let (text, hash) = try internalCall { () throws(EnrollError) in try RandomToken.make(random) }
    try signIn(.session(try sessions.newSession(hash, app: nil, for: request)))
    try sessions.endEarlierSession(of: request)
    return .redirect(
      to: starts.returnAddress(of: destination) ?? "/account",
      headers: try sessions.cookies(ofSession: text, hash, isProven: true))
  }

  /// Spends a link of an e-mail, and signs in the user to whom the e-mail was sent.
  func completeEmailSignIn(
    _ request: WebRequest, _ destination: SignInDestination, spending hash: [UInt8],
    _ purpose: NewMailLink.Purpose,
    for owner: LinkOwner
  ) throws(Interruption) -> WebResponse {
    let now = now
    return try completeEmailSignIn(request, destination) { (credential) throws(Interruption) in
      let spending = try callingStore { () throws(StoreFailure) in
        try store.spend(tokenHash: hash, purpose: purpose, owner: owner, creating: credential, at: now)
      }
      switch spending {
      case .signedIn(let signedIn):
        metrics.signedIn(
          at: RegistrationSettings.providerName, signedIn.isNew ? .registered : .signedIn)
        log.write(
          .info, "email: account \(signedIn.account.id) \(signedIn.isNew ? "registered" : "signed in")")
      case .spent: throw .failure(.linkUsed)
      case .expired: throw .failure(.linkExpired)
      case .unknown: throw .failure(.linkInvalid)
      }
    }
  }

  /// Finds the link that has this token, and that can still be used.
  /// - Returns: the link, and the hash of the token.
  /// - Throws: `.failure` if the link is unknown, expired or used.
  func live(
    _ token: String, _ purpose: NewMailLink.Purpose
  ) throws(Interruption) -> (link: MailLink, hash: [UInt8]) {
    guard let hash = RandomToken.hash(of: token) else { throw .failure(.linkInvalid) }
    let now = now
    let state = try callingStore { () throws(StoreFailure) in
      try store.link(tokenHash: hash, purpose: purpose, at: now)
    }
    switch state {
    case .live(let link): return (link, hash)
    case .spent: throw .failure(.linkUsed)
    case .expired: throw .failure(.linkExpired)
    case .unknown: throw .failure(.linkInvalid)
    }
  }
}

extension FieldError {
  init(_ refusal: EmailAddress.Refusal) {
    switch refusal {
    case .empty: self = .emailEmpty
    case .tooLong: self = .emailTooLong
    case .notASCII: self = .emailNotASCII
    case .malformed: self = .emailMalformed
    }
  }
}

extension EmailSteps {
  /// The page after an e-mail was requested.
  /// - Parameter form: the path of the form, to which the page has a link; the link keeps the destination.
  func emailSent(
    _ purpose: EmailSentPage.Purpose, again form: String, for request: WebRequest
  ) throws(Interruption) -> WebResponse {
    let destination = try sealedDestination(request.parameters()) ?? SignInDestination()
    let again = try link(form, keeping: destination)
    return views.answer(EmailSentPage(purpose, again: again), for: request)
  }
}
