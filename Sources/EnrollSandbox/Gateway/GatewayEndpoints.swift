// The gateway's endpoints. Each form contains a token for the browser that got the form, so a form from another site is
// refused. The gateway never opens `fromURI`: the key in it only names an authorization request that waits in the
// sandbox.

import EnrollCrypto
import Foundation

/// The context of a form of the gateway: its browser, and the destination after the sign-in.
struct GatewayContext {
  /// The key of the authorization request that waits; nil if the browser returns to the client's fallback URI.
  var key: String?
  var clientID: String
  var browserID: String
  var isNewBrowser: Bool
  /// The targets that the page's `form-action` has to allow.
  var formTargets: [String]
  /// The parameter `fromURI`, if it names an authorization request that waits in the sandbox.
  var fromURI: String?

  /// A token in the form, which proves that this browser got the form.
  var mark: String {
    Encoding.base64URL((try? Digest.sha256.hash(Array(("gateway " + browserID).utf8))) ?? [])
  }

  /// The query that passes the context to another page of the gateway.
  var query: String {
    var form = Form()
    form.append("fromURI", fromURI)
    form.append("clientId", clientID)
    return "?" + form.encoded
  }
}

extension Provider {
  /// The gateway as a client: the gateway signs users in at the provider with its own code flow.
  var gatewayClient: SandboxClient {
    SandboxClient(
      id: SandboxGateway.clientID, name: "Gateway", redirectURIs: [issuer + SandboxGateway.path],
      postLogoutRedirectURIs: [])
  }

  func gateway(_ endpoint: Endpoint, _ http: SandboxRequest) -> SandboxAnswer {
    gateway.forgetOld(before: now - options.interactionLifetimeSeconds)
    guard let form = http.method == "POST" ? http.form : Form(encoded: http.query) else {
      return Page.error("The form cannot be read.").answer()
    }
    let context = context(form, http)
    if http.method == "POST", form["mark"] != context.mark {
      return Page.error("This form was shown to another browser, or cookies are off.", status: 403).answer()
    }
    var answer =
      switch endpoint {
      case .hostedLogin: hostedLogin(form)
      case .signIn: gatewaySignIn(form, http, context)
      case .register: register(form, http, context)
      case .emailSent: Page.emailSent(context).answer()
      case .welcome: welcome(form, http, context)
      case .gatewayCallback: gatewayCallback(form)
      default: Page.error("There is nothing here.", status: 404).answer()
      }
    if context.isNewBrowser, answer.header("Set-Cookie") == nil { setCookie(context.browserID, on: &answer) }
    return answer
  }

  private func context(_ form: Form, _ http: SandboxRequest) -> GatewayContext {
    let browser = browserID(http)
    let key = form["fromURI"].flatMap(waitingKey)
    let waiting = key.flatMap { gateway.waiting[$0] }
    let app = client(waiting?.request.clientID ?? form["clientId"]) ?? options.clients.first ?? .sample
    var targets = waiting?.formTargets ?? []
    if let fallback = app.fallbackURI.flatMap(Page.formTarget), !targets.contains(fallback) {
      targets.append(fallback)
    }
    return GatewayContext(
      key: key, clientID: app.id, browserID: browser.id, isNewBrowser: browser.isNew, formTargets: targets,
      fromURI: key.map { fromURI($0) })
  }

  private func fromURI(_ key: String) -> String { issuer + Endpoint.authorize.path + "?okta_key=" + key }

  private func waitingKey(_ fromURI: String) -> String? {
    gateway.waiting.keys.first { self.fromURI($0) == fromURI }
  }

  // MARK: The hosted login page

  /// The provider's own login page, which only redirects to the gateway.
  func leadToGateway(_ interaction: Interaction) -> SandboxAnswer {
    gateway.waiting[interaction.id] = interaction
    return .redirect(to: "\(Endpoint.hostedLogin.path)?okta_key=\(interaction.id)")
  }

  private func hostedLogin(_ form: Form) -> SandboxAnswer {
    guard let key = form["okta_key"], let interaction = gateway.waiting[key] else {
      return Page.error("This sign-in is over: it was finished before, or took too long.").answer()
    }
    let request = interaction.request
    let path =
      request.activationToken.map { Endpoint.welcome.path(with: $0) }
      ?? (interaction.mustCreate ? Endpoint.register.path : Endpoint.signIn.path)
    return Page.hostedLogin(
      path: path, fromURI: gateway.settings.readsFromURI ? fromURI(key) : nil, clientID: request.clientID
    ).answer()
  }

  /// `GET /authorize?okta_key=…`: continues a request that waited for a session.
  func resumeWaiting(_ key: String, _ http: SandboxRequest, effects: [Fault.Effect]) -> SandboxAnswer {
    guard var interaction = gateway.waiting[key] else {
      return Page.error("This sign-in is over: it was finished before, or took too long.").answer()
    }
    interaction.browserID = browserID(http).id
    if let session = signedIn[interaction.browserID], session.authTime >= interaction.begunAt {
      interaction.mustSignIn = false
      interaction.mustCreate = false
      interaction.mustChoose = false
      interaction.signedInHere = true
    }
    switch nextStep(interaction) {
    case .done:
      guard let session = signedIn[interaction.browserID] else { break }
      gateway.waiting[key] = nil
      return grant(interaction.request, to: session, effects: effects)
    case .consent, .choose:
      gateway.waiting[key] = nil
      interactions[interaction.id] = interaction
      redirectEffects[interaction.id] = effects
      return .redirect(to: "\(Endpoint.interaction.path)?id=\(interaction.id)")
    case .signIn, .create: break
    }
    return leadToGateway(interaction)
  }

  // MARK: The gateway's pages

  private func gatewaySignIn(_ form: Form, _ http: SandboxRequest, _ context: GatewayContext) -> SandboxAnswer
  {
    if http.method == "GET" { return Page.gatewaySignIn(context, users: users).answer() }
    if form["action"] == "cancel" { return turnBack(context, "the user said no") }
    let typed = form["username"] ?? ""
    guard let user = users.first(where: { $0.name == typed || $0.email == typed }),
      user.password == form["password"]
    else {
      return Page.gatewaySignIn(
        context, users: users, name: typed, problem: "User name or password is not right."
      ).answer()
    }
    return openSession(of: user, context)
  }

  private func register(_ form: Form, _ http: SandboxRequest, _ context: GatewayContext) -> SandboxAnswer {
    if http.method == "GET" { return Page.register(context).answer() }
    if form["action"] == "cancel" { return turnBack(context, "the user said no") }
    let email = form["email"] ?? ""
    guard NewAccount.isEmail(email) else {
      return Page.register(context, email: email, problem: "An address such as name@example.com.").answer()
    }
    register(email: email, clientID: context.clientID)
    return .redirect(to: Endpoint.emailSent.path + context.query)
  }

  /// Registers an address and sends the e-mail.
  func register(email: String, clientID: String) {
    gateway.register(
      email, clientID: clientID, isTaken: users.contains { $0.email == email },
      token: Encoding.randomToken(), issuer: issuer, now: now)
  }

  private func welcome(_ form: Form, _ http: SandboxRequest, _ context: GatewayContext) -> SandboxAnswer {
    let token = Endpoint.welcome.parameter(of: http.path) ?? ""
    if http.method == "POST", form["action"] == "cancel" {
      return turnBack(context, gateway.problem(with: token, now: now) ?? "the user said no")
    }
    // Opening the page does not use up the link, because mail scanners open links.
    if let problem = gateway.problem(with: token, now: now) {
      return Page.deadLink(context, token: token, reason: problem).answer()
    }
    if http.method == "GET" { return Page.setPassword(context, token: token).answer() }
    let password = form["password"] ?? ""
    guard (8...100).contains(password.count), let email = gateway.activations[token]?.email else {
      return Page.setPassword(context, token: token, problem: "8 to 100 characters.").answer()
    }
    let user = newUser(email, password: password)
    users.append(user)
    gateway.activate(token, as: user)
    var context = context
    if context.key == nil { context.clientID = gateway.activations[token]?.clientID ?? context.clientID }
    return openSession(of: user, context)
  }

  private func newUser(_ email: String, password: String) -> User {
    let letters = email.prefix { $0 != "@" }.lowercased().filter {
      $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-")
    }
    let wanted = letters.isEmpty ? "user" : String(letters.prefix(28))
    let names: [String] = [wanted] + (2...999).map { "\(wanted)\($0)" }
    let free = names.first { name in user(name) == nil }
    return User(free ?? wanted, familyName: "", email: email, emailVerified: true, password: password)
  }

  // MARK: The gateway's own sign-in

  /// Creates a session of the provider in this browser, with a session token and the gateway's own code flow.
  private func openSession(of user: User, _ context: GatewayContext) -> SandboxAnswer {
    let (token, state, verifier) = (
      Encoding.randomToken(), Encoding.randomToken(), Encoding.randomToken()
    )
    gateway.sessionTokens[token] = SandboxGateway.SessionToken(
      userName: user.name, expiresAt: now + options.codeLifetimeSeconds)
    gateway.logins[state] = SandboxGateway.Login(
      verifier: verifier, key: context.key, clientID: context.clientID, begunAt: now)
    let request = Form([
      ("client_id", SandboxGateway.clientID), ("response_type", "code"), ("scope", "openid"),
      ("prompt", "none"),
      ("redirect_uri", issuer + SandboxGateway.path), ("state", state), ("sessionToken", token),
      ("code_challenge", PKCE.challenge(for: verifier) ?? ""), ("code_challenge_method", "S256"),
    ])
    return .redirect(to: Endpoint.authorize.path + "?" + request.encoded)
  }

  /// Uses up the session token that an authorization request of the gateway contains.
  /// - Returns: the browser's new cookie; nil if the token is invalid.
  func spendSessionToken(_ token: String) -> String? {
    guard let session = gateway.sessionTokens.removeValue(forKey: token), now <= session.expiresAt,
      user(session.userName) != nil
    else { return nil }
    let browserID = Encoding.randomToken()
    signedIn[browserID] = BrowserSession(
      userName: session.userName, authTime: now, contextClass: .password, sessionID: Encoding.randomToken())
    return browserID
  }

  private func gatewayCallback(_ form: Form) -> SandboxAnswer {
    guard let state = form["state"], let login = gateway.logins.removeValue(forKey: state) else {
      return Page.error("The gateway did not begin this sign-in.").answer()
    }
    guard let code = form["code"] else {
      return Page.error("The provider refused the gateway: \(form["error"] ?? "no code came").").answer()
    }
    do throws(OAuthRefusal) {
      let family = try grants.redeem(
        code, clientID: SandboxGateway.clientID, redirectURI: issuer + SandboxGateway.path,
        verifier: login.verifier,
        refreshExpiresAt: nil, now: now)
      // The gateway needs only the session, not the tokens.
      grants.finish(family.id, .ended)
    } catch {
      return Page.error("The gateway's code is not good: \(error.description).").answer()
    }
    if let key = login.key, gateway.waiting[key] != nil {
      return .redirect(to: Endpoint.authorize.path + "?okta_key=" + key)
    }
    guard let fallback = client(login.clientID)?.fallbackURI else { return Page.backToApp.answer() }
    return .redirect(to: fallback)
  }

  /// Sends the browser back to the app without a sign-in.
  private func turnBack(_ context: GatewayContext, _ reason: String) -> SandboxAnswer {
    guard let key = context.key, let interaction = gateway.waiting.removeValue(forKey: key) else {
      return Page.backToApp.answer()
    }
    return refuse(
      OAuthRefusal("access_denied", reason), redirectURI: interaction.request.redirectURI,
      state: interaction.request.state, effects: [])
  }
}
