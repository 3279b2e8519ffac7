// A valid token for the next request (flows.md §8). A fresh token comes from the store without a request; a token that
// is due or has expired is renewed first. The outcome is a case of AccessOutcome.

import EnrollJSON
public import EnrollRules

/// The step that decides, from the store, which access token a caller gets.
public final class AccessStep: EngineStep {
  let context: EngineContext
  private let renewals: RenewalProgress

  init(_ context: EngineContext, renewals: RenewalProgress) {
    self.context = context
    self.renewals = renewals
  }

  /// Decides whether the stored token can be used, or must be renewed first.
  /// - Parameter audience: nil for the session's own access token.
  /// - Throws: `.illegalState` while tokens wait for confirmation and no earlier session exists; the errors of the
  ///   store, except for a locked store, which is an outcome.
  public func decideAccess(
    minimumLifetimeSeconds: Int64, for audience: TokenAudience? = nil
  ) throws(EnrollError) -> AccessDecision {
    let (record, tokens): (AccountRecord, TokenSet)
    switch try context.session() {
    case .none(let outcome): return .answer(outcome)
    case .live(let liveRecord, let liveTokens): (record, tokens) = (liveRecord, liveTokens)
    }
    if audience == nil, let reason = record.accessRefused { return .answer(.reauthenticate(reason: reason)) }
    if let error = configuration.refusal(of: audience) { return .answer(.rejected(reason: error)) }
    let moment = clock.moment()
    guard let access = tokens.access(for: audience) else {
      if tokens.refreshToken == nil { return .answer(Self.noRefreshToken(for: audience)) }
      return .renew(epoch: record.tokenEpoch)
    }
    if tokens.isSuperseded(for: audience), tokens.refreshToken != nil {
      return .renew(epoch: record.epoch(for: audience) ?? record.tokenEpoch)
    }
    let band = access.expiry.band(
      at: moment, graceSeconds: configuration.graceSeconds, minimumLifetimeSeconds: minimumLifetimeSeconds)
    switch band {
    case .fresh:
      guard tokens.isRefreshDue(at: moment, graceSeconds: configuration.graceSeconds) else {
        return .fresh(access.token(at: moment), tokens.renewalEnd(of: access.expiry, at: moment))
      }
      return .renew(epoch: record.epoch(for: audience) ?? record.tokenEpoch)
    case .due, .expired:
      if tokens.refreshToken == nil {
        return .answer(
          band == .due
            ? .valid(access.token(at: moment))
            : .reauthenticate(reason: "the token expired, and the provider gave no refresh token"))
      }
      return .renew(epoch: record.epoch(for: audience) ?? record.tokenEpoch)
    }
  }

  /// - Throws: as ``decideAccess(minimumLifetimeSeconds:for:)``.
  public func decideRefresh(for audience: TokenAudience? = nil) throws(EnrollError) -> RefreshDecision {
    switch try context.session() {
    case .none(let outcome): return .answer(outcome)
    case .live(let record, let tokens):
      if audience == nil, let reason = record.accessRefused {
        return .answer(.reauthenticate(reason: reason))
      }
      if let error = configuration.refusal(of: audience) { return .answer(.rejected(reason: error)) }
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

  /// The outcome for a session without a refresh token: the session's own token works until it expires, and no other
  /// token can be requested.
  private static func noRefreshToken(for audience: TokenAudience?) -> AccessOutcome {
    guard let audience else { return .reauthenticate(reason: "the provider gave no refresh token") }
    return .rejected(
      reason: EnrollError(
        .unsupported,
        "the provider gave no refresh token, which a token for \(audience.shown) needs; ask for the scope offline_access at the sign-in",
        field: audience.resource == nil ? "scope" : "resource"))
  }

  /// The outcome for a caller after a renewal, whichever caller ran the renewal.
  /// - Parameter audience: the audience of the renewal.
  public func outcome(
    after result: RenewalResult, minimumLifetimeSeconds: Int64, for audience: TokenAudience? = nil
  ) throws(EnrollError) -> AccessOutcome {
    let record = try store.read(account)
    let moment = clock.moment()
    let usable = try liveToken(for: audience)
    switch result {
    case .renewed:
      if let reason = record?.sessionEnded {
        return .reauthenticate(reason: reason, oauthErrorDescription: record?.sessionEndedDescription)
      }
      guard let tokens = record?.confirmed else { return .reauthenticate(reason: "no user is signed in") }
      guard let access = tokens.access(for: audience) else {
        return .expired(
          offlineSince: nil, retryAfterSeconds: nil,
          reason: EnrollError(
            .busy,
            "tokens for more than \(AudienceTokens.limit) audiences are asked for, and this one gave way"))
      }
      // The response may have taken longer than the lifetime of the token. Even then the new token is returned once:
      // EnrollKit counts the lifetime from the request, and the provider counts it from its response.
      if access.expiry.secondsLeft(at: moment) >= -HTTPRequest.totalTimeoutSeconds {
        return .valid(access.token(at: moment))
      }
      return .expired(
        offlineSince: nil, retryAfterSeconds: nil,
        reason: EnrollError(
          .timeout,
          "the new token had expired before it could be handed out: the process slept, or the date was set"))
    case .unavailable(let error):
      if let usable { return .stale(usable, reason: error) }
      if error.code == .busy { return .busy }
      let backoff = record?.backoff(for: audience) ?? renewals.backoff(with: record)
      return .expired(
        offlineSince: backoff?.offlineSince, retryAfterSeconds: backoff?.secondsToWait(at: moment),
        reason: error)
    case .rejected(let error):
      if let usable { return .stale(usable, reason: error) }
      return .rejected(reason: error)
    case .reauthenticate(let reason, let words):
      return .reauthenticate(reason: reason, oauthErrorDescription: words)
    }
  }

  /// The tokens of the session, or the tokens that the user has not confirmed yet, for a request to the provider.
  /// - Throws: the errors of a call for the access token, after which nothing may be sent: `.reauthenticate` if no user
  ///   is signed in or the session is over; `.expired`; `.storeLocked`.
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

  /// The access token, whether it is due or not; nil if it has expired, or if a renewal may have ended it.
  public func liveToken(for audience: TokenAudience? = nil) throws(EnrollError) -> AccessToken? {
    let moment = clock.moment()
    guard let tokens = try store.read(account)?.confirmed, !tokens.isSuperseded(for: audience) else {
      return nil
    }
    return tokens.access(for: audience).flatMap { $0.expiry.isOver(at: moment) ? nil : $0.token(at: moment) }
  }

  /// Whether the account has confirmed tokens; also false if the store cannot be read.
  public var hasSession: Bool { (try? store.read(account))?.confirmed != nil }
}
