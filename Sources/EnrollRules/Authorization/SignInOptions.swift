// Options of one sign-in, beyond the configuration (flows.md §2). They are checked before a URL is built. An option
// whose effect could not be verified in the response is refused.

public import EnrollCrypto

/// Options of one authorize request.
public struct SignInOptions: Sendable {
  /// The kind of transaction to begin; by default a sign-in.
  public var kind: TransactionKind
  /// Replaces the configured scopes.
  public var scopes: [String]?
  /// The `prompt`: `none`, `login`, `consent`, `select_account`, `create`, or several of these, separated by spaces
  /// (OpenID Connect Core §3.1.2.1).
  public var prompt: String?
  /// The name of the user who will probably sign in, as a hint for the provider's form (OpenID Connect Core §3.1.2.1):
  /// 1 to 512 bytes.
  public var loginHint: String?
  /// The longest time since the user signed in, in seconds; checked in the id_token (R26).
  public var maxAgeSeconds: Int64?
  /// The accepted values of the id_token's `acr` (R26).
  public var acrValues: [String]
  /// The user's languages as BCP 47 tags, the preferred language first.
  public var uiLocales: [String]
  /// An id_token of the session that `prompt=none` is about, for providers that need this hint.
  public var idTokenHint: Secret?
  /// The provider's connection that the user chose, by the provider's name for it (flows.md §6). For
  /// ``TransactionKind/bff`` this option is required; its value is the back end's name for the provider (flows.md §10).
  public var connection: String?
  /// The recipient of the code or link; for ``TransactionKind/passwordless`` only.
  public var recipient: Recipient?
  /// The message that is sent to ``recipient``.
  public var message: PasswordlessMessage
  /// The host's own parameters; each replaces the configured parameter of the same name.
  public var parameters: [(String, String)]
  /// Whether the URL is opened later, for example because the host shows it or passes it on. If so, the request is
  /// pushed only if the provider requires that, because a provider keeps a pushed request for about a minute
  /// (``Transaction/urlExpiresAt``).
  public var opensLater: Bool

  public init(
    kind: TransactionKind = .signIn, scopes: [String]? = nil, prompt: String? = nil,
    loginHint: String? = nil,
    maxAgeSeconds: Int64? = nil, acrValues: [String] = [], uiLocales: [String] = [],
    idTokenHint: Secret? = nil, connection: String? = nil, recipient: Recipient? = nil,
    message: PasswordlessMessage = .code, parameters: [(String, String)] = [], opensLater: Bool = false
  ) {
    self.kind = kind
    self.scopes = scopes
    self.prompt = prompt
    self.loginHint = loginHint
    self.maxAgeSeconds = maxAgeSeconds
    self.acrValues = acrValues
    self.uiLocales = uiLocales
    self.idTokenHint = idTokenHint
    self.connection = connection
    self.recipient = recipient
    self.message = message
    self.parameters = parameters
    self.opensLater = opensLater
  }
}

extension SignInOptions {
  /// Whether the transaction ends with a redirect to the configured redirect URI.
  public var comesBackByRedirect: Bool {
    switch kind {
    case .signIn, .register, .bff: true
    case .passwordless: message == .link
    case .app2app, .device: false
    }
  }

  var demands: IDTokenDemands { IDTokenDemands(maxAgeSeconds: maxAgeSeconds, acrValues: acrValues) }

  /// Checks the options before a URL is built.
  /// - Parameter scopes: the scopes that will be sent.
  /// - Throws: `.invalidArgument`, whose `field` names the option.
  package func check(sending scopes: [String]) throws(EnrollError) {
    if let problem = Scopes.problem(in: scopes) { throw refusal("scopes", problem) }
    if let prompt { try check(prompt: prompt) }
    if let loginHint, !isText(loginHint) {
      throw refusal("loginHint", "1 to 512 bytes without control characters")
    }
    if let connection, !isText(connection) {
      throw refusal("connection", "1 to 512 bytes without control characters")
    }
    if let maxAgeSeconds, maxAgeSeconds < 0 {
      throw refusal("maxAge", "a number of seconds, not \(maxAgeSeconds)")
    }
    for value in acrValues where !PromptText.isToken(value) {
      throw refusal("acrValues", "printable texts without spaces")
    }
    for value in uiLocales where !PromptText.isToken(value) {
      throw refusal("uiLocales", "language tags without spaces")
    }
    guard acrValues.count <= 16, uiLocales.count <= 16 else {
      throw refusal("acrValues", "at most 16 values, here and in uiLocales")
    }
    if maxAgeSeconds != nil || !acrValues.isEmpty, !Scopes.contains("openid", in: scopes) {
      throw refusal(
        "scopes", "maxAge and acrValues can only be checked in an id_token, which needs openid")
    }
    if let problem = CustomParameters.problem(in: parameters) { throw refusal("parameters", problem) }
    if recipient != nil, kind != .passwordless {
      throw refusal("email", "a recipient for the kind passwordless alone")
    }
  }

  /// Refuses options of an authorize request for a grant without an authorize request: the options could not
  /// be sent, so they could not be checked.
  /// - Throws: `.invalidArgument`, whose `field` names the option.
  func requireNoBrowser(because reason: String) throws(EnrollError) {
    let given: [(String, Bool)] = [
      ("prompt", prompt != nil), ("loginHint", loginHint != nil), ("maxAge", maxAgeSeconds != nil),
      ("acrValues", !acrValues.isEmpty), ("uiLocales", !uiLocales.isEmpty),
      ("idTokenHint", idTokenHint != nil), ("connection", connection != nil),
    ]
    for (field, isGiven) in given where isGiven {
      throw EnrollError(.invalidArgument, "\(field): \(reason)", field: field)
    }
  }

  /// Refuses options that cannot be sent, instead of dropping them, for a kind of transaction whose authorize request
  /// EnrollKit does not make.
  /// - Parameter possible: the names of the options that the kind supports.
  /// - Throws: `.invalidArgument`, whose `field` names the option.
  package func requireOnly(_ possible: [String], _ reason: String) throws(EnrollError) {
    let given: [(String, Bool)] = [
      ("scopes", scopes != nil), ("prompt", prompt != nil), ("loginHint", loginHint != nil),
      ("maxAge", maxAgeSeconds != nil), ("acrValues", !acrValues.isEmpty),
      ("uiLocales", !uiLocales.isEmpty), ("idTokenHint", idTokenHint != nil),
      ("connection", connection != nil), ("email", recipient != nil), ("parameters", !parameters.isEmpty),
    ]
    for (name, isGiven) in given where isGiven && !CustomParameters.contains(name, in: possible) {
      throw EnrollError(
        .invalidArgument, "\(name): this kind of transaction does not take it; \(reason)", field: name)
    }
  }

  private func check(prompt: String) throws(EnrollError) {
    if let expected = PromptText.expectation(brokenBy: prompt) { throw refusal("prompt", expected) }
  }

  private func isText(_ text: String) -> Bool {
    (1...512).contains(text.utf8.count) && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }

  private func refusal(_ field: String, _ expected: String) -> EnrollError {
    EnrollError(.invalidArgument, "\(field): expected \(expected)", field: field)
  }
}
