// The authorize URL, and the transaction that waits for its answer (RFC 6749 §4.1.1, OpenID Connect Core §3.1.2.1, RFC
// 7636 §4.3). The flow is always the code flow with PKCE S256, state and nonce (R7, R13, R14, R16). This code has no
// side effects: time and random bytes are arguments.

import EnrollCrypto

/// One authorize request: the URL for the browser, and the data that is kept until its answer.
public struct AuthorizationRequest: Sendable {
  /// The number of random bytes that `make` needs: for the id, state, nonce and verifier.
  public static let randomByteCount = 16 + 32 + 32 + PKCE.randomByteCount

  public package(set) var transaction: TransactionRecord
  /// The request's data that the transaction stores.
  public let sent: CodeRequest
  /// The request's secrets, which work once.
  public let secrets: CodeRequest.Secrets
  /// The URL with all parameters. It contains the state: open it, but never log it (R40).
  public let url: String
  /// The parameters alone, as ``PushedAuthorizationRequest`` sends them.
  let parameters: FormEncoding
  /// A warning for the log if the request lacks a `prompt` that it should have; nil in most cases.
  public let warning: EnrollError?

  /// Makes the authorize request of one sign-in.
  /// - Parameters:
  ///   - redirectURI: replaces the configured redirect URI by the same loopback redirect URI with the listener's port
  ///     (R4).
  ///   - asksForLogin: adds the configured `prompt` (`login` by default) to the options' prompt, so that another
  ///     account can be chosen (flows.md §5). If the provider announces prompts, but no prompt that lets the user
  ///     choose an account, ``warning`` is set.
  ///   - wantsConsent: whether EnrollKit has observed that this provider issues a refresh token only after consent.
  ///   - activationToken: the token of the link that led to this request (flows.md §3).
  ///   - dpopKey: the key to which the code and its tokens will be bound (RFC 9449 §10).
  ///   - random: ``randomByteCount`` bytes.
  /// - Throws: `.invalidArgument` for an invalid option, with its `field`; `.unsupported` if the provider lacks a
  ///   requested feature; `.loginRequired` for `prompt=none` with `asksForLogin`; `.responseInvalid` if the provider's
  ///   authorization endpoint cannot be used.
  public static func make(
    configuration: Configuration, metadata: ProviderMetadata, options: SignInOptions = SignInOptions(),
    redirectURI: String? = nil, asksForLogin: Bool = false, wantsConsent: Bool = false,
    activationToken: ActivationToken? = nil,
    dpopKey: DPoPKey? = nil,
    at moment: Moment, random: [UInt8]
  ) throws(EnrollError) -> AuthorizationRequest {
    guard random.count == randomByteCount else {
      throw EnrollError(
        .invalidArgument, "expected \(randomByteCount) random bytes, got \(random.count)")
    }
    let scopes = scopes(configuration, options, at: metadata)
    try options.check(sending: scopes)
    let requested = try prompt(
      configuration, metadata, options, scopes, asksForLogin: asksForLogin, wantsConsent: wantsConsent)
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
  /// The parameter for the token of an activation link, as the gateway expects it (flows.md §3).
  static let activationParameter = "activation_token"

  /// Makes the transaction of a registration that begins at the gateway's own page. Such a registration has no
  /// authorize request, and so no redirect.
  /// - Throws: `.invalidArgument` for an option that such a registration cannot send.
  package static func atPage(
    configuration: Configuration, options: SignInOptions, at moment: Moment, random: [UInt8]
  ) throws(EnrollError) -> TransactionRecord {
    let scopes = scopes(configuration, options, at: nil)
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

  /// The scopes that a sign-in requests.
  /// - Parameter metadata: the provider's metadata; nil if it is unknown.
  package static func scopes(
    _ configuration: Configuration, _ options: SignInOptions, at metadata: ProviderMetadata?
  ) -> [String] {
    let scopes = options.scopes ?? configuration.scopes(at: metadata)
    return configuration.requireVerifiedEmail ? Scopes.adding("email", to: scopes) : scopes
  }

  private static func prompt(
    _ configuration: Configuration, _ metadata: ProviderMetadata, _ options: SignInOptions,
    _ scopes: [String], asksForLogin: Bool, wantsConsent: Bool
  ) throws(EnrollError) -> RequestedPrompt {
    let creation = options.kind == .register ? configuration.registration.prompt : nil
    let configured = configuration.promptAfterLogout
    let asksForConsent =
      Scopes.contains("offline_access", in: scopes)
      && (wantsConsent || metadata.wantsConsentForOfflineAccess
        || Scopes.contains("consent", in: Scopes.split(configuration.prompt ?? "")))
      && Scopes.contains("consent", in: metadata.promptValues ?? ["consent"])
    return try RequestedPrompt(
      host: options.prompt ?? creation ?? configuration.prompt, asksForLogin: asksForLogin,
      asksForConsent: asksForConsent,
      // The configured value comes first. If the provider announces only the other value that lets the user
      // choose an account, that value is sent.
      logins: ([configured] + [.login, .selectAccount]).map { $0.rawValue },
      announced: metadata.promptValues)
  }

  /// Checks that the provider has the requested features. A missing feature is an error; there is no silent downgrade.
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

  /// The configured redirect URI, or the same loopback redirect URI with the listener's port and address family (R4).
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
    configuration.addResources(to: &query)
    query.add("state", request.redirect.state)
    // Some providers refuse a nonce in a request without `openid` (node-oidc-provider).
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

  /// The configured parameters in their order, each replaced by the host's value if the host has set a value; then the
  /// connection that the user chose, under the provider's name for this parameter (flows.md §6); then the host's other
  /// parameters.
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
