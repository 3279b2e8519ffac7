// The provider: its state, and the processing of requests. This code does not use sockets.

/// An OpenID provider in memory. The provider is an actor, because concurrent requests read and change its state.
public actor Provider {
  public nonisolated let options: SandboxOptions
  /// The provider's URL, which is set when the port is known. The metadata, `iss` and redirects contain it.
  public internal(set) var issuer: String

  var users: [User]
  var keys: SigningKeys
  var grants = Grants()
  /// The pushed requests by their `request_uri`.
  var pushedRequests: [String: PushedRequest] = [:]
  var proofs = ProofMemory()
  var deviceCodes = DeviceCodes()
  var otherApp = OtherAppSessions()
  var passwordless = Passwordless()
  var interactions: [String: Interaction] = [:]
  /// The browser sessions, by the value of the cookie.
  var signedIn: [String: BrowserSession] = [:]
  /// The scopes that a user granted to a client, by user name and client id.
  var consents: [[String]: Set<String>] = [:]
  /// The effects of faults that a request for a page has triggered. The effects are applied later, to the redirect that
  /// follows the page. The key is the id of the interaction, the browser or the other-app request.
  var redirectEffects: [String: [Fault.Effect]] = [:]
  var gateway: SandboxGateway
  var plan = FaultPlan()
  var clockShiftSeconds: Int64 = 0
  var counts: [Endpoint: Int] = [:]
  var log: [LogEntry] = []
  /// The messages that the host's back end received.
  var messages: [ReceivedMessage] = []
  /// The clients that registered themselves.
  var registeredClients: [SandboxClient] = []
  /// Users whom the host's back end does not know.
  var unknownUsers: Set<String> = []

  /// Makes a provider with new keys.
  /// - Throws: if OpenSSL cannot generate the keys.
  public init(_ options: SandboxOptions = SandboxOptions(), issuer: String = "http://127.0.0.1") throws {
    self.options = options
    self.issuer = issuer
    users = options.users
    gateway = SandboxGateway(settings: options.gateway)
    keys = try SigningKeys(options.algorithms)
  }

  var now: Int64 { options.clock() + clockShiftSeconds }

  /// Answers one request: counts the request, applies planned faults, and writes the log.
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

  /// The e-mails and messages of the gateway and of passwordless sign-ins, oldest first.
  private var letters: [Letter] {
    (gateway.mails.map(Letter.init) + passwordless.messages.map(Letter.init)).sorted { $0.at < $1.at }
  }

  /// The configured clients, the clients that registered themselves, and the gateway as a client.
  var clients: [SandboxClient] { options.clients + registeredClients + [gatewayClient] }

  func client(_ id: String?) -> SandboxClient? { clients.first { $0.id == id } }

  func user(_ name: String?) -> User? { users.first { $0.name == name } }
}
