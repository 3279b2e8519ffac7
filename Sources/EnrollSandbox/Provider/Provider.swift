// The provider itself: its state, and the way from a request to its answer. Knows nothing of sockets.

/// An OpenID provider in memory. An actor, because requests come at once and every one reads and changes the state.
public actor Provider {
  public nonisolated let options: SandboxOptions
  /// Set when the port is known; metadata, `iss` and redirects are built from it.
  public internal(set) var issuer: String

  var users: [User]
  var keys: SigningKeys
  var grants = Grants()
  /// By the name that the client got.
  var pushedRequests: [String: PushedRequest] = [:]
  var proofs = ProofMemory()
  var bff: BFF
  var deviceCodes = DeviceCodes()
  var otherApp = OtherAppSessions()
  var passwordless = Passwordless()
  var interactions: [String: Interaction] = [:]
  /// By the value of the browser's cookie.
  var signedIn: [String: SignedIn] = [:]
  /// Scopes that a user allowed to a client, by user name and client id.
  var consents: [[String]: Set<String>] = [:]
  /// Faults of the redirect that were struck when the page was asked for, by interaction or browser.
  var redirectEffects: [String: [Fault.Effect]] = [:]
  var gateway: Gateway
  var plan = FaultPlan()
  var clockShiftSeconds: Int64 = 0
  var counts: [Endpoint: Int] = [:]
  var log: [LogEntry] = []
  /// The messages that the host's back end received.
  var messages: [ReceivedMessage] = []
  /// Those that registered themselves.
  var registeredClients: [Client] = []
  /// Users whom the host's back end does not know.
  var unknownUsers: Set<String> = []

  /// - Throws: when OpenSSL cannot make the keys.
  public init(_ options: SandboxOptions = SandboxOptions(), issuer: String = "http://127.0.0.1") throws {
    self.options = options
    self.issuer = issuer
    users = options.users
    gateway = Gateway(settings: options.gateway)
    keys = try SigningKeys(options.algorithms)
    bff = try BFF()
  }

  var now: Int64 { options.clock() + clockShiftSeconds }

  /// Answers one request: counts it, lets planned faults strike, writes the log.
  public func answer(_ request: SandboxRequest) -> SandboxAnswer {
    guard request.isForLoopback else {
      return Page.error("The Host header must name 127.0.0.1, [::1] or localhost.", status: 403).answer()
    }
    guard let endpoint = Endpoint(path: request.path) else {
      return Page.error("There is nothing at \(request.path).", status: 404).answer()
    }
    guard endpoint.methods.contains(request.method) else {
      var answer = Page.error("\(request.path) does not answer \(request.method).", status: 405).answer()
      answer.setHeader("Allow", endpoint.methods.joined(separator: ", "))
      return answer
    }
    if endpoint == .control { return control(request) }

    counts[endpoint, default: 0] += 1
    let effects = plan.strike(endpoint)
    var answer =
      Misbehaviour.instead(of: endpoint, effects) ?? process(endpoint, request, effects: effects)
    answer.setHeader("Date", Encoding.httpDate(now))
    Misbehaviour.apply(effects, to: &answer, now: now)
    if effects.isEmpty, endpoint == .discovery || endpoint == .jwks { answer.allowCaching(asked: request) }
    write(LogEntry(endpoint, request, answer, struck: !effects.isEmpty, at: now))
    return answer
  }

  private func process(
    _ endpoint: Endpoint, _ request: SandboxRequest, effects: [Fault.Effect]
  ) -> SandboxAnswer {
    switch endpoint {
    case .home: Page.home(issuer: issuer, users: users, configuration: readableConfiguration).answer()
    case .discovery: .json(metadata)
    case .jwks: .json(keys.published(defects: effects))
    case .authorize: authorize(request, effects: effects)
    case .interaction: interact(request)
    case .pushed: push(request)
    case .token: token(request, effects: effects)
    case .userinfo: userinfo(request)
    case .revocation: revoke(request)
    case .introspection: introspect(request)
    case .endSession: endSession(request, effects: effects)
    case .backendStart: startBackendSignIn(request)
    case .bffCallback: finishBackendSignIn(request, effects: effects)
    case .backendRedeem: redeemBackendCode(request)
    case .deviceAuthorization: authorizeDevice(request)
    case .device: device(request)
    case .clientRegistration: registerClient(request)
    case .notes: readNotes(request)
    case .notesMetadata: .json(notesMetadata)
    case .registrationCheck: checkRegistration(request)
    case .profileUpdate: updateProfile(request)
    case .errorReport: reportError(request)
    case .passwordless: startPasswordless(request)
    case .passwordlessLink: passwordlessLink(request)
    case .otherAppInit: beginOtherApp(request)
    case .otherAppComplete: completeOtherApp(request, effects: effects)
    case .otherApp: playOtherApp(request, effects: effects)
    case .hostedLogin, .signIn, .register, .emailSent, .welcome, .gatewayCallback:
      gateway(endpoint, request)
    case .inbox: Page.inbox(letters).answer()
    case .assetLinks: .json(AppAssociations.android)
    case .appSiteAssociation: .json(AppAssociations.apple)
    case .control: control(request)
    }
  }

  /// The e-mails and messages sent so far, by the gateway and by passwordless sign-ins, oldest first.
  private var letters: [Letter] {
    (gateway.mails.map(Letter.init) + passwordless.messages.map(Letter.init)).sorted { $0.at < $1.at }
  }

  /// Those that were set up, and the sandbox's own.
  var clients: [Client] { options.clients + registeredClients + [backendClient, gatewayClient] }

  func client(_ id: String?) -> Client? { clients.first { $0.id == id } }

  func user(_ name: String?) -> User? { users.first { $0.name == name } }
}
