// What support needs to see, and nothing that has to stay secret (flows.md §11, R40): no token, code, state, key or PIN,
// nothing about the user, no name that the host chose, and of a host's URLs only what ``RedactedURL`` shows. What is
// written out here is an allow-list: a member that is added to a record is not in it. And the last failures of this process.

import EnrollCrypto
public import EnrollJSON

extension Engine {
  /// Everything that this process knows, without asking anybody. Never fails: a store that cannot be read is told.
  public func diagnostics() -> JSONObject {
    let moment = clock.moment()
    let known = memory.withLock { ($0.state, $0.errors) }
    var facts = JSONObject([
      ("at", .integer(moment.wall.seconds)),
      (
        "state",
        .object([
          ("kind", .string(known.0.kind.rawValue)), ("letter", known.0.kind.letter.map { .string($0) }),
        ])
      ),
      ("platform", platform.shown),
      ("configuration", configuration.shown), ("hasRegisteredClient", .bool(hasRegisteredClient)),
      ("provider", provider.cachedMetadata?.shown),
      (
        "clock",
        .object([
          (
            "aheadOfServerSeconds",
            (provider.serverTime ?? provider.documentTime).map { .integer(moment.wall.since($0)) }
          )
        ])
      ),
      ("errors", .array(known.1.entries.map { $0.error.shown(at: $0.at) })),
    ])
    do throws(EnrollError) {
      let record = try store.read(account)
      facts["account"] = (record ?? AccountRecord()).shown(
        at: moment, exists: record != nil, scopes: configuration.scopes)
    } catch {
      facts["account"] = .object([("problem", error.shown(at: nil))])
    }
    do throws(EnrollError) {
      let entries = try store.updateOutbox { _ throws(EnrollError) in }
      facts["outbox"] = .object([
        ("count", .integer(Int64(entries.count))),
        ("oldestSeconds", entries.map { moment.wall.since($0.queued) }.max().map { .integer($0) }),
        ("attempts", entries.map { Int64($0.attempts) }.max().map { .integer($0) }),
      ])
    } catch {
      facts["outbox"] = .object([("problem", error.shown(at: nil))])
    }
    return facts
  }
}

extension EnrollError {
  /// As diagnostics show it. - Parameter time: when it happened, where that is known.
  package func shown(at time: UnixTime?) -> JSON {
    .object([
      ("at", time.map { .integer($0.seconds) }), ("status", .string(code.name)),
      ("blame", .string(blame.rawValue)), ("message", .string(message)), ("field", field.map { .string($0) }),
      ("httpStatus", httpStatus.map { .integer(Int64($0)) }), ("oauthError", oauthError.map { .string($0) }),
      ("retryAfter", retryAfterSeconds.map { .integer($0) }),
    ])
  }
}

extension Platform {
  fileprivate var shown: JSON {
    .object([
      ("native", .bool(isNative)), ("type", type.map { .string($0) }), ("width", width.map { .integer($0) }),
      ("height", height.map { .integer($0) }), ("appVersion", appVersion.map { .string($0) }),
      ("hasDeviceId", .bool(deviceID != nil)),
    ])
  }
}

extension Configuration {
  fileprivate var shown: JSON {
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
      ("dpop", .string(dpop.rawValue)), ("resource", resource.map { RedactedURL.published($0.text) }),
      ("idTokenAlgorithms", .array(idTokenAlgorithms.map { .string($0.rawValue) })),
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
  fileprivate var shown: JSON {
    switch self {
    case .signIn: .string("signIn")
    case .promptCreate: .string("promptCreate")
    case .page(let url): RedactedURL.bounded(url)
    }
  }
}

extension ProviderMetadata {
  fileprivate var shown: JSON {
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
  fileprivate func shown(at moment: Moment) -> JSON {
    .object([
      ("failures", .integer(Int64(failures))), ("offlineSince", .integer(offlineSince.seconds)),
      ("secondsToWait", secondsToWait(at: moment).map { .integer($0) }),
      ("lastError", error.shown(at: nil)),
    ])
  }
}

extension AccountRecord {
  /// Without secrets, and without anything about the user.
  /// - Parameter scopes: that the configuration names; others are shown where a transaction that is kept asked for them.
  package func shown(at moment: Moment, exists: Bool, scopes: [String] = []) -> JSON {
    let named = scopes + Scopes.standard + transactions.flatMap { $0.scopes }
    return .object([
      ("exists", .bool(exists)), ("confirmed", confirmed?.shown(at: moment, naming: named)),
      ("provisional", provisional?.shown(at: moment, naming: named)),
      ("hasProfile", .bool(profile != nil)), ("hasProvisionalProfile", .bool(provisionalProfile != nil)),
      ("registrationType", registrationType.map { .string($0) }),
      ("sessionEnded", sessionEnded.map { .string(PrintableText.bounded($0, maximumBytes: 512)) }),
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
  fileprivate func shown(at moment: Moment) -> JSON {
    .object([
      ("secondsToWait", .integer(max(0, pause.secondsLeft(at: moment)))),
      ("httpStatus", .integer(Int64(httpStatus))), ("oauthError", oauthError.map { .string($0) }),
    ])
  }
}

extension TokenSet {
  /// - Parameter named: scopes that somebody asked for: the others are the provider's words, a token perhaps.
  fileprivate func shown(at moment: Moment, naming named: [String]) -> JSON {
    let known = scopes.filter { Scopes.contains($0, in: named) }
    return .object([
      ("tokenType", .string(PrintableText.bounded(tokenType, maximumBytes: 32))),
      ("expiresAt", .integer(expiry.expiresAt.seconds)),
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
  fileprivate func shown(at moment: Moment) -> JSON {
    .object([
      ("resource", audience.resource.map { RedactedURL.bounded($0) }),
      ("scopes", .array(audience.scopes.map { .string($0) })),
      ("expiresAt", token.map { .integer($0.expiry.expiresAt.seconds) }),
      ("secondsLeft", token.map { .integer($0.expiry.secondsLeft(at: moment)) }),
      ("refusal", refusal.map { $0.shown(at: moment) }),
    ])
  }
}

extension TransactionRecord {
  fileprivate func shown(at moment: Moment) -> JSON {
    .object([
      ("kind", .string(kind.rawValue)), ("status", .string(status.rawValue)),
      ("step", .string(step.rawValue)), ("ageSeconds", .integer(moment.wall.since(began))),
      ("secondsLeft", .integer(deadline.secondsLeft(at: moment))),
      ("survivesProcess", .bool(survivesProcess)),
    ])
  }
}

/// What ``EnrollEvent`` told of failures, and warnings. Texts hold no secret (R40).
struct ErrorLog: Sendable {
  static let limit = 16

  private(set) var entries: [(at: UnixTime, error: EnrollError)] = []

  mutating func add(_ error: EnrollError, at time: UnixTime) {
    if entries.count >= Self.limit { entries.removeFirst() }
    entries.append((time, error))
  }

  mutating func add(_ notification: EnrollEvent, at time: UnixTime) {
    switch notification {
    case .errorReported(let error), .tokenRenewalFailed(let error): add(error, at: time)
    case .registrationChanged, .registrationSettled, .tokenRenewed, .logoutFinished: break
    }
  }
}
