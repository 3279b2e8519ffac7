// Forms for users without a session. Each form contains the destination after the sign-in, and a token. The gateway
// refuses a form without this token, because the form may come from another site.

import EnrollRules
import EnrollCrypto
import EnrollGatewayPages
import EnrollHTTP

/// Makes forms for a browser without a session, and reads them.
struct VisitorForms: GatewaySteps {
  let services: GatewayServices
  let sessions: GatewaySessions
  let starts: SignInStart

  /// The destination that a URL contains, either sealed, or in the parameters `clientId`, `fromURI` and `return_to`.
  func destination(_ parameters: Parameters) throws(Interruption) -> SignInDestination {
    if let destination = try sealedDestination(parameters) { return destination }
    let client = parameters["clientId"] ?? parameters["client_id"]
    let app = client.flatMap { name in settings.apps.first { ASCII.equals($0.id, name) } }
    return SignInDestination(
      clientID: app?.id, returnTo: try returnAddress(parameters), fromURI: try fromURI(parameters))
  }

  /// The URL of the issuer's authorization request in the parameter `fromURI`, or nil.
  /// - Throws: `.failure(.invalidRequest)` for a URL that is not allowed.
  private func fromURI(_ parameters: Parameters) throws(Interruption) -> String? {
    guard let text = parameters["fromURI"] else { return nil }
    guard let address = FromURI(text, allowed: settings.directory?.fromURIs ?? []) else {
      throw .failure(.invalidRequest)
    }
    return address.text
  }

  /// The destination in a submitted form.
  func destination(ofForm form: Parameters) throws(Interruption) -> SignInDestination {
    guard let destination = SignInDestination(sealed: form[SignInDestination.field], with: keys) else {
      throw .failure(.formExpired)
    }
    return destination
  }

  /// The cookie by which the gateway recognizes the browser that got a form. The cookie gives access to nothing.
  static let formCookie = "__Host-enroll-form"
  private static let formSeconds: Int64 = 86_400

  /// The frame of a form (its target, its token and the sealed destination), and a header that sets the form cookie if
  /// the browser does not have the cookie yet.
  func frame(
    _ request: WebRequest, action: String, _ destination: SignInDestination
  ) throws(Interruption) -> (frame: FormFrame, headers: [HTTPHeader]) {
    var headers: [HTTPHeader] = []
    let hash: [UInt8]
    if let known = browserHash(request) {
      hash = known
    } else {
      let (text, made) = try internalCall { () throws(EnrollError) in try RandomToken.make(random) }
      headers = [.cookie(Self.formCookie, text, seconds: Self.formSeconds)]
      hash = made
    }
    let (formToken, sealed) = try internalCall { () throws(EnrollError) in
      (
        try keys.authenticationCode(of: hash, for: .form, at: now),
        try destination.sealed(with: keys, at: now, random: random)
      )
    }
    guard let link = try? PageLink(path: action) else { throw .failure(.internalError) }
    return (
      FormFrame(
        action: link, token: FormToken(name: Views.formField, value: formToken),
        destination: sealed.map { (name: SignInDestination.field, value: $0) }), headers
    )
  }

  /// The hash of the form cookie; nil if the request does not have the cookie.
  func browserHash(_ request: WebRequest) -> [UInt8]? {
    request.cookie(Self.formCookie).value.flatMap { RandomToken.hash(of: $0) }
  }

  /// The fields of the form in the request.
  /// - Throws: `.failure(.formExpired)` for a form that this browser did not get from the gateway.
  func form(_ request: WebRequest) throws(Interruption) -> Parameters {
    guard !sessions.isCrossSite(request), let hash = browserHash(request), let form = request.form,
      let formToken = form[Views.formField], keys.verifies(formToken, of: hash, for: .form)
    else { throw .failure(.formExpired) }
    return form
  }

  /// A page that is one form.
  func page(
    _ request: WebRequest, _ purpose: EmailForm.Purpose, action: String, _ destination: SignInDestination,
    status: Int = 200,
    _ fill: (inout EmailForm) -> Void = { _ in }
  ) throws(Interruption) -> WebResponse {
    let (frame, headers) = try frame(request, action: action, destination)
    var form = EmailForm(purpose, frame: frame)
    fill(&form)
    let targets = targets(of: destination)
    return views.answer(form, for: request, status: status, headers: headers) { $0.formTargets = targets }
  }

  /// The targets for the page's `form-action`, which browsers apply to every redirect that follows a form.
  private func targets(of destination: SignInDestination) -> [PageLink] {
    let web = [destination.fromURI, destination.returnTo].compactMap { $0 }.map { try? PageLink(web: $0) }
    let apps = [destination.app?.redirectURI, starts.fallback(of: destination)].compactMap { $0 }.map {
      try? PageLink(app: $0)
    }
    return (web + apps).compactMap { $0 } + starts.handOverTargets
  }
}

extension GatewaySteps {
  /// The destination in the parameter of a link that ``path(_:keeping:)`` made; nil if the parameter is absent.
  /// - Throws: `.failure(.formExpired)` if no key of the gateway opens the parameter.
  func sealedDestination(_ parameters: Parameters) throws(Interruption) -> SignInDestination? {
    guard let sealed = parameters[SignInDestination.field] else { return nil }
    guard let destination = SignInDestination(sealed: sealed, with: keys) else {
      throw .failure(.formExpired)
    }
    return destination
  }

  /// The path of another page of the sign-in, with the destination in its query.
  func path(_ path: String, keeping destination: SignInDestination) throws(Interruption) -> String {
    let sealed = try internalCall { () throws(EnrollError) in
      try destination.sealed(with: keys, at: now, random: random)
    }
    guard let sealed else { return path }
    var query = FormEncoding(.query)
    query.add(SignInDestination.field, sealed)
    return path + "?" + query.text
  }

  /// A link to ``path(_:keeping:)``.
  func link(_ path: String, keeping destination: SignInDestination) throws(Interruption) -> PageLink? {
    let target = try self.path(path, keeping: destination)
    return try? PageLink(path: target)
  }
}
