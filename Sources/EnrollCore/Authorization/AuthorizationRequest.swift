// The authorize URL and the transaction that waits for its answer (RFC 6749 §4.1.1, OpenID Connect Core §3.1.2.1,
// RFC 7636 §4.3). Always code with PKCE S256, state and nonce (R7, R13, R14, R16). Pure: time and random bytes come in.

import EnrollCrypto

/// One authorize request: the URL for the browser, and what must be kept until its answer comes.
public struct AuthorizationRequest: Sendable {
  /// Of ``make(configuration:metadata:options:redirectURI:asksForLogin:at:random:)``: id, state, nonce, verifier.
  public static let randomByteCount = 16 + 32 + 32 + PKCE.randomByteCount

  public internal(set) var transaction: TransactionRecord
  /// The part of the request that the transaction keeps.
  public let sent: CodeRequest
  /// The values of the request that work once.
  public let secrets: CodeRequest.Secrets
  /// With all parameters in it. Holds the state: to be opened, never logged (R40).
  public let url: String
  /// The parameters alone, as ``PushedAuthorizationRequest`` sends them.
  let parameters: FormEncoding
  /// The part that the request lacks, in words for the log; nil in most cases.
  public let warning: EnrollError?

  /// - Parameters:
  ///   - redirectURI: where it is not the configured one: the same loopback redirect with the listener's port (R4).
  ///   - asksForLogin: adds the configured prompt (`login`) to what the options say, so that another account can be
  ///     chosen (flows.md §5); see ``warning`` where the provider announces none that does.
  ///   - activationToken: of the link that led here (flows.md §3).
  ///   - dpopKey: to which the code and what comes of it will be bound (RFC 9449 §10).
  ///   - random: ``randomByteCount`` bytes.
  /// - Throws: `.invalidArgument` for an option that is not acceptable, `field` names it; `.unsupported` when the
  ///   provider cannot do what is asked; `.loginRequired` for `prompt=none` with `asksForLogin`; `.responseInvalid` when
  ///   its endpoint cannot be used.
  public static func make(
    configuration: Configuration, metadata: ProviderMetadata, options: SignInOptions = SignInOptions(),
    redirectURI: String? = nil, asksForLogin: Bool = false, activationToken: ActivationToken? = nil,
    dpopKey: DPoPKey? = nil,
    at moment: Moment, random: [UInt8]
  ) throws(EnrollError) -> AuthorizationRequest {
    guard random.count == randomByteCount else {
      throw EnrollError(
        .invalidArgument, "expected \(randomByteCount) random bytes, got \(random.count)")
    }
    let scopes = scopes(configuration, options, listed: metadata.scopes)
    try options.check(sending: scopes)
    let requested = try prompt(configuration, metadata, options, asksForLogin)
    try requireAbilities(metadata, prompt: requested.value, kind: options.kind, configuration)
    let redirect = try redirect(configuration, redirectURI)
    let pkce = try PKCE.make(random: Array(random[80...]))
    let secrets = CodeRequest.Secrets(
      nonce: Secret(Base64URL.encodedBytes(Array(random[48..<80]))), codeVerifier: pkce.verifier,
      dpopKey: dpopKey)
    let sent = CodeRequest(
      redirect: AwaitedRedirect(
        uri: redirect, state: Secret(Base64URL.encodedBytes(Array(random[16..<48]))),
        listensOnLoopback: redirectURI?.utf8.starts(with: "http:".utf8) ?? false),
      secrets: secrets, demands: options.demands, prompt: requested.value,
      expectedSubject: options.idTokenHint.flatMap { IDToken.subject(unproven: $0) },
      isSocial: options.connection != nil)
    let (flow, lifetimeSeconds): (TransactionRecord.Flow, Int64) =
      options.kind == .register
      ? (.registration(.init(.request(sent), isInBrowser: true)), configuration.emailWaitSeconds)
      : (.signIn(.init(sent)), configuration.transactionSeconds)
    let transaction = TransactionRecord(
      id: TransactionID(random: Array(random[..<16])), issuer: configuration.issuer, scopes: scopes,
      began: moment.wall, deadline: Expiry(lifetimeSeconds: lifetimeSeconds, from: moment), flow: flow)
    let query = try query(
      for: sent, secrets, pkce.challenge, scopes, configuration, metadata, options, activationToken)
    return AuthorizationRequest(
      transaction: transaction, sent: sent, secrets: secrets,
      url: EndpointURL.adding(query, to: metadata.authorizationEndpoint), parameters: query,
      warning: requested.warning)
  }
}

extension AuthorizationRequest {
  /// The gateway's name for the token of an activation link (flows.md §3).
  static let activationParameter = "activation_token"

  /// A registration that begins at the gateway's own page: no authorize request, hence nothing that could come back.
  /// - Throws: `.invalidArgument` for an option that could be sent nowhere.
  static func atPage(
    configuration: Configuration, options: SignInOptions, at moment: Moment, random: [UInt8]
  ) throws(EnrollError) -> TransactionRecord {
    let scopes = scopes(configuration, options, listed: nil)
    try options.check(sending: scopes)
    guard options.prompt == nil, options.loginHint == nil, options.uiLocales.isEmpty,
      options.idTokenHint == nil, options.connection == nil, options.parameters.isEmpty
    else {
      throw EnrollError(
        .invalidArgument,
        "a registration at the gateway's own page takes scopes, maxAge and acrValues; nothing else could be sent",
        field: "options")
    }
    return TransactionRecord(
      id: TransactionID(random: random), issuer: configuration.issuer, scopes: scopes, began: moment.wall,
      deadline: Expiry(lifetimeSeconds: configuration.emailWaitSeconds, from: moment),
      flow: .registration(.init(.page(options.demands), isInBrowser: false)))
  }

  /// - Parameter listed: the scopes that the provider lists; nil where nothing is known.
  static func scopes(_ configuration: Configuration, _ options: SignInOptions, listed: [String]?) -> [String]
  {
    let scopes = options.scopes ?? configuration.scopes(listed: listed)
    return configuration.requireVerifiedEmail ? Scopes.adding("email", to: scopes) : scopes
  }

  private static func prompt(
    _ configuration: Configuration, _ metadata: ProviderMetadata, _ options: SignInOptions,
    _ asksForLogin: Bool
  ) throws(EnrollError) -> RequestedPrompt {
    let isCreation = options.kind == .register && configuration.registration == .promptCreate
    let configured = configuration.promptAfterLogout
    return try RequestedPrompt(
      host: options.prompt ?? (isCreation ? "create" : configuration.prompt), asksForLogin: asksForLogin,
      // Where the provider knows only the other way to choose another account, that one serves.
      logins: ([configured] + [.login, .selectAccount]).map { $0.rawValue },
      announced: metadata.promptValues)
  }

  /// A missing ability is an error, not a silent downgrade.
  private static func requireAbilities(
    _ metadata: ProviderMetadata, prompt: String?, kind: TransactionKind, _ configuration: Configuration
  ) throws(EnrollError) {
    if let announced = metadata.promptValues, let prompt {
      for value in Scopes.split(prompt) where !Scopes.contains(value, in: announced) {
        throw EnrollError(
          .unsupported, "the provider announces prompt values, and \(value) is not among them",
          field: "prompt")
      }
    }
    if kind == .register, case .page = configuration.registration {
      throw EnrollError(
        .unsupported, "registration begins at the gateway's own page, not with an authorize request")
    }
  }

  /// The configured redirect, or the same loopback redirect with the listener's port and address family (R4).
  static func redirect(_ configuration: Configuration, _ given: String?) throws(EnrollError) -> String {
    do throws(StrictURL.Refusal) {
      let configured = try StrictURL(configuration.redirectURI, configured: configuration.redirectURI)
      let needsPort = configured.kind == .loopbackHTTP && configured.port == nil
      guard let given else {
        guard !needsPort else { throw StrictURL.Refusal.port }
        return configuration.redirectURI
      }
      if ASCII.equals(given, configuration.redirectURI), !needsPort { return given }
      let url = try StrictURL(given)
      let hasSamePath = url.bytes[url.path.lowerBound...]
        .elementsEqual(configured.bytes[configured.path.lowerBound...])
      let hasAddress =
        url.isLoopbackLiteral || ASCII.equals(url.hostText ?? "", configured.hostText ?? "-")
      guard needsPort, url.kind == .loopbackHTTP, hasAddress, url.port != nil, hasSamePath,
        !url.hadFragment
      else { throw StrictURL.Refusal.host }
      return given
    } catch {
      throw EnrollError(
        .invalidArgument,
        "expected the configured redirect URI; a loopback URI without a port needs the port of a listener",
        field: "redirectUri")
    }
  }

  private static func query(
    for request: CodeRequest, _ secrets: CodeRequest.Secrets, _ challenge: String, _ scopes: [String],
    _ configuration: Configuration, _ metadata: ProviderMetadata, _ options: SignInOptions,
    _ activationToken: ActivationToken?
  ) throws(EnrollError) -> FormEncoding {
    var query = FormEncoding(.query)
    query.add("response_type", "code")
    query.add("client_id", configuration.clientID.text)
    query.add("redirect_uri", request.redirect.uri)
    if !scopes.isEmpty { query.add("scope", Scopes.joined(scopes)) }
    if let resource = configuration.resource { query.add(ResourceIdentifier.parameter, resource.text) }
    query.add("state", request.redirect.state)
    // Some providers refuse it in a request that is no OpenID Connect request (node-oidc-provider).
    if Scopes.contains("openid", in: scopes) { query.add("nonce", secrets.nonce) }
    query.add("code_challenge", challenge)
    query.add("code_challenge_method", PKCE.challengeMethod)
    if let key = secrets.dpopKey { query.add("dpop_jkt", try key.signer().thumbprint) }
    if let prompt = request.prompt { query.add("prompt", prompt) }
    if let hint = options.loginHint { query.add("login_hint", hint) }
    if let age = options.maxAgeSeconds { query.add("max_age", "\(age)") }
    if !options.acrValues.isEmpty { query.add("acr_values", Scopes.joined(options.acrValues)) }
    if !options.uiLocales.isEmpty { query.add("ui_locales", Scopes.joined(options.uiLocales)) }
    if let hint = options.idTokenHint { query.add("id_token_hint", hint) }
    var custom = try customParameters(configuration, options)
    if let activationToken {
      custom.removeAll { ASCII.equals($0.0, activationParameter) }
      query.add(activationParameter, activationToken.secret)
    }
    for (name, value) in custom { query.add(name, value) }
    return query
  }

  /// The configured ones in their order, each with the host's value where it gives one; then the connection that the user
  /// chose, by the provider's own name for such a parameter (flows.md §6); then the host's others.
  private static func customParameters(
    _ configuration: Configuration, _ options: SignInOptions
  ) throws(EnrollError) -> [(String, String)] {
    var parameters = configuration.authorizeParameters
    var given = options.parameters
    if let connection = options.connection {
      let name = configuration.connectionParameter
      guard !given.contains(where: { ASCII.equals($0.0, name) }) else {
        throw EnrollError(
          .invalidArgument, "\(name) is given twice: as a parameter and by the option connection",
          field: "parameters")
      }
      given.insert((name, connection), at: 0)
    }
    for (name, value) in given {
      try ResourceIdentifier.requireUnset(name, configuration)
      if let index = parameters.firstIndex(where: { ASCII.equals($0.0, name) }) {
        parameters[index].1 = value
      } else {
        parameters.append((name, value))
      }
    }
    return parameters
  }
}
