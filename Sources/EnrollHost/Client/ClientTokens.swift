// Tokens through a client: from memory while they are fresh, through one shared renewal when they are due.

public import EnrollRules
public import EnrollSteps
public import EnrollCrypto
public import EnrollJSON
import EnrollPosix

extension Client {
  /// A token for the next request (flows.md §8). A caller whose deadline passes gets the token if it still works, or
  /// `busy`; the renewal continues.
  /// - Parameter audience: the audience of the token (``Configuration/audience(resource:scopes:)``); nil for the
  ///   session's own token.
  /// - Throws: `.illegalState` while tokens wait for confirmation; store errors other than a locked store;
  ///   `.cancelled`.
  public func access(
    minimumLifetimeSeconds: Int64, for audience: TokenAudience? = nil, until deadline: Instant,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> AccessOutcome {
    try blocking { done in
      access(
        minimumLifetimeSeconds: minimumLifetimeSeconds, for: audience, until: deadline,
        cancellation: cancellation, completion: done)
    }
  }

  /// As ``access(minimumLifetimeSeconds:for:until:cancellation:)``, without blocking a thread: `completion` runs before
  /// this returns if no renewal is needed, otherwise on a thread of the pool.
  public func access(
    minimumLifetimeSeconds: Int64, for audience: TokenAudience? = nil, until deadline: Instant,
    cancellation: (any Cancellation)?,
    completion: @escaping @Sendable (Result<AccessOutcome, EnrollError>) -> Void
  ) {
    do throws(EnrollError) {
      try requireOpen()
      if let token = tokens.fresh(minimumLifetimeSeconds: minimumLifetimeSeconds, for: audience) {
        return completion(.success(.valid(token)))
      }
      let version = tokens.version
      let decision = try CallTimeout.until(deadline, by: clock, cancellation: cancellation) {
        () throws(EnrollError) in
        try engine.tokens.decideAccess(minimumLifetimeSeconds: minimumLifetimeSeconds, for: audience)
      }
      switch decision {
      case .fresh(let token, let expiry):
        tokens.keep(token, expiry: expiry, for: audience, since: version)
        completion(.success(.valid(token)))
      case .answer(let outcome): completion(.success(outcome))
      case .renew(let epoch):
        renew(
          audience, epoch: epoch, isForced: false, minimumLifetimeSeconds: minimumLifetimeSeconds,
          until: deadline, cancellation: cancellation, completion: completion)
      }
    } catch {
      completion(.failure(error))
    }
  }

  /// Renews now, even if the token is not due.
  /// - Parameter audience: nil for the session's own access token.
  public func refresh(
    for audience: TokenAudience? = nil, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> AccessOutcome {
    try blocking { done in
      refresh(for: audience, until: deadline, cancellation: cancellation, completion: done)
    }
  }

  /// As ``refresh(for:until:cancellation:)``, without blocking a thread.
  public func refresh(
    for audience: TokenAudience? = nil, until deadline: Instant, cancellation: (any Cancellation)?,
    completion: @escaping @Sendable (Result<AccessOutcome, EnrollError>) -> Void
  ) {
    do throws(EnrollError) {
      try requireOpen()
      let decision = try CallTimeout.until(deadline, by: clock, cancellation: cancellation) {
        () throws(EnrollError) in
        try engine.tokens.decideRefresh(for: audience)
      }
      switch decision {
      // Without a token there is nothing to renew; the user may not be signed in.
      case .answer(let outcome): completion(.success(outcome))
      case .renew(let epoch):
        renew(
          audience, epoch: epoch, isForced: true, minimumLifetimeSeconds: 0, until: deadline,
          cancellation: cancellation, completion: completion)
      }
    } catch {
      completion(.failure(error))
    }
  }

  /// Reports that a resource server refused this token. Returns another token, if necessary from a renewal.
  /// - Parameters:
  ///   - audience: the audience of the refused token; nil for the session's own token.
  public func rejected(
    _ accessToken: Secret, for audience: TokenAudience? = nil,
    until deadline: Instant,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> AccessOutcome {
    try blocking { done in
      rejected(
        accessToken, for: audience, until: deadline, cancellation: cancellation,
        completion: done)
    }
  }

  /// As ``rejected(_:for:until:cancellation:)``, without blocking a thread.
  public func rejected(
    _ accessToken: Secret, for audience: TokenAudience? = nil,
    until deadline: Instant,
    cancellation: (any Cancellation)?,
    completion: @escaping @Sendable (Result<AccessOutcome, EnrollError>) -> Void
  ) {
    do throws(EnrollError) {
      try requireOpen()
      let decision = try CallTimeout.until(deadline, by: clock, cancellation: cancellation) {
        () throws(EnrollError) in
        try engine.rejection.decideRejection(of: accessToken, for: audience)
      }
      switch decision {
      case .answer(let outcome): completion(.success(outcome))
      case .access:
        // The cache may still have the refused token after another process has replaced that token in the store.
        tokens.forget()
        access(
          minimumLifetimeSeconds: 0, for: audience, until: deadline, cancellation: cancellation,
          completion: completion)
      case .renew(let epoch):
        renew(
          audience, epoch: epoch, isForced: true, minimumLifetimeSeconds: 0, until: deadline,
          cancellation: cancellation, completion: completion)
      }
    } catch {
      completion(.failure(error))
    }
  }

  private func renew(
    _ audience: TokenAudience?, epoch: UInt64, isForced: Bool, minimumLifetimeSeconds: Int64,
    until deadline: Instant,
    cancellation: (any Cancellation)?,
    completion: @escaping @Sendable (Result<AccessOutcome, EnrollError>) -> Void
  ) {
    let request = RenewalRequest(audience: audience, epochs: [epoch], isForced: isForced)
    renewals.join(request, deadline: deadline, cancellation: cancellation) {
      [engine, runningRenewal] answer in
      let running = runningRenewal.withLock { $0 }
      completion(
        Self.outcome(
          of: answer, engine, minimumLifetimeSeconds, audience,
          running?.audience == audience ? running?.progress : nil))
    }
  }

  private static func outcome(
    of answer: RenewalCoordinator<RenewalRun>.Answer, _ engine: Engine, _ minimumLifetimeSeconds: Int64,
    _ audience: TokenAudience?, _ progress: CallTimeout.Progress?
  ) -> Result<AccessOutcome, EnrollError> {
    do throws(EnrollError) {
      switch answer {
      case .finished(let run):
        return run.answer(minimumLifetimeSeconds) {
          outcome(after: run.result, engine, minimumLifetimeSeconds, audience)
        }
      case .deadlinePassed:
        let late = Self.late(progress)
        return .success(try engine.tokens.liveToken(for: audience).map { .stale($0, reason: late) } ?? .busy)
      case .cancelled:
        return .failure(EnrollError(.cancelled, "the call was cancelled"))
      case .refused(let error):
        return .failure(error)
      }
    } catch {
      return .failure(error)
    }
  }

  private static func outcome(
    after result: Result<RenewalResult, EnrollError>, _ engine: Engine, _ minimumLifetimeSeconds: Int64,
    _ audience: TokenAudience?
  ) -> Result<AccessOutcome, EnrollError> {
    do throws(EnrollError) {
      switch result {
      case .success(let result):
        return .success(
          try engine.tokens.outcome(
            after: result, minimumLifetimeSeconds: minimumLifetimeSeconds, for: audience))
      case .failure(let error):
        if error.code == .storeLocked { return .success(.storeLocked) }
        // If the store cannot be read now, the renewal may have failed for the same reason. The caller gets the
        // renewal's error, because it says more than the store's error.
        if let live = try? engine.tokens.liveToken(for: audience) {
          return .success(.stale(live, reason: error))
        }
        return .failure(error)
      }
    } catch {
      return .failure(error)
    }
  }

  /// The error that says why the renewal had not ended when its caller's timeout passed.
  private static func late(_ progress: CallTimeout.Progress?) -> EnrollError {
    switch progress {
    case .committed: EnrollError(.deadlineExceeded, "the timeout passed; the renewal continues")
    case .waiting:
      EnrollError(.busy, "another process is renewing the token and did not finish before the timeout")
    case .proceeding, nil:
      EnrollError(
        .deadlineExceeded,
        "the timeout passed before the request was sent: the renewal waits for the store, another renewal or the network"
      ).unsent()
    }
  }

  /// Waits for a completion on this thread.
  private func blocking(
    _ start: (@escaping @Sendable (Result<AccessOutcome, EnrollError>) -> Void) -> Void
  ) throws(EnrollError) -> AccessOutcome {
    let done = Event()
    let box = Guarded<Result<AccessOutcome, EnrollError>?>(nil, by: Mutex())
    start { result in
      box.withLock { $0 = result }
      done.set()
    }
    done.wait()
    guard let result = box.withLock({ $0 }) else {
      throw EnrollError(.internal, "a completion has no result")
    }
    return try result.get()
  }

  /// The token in memory if it is fresh; nil otherwise. The store is not read.
  public func freshAccessToken(
    minimumLifetimeSeconds: Int64, for audience: TokenAudience? = nil
  ) -> AccessToken? {
    tokens.fresh(minimumLifetimeSeconds: minimumLifetimeSeconds, for: audience)
  }

  /// The access tokens that are stored, without their secrets.
  /// - Throws: as ``AccessStep/keptTokens()``.
  public func keptTokens() throws(EnrollError) -> [KeptToken] {
    try requireOpen()
    return try engine.tokens.keptTokens()
  }

  /// A pointer to the fresh token in memory, cheap enough to use before every request. Stays valid after the client has
  /// ended.
  public var tokenPointer: TokenPointer { tokens.tokenPointer }

  /// A DPoP proof (RFC 9449) for a request that the host itself sends with the access token. Sends no request.
  /// - Throws: as ``ProofStep/dpopProof(method:url:nonce:accessToken:)``.
  public func dpopProof(
    method: String, url: String, nonce: String? = nil, accessToken: Secret? = nil
  ) throws(EnrollError) -> String {
    try requireOpen()
    return try engine.proofs.dpopProof(method: method, url: url, nonce: nonce, accessToken: accessToken)
  }

  /// The provider's answer about one of the session's tokens (RFC 7662). If the access token is due, it is renewed
  /// first.
  /// - Throws: if there is no access token, the error that says why; in that case no introspection request was sent.
  public func introspect(
    _ subject: Introspection.Subject, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> JSONObject {
    try requireOpen()
    if engine.tokens.hasSession {
      _ = try access(minimumLifetimeSeconds: 0, until: deadline, cancellation: cancellation).token()
    }
    return try bounded(until: deadline, cancellation) { cancellation throws(EnrollError) in
      try engine.introspection.introspect(subject, cancellation: cancellation)
    }
  }
}

extension Client {
  /// Reports what will work at the provider, according to its metadata. No user signs in. Client id and redirect URI
  /// are checked only if the provider accepts pushed requests: the check pushes one request, which no browser opens.
  public func checkProvider(
    until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> ProviderCheck {
    try requireOpen()
    return try bounded(until: deadline, cancellation) { cancellation throws(EnrollError) in
      try engine.providerCheck.checkProvider(cancellation: cancellation)
    }
  }
}
