// The request with which the browser opens a back end that signs in on the app's behalf (flows.md §10). The request
// contains the app's PKCE challenge, but not the verifier. The functions are pure: time and random bytes are arguments.
// Refused: a provider that is not a plain path segment, and options that a back end does not support, because the
// response could not prove their effect.

import EnrollCrypto

/// One request to a back end: the URL for the browser, and the data that is kept until its answer.
public struct BFFRequest: Sendable {
  /// The number of random bytes that `make` needs: for the id, state and verifier.
  public static let randomByteCount = 16 + 32 + PKCE.randomByteCount

  public let transaction: TransactionRecord
  /// `{base}/v1/auth/{provider}?…`. It contains the state: open it, but never log it (R40).
  public let url: String

  /// - Parameters:
  ///   - redirectURI: the configured loopback redirect URI, but with the listener's port (R4). It is used instead of
  ///     the configured redirect URI.
  ///   - asksForLogin: adds `login` to the options' prompt (flows.md §5).
  ///   - random: ``randomByteCount`` bytes.
  /// - Throws: `.configuration` without the key `bff`; `.invalidArgument` with its `field` for an option that is
  ///   missing, invalid or not supported here; `.loginRequired` for `prompt=none` with `asksForLogin`.
  public static func make(
    configuration: Configuration, options: SignInOptions, redirectURI: String? = nil,
    asksForLogin: Bool = false, at moment: Moment, random: [UInt8]
  ) throws(EnrollError) -> BFFRequest {
    guard random.count == randomByteCount else {
      throw EnrollError(
        .invalidArgument, "expected \(randomByteCount) random bytes, got \(random.count)")
    }
    let bff = try BFFEndpoint.settings(of: configuration)
    let provider = try provider(options)
    try requireOnlyPossible(options)
    let redirect = try AuthorizationRequest.redirect(configuration, redirectURI)
    let prompt = try RequestedPrompt(
      host: options.prompt, asksForLogin: asksForLogin, logins: [PromptAfterLogout.login.rawValue],
      announced: nil)
    let pkce = try PKCE.make(random: Array(random[48...]))
    let isLoopback = redirectURI?.utf8.starts(with: "http:".utf8) ?? false
    let awaited = AwaitedRedirect(
      uri: redirect, state: Secret(Base64URL.encodedBytes(Array(random[16..<48]))),
      listensOnLoopback: isLoopback)
    let transaction = TransactionRecord(
      id: TransactionID(random: Array(random[..<16])), issuer: Issuer(bff.base), began: moment.wall,
      deadline: Expiry(lifetimeSeconds: configuration.transactionSeconds, from: moment),
      flow: .bff(
        .init(
          redirect: awaited, prompt: prompt.value,
          exchange: .init(provider: provider, codeVerifier: pkce.verifier))))

    var query = FormEncoding(.query)
    query.add("code_challenge", pkce.challenge)
    query.add("code_challenge_method", PKCE.challengeMethod)
    query.add("platform", "mobile")
    query.add("state", awaited.state)
    // A back end knows its apps' redirect URIs, but not the port of a listener, so only a loopback redirect URI is
    // sent.
    if isLoopback { query.add("redirect_uri", redirect) }
    if let prompt = prompt.value { query.add("prompt", prompt) }
    for (name, value) in options.parameters { query.add(name, value) }
    let endpoint = BFFEndpoint.start(base: bff.base, provider: provider)
    return BFFRequest(transaction: transaction, url: EndpointURL.adding(query, to: endpoint))
  }

  private static func provider(_ options: SignInOptions) throws(EnrollError) -> String {
    guard let provider = options.connection, BFFEndpoint.isProvider(provider) else {
      throw EnrollError(
        .invalidArgument,
        "connection: expected the back end's name for the provider, 1 to 64 letters, digits or -_",
        field: "connection")
    }
    return provider
  }

  private static func requireOnlyPossible(_ options: SignInOptions) throws(EnrollError) {
    try options.requireOnly(["connection", "prompt", "parameters"], "the back end decides")
    try options.check(sending: [])
    if CustomParameters.contains("platform", in: options.parameters.map { $0.0 }) {
      throw EnrollError(
        .invalidArgument, "parameters: platform belongs to the protocol and cannot be set",
        field: "parameters")
    }
  }
}
