// Renewal, one at a time across threads and processes (flows.md §8; reliability.md, One renewal, step by step). The order
// matters: turn, re-read, reserve space, intent, send, re-read, store, then judge, then hand out. A rotated refresh token
// is on disk before anybody sees what came with it, and nothing that may be wrong with the rest can lose it (R30).

import EnrollCrypto
import EnrollJSON

/// How one run of the renewal step ended.
public enum RenewalResult: Equatable, Sendable {
  /// The store holds tokens newer than the caller's: ours, or another process's.
  case renewed
  /// The server could not be asked, or was in trouble: nothing is lost, try again later (R33).
  case unavailable(EnrollError)
  /// Refused, without the session being ended.
  case rejected(EnrollError)
  /// The session is over.
  case reauthenticate(String)
}

/// One renewal, from its turn to its end.
struct Renewal: Sendable {
  let session: SessionIdentity
  /// For whom the access token is to be; nil: the session's own.
  let audience: TokenAudience?
  /// The record's when it began.
  let epoch: UInt64
  /// The store's ``TokenStore/identity()`` when it began.
  let store: String
  /// Whether the endpoint that newer metadata names is asked instead of the one that refused: its answer decides.
  var isAtNewEndpoint = false
}

extension Engine {
  /// Requests that one renewal sends at most while the server is in trouble.
  static let triesPerRenewal = 2
  /// The same refusal twice, this far apart, ends the session (reliability.md, What the answer to a refresh token means).
  static let refusalPauseSeconds: Int64 = 60
  /// Nobody waits longer for another process's renewal.
  static let turnTimeoutSeconds: Int64 = 90

  /// Renews the confirmed tokens and moves the state machine. Runs to its end whatever its callers do: a refresh
  /// token that was sent is followed up.
  /// - Parameters:
  ///   - epochs: of the access tokens that callers want renewed; where the store's is another, there is nothing to do.
  ///   - forced: renew although the token is not due, and although the provider could not be reached a moment ago.
  ///   - audience: for whom the access token is to be; nil: the session's own.
  /// - Throws: store errors; `.cancelled` when the client is closed before anything was sent, or before a second try.
  public func renew(
    epochs: [UInt64], forced: Bool, for audience: TokenAudience? = nil
  ) throws(EnrollError) -> RenewalResult {
    let (result, isNew): (RenewalResult, Bool)
    do throws(EnrollError) {
      let answer = try renewed(epochs, forced: forced, for: audience)
      (result, isNew) = (try decided(answer.0, isNew: answer.isNew, for: audience), answer.isNew)
    } catch {
      // A client that is closed says nothing of the provider.
      if error.code != .cancelled { notify(.tokenRenewalFailed(error)) }
      throw error
    }
    try report(result, isNew: isNew, for: audience)
    return result
  }

  /// - Returns: also whether the provider was asked; else the result is an earlier one's, or another process's.
  private func renewed(
    _ epochs: [UInt64], forced: Bool, for audience: TokenAudience?
  ) throws(EnrollError) -> (RenewalResult, isNew: Bool) {
    try requireNotClosing()
    let deadline = clock.instant().advanced(bySeconds: Self.turnTimeoutSeconds)
    var first: AccountRecord?
    while true {
      guard let record = try store.read(account), let tokens = record.confirmed else {
        return (.reauthenticate("no user is signed in"), false)
      }
      if let reason = record.sessionEnded { return (.reauthenticate(reason), false) }
      guard record.isUnrenewed(for: audience, since: epochs) else {
        return (try overtaken(for: audience), false)
      }
      guard tokens.refreshToken != nil else {
        return (.reauthenticate("the provider gave no refresh token"), false)
      }
      let before = first ?? record
      first = before
      let isForced = forced && !record.tellsFailure(after: before, for: audience)
      if let barred = barred(record, forced: isForced, for: audience) { return (barred, false) }

      var result = (RenewalResult.renewed, isNew: false)
      let turn = try store.renewalTurn(
        account, epoch: record.tokenEpoch, deadline: deadline, cancellation: closing
      ) { () throws(EnrollError) in
        result = try renewInTurn(after: before, epoch: record.tokenEpoch, forced: forced, for: audience)
      }
      switch turn {
      case .taken:
        // Of a session that another sign-in took the place of: the new one has its own turn.
        guard try isOfReplacedSession(result.0, from: record.tokenEpoch, for: audience),
          clock.instant() < deadline
        else { return result }
        first = nil
      // It may have been for another audience: then this one's turn is still to come.
      case .overtaken: continue
      case .deadlinePassed:
        return (
          .unavailable(EnrollError(.busy, "another process is renewing and has not finished")), false
        )
      }
    }
  }

  /// The pause that an earlier failure imposes, of this process or any other.
  /// - Parameter forced: somebody wants tokens now: the provider's word holds for that, too, its silence does not.
  func barred(
    _ record: AccountRecord, forced: Bool = false, for audience: TokenAudience? = nil
  ) -> RenewalResult? {
    let moment = clock.moment()
    if let refusal = record.refusal, refusal.pause.band(at: moment) == .fresh {
      return .rejected(withRegistration(refusal.error(at: moment)).advised(by: refusal, record, at: moment))
    }
    if let error = audience.flatMap({ record.refusesToAsk(for: $0) }) { return .rejected(error) }
    if let audience, let refusal = record.refusal(for: audience), refusal.pause.band(at: moment) == .fresh {
      return .rejected(withRegistration(refusal.error(at: moment)).concerning(audience))
    }
    if let backoff = record.backoff(for: audience),
      let wait = backoff.secondsToWait(at: moment, forced: forced)
    {
      return .unavailable(backoff.error.retrying(after: wait))
    }
    guard let backoff = backoff(record), let wait = backoff.secondsToWait(at: moment, forced: forced) else {
      return nil
    }
    return .unavailable(backoff.error.retrying(after: wait))
  }

  /// The backoff that earlier failures require.
  func backoff(_ record: AccountRecord?) -> RenewalBackoff? {
    record?.backoff ?? memory.withLock { $0.backoff }
  }

  /// Alone among all threads and processes from here on.
  /// - Parameter before: the record as it was before the wait for this turn.
  private func renewInTurn(
    after before: AccountRecord, epoch: UInt64, forced: Bool, for audience: TokenAudience?
  ) throws(EnrollError) -> (RenewalResult, isNew: Bool) {
    guard let record = try store.read(account), record.tokenEpoch == epoch, let tokens = record.confirmed,
      let refreshToken = tokens.refreshToken
    else { return (try replaced(for: audience), false) }
    // A failure that happened during the wait answers those who waited as well: 20 processes are one request.
    let isNews = record.tellsFailure(after: before, for: audience)
    let result: RenewalResult
    if let kept = try keepUnsaved(replacing: epoch) {
      if kept.result == .renewed, kept.audience != audience, let stored = try store.read(account) {
        // It was for another audience: the refresh token that it brought is the one to send now.
        return try renewInTurn(after: before, epoch: stored.tokenEpoch, forced: forced, for: audience)
      }
      result = kept.result
    } else if let barred = barred(record, forced: forced && !isNews, for: audience) {
      return (barred, false)
    } else {
      let renewal = Renewal(
        session: SessionIdentity(tokens, profile: record.profile, configuration), audience: audience,
        epoch: epoch, store: try store.identity())
      let doubt = backoff(record)?.metadataDoubt ?? (record.refusal == nil ? .none : .onceOld)
      result = try ask(renewal, spending: refreshToken, doubt)
    }
    if case .unavailable(let error) = result { backOff(after: error, for: audience, holding: refreshToken) }
    return (result, true)
  }

  private func ask(
    _ renewal: Renewal, spending refreshToken: Secret, _ doubt: DocumentDoubt
  ) throws(EnrollError) -> RenewalResult {
    let metadata: ProviderMetadata
    do throws(EnrollError) {
      metadata = try provider.metadata(doubt: doubt, cancellation: closing)
    } catch {
      try requireNotClosing()
      return .unavailable(error)
    }
    try requireNotClosing()
    // A full disk shows now, before the refresh token is spent. An intent that is found here belongs to a process
    // that died: its outcome is unknown, and sending the same token again at once is what providers' grace is for.
    try store.reserveSpace(account)
    guard try writeIntent(spending: refreshToken, epoch: renewal.epoch) else {
      return try replaced(for: renewal.audience)
    }
    return try send(refreshToken, of: renewal, metadata: metadata)
  }

  /// - Returns: false when a logout came first.
  private func writeIntent(spending refreshToken: Secret, epoch: UInt64) throws(EnrollError) -> Bool {
    let moment = clock.moment()
    let intent = RenewalIntent(
      attempt: Base64URL.encode(try random.bytes(16)), tokenEpoch: epoch,
      refreshTokenHash: try hash(refreshToken), bootID: moment.bootID, began: moment.wall)
    let record = try store.update(account) { record throws(EnrollError) in
      guard record.tokenEpoch == epoch else { return }
      record.renewalIntent = intent
      record.sentRefreshTokens.add(intent.refreshTokenHash)
    }
    return record.renewalIntent == intent
  }

  /// Whether the session still has this refresh token. A sign-in or a sign-out may have come since the last request: the token is
  /// not sent again then, because some providers end every session of a user whose spent token comes again.
  func isCurrent(_ refreshToken: Secret, of renewal: Renewal) throws(EnrollError) -> Bool {
    guard let record = try store.read(account), record.sessionEnded == nil else { return false }
    return record.tokenEpoch == renewal.epoch && record.confirmed?.refreshToken == refreshToken
  }

  func hash(_ token: Secret) throws(EnrollError) -> String {
    do throws(CryptoError) {
      return Base64URL.encode(try Digest.sha256.hash(token.revealBytes()))
    } catch {
      throw EnrollError(error, "SHA-256 failed")
    }
  }

  func send(
    _ refreshToken: Secret, of renewal: Renewal, metadata: ProviderMetadata
  ) throws(EnrollError) -> RenewalResult {
    let tokens = renewal.session.tokens
    let request = TokenRequest.refresh(
      refreshToken: refreshToken, for: renewal.audience, configuration: configuration, metadata: metadata)
    var trouble = EnrollError(.network, "no request was sent to the provider")
    var replay = ReplayCheck(serverTime: knownServerTime())
    // Read before the request: whatever happens to the store meanwhile, an answer with tokens is kept.
    let spent = (try? store.read(account))?.sentRefreshTokens ?? SentRefreshTokens()
    for attempt in 1...Self.triesPerRenewal {
      if attempt > 1 {
        try pause(after: trouble, attempt: attempt - 1)
        guard try isCurrent(refreshToken, of: renewal) else { return try replaced(for: renewal.audience) }
      }
      let sent = clock.moment()
      let http: HTTPResponse
      do throws(EnrollError) {
        http = try send(request, provenBy: tokens.dpopKey, cancellation: nil)
      } catch {
        trouble = error
        try requireNotClosing()
        if error.code == .tls { break }
        continue
      }
      let answer = RefreshAnswer(processing: http, binding: binding(tokens.dpopKey))
      if let problem = replayed(answer, http, renewal.session, spent, &replay) {
        trouble = problem
        continue
      }
      switch answer {
      case .tokens(let response):
        return try keep(
          RenewedTokens(response, of: renewal, sent: sent, clockOffset: clockOffset(of: http, at: sent)))
      case .rotatedOnly(let rotated, let error):
        // Of no use but for its refresh token, which the next try spends (R30).
        let ended = try keep(RenewedTokens(refreshToken: rotated, of: renewal))
        if case .reauthenticate = ended { return ended }
        backOff(after: error, for: renewal.audience, holding: rotated)
        return .unavailable(error)
      case .refused(let error, let verdict):
        guard verdict == .unclear else {
          return try refused(by: error, verdict, renewal, at: metadata.tokenEndpoint, sent: sent)
        }
        trouble = error
        // A server that asks for fewer requests, or names a longer time than a caller would wait, is asked again later.
        if error.httpStatus == 429 || (error.retryAfterSeconds ?? 0) > 2 { return .unavailable(trouble) }
      }
    }
    return .unavailable(trouble)
  }

  /// The sign that an answer is one to an earlier refresh token.
  /// - Parameter sent: the refresh tokens that were sent, with this one.
  func replayed(
    _ answer: RefreshAnswer, _ http: HTTPResponse, _ session: SessionIdentity, _ sent: SentRefreshTokens,
    _ check: inout ReplayCheck
  ) -> EnrollError? {
    let brought: Secret?
    var isForeign = false
    switch answer {
    case .tokens(let response):
      brought = response.refreshToken
      isForeign = response.idToken.flatMap { session.contradiction(in: $0) } != nil
    case .rotatedOnly(let rotated, _): brought = rotated
    // A refusal that may end the session is as old as its Date says; the table judges the others.
    case .refused(_, let verdict):
      guard verdict == .ends || verdict == .endsIfRepeated else { return nil }
      brought = nil
    }
    guard let brought, let name = try? hash(brought) else {
      return check.problem(with: http, isSpent: false, isNew: brought != nil, isForeign: isForeign)
    }
    let isNew = !sent.hashes.contains { ASCII.equals($0, name) }
    return check.problem(with: http, isSpent: sent.isSpent(name), isNew: isNew, isForeign: isForeign)
  }

  /// How soon a pause ends when the client is closed.
  static let pauseSlice: Int64 = 50_000_000

  /// - Throws: `.cancelled` once the client is being closed.
  func pause(after trouble: EnrollError, attempt: Int) throws(EnrollError) {
    let jitter = (try? random.bytes(1).first) ?? 0
    let delay = RetryPolicy.delayNanoseconds(
      attempt: attempt, retryAfterSeconds: trouble.retryAfterSeconds, jitter: jitter)
    var left = min(delay, 2_000_000_000)
    while left > 0 {
      try requireNotClosing()
      clock.sleep(until: clock.instant().advanced(byNanoseconds: min(left, Self.pauseSlice)))
      left -= Self.pauseSlice
    }
    try requireNotClosing()
  }

  /// Bars the next request, in every process (R33). A disk that does not take it leaves it to this process.
  /// - Parameter refreshToken: of the session that failed to be renewed. Another sign-in that took its place meanwhile has not
  ///   failed.
  private func backOff(
    after failure: EnrollError, for audience: TokenAudience?, holding refreshToken: Secret
  ) {
    let moment = clock.moment()
    let jitter = (try? random.bytes(1).first) ?? 0
    // An answer is about what was asked for; no answer at all is an outage, for every audience.
    // A disk that does not take the one leaves the other.
    if let audience, failure.httpStatus != nil,
      (try? backOff(audience, failure, moment, jitter, holding: refreshToken)) != nil
    {
      return
    }
    let unsaved = memory.withLock { $0.backoff }
    func keepHere() {
      memory.withLock {
        $0.backoff = RenewalBackoff(after: unsaved, failure, at: moment, jitter: jitter)
      }
    }
    guard RenewalBackoff.isShared(failure) else {
      if (try? store.read(account))?.confirmed?.refreshToken == refreshToken { keepHere() }
      return
    }
    do throws(EnrollError) {
      try store.update(account) { record throws(EnrollError) in
        guard record.confirmed?.refreshToken == refreshToken else { return }
        keepNonces(in: &record)
        record.backoff = RenewalBackoff(
          after: record.backoff ?? unsaved, failure, at: moment, jitter: jitter)
      }
      memory.withLock { $0.backoff = nil }
    } catch {
      keepHere()
    }
  }
}
