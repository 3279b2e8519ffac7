// What the forms of people who come by e-mail share: where they go in the end, the mark against forms of other sites, failures of the
// directory, and the end of each way: a session of the browser, or a code for the app that waits.

import EnrollCore
import EnrollCrypto
import EnrollGatewayPages
import EnrollHTTP

extension Gateway {
  func answer(_ request: WebRequest, by route: EmailRoute) throws(Interruption) -> WebResponse {
    guard let registration else { throw .failure(.notFound) }
    let isGet = request.method == .get
    switch route {
    case .register: return isGet ? try registerPage(request) : try register(request, registration)
    case .registerSent: return views.emailSent(.register, again: "/register", for: request)
    case .welcome(let token):
      return isGet ? try welcomePage(request, token, registration) : try welcome(request, token, registration)
    case .signIn: return isGet ? try emailSignInPage(request) : try emailSignIn(request, registration)
    case .signInSent: return views.emailSent(.signIn, again: "/signin", for: request)
    case .signInLink(let token):
      return isGet ? try linkPage(request, token) : try signInByLink(request, token, registration)
    case .forgotten, .forgottenSent, .reset, .changePassword:
      guard registration.asksForPasswords else { throw .failure(.notFound) }
      switch route {
      case .forgotten: return isGet ? try forgottenPage(request) : try forgotten(request, registration)
      case .reset(let token):
        return isGet ? try resetPage(request, token) : try reset(request, token, registration)
      case .changePassword:
        return isGet ? try changePasswordPage(request) : try changePassword(request, registration)
      default: return views.emailSent(.reset, again: "/password/forgotten", for: request)
      }
    }
  }

  // MARK: Where it goes in the end

  static let visitField = "visit"

  /// As the address says it: sealed, or by the parameters of the documents (`clientId`, `fromURI`) and `return_to`.
  func visit(_ parameters: Parameters) throws(Interruption) -> Visit {
    if let sealed = parameters[Self.visitField] {
      guard let visit = Visit(sealed: sealed, with: keys) else { throw .failure(.formExpired) }
      return visit
    }
    let client = parameters["clientId"] ?? parameters["client_id"]
    let app = client.flatMap { name in settings.apps.first { ASCII.equals($0.id, name) } }
    return Visit(
      clientID: app?.id, returnTo: try returnAddress(parameters), fromURI: try fromURI(parameters))
  }

  /// The visit of a form that was sent.
  func visit(ofForm form: Parameters) throws(Interruption) -> Visit {
    guard let visit = Visit(sealed: form[Self.visitField], with: keys) else { throw .failure(.formExpired) }
    return visit
  }

  func query(_ request: WebRequest) throws(Interruption) -> Parameters {
    guard let parameters = Parameters(encoded: request.query) else { throw .failure(.invalidRequest) }
    return parameters
  }

  // MARK: Forms without a session

  /// Names the browser to its own forms. It opens nothing.
  static let formCookie = "__Host-enroll-form"
  private static let formSeconds: Int64 = 86_400

  /// The frame of a form, and the cookie that it needs.
  func frame(
    _ request: WebRequest, action: String, _ visit: Visit
  ) throws(Interruption) -> (frame: FormFrame, headers: [HTTPHeader]) {
    var headers: [HTTPHeader] = []
    let hash: [UInt8]
    if let known = browserHash(request) {
      hash = known
    } else {
      let (text, made) = try owned { () throws(EnrollError) in try OneTimeText.make(random) }
      headers = [.cookie(Self.formCookie, text, seconds: Self.formSeconds)]
      hash = made
    }
    let (mark, sealed) = try owned { () throws(EnrollError) in
      (
        try keys.mark(hash, for: .form, at: now),
        try visit.sealed(with: keys, at: now, random: random)
      )
    }
    guard let link = try? PageLink(path: action) else { throw .failure(.internalError) }
    return (
      FormFrame(
        action: link, token: FormToken(name: Views.formField, value: mark),
        visit: sealed.map { (name: Self.visitField, value: $0) }), headers
    )
  }

  /// Of the cookie for forms; nil without one.
  func browserHash(_ request: WebRequest) -> [UInt8]? {
    request.cookie(Self.formCookie).value.flatMap { OneTimeText.hash(of: $0) }
  }

  /// - Throws: `.failure(.formExpired)` for a form that this browser did not get from the gateway.
  func form(_ request: WebRequest) throws(Interruption) -> Parameters {
    guard !isFromElsewhere(request), let hash = browserHash(request), let form = request.form,
      let mark = form[Views.formField], keys.isMark(mark, of: hash, for: .form)
    else { throw .failure(.formExpired) }
    return form
  }

  /// A page that is one form.
  func page(
    _ request: WebRequest, _ purpose: EmailForm.Purpose, action: String, _ visit: Visit, status: Int = 200,
    _ fill: (inout EmailForm) -> Void = { _ in }
  ) throws(Interruption) -> WebResponse {
    let (frame, headers) = try frame(request, action: action, visit)
    var form = EmailForm(purpose, frame: frame)
    fill(&form)
    return views.form(form, targets: targets(of: visit), status: status, headers: headers, for: request)
  }

  /// Browsers apply a page's `form-action` to every redirect behind its form.
  private func targets(of visit: Visit) -> [PageLink] {
    let web = [visit.fromURI, visit.returnTo].compactMap { $0 }.map { try? PageLink(web: $0) }
    let apps = [visit.app?.redirectURI, fallback(of: visit)].compactMap { $0 }.map { try? PageLink(app: $0) }
    return (web + apps).compactMap { $0 } + handOverTargets
  }

  // MARK: Directory

  /// Runs a call of the directory.
  func asked<Result>(_ body: () throws(DirectoryFailure) -> Result) throws(Interruption) -> Result {
    do throws(DirectoryFailure) { return try body() } catch {
      if case .store(let failure) = error { throw .store(failure) }
      log.write(.error, "directory: \(error.message)")
      if case .unknownPerson = error { throw .failure(.linkInvalid) }
      throw .failure(.unavailable)
    }
  }

  /// The identity of a person of the directory. Its key is the directory's id, never the address.
  func identity(of person: DirectoryPerson, _ registration: EmailRegistration) -> Identity {
    let subject =
      registration.own == nil ? registration.directory.name + " " + person.id : person.id
    return Identity(
      provider: RegistrationSettings.providerName, subject: subject,
      email: SignInProvider.email(person.email), isEmailVerified: true, name: PersonalText.shown(person.name))
  }

  /// The directory's id in the subject of an identity.
  func personID(ofSubject subject: String, _ registration: EmailRegistration) -> String {
    guard registration.own == nil else { return subject }
    return String(Substring(subject.utf8.dropFirst(registration.directory.name.utf8.count + 1)))
  }

  // MARK: The end

  /// Signs in, and sends the browser on: to the app that waits, else with a session to the address of the visit.
  func arrive(
    _ request: WebRequest, _ visit: Visit, _ signIn: (Beginning) throws(Interruption) -> Void
  ) throws(Interruption) -> WebResponse {
    if let waiting = visit.app, let app = settings.apps.first(where: { ASCII.equals($0.id, waiting.id) }),
      app.redirectURI(named: waiting.redirectURI) != nil
    {
      let begun = try beginning(
        for: app, by: RegistrationSettings.providerName, challenge: waiting.challenge, request)
      try signIn(begun.beginning)
      return returnToApp(app, waiting.redirectURI, state: waiting.state, [begun.parameter], for: request)
    }
    let (text, hash) = try owned { () throws(EnrollError) in try OneTimeText.make(random) }
    try signIn(.session(try newSession(hash, app: nil, for: request)))
    if let before = sessionHash(request) {
      try stored { () throws(StoreFailure) in
        try store.endSession(tokenHash: before, at: now, from: origin(of: request))
      }
    }
    return .redirect(
      to: visit.fromURI ?? fallback(of: visit) ?? visit.returnTo ?? "/account",
      headers: try cookies(ofSession: text, hash, isProven: true))
  }

  /// Spends a link and signs its person in.
  func arrive(
    _ request: WebRequest, _ visit: Visit, spending hash: [UInt8], _ purpose: NewMailLink.Purpose,
    for owner: LinkOwner
  ) throws(Interruption) -> WebResponse {
    let now = now
    return try arrive(request, visit) { (beginning) throws(Interruption) in
      let spending = try stored { () throws(StoreFailure) in
        try store.spend(tokenHash: hash, purpose: purpose, owner: owner, beginning: beginning, at: now)
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

  /// - Returns: the link of a token, and its hash.
  /// - Throws: `.failure` with what is to be said about the link.
  func live(
    _ token: String, _ purpose: NewMailLink.Purpose
  ) throws(Interruption) -> (link: MailLink, hash: [UInt8]) {
    guard let hash = OneTimeText.hash(of: token) else { throw .failure(.linkInvalid) }
    let now = now
    let state = try stored { () throws(StoreFailure) in
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
