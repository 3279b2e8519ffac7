// The members of the report for support (flows.md §11). The report has no secrets (R40): no token, code, state, key
// or PIN. It has nothing about the user, and no name that the host chose. Of a host's URLs it has only the parts that
// ``RedactedURL`` shows. The members are an allowlist: a new member of a record is not shown until it is added here.

import EnrollCrypto
package import EnrollJSON

extension EnrollError {
  /// The error as the report shows it.
  /// - Parameter time: when it happened, if that is known.
  package func shown(at time: UnixTime?) -> JSON {
    .object([
      ("at", time.map { .integer($0.seconds) }), ("status", .string(code.name)),
      ("blame", .string(blame.rawValue)), ("message", .string(message)), ("field", field.map { .string($0) }),
      ("httpStatus", httpStatus.map { .integer(Int64($0)) }), ("oauthError", oauthError.map { .string($0) }),
      ("oauthErrorDescription", oauthErrorDescription.map { .string($0) }),
      ("retryAfter", retryAfterSeconds.map { .integer($0) }),
    ])
  }
}

extension Platform {
  package var shown: JSON {
    .object([
      ("native", .bool(isNative)), ("type", type.map { .string($0) }), ("width", width.map { .integer($0) }),
      ("height", height.map { .integer($0) }), ("appVersion", appVersion.map { .string($0) }),
      ("hasDeviceId", .bool(deviceID != nil)),
    ])
  }
}

extension Configuration {
  package var shown: JSON {
    .object([
      ("provider", preset.map { .string($0) }), ("issuer", RedactedURL.published(issuer.text)),
      ("clientId", .string(clientID.text)),
      ("discoveryUri", discoveryURI.map { RedactedURL.published($0) }),
      ("tenants", tenants.isEmpty ? nil : .array(tenants.map { .string($0) })),
      ("hasClientSecret", .bool(clientSecret != nil)),
      ("redirectUri", RedactedURL.published(redirectURI)),
      ("postLogoutRedirectUri", postLogoutRedirectURI.map { RedactedURL.published($0) }),
      ("fallbackUri", fallbackURI.map { RedactedURL.published($0) }),
      ("scopes", .array(scopes.map { .string($0) })),
      ("authorizeParameters", .array(authorizeParameters.map { .string($0.0) })),
      ("hasOwnEndpoints", .bool(endpoints != nil)), ("hasProfileMapping", .bool(profile != nil)),
      ("withoutExpiry", .integer(withoutExpirySeconds)), ("userAgent", userAgent.map { .string($0) }),
      ("pushedRequests", .string(pushedRequests.rawValue)),
      ("dpop", .string(dpop.rawValue)), ("resource", resource.map { RedactedURL.published($0) }),
      ("resources", resources.isEmpty ? nil : .array(resources.map { RedactedURL.published($0) })),
      ("idTokenAlgorithms", idTokenAlgorithms.map { .array($0.map { .string($0.rawValue) }) }),
      (
        "trustedAudiences",
        trustedAudiences.isEmpty ? nil : .array(trustedAudiences.map { .string($0) })
      ),
      ("grace", .integer(graceSeconds)), ("transactionLifetime", .integer(transactionSeconds)),
      ("emailWait", .integer(emailWaitSeconds)), ("registration", registration.shown),
      ("activation", .string(activation.rawValue)), ("appLinks", .integer(Int64(appLinks.count))),
      ("native", .bool(isNative)), ("hasStandInToken", .bool(standInToken != nil)),
      ("confirmation", .bool(requiresConfirmation)),
      ("registrationCheckUri", registrationCheckURI.map { RedactedURL.bounded($0) }),
      ("requireCheck", .bool(requireCheck)),
      ("profileUpdateUri", profileUpdateURI.map { RedactedURL.bounded($0) }),
      ("errorReportUri", errorReportURI.map { RedactedURL.bounded($0) }),
      ("requireVerifiedEmail", .bool(requireVerifiedEmail)), ("choices", .integer(Int64(choices.count))),
      ("app2app", app2app.map { RedactedURL.bounded($0.initURI) }),
      ("bff", bff.map { RedactedURL.bounded($0.base) }),
      ("passwordless", passwordless.map { .string($0.rawValue) }),
      ("allowLoopbackHTTP", .bool(allowsLoopbackHTTP)), ("hasCaFile", .bool(caFile != nil)),
    ])
  }
}

extension Registration {
  var shown: JSON {
    switch self {
    case .signIn: .string("signIn")
    case .promptCreate: .string("promptCreate")
    case .promptRegistration: .string("promptRegistration")
    case .page(let url): RedactedURL.bounded(url)
    }
  }
}

extension ProviderMetadata {
  /// The metadata as the report shows it.
  package var shown: JSON {
    .object([
      ("issuer", RedactedURL.published(issuer.text)),
      ("authorizationEndpoint", RedactedURL.published(authorizationEndpoint)),
      ("tokenEndpoint", RedactedURL.published(tokenEndpoint)),
      ("jwksUri", jwksURI.map { RedactedURL.published($0) }),
      ("userinfoEndpoint", userinfoEndpoint.map { RedactedURL.published($0) }),
      ("revocationEndpoint", revocationEndpoint.map { RedactedURL.published($0) }),
      ("endSessionEndpoint", endSessionEndpoint.map { RedactedURL.published($0) }),
      ("introspectionEndpoint", introspectionEndpoint.map { RedactedURL.published($0) }),
      (
        "pushedAuthorizationRequestEndpoint",
        pushedAuthorizationRequestEndpoint.map { RedactedURL.published($0) }
      ),
      ("deviceAuthorizationEndpoint", deviceAuthorizationEndpoint.map { RedactedURL.published($0) }),
      ("announcesIssuerInRedirect", .bool(announcesIssuerInRedirect)),
      ("requiresPushedRequests", .bool(requiresPushedRequests)),
      ("dpopAlgorithms", .array(dpopAlgorithms.map { .string($0) })),
      ("promptValues", promptValues.map { .array($0.map { .string($0) }) }),
      ("unusable", unusable.isEmpty ? nil : .array(unusable.map { $0.shown(at: nil) })),
    ])
  }
}

extension RenewalBackoff {
  func shown(at moment: Moment) -> JSON {
    .object([
      ("failures", .integer(Int64(failures))), ("offlineSince", .integer(offlineSince.seconds)),
      ("secondsToWait", secondsToWait(at: moment).map { .integer($0) }),
      ("lastError", error.shown(at: nil)),
    ])
  }
}

extension AccountRecord {
  /// The record without secrets, and without anything about the user.
  /// - Parameter scopes: the scopes of the configuration; other scopes are shown only if a stored transaction requested
  ///   them.
  package func shown(at moment: Moment, exists: Bool, scopes: [String] = []) -> JSON {
    let named = scopes + Scopes.standard + transactions.flatMap { $0.scopes }
    return .object([
      ("exists", .bool(exists)), ("confirmed", confirmed?.shown(at: moment, naming: named)),
      ("provisional", provisional?.shown(at: moment, naming: named)),
      ("hasProfile", .bool(profile != nil)), ("hasProvisionalProfile", .bool(provisionalProfile != nil)),
      ("registrationType", registrationType.map { .string($0) }),
      ("sessionEnded", sessionEnded.map { .string(PrintableText.bounded($0, maximumBytes: 512)) }),
      ("sessionEndedDescription", sessionEndedDescription.map { .string($0) }),
      ("accessRefused", accessRefused.map { .string($0) }),
      ("narrowsSessions", narrowsSessions ? .bool(true) : nil),
      ("refusal", refusal.map { $0.shown(at: moment) }), ("backoff", backoff.map { $0.shown(at: moment) }),
      ("renewalBegan", renewalIntent.map { .integer($0.began.seconds) }),
      ("serverClockOffsetSeconds", serverClock.offsetSeconds.map { .integer($0) }),
      ("asksForLogin", .bool(asksForLogin)), ("pendingLogouts", .integer(Int64(logouts.count))),
      ("transactions", .array(transactions.map { $0.shown(at: moment) })),
    ])
  }
}

extension RenewalRefusal {
  func shown(at moment: Moment) -> JSON {
    .object([
      ("secondsToWait", .integer(max(0, pause.secondsLeft(at: moment)))),
      ("httpStatus", .integer(Int64(httpStatus))), ("oauthError", oauthError.map { .string($0) }),
      ("oauthErrorDescription", oauthErrorDescription.map { .string($0) }),
    ])
  }
}

extension TokenSet {
  /// The tokens as the report shows them.
  /// - Parameter named: the scopes that the host or a standard named. Other scopes are the provider's text,
  ///   which may be a token, so they are only counted.
  func shown(at moment: Moment, naming named: [String]) -> JSON {
    let known = scopes.filter { Scopes.contains($0, in: named) }
    return .object([
      ("tokenType", .string(PrintableText.bounded(tokenType, maximumBytes: 32))),
      ("expiresAt", .integer(expiry.date(at: moment).seconds)),
      ("secondsLeft", .integer(expiry.secondsLeft(at: moment))),
      ("lifetimeSeconds", .integer(expiry.lifetimeSeconds)), ("scopes", .array(known.map { .string($0) })),
      ("otherScopes", .integer(Int64(scopes.count - known.count))),
      ("hasRefreshToken", .bool(refreshToken != nil)),
      ("refreshTokenSecondsLeft", refreshExpiry.map { .integer($0.secondsLeft(at: moment)) }),
      ("hasIdToken", .bool(idToken != nil)),
      ("isBoundToKey", .bool(dpopKey != nil)), ("hasUnprovenIdToken", .bool(unprovenIDToken != nil)),
      ("source", .string(source.rawValue)),
      ("audiences", audiences.isEmpty ? nil : .array(audiences.entries.map { $0.shown(at: moment) })),
    ])
  }
}

extension AudienceEntry {
  func shown(at moment: Moment) -> JSON {
    .object([
      ("resource", audience.resource.map { RedactedURL.bounded($0) }),
      ("scopes", .array(audience.scopes.map { .string($0) })),
      ("expiresAt", token.map { .integer($0.expiry.date(at: moment).seconds) }),
      ("secondsLeft", token.map { .integer($0.expiry.secondsLeft(at: moment)) }),
      ("refusal", refusal.map { $0.shown(at: moment) }),
    ])
  }
}

extension TransactionRecord {
  func shown(at moment: Moment) -> JSON {
    .object([
      ("kind", .string(kind.rawValue)), ("status", .string(status.rawValue)),
      ("step", .string(step.rawValue)), ("ageSeconds", .integer(moment.wall.since(began))),
      ("secondsLeft", .integer(deadline.secondsLeft(at: moment))),
      ("survivesProcess", .bool(survivesProcess)),
    ])
  }
}
