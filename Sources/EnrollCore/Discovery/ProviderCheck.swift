// What will work at a provider, and what will not, told from its announcements before anybody signs in. Nothing is asked of
// the user, and nothing but the discovery document and the keys of the provider.

import EnrollCrypto

/// One thing that an app wants of a provider, and whether the provider has it.
public struct ProviderFinding: Equatable, Sendable {
  /// The thing.
  public enum Subject: String, Sendable, CaseIterable {
    /// Signing in with the browser.
    case signIn
    /// The scopes of the configuration.
    case scopes
    /// The user's name and address.
    case profile
    /// A token without another sign-in.
    case renewal
    /// Ending the sessions here and at the provider.
    case logout
    /// Signing in with another device's browser (RFC 8628).
    case device
  }

  /// Whether the provider has it.
  public enum Verdict: String, Sendable, CaseIterable {
    /// By all that it announces.
    case works
    /// In part, or depending on what it does not announce.
    case limited
    /// Not with this configuration.
    case fails
  }

  /// The part of the flow that the finding concerns.
  public var subject: Subject
  /// Whether the provider has it.
  public var verdict: Verdict
  /// Why, in one sentence.
  public var text: String
  /// What to do; nil for nothing.
  public var advice: String?
  /// The key of the configuration that helps; nil for none.
  public var key: String?
}

/// All findings about one provider.
public struct ProviderCheck: Equatable, Sendable {
  /// The name of a `ProviderPreset` that the configuration could have; nil where it has it, or there is none.
  public var preset: String?
  /// In the order of ``ProviderFinding/Subject``, some subjects several times.
  public var findings: [ProviderFinding] = []

  fileprivate mutating func add(
    _ subject: ProviderFinding.Subject, _ verdict: ProviderFinding.Verdict, _ text: String,
    advice: String? = nil, key: String? = nil
  ) {
    findings.append(
      ProviderFinding(subject: subject, verdict: verdict, text: text, advice: advice, key: key))
  }
}

extension Engine {
  /// Reads the provider's announcements anew. Client id and redirect URI are not checked.
  /// - Throws: `.cancelled`. What else goes wrong is a finding.
  public func checkProvider(cancellation: (any Cancellation)?) throws(EnrollError) -> ProviderCheck {
    var check = ProviderCheck()
    if configuration.preset == nil { check.preset = ProviderPreset.at(configuration.issuer)?.name }
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
    try checkSignIn(&check, metadata, cancellation)
    checkScopes(&check, metadata)
    checkSession(&check, metadata)
    return check
  }

  private func checkSignIn(
    _ check: inout ProviderCheck, _ metadata: ProviderMetadata, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) {
    var isWell = true
    func add(
      _ verdict: ProviderFinding.Verdict, _ text: String, advice: String? = nil, key: String? = nil
    ) {
      isWell = isWell && verdict != .fails
      check.add(.signIn, verdict, text, advice: advice, key: key)
    }
    if Scopes.contains("openid", in: configuration.scopes) {
      do throws(EnrollError) {
        let count = try provider.keyCount(
          for: configuration.idTokenAlgorithms, cancellation: cancellation)
        if count == 0 {
          add(
            .fails, "its key set has no key that can check an id_token",
            advice: "Choose a signing key at the provider: RS256 or ES256.")
        }
      } catch {
        guard error.code != .cancelled else { throw error }
        add(.fails, error.message, key: error.field)
      }
      if let announced = metadata.idTokenAlgorithms,
        !configuration.idTokenAlgorithms.contains(where: { Scopes.contains($0.rawValue, in: announced) })
      {
        add(
          .fails, "its id_tokens are signed with \(shown(announced)), and none of these is accepted",
          advice: "Choose a signing key at the provider: RS256 or ES256.", key: "idTokenAlgorithms")
      }
    }
    if let methods = metadata.authenticationMethods, configuration.clientSecret == nil,
      !Scopes.contains("none", in: methods)
    {
      add(
        .limited, "it announces no public clients, only \(shown(methods))",
        advice: "If the provider gave this client a secret, configure clientSecret.", key: "clientSecret")
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
        "the browser signs in at \(shown(metadata.authorizationEndpoint)); only a sign-in shows whether client id and"
          + " redirect URI are right")
    }
  }

  private func checkScopes(_ check: inout ProviderCheck, _ metadata: ProviderMetadata) {
    let scopes = configuration.scopes(listed: metadata.scopes)
    let unlisted = metadata.scopes.map { listed in scopes.filter { !Scopes.contains($0, in: listed) } } ?? []
    if unlisted.isEmpty {
      check.add(.scopes, .works, "\(Scopes.joined(scopes)) can be asked for")
    } else {
      check.add(
        .scopes, .limited,
        "it lists its scopes, without \(Scopes.joined(unlisted)): it may refuse the sign-in",
        advice: "Leave out of scopes what the provider does not have.", key: "scopes")
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

  private func checkSession(_ check: inout ProviderCheck, _ metadata: ProviderMetadata) {
    let scopes = configuration.scopes(listed: metadata.scopes)
    if let grants = metadata.grantTypes, !Scopes.contains("refresh_token", in: grants) {
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

  /// No announcement says whether this client gets a refresh token, and the session that there is shows it.
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
