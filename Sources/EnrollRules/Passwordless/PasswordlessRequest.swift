// Passwordless sign-in with Auth0's API (flows.md §6): a code or a link is sent to an address, and the token endpoint
// exchanges the code for tokens. Pure. Auth0 documents this API under "Passwordless API endpoints" and "Authentication
// API".

package import EnrollCrypto
import EnrollJSON

package enum PasswordlessRequest {
  /// The number of wrong codes after which a transaction ends, whatever the provider does.
  package static let maximumTries: Int64 = 5
  /// The longest code that a user may type, in bytes.
  package static let maximumCodeBytes = 64
  static let grantType = "http://auth0.com/oauth/grant-type/passwordless/otp"

  /// The recipient of the code or the link.
  /// - Throws: `.unsupported` if the configuration has no dialect; `.invalidArgument`. Call this before
  ///   anything is sent.
  package static func recipient(_ configuration: Configuration, _ options: SignInOptions) throws(EnrollError)
    -> Recipient
  {
    guard configuration.passwordless != nil else {
      throw EnrollError(
        .unsupported, "passwordless: the configuration needs this key for a passwordless sign-in",
        field: "kind")
    }
    guard let recipient = options.recipient else {
      throw EnrollError(
        .invalidArgument, "email: expected an e-mail address or a phone number, got neither",
        field: "email")
    }
    try recipient.check()
    try options.requireNoBrowser(because: "a passwordless sign-in has no such parameter")
    guard options.message == .code || recipient.connection == .email else {
      throw EnrollError(.invalidArgument, "message: a link can only be sent by e-mail", field: "message")
    }
    return recipient
  }

  /// Asks the provider to send a code, or a link that returns as a redirect.
  /// - Parameter authorization: the authorize request for the link; nil for a code.
  package static func start(
    _ recipient: Recipient, authorization: AuthorizationRequest?, configuration: Configuration,
    options: SignInOptions
  ) throws(EnrollError) -> HTTPRequest {
    var body = JSONObject([
      ("client_id", .string(configuration.clientID.text)),
      ("connection", .string(recipient.connection.rawValue)),
      (recipient.connection == .email ? "email" : "phone_number", .string(recipient.address)),
      ("send", .string(options.message.rawValue)),
    ])
    if let authorization {
      body["authParams"] = .object(try parameters(authorization, configuration, options))
    }
    // A repeated request would send two messages. So the request uses a new connection: a kept connection may be dead,
    // and the request would then be repeated.
    return HTTPRequest(
      .post, configuration.issuer.url(ofPath: "/passwordless/start"),
      headers: [HTTPHeader("Content-Type", "application/json"), HTTPHeader("Accept", "application/json")],
      body: JSON.object(body).serialized(), freshConnection: true)
  }

  /// Checks the provider's response to ``start(_:authorization:configuration:options:)``.
  /// - Throws: `.oauth` (such as `bad.email`), `.server`, `.responseInvalid`.
  package static func accept(_ response: HTTPResponse) throws(EnrollError) {
    if let error = TokenEndpointError.read(response, expecting: "a confirmation that a message was sent") {
      throw error
    }
    guard !response.isPage else {
      throw EnrollError(
        .responseInvalid,
        "expected a confirmation that a message was sent, got an HTML page, probably of a captive portal; nothing was sent",
        httpStatus: response.status)
    }
  }

  /// Exchanges the code for tokens.
  package static func redeem(
    _ code: Secret, of recipient: Recipient, scopes: [String], configuration: Configuration,
    metadata: ProviderMetadata
  ) -> HTTPRequest {
    var form = FormEncoding(.body)
    form.add("grant_type", grantType)
    form.add("username", recipient.address)
    form.add("otp", code)
    form.add("realm", recipient.connection.rawValue)
    if !scopes.isEmpty { form.add("scope", Scopes.joined(scopes)) }
    return TokenRequest.spend(form, configuration, metadata)
  }

  /// The parameters of the authorize request that the link starts.
  private static func parameters(
    _ authorization: AuthorizationRequest, _ configuration: Configuration, _ options: SignInOptions
  ) throws(EnrollError) -> JSONObject {
    let (redirect, secrets) = (authorization.sent.redirect, authorization.secrets)
    let scopes = authorization.transaction.scopes
    var parameters = JSONObject([
      ("response_type", .string("code")), ("redirect_uri", .string(redirect.uri)),
      ("scope", scopes.isEmpty ? nil : .string(Scopes.joined(scopes))),
      ("state", .string(redirect.state.reveal())), ("nonce", .string(secrets.nonce.reveal())),
      ("code_challenge", .string(try PKCE.challenge(for: secrets.codeVerifier))),
      ("code_challenge_method", .string(PKCE.challengeMethod)),
    ])
    for (name, value) in configuration.authorizeParameters + options.parameters {
      parameters[name] = .string(value)
    }
    return parameters
  }
}
