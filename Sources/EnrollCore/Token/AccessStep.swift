// A valid token for the next request (flows.md §8): fresh ones come straight from the store's memory, due and expired
// ones through a renewal, and the answer is one of a closed set.

import EnrollJSON

extension Engine {
  /// A decision that needs no request to the provider.
  public enum AccessDecision: Equatable, Sendable {
    /// A token that is not due, with its end or that of the refresh token: until then it may be served again without asking.
    case fresh(AccessToken, Expiry)
    /// Any other outcome that needs no request.
    case answer(AccessOutcome)
    /// Due or expired, or none yet: run ``renew(epochs:forced:for:)`` and ask
    /// ``outcome(after:minimumLifetimeSeconds:for:)``.
    case renew(epoch: UInt64)
  }

  /// A decision about a renewal that a caller wants now, whatever the token's age.
  public enum RefreshDecision: Equatable, Sendable {
    case answer(AccessOutcome)
    case renew(epoch: UInt64)
  }

  /// - Parameter audience: nil for the session's own access token.
  /// - Throws: `.illegalState` while tokens wait for confirmation and no earlier session lives; store errors other
  ///   than a locked one, which is an outcome.
  public func decideAccess(
    minimumLifetimeSeconds: Int64, for audience: TokenAudience? = nil
  ) throws(EnrollError) -> AccessDecision {
    let (record, tokens): (AccountRecord, TokenSet)
    switch try session() {
    case .none(let outcome): return .answer(outcome)
    case .live(let liveRecord, let liveTokens): (record, tokens) = (liveRecord, liveTokens)
    }
    if audience == nil, let reason = record.accessRefused { return .answer(.reauthenticate(reason: reason)) }
    let moment = clock.moment()
    guard let access = tokens.access(for: audience) else {
      if tokens.refreshToken == nil { return .answer(Self.noRefreshToken(for: audience)) }
      return .renew(epoch: record.tokenEpoch)
    }
    let band = access.expiry.band(
      at: moment, graceSeconds: configuration.graceSeconds, minimumLifetimeSeconds: minimumLifetimeSeconds)
    switch band {
    case .fresh:
      guard tokens.isRefreshDue(at: moment, graceSeconds: configuration.graceSeconds) else {
        return .fresh(access.token, tokens.renewalEnd(of: access.expiry, at: moment))
      }
      return .renew(epoch: record.epoch(for: audience) ?? record.tokenEpoch)
    case .due, .expired:
      if tokens.refreshToken == nil {
        return .answer(
          band == .due
            ? .valid(access.token)
            : .reauthenticate(reason: "the token expired, and the provider gave no refresh token"))
      }
      return .renew(epoch: record.epoch(for: audience) ?? record.tokenEpoch)
    }
  }

  /// - Throws: as ``decideAccess(minimumLifetimeSeconds:for:)``.
  public func decideRefresh(for audience: TokenAudience? = nil) throws(EnrollError) -> RefreshDecision {
    switch try session() {
    case .none(let outcome): return .answer(outcome)
    case .live(let record, let tokens):
      if audience == nil, let reason = record.accessRefused {
        return .answer(.reauthenticate(reason: reason))
      }
      guard tokens.refreshToken == nil else {
        return .renew(epoch: record.epoch(for: audience) ?? record.tokenEpoch)
      }
      guard audience == nil, let token = try liveToken() else {
        return .answer(Self.noRefreshToken(for: audience))
      }
      let reason = EnrollError(
        .unsupported,
        "the provider gave no refresh token, so this token cannot be renewed; it works until it expires, and then the user signs in again"
      )
      return .answer(.stale(token, reason: reason.helped(by: .registerAgain)))
    }
  }

  /// The session's own token serves until its end; another one never comes.
  private static func noRefreshToken(for audience: TokenAudience?) -> AccessOutcome {
    guard let audience else { return .reauthenticate(reason: "the provider gave no refresh token") }
    return .rejected(
      reason: EnrollError(
        .unsupported,
        "the provider gave no refresh token, which a token for \(audience.shown) needs; ask for the scope offline_access at the sign-in",
        field: audience.resource == nil ? "scope" : "resource"))
  }

  /// Indirect, for a record is large, and is handed from call to call.
  indirect enum Session {
    /// No session of ours to take a token from, and what that means for whoever asks.
    case none(AccessOutcome)
    case live(AccountRecord, TokenSet)
  }

  func session() throws(EnrollError) -> Session {
    if !isNative { return .none(standIn()) }
    let record: AccountRecord
    do throws(EnrollError) {
      record = try store.read(account) ?? AccountRecord()
    } catch {
      guard error.code == .storeLocked else { throw error }
      return .none(.storeLocked)
    }
    guard let tokens = record.confirmed else {
      if record.provisional != nil {
        throw EnrollError(
          .illegalState,
          "the tokens wait for the user's confirmation: answer it with confirm, yes or no, or log out")
      }
      return .none(.reauthenticate(reason: "no user is signed in"))
    }
    // The old access token may outlive the session; whoever renewed knows that it is over.
    if let reason = record.sessionEnded { return .none(.reauthenticate(reason: reason)) }
    if let identity = tokens.identity,
      !configuration.issuer.admits(identity.issuer, configuration.tenants)
    {
      return .none(.reauthenticate(reason: "the session is of a tenant that is not in tenants"))
    }
    return .live(record, tokens)
  }

  /// The outcome for a caller after a renewal ended, whichever caller ran it.
  /// - Parameter audience: of the renewal.
  public func outcome(
    after result: RenewalResult, minimumLifetimeSeconds: Int64, for audience: TokenAudience? = nil
  ) throws(EnrollError) -> AccessOutcome {
    let record = try store.read(account)
    let moment = clock.moment()
    let usable = try liveToken(for: audience)
    switch result {
    case .renewed:
      if let reason = record?.sessionEnded { return .reauthenticate(reason: reason) }
      guard let tokens = record?.confirmed else { return .reauthenticate(reason: "no user is signed in") }
      guard let access = tokens.access(for: audience) else {
        return .expired(
          offlineSince: nil, retryAfterSeconds: nil,
          reason: EnrollError(
            .busy,
            "tokens for more than \(AudienceTokens.limit) audiences are asked for, and this one gave way"))
      }
      // A life that is shorter than the answer took: what was just brought is given out once all the same. Its end is counted
      // from the request, and the provider counts from its answer.
      if access.expiry.secondsLeft(at: moment) >= -HTTPRequest.totalTimeoutSeconds {
        return .valid(access.token)
      }
      return .expired(
        offlineSince: nil, retryAfterSeconds: nil,
        reason: EnrollError(
          .timeout,
          "the new token had expired before it could be handed out: the process slept, or the date was set"))
    case .unavailable(let error):
      if let usable { return .stale(usable, reason: error) }
      if error.code == .busy { return .busy }
      let backoff = record?.backoff(for: audience) ?? backoff(record)
      return .expired(
        offlineSince: backoff?.offlineSince, retryAfterSeconds: backoff?.secondsToWait(at: moment),
        reason: error)
    case .rejected(let error):
      if let usable { return .stale(usable, reason: error) }
      return .rejected(reason: error)
    case .reauthenticate(let reason): return .reauthenticate(reason: reason)
    }
  }

  /// The tokens of the session, or of the user who waits for confirmation, for a request to the provider.
  /// - Throws: `.reauthenticate` when no user is signed in, or the session is over; `.expired`; `.storeLocked`: as a call for the
  ///   access token fails. Nothing may be sent then.
  func livingTokens() throws(EnrollError) -> (AccountRecord, TokenSet) {
    guard let record = try store.read(account), let tokens = record.confirmed ?? record.provisional else {
      throw EnrollError(.reauthenticate, "no user is signed in")
    }
    if record.confirmed != nil, case .answer(let outcome) = try decideAccess(minimumLifetimeSeconds: 0),
      let failure = outcome.failure
    {
      throw failure
    }
    guard tokens.isUsable(at: clock.moment()) else {
      throw EnrollError(.expired, "the access token expired, so it was not sent")
    }
    return (record, tokens)
  }

  /// The access token while it works, due or not.
  public func liveToken(for audience: TokenAudience? = nil) throws(EnrollError) -> AccessToken? {
    let moment = clock.moment()
    return try store.read(account)?.confirmed?.access(for: audience).flatMap {
      $0.expiry.isOver(at: moment) ? nil : $0.token
    }
  }

  /// Whether confirmed tokens are kept; false also when the store cannot be read.
  public var hasSession: Bool { (try? store.read(account))?.confirmed != nil }

  private func standIn() -> AccessOutcome {
    guard let token = configuration.standInToken else {
      return .reauthenticate(reason: "the platform is not native, and no stand-in token is configured")
    }
    return .valid(AccessToken(value: token, tokenType: "Bearer", expiresAt: UnixTime(seconds: .max)))
  }
}
