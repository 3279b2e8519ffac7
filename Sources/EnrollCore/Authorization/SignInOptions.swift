// Options of one sign-in, beyond the configuration (flows.md §2). They are checked before a URL is made; an option
// whose effect could not be verified in the answer is refused.

public import EnrollCrypto

/// Options of one authorize request.
public struct SignInOptions: Sendable {
  /// The kind of transaction to begin; a sign-in by default.
  public var kind: TransactionKind
  /// Instead of the configured ones.
  public var scopes: [String]?
  /// `none`, `login`, `consent`, `select_account`, `create`, or several separated by spaces (OpenID Connect Core
  /// §3.1.2.1).
  public var prompt: String?
  /// The user who is probably signing in, for the provider's own form (OpenID Connect Core §3.1.2.1): 1 to 512 bytes.
  public var loginHint: String?
  /// The user must have signed in at most so long ago; checked in the id_token (R26).
  public var maxAgeSeconds: Int64?
  /// Any of these must be what the id_token says (R26).
  public var acrValues: [String]
  /// BCP 47 tags, the best first.
  public var uiLocales: [String]
  /// Whose session `prompt=none` is about, for providers that want to be told.
  public var idTokenHint: Secret?
  /// Which of the provider's connections the user chose (flows.md §6): its own name for it. For
  /// ``TransactionKind/bff`` it is required: the back end's name for the provider (flows.md §10).
  public var connection: String?
  /// The recipient of the code or link; for ``TransactionKind/passwordless`` only.
  public var recipient: Recipient?
  /// The message that is sent to ``recipient``.
  public var message: PasswordlessMessage
  /// The host's own; each takes the place of a configured one of the same name.
  public var parameters: [(String, String)]

  public init(
    kind: TransactionKind = .signIn, scopes: [String]? = nil, prompt: String? = nil,
    loginHint: String? = nil,
    maxAgeSeconds: Int64? = nil, acrValues: [String] = [], uiLocales: [String] = [],
    idTokenHint: Secret? = nil, connection: String? = nil, recipient: Recipient? = nil,
    message: PasswordlessMessage = .code, parameters: [(String, String)] = []
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
  }
}

extension SignInOptions {
  /// The transaction ends with a redirect to the configured redirect URI.
  public var comesBackByRedirect: Bool {
    switch kind {
    case .signIn, .register, .bff: true
    case .passwordless: message == .link
    case .app2app, .device: false
    }
  }

  var demands: IDTokenDemands { IDTokenDemands(maxAgeSeconds: maxAgeSeconds, acrValues: acrValues) }

  /// - Parameter scopes: the ones that will be sent.
  /// - Throws: `.invalidArgument`; `field` is the option.
  func check(sending scopes: [String]) throws(EnrollError) {
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
    for value in acrValues where !Self.isToken(value) {
      throw refusal("acrValues", "printable texts without spaces")
    }
    for value in uiLocales where !Self.isToken(value) {
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

  /// Refuses options of an authorize request for a grant that has none: they could not be sent, hence not be checked.
  /// - Throws: `.invalidArgument`; `field` is the option.
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

  /// For kinds that send no authorize request of ours: what could not be asked for is refused, not dropped.
  /// - Parameter possible: names of options that mean something.
  /// - Throws: `.invalidArgument`; `field` is the option.
  func requireOnly(_ possible: [String], _ reason: String) throws(EnrollError) {
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

  /// The rule that this `prompt` breaks, in words for an error; nil if it breaks none.
  static func expectation(brokenBy prompt: String) -> String? {
    let values = Scopes.split(prompt)
    guard values.allSatisfy({ isToken($0) }) else { return "words separated by single spaces" }
    guard values.count == 1 || !Scopes.contains("none", in: values) else {
      return "none stands alone (OpenID Connect Core §3.1.2.1)"
    }
    return nil
  }

  private func check(prompt: String) throws(EnrollError) {
    if let expected = SignInOptions.expectation(brokenBy: prompt) { throw refusal("prompt", expected) }
  }

  private func isText(_ text: String) -> Bool {
    (1...512).contains(text.utf8.count) && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }

  private static func isToken(_ text: String) -> Bool {
    (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  private func refusal(_ field: String, _ expected: String) -> EnrollError {
    EnrollError(.invalidArgument, "\(field): expected \(expected)", field: field)
  }
}
