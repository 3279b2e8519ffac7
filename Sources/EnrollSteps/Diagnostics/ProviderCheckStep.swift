// Checks, before a sign-in, which features work at a provider and which do not. The sources are its metadata,
// a pushed request, and an existing session; the user is not involved. Metadata that the provider omits is
// not a finding.

import EnrollCrypto
public import EnrollRules

/// Checks the features of a provider.
public final class ProviderCheckStep: EngineStep {
  let context: EngineContext
  private let requests: ClientRequests
  private let authorization: AuthorizationStep

  init(_ context: EngineContext, requests: ClientRequests, authorization: AuthorizationStep) {
    self.context = context
    self.requests = requests
    self.authorization = authorization
  }

  /// Fetches the provider's metadata again. If the provider accepts pushed requests, this pushes a request that
  /// is never opened in a browser. The provider's response shows whether it accepts the client, its authentication, the
  /// redirect URI and the scopes.
  /// - Throws: `.cancelled`. Every other error is a finding.
  public func checkProvider(cancellation: (any Cancellation)?) throws(EnrollError) -> ProviderCheck {
    var check = ProviderCheck()
    if configuration.preset == nil { check.preset = ProviderPreset.at(configuration.issuer)?.name }
    let hasUsableKey = checkKey(&check)
    let metadata: ProviderMetadata
    do throws(EnrollError) {
      metadata = try provider.metadata(doubt: .certain, cancellation: cancellation)
      // A cached document is enough for a sign-in, but does not show whether the provider works now.
      if let failure = provider.metadataFailure { throw failure }
    } catch {
      guard error.code != .cancelled else { throw error }
      check.add(
        .signIn, .fails, error.message,
        advice: error.code == .issuerMismatch ? "Configure the issuer as the provider spells it." : nil,
        key: error.field)
      return check
    }
    // If the key is unusable, there is a finding about it already, and no request is pushed. A configuration that does
    // not fit the provider gets separate findings.
    let isPushed = hasUsableKey ? try checkPush(&check, metadata, cancellation) : false
    try checkSignIn(&check, metadata, isPushed: isPushed, cancellation)
    checkScopes(&check, metadata, isPushed: isPushed)
    checkSession(&check, metadata, hasUsableKey: hasUsableKey)
    return check
  }

  /// Checks whether the client's key can be used.
  /// - Returns: true if the client's key can be used, or if the client has no key.
  private func checkKey(_ check: inout ProviderCheck) -> Bool {
    do throws(EnrollError) {
      try requests.requireUsableKey()
      return true
    } catch {
      check.add(
        .signIn, .fails, error.message,
        advice:
          "Name a file with nothing but the client's private key, without a passphrase: PKCS #8 in PEM, or a JWK.",
        key: error.field)
      return false
    }
  }

  /// Pushes a request, and adds the findings that its response shows.
  /// - Returns: whether the provider accepted a pushed request.
  private func checkPush(
    _ check: inout ProviderCheck, _ metadata: ProviderMetadata, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Bool {
    guard
      let endpoint = try? PushedAuthorizationRequest.endpoint(
        configuration: configuration, metadata: metadata),
      let request = try? AuthorizationRequest.make(
        configuration: configuration, metadata: metadata, at: clock.moment(),
        random: random.bytes(AuthorizationRequest.randomByteCount))
    else { return false }
    do throws(RefusedPush) {
      _ = try authorization.push(request, to: endpoint, metadata, cancellation: cancellation)
      return true
    } catch {
      let refusal = error.refusal
      guard refusal.code != .cancelled else { throw refusal }
      if error.isFinal || metadata.requiresPushedRequests || configuration.pushedRequests == .always {
        check.add(.signIn, .fails, refusal.message, key: refusal.field)
      } else if refusal.isAboutScopes {
        check.add(
          .scopes, .fails, refusal.message, advice: "Leave out of scopes what the provider does not have.",
          key: "scopes")
      } else if refusal.isRetryable {
        check.add(
          .signIn, .limited,
          "its endpoint for pushed authorization requests (\(endpoint)) does not work: \(refusal.message). Requests go through the browser instead",
          advice: "Set pushedRequests to never until the endpoint works: each sign-in tries it first.",
          key: "pushedRequests")
      }
      return false
    }
  }

  private func checkSignIn(
    _ check: inout ProviderCheck, _ metadata: ProviderMetadata, isPushed: Bool,
    _ cancellation: (any Cancellation)?
  ) throws(EnrollError) {
    var isWell = !check.findings.contains { $0.subject == .signIn && $0.verdict == .fails }
    func add(
      _ verdict: ProviderFinding.Verdict, _ text: String, advice: String? = nil, key: String? = nil
    ) {
      isWell = isWell && verdict != .fails
      check.add(.signIn, verdict, text, advice: advice, key: key)
    }
    if Scopes.contains("openid", in: configuration.scopes(at: metadata)) {
      do throws(EnrollError) {
        let count = try provider.keyCount(
          for: configuration.idTokenAlgorithms(at: metadata), cancellation: cancellation)
        if count == 0, !configuration.idTokenAlgorithms(at: metadata).isEmpty {
          add(
            .fails, "its key set has no key that can check an id_token",
            advice: "Choose a signing key at the provider: RS256 or ES256.")
        }
      } catch {
        guard error.code != .cancelled else { throw error }
        add(.fails, error.message, key: error.field)
      }
      if let announced = metadata.idTokenAlgorithms,
        !configuration.idTokenAlgorithms(at: metadata).contains(where: { own in
          announced.contains { SignatureAlgorithm(name: $0)?.isSame(as: own) ?? false }
        })
      {
        add(
          .fails, "its id_tokens are signed with \(shown(announced)), and none of these is accepted",
          advice: "Choose a signing key at the provider: RS256 or ES256.", key: "idTokenAlgorithms")
      }
    }
    if let methods = metadata.authenticationMethods, let (way, key) = proofOfClient(unannounced: methods) {
      add(
        .fails, "it announces the client authentication \(shown(methods)), and this client has \(way)",
        advice: "Configure what the provider registered for this client.", key: key)
    }
    if let types = metadata.responseTypes, !Scopes.contains("code", in: types) {
      add(.fails, "it announces the response types \(shown(types)), and code is not among them")
    }
    if let grants = metadata.grantTypes, !Scopes.contains("authorization_code", in: grants) {
      add(.fails, "it announces the grants \(shown(grants)), and authorization_code is not among them")
    }
    if let modes = metadata.responseModes, !Scopes.contains("query", in: modes) {
      add(.fails, "it announces the response modes \(shown(modes)), and query is not among them")
    }
    if metadata.requiresSignedRequests {
      add(.fails, "it takes signed requests only (RFC 9101), which EnrollKit does not make")
    }
    if metadata.requiresPushedRequests, configuration.pushedRequests == .never {
      add(.fails, "it takes pushed requests only, and pushedRequests is never", key: "pushedRequests")
    }
    if metadata.requiresPushedRequests, metadata.pushedAuthorizationRequestEndpoint == nil {
      add(.fails, "it takes pushed requests only, and announces no endpoint for them", key: "endpoints")
    } else if configuration.pushedRequests == .always, metadata.pushedAuthorizationRequestEndpoint == nil {
      add(.fails, "pushedRequests is always, and it has no endpoint for them", key: "pushedRequests")
    }
    if configuration.dpop == .always, metadata.dpopAlgorithms.isEmpty {
      add(.fails, "dpop is always, and it announces no algorithm for proofs", key: "dpop")
    }
    if let announced = metadata.promptValues,
      let prompt = Scopes.split(configuration.prompt ?? "").first(where: {
        !$0.utf8.isEmpty && !Scopes.contains($0, in: announced)
      })
    {
      add(.fails, "it announces prompt values, and \(prompt) is not among them", key: "prompt")
    }
    if let warning = configuration.redirectWarning { add(.limited, warning, key: "redirectUri") }
    for unusable in metadata.unusable { add(.limited, unusable.message, key: unusable.field) }
    if isWell {
      check.add(
        .signIn, .works,
        "the browser signs in at \(shown(metadata.authorizationEndpoint)); "
          + (isPushed
            ? "the provider knows this client and its redirect URI"
            : "only a sign-in shows whether client id and redirect URI are right"))
    }
  }

  /// This client's authentication method and its configuration key, if the provider announces only other methods; nil
  /// otherwise. Providers do not announce that they accept public clients, so a public client has no finding.
  private func proofOfClient(unannounced methods: [String]) -> (way: String, key: String)? {
    if context.clientKey != nil {
      return Scopes.contains("private_key_jwt", in: methods) ? nil : ("a key", "clientKeyFile")
    }
    guard configuration.clientSecret != nil,
      !ClientSecretMethod.allCases.contains(where: { Scopes.contains($0.rawValue, in: methods) })
    else { return nil }
    return ("a secret", "clientSecret")
  }

  private func checkScopes(
    _ check: inout ProviderCheck, _ metadata: ProviderMetadata, isPushed: Bool
  ) {
    let scopes = configuration.scopes(at: metadata)
    let unlisted = metadata.scopes.map { listed in scopes.filter { !Scopes.contains($0, in: listed) } } ?? []
    if check.findings.contains(where: { $0.subject == .scopes }) {
      // The pushed request was refused because of the scopes, so there is a finding about them already.
    } else if unlisted.isEmpty || isPushed {
      check.add(.scopes, .works, "\(Scopes.joined(scopes)) can be asked for")
    } else {
      // Many providers have scopes that they do not list (Spring, Hydra): a warning would be wrong more often than
      // right.
      check.add(
        .scopes, .works,
        "only a sign-in shows whether \(Scopes.joined(unlisted)) can be asked for, which it does not list")
    }
    let tells = configuration.profile?.endpoint ?? metadata.userinfoEndpoint
    let hasOpenID = Scopes.contains("openid", in: scopes)
    switch (hasOpenID, tells) {
    case (true, nil):
      check.add(.profile, .limited, "what its id_tokens hold; it announces no userinfo endpoint")
    case (false, nil):
      check.add(
        .profile, .limited, "none: without the scope openid, and without an endpoint that describes the user",
        advice: "Configure profile, or the scope openid.", key: "profile")
    case (_, let endpoint?):
      check.add(
        .profile, .works,
        hasOpenID ? "from the id_token and from \(shown(endpoint))" : "from \(shown(endpoint))")
    }
  }

  private func checkSession(
    _ check: inout ProviderCheck, _ metadata: ProviderMetadata, hasUsableKey: Bool
  ) {
    let scopes = configuration.scopes(at: metadata)
    if !hasUsableKey {
      check.add(
        .renewal, .fails, "the client's key cannot be used, and a renewal needs it", key: ClientKey.field)
    } else if (try? store.read(account))?.confirmed != nil {
      checkRefreshToken(&check)
    } else if let grants = metadata.grantTypes, !Scopes.contains("refresh_token", in: grants) {
      check.add(.renewal, .limited, "it announces its grants, and refresh_token is not among them")
    } else if let listed = metadata.scopes, Scopes.contains("offline_access", in: listed),
      !Scopes.contains("offline_access", in: scopes)
    {
      check.add(
        .renewal, .limited,
        "it has the scope offline_access, which is not asked for: there may be no refresh token",
        advice: "Add offline_access to scopes.", key: "scopes")
    } else {
      checkRefreshToken(&check)
    }
    let endsThere = metadata.endSessionEndpoint != nil || configuration.logoutDialect != nil
    let isTold = metadata.revocationEndpoint != nil
    check.add(
      .logout, endsThere && isTold ? .works : .limited,
      (endsThere
        ? "the browser ends its session" : "it has no logout page: its session in the browser goes on")
        + (isTold
          ? ", and tokens are revoked" : ", and tokens stay valid there: it has no revocation endpoint"))
    if metadata.deviceAuthorizationEndpoint != nil {
      check.add(.device, .works, "by a code for another device")
    } else {
      check.add(
        .device, .limited, "it announces no device authorization endpoint",
        advice: "If the provider has one, configure endpoints.deviceAuthorizationEndpoint.",
        key: "endpoints.deviceAuthorizationEndpoint")
    }
  }

  /// Checks whether this client gets a refresh token. No metadata shows that, but an existing session does.
  private func checkRefreshToken(_ check: inout ProviderCheck) {
    guard let tokens = (try? store.read(account))?.confirmed else {
      return check.add(
        .renewal, .works,
        "by refresh token, if it gives this client one; only a sign-in shows whether it does")
    }
    guard tokens.refreshToken == nil else { return check.add(.renewal, .works, "by refresh token") }
    check.add(
      .renewal, .limited,
      "it gave this session no refresh token: the user signs in again when the token expires",
      advice: "Allow refresh tokens for this client at the provider, then sign in again.", key: "scopes")
  }

  private func shown(_ words: [String]) -> String { shown(Scopes.joined(words)) }

  private func shown(_ text: String) -> String { PrintableText.bounded(text, maximumBytes: 200) }
}
