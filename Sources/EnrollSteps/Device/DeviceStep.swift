// The device grant (RFC 8628): a code to show, then polling until the user has finished on the other device. The store
// has all the data for polling, so any process can continue to poll. The store also has the time of the next poll, so
// that all threads and processes together never poll more often than the server allows.

public import EnrollRules

/// Signs in with a code on another device.
public final class DeviceStep: EngineStep {
  let context: EngineContext
  private let requests: ClientRequests
  private let outbox: OutboxStep
  private let transactions: TransactionStep
  private let authorization: AuthorizationStep
  private let conclusion: ConclusionStep

  init(
    _ context: EngineContext, requests: ClientRequests, outbox: OutboxStep, transactions: TransactionStep,
    authorization: AuthorizationStep, conclusion: ConclusionStep
  ) {
    self.context = context
    self.requests = requests
    self.outbox = outbox
    self.transactions = transactions
    self.authorization = authorization
    self.conclusion = conclusion
  }

  /// After this many polls in a row with status 500, the transaction ends: the server would probably fail at every
  /// later poll, too.
  static let serverErrorsPerDevice: Int64 = 12

  /// Begins a device grant. If the server refuses scopes, the request is sent again without the scopes that the server
  /// may refuse for this grant: a default `offline_access`, and `openid`, which RFC 8628 does not mention and Spring
  /// refuses.
  func beginDevice(
    _ given: SignInOptions, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Transaction {
    let metadata = try provider.metadata(cancellation: cancellation)
    let options = try authorization.withoutRefused(given, at: metadata)
    var scopes = AuthorizationRequest.scopes(configuration, options, at: metadata)
    var refusal: EnrollError?
    while true {
      do throws(EnrollError) {
        let begun = try beginDevice(options, scopes, metadata, cancellation)
        if refusal != nil { warn(Self.lacksOpenID) }
        return begun
      } catch {
        if given.scopes == nil, authorization.noticesRefusal(error, of: scopes) {
          scopes.removeAll { AuthorizationStep.isOfflineAccess($0) }
          continue
        }
        guard refusal == nil, error.isAboutScopes, Scopes.contains("openid", in: scopes),
          !configuration.requireVerifiedEmail
        else { throw refusal ?? error }
        refusal = error
        scopes.removeAll { ASCII.equals($0, "openid") }
      }
    }
  }

  private static var lacksOpenID: EnrollError {
    EnrollError(
      .unsupported,
      "the provider refuses the scope openid in the device grant. The sign-in goes on without it, so the provider may not say who the user is",
      field: "scopes")
  }

  private func beginDevice(
    _ options: SignInOptions, _ scopes: [String], _ metadata: ProviderMetadata,
    _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Transaction {
    let pkce = try PKCE.make(random: try random.bytes(PKCE.randomByteCount))
    let request = try DeviceAuthorization.request(
      configuration, metadata, options, scopes: scopes, challenge: pkce.challenge)
    outbox.sendRevocations(cancellation: cancellation)
    let asked = clock.moment()
    let http = try requests.atNamedEndpoint { () throws(EnrollError) in
      try requests.sendAsClient(request, of: metadata, cancellation: cancellation)
    }
    let authorization: DeviceAuthorization
    do throws(EnrollError) {
      authorization = try DeviceAuthorization(
        processing: http, allowsLoopbackHTTP: configuration.allowsLoopbackHTTP)
    } catch {
      throw self.authorization.explained(error, scopes: scopes)
    }
    let transaction = TransactionRecord(
      id: try TransactionID(from: random), issuer: configuration.issuer, scopes: scopes,
      began: asked.wall,
      deadline: Expiry(
        lifetimeSeconds: authorization.lifetimeSeconds + TransactionRecord.Device.extraSeconds, from: asked),
      flow: .device(
        .init(
          code: authorization.deviceCode, intervalSeconds: authorization.intervalSeconds,
          notBefore: Expiry(lifetimeSeconds: authorization.firstPollSeconds, from: clock.moment()),
          dpopKey: try requests.newDPoPKey(metadata), codeVerifier: pkce.verifier)))
    try transactions.remember(transaction)
    return Transaction(of: transaction, action: .showDeviceCode(authorization.shown))
  }

  /// Whether ``pollDevice(_:)`` would send a poll now. Only reads.
  public func isDevicePollDue(_ transactionID: TransactionID) throws(EnrollError) -> Bool {
    try store.read(account)?.transactions.named(transactionID)?.duePoll(at: clock.moment()) != nil
  }

  /// Asks once whether the user has finished, if a poll is due. Do not abandon the call, because its response may have
  /// the tokens, which are sent only once.
  /// - Returns: the end of the transaction; nil while the user has not finished, and if the server could not be asked.
  /// - Throws: the errors of the store, and `.tls`; the transaction then stays pending.
  public func pollDevice(_ transactionID: TransactionID) throws(EnrollError) -> Settlement? {
    guard let (transaction, device) = try takePoll(transactionID) else { return nil }
    let interval = device.intervalSeconds
    let metadata: ProviderMetadata
    var sent: Moment?
    let http: HTTPResponse
    do throws(EnrollError) {
      // The keys are fetched before the poll, because tokens that cannot be checked would be lost.
      metadata = try provider.prepare(needsKeys: transaction.asksForIDToken, cancellation: nil)
      sent = clock.moment()
      let request = TokenRequest.poll(
        deviceCode: device.code, codeVerifier: device.codeVerifier, configuration: configuration,
        metadata: metadata)
      http = try requests.atNamedEndpoint { () throws(EnrollError) in
        try requests.sendAsClient(request, of: metadata, provenBy: device.dpopKey, cancellation: nil)
          .salvagingTokens()
      }
    } catch {
      // After a timeout, polls must be less frequent (RFC 8628 §3.5).
      let isTimeout = error.code == .timeout
      let isLost = sent != nil && !error.isUnsent
      try putOff(
        transactionID, bySeconds: isTimeout ? max(interval, min(interval * 2, 60)) : interval,
        isLost ? TransactionRecord.Device.lostAnswer(error.message) : device.answer(orUnclear: error.message))
      // A response that is not HTTP, or not a discovery document, also means that the provider could not be asked.
      guard error.isRetryable || error.code == .responseInvalid else { throw error }
      return nil
    }

    switch DevicePollAnswer(processing: http) {
    case .pending:
      try putOff(transactionID, bySeconds: interval, "authorization_pending")
      return nil
    case .slowDown(let named):
      try putOff(
        transactionID, bySeconds: max(interval + DevicePollAnswer.extraSeconds, named),
        atLeast: RetryAfter.seconds(of: http) ?? 0, "slow_down")
      return nil
    case .unclear(let error):
      let serverErrors = error.httpStatus == 500 ? device.serverErrors + 1 : 0
      guard serverErrors < Self.serverErrorsPerDevice else {
        return try conclusion.conclude(
          transaction,
          failed: error.saying(
            "the provider failed to answer \(serverErrors) polls in a row, so the sign-in ends: \(error.message)"
          ))
      }
      try putOff(
        transactionID, bySeconds: interval, atLeast: error.retryAfterSeconds ?? 0,
        device.answer(orUnclear: error.message), serverErrors: serverErrors)
      return nil
    case .ended(let error):
      return try conclusion.conclude(
        transaction, failed: context.withRegistration(device.hasLostAnswer ? error.afterLostAnswer : error))
    case .tokens:
      return try conclusion.conclude(
        Grant(of: transaction, dpopKey: device.dpopKey), with: http, sent: sent ?? clock.moment(),
        cancellation: nil)
    }
  }

  /// Reserves the next poll: until this call's result is stored or the reservation expires, no other thread or process
  /// polls for this transaction.
  private func takePoll(
    _ transactionID: TransactionID
  ) throws(EnrollError) -> (TransactionRecord, TransactionRecord.Device)? {
    guard try isDevicePollDue(transactionID) else { return nil }
    let moment = clock.moment()
    var taken: (TransactionRecord, TransactionRecord.Device)?
    try store.update(account) { record throws(EnrollError) in
      taken = nil
      record.change(transactionID) { transaction in
        guard var device = transaction.duePoll(at: moment) else { return }
        taken = (transaction, device)
        device.notBefore = Expiry(
          lifetimeSeconds: HTTPRequest.totalTimeoutSeconds + device.intervalSeconds, from: moment)
        device.lastAnswer = TransactionRecord.Device.lostAnswer()
        transaction.flow = .device(device)
      }
    }
    return taken
  }

  /// Stores when the next poll is due.
  /// - Parameters:
  ///   - seconds: the interval between polls from now on.
  ///   - wish: the pause that the server asks for before the next poll only.
  ///   - answer: the response, as text.
  ///   - serverErrors: the number of polls in a row that were answered with status 500.
  private func putOff(
    _ transactionID: TransactionID, bySeconds seconds: Int64, atLeast wish: Int64 = 0, _ answer: String,
    serverErrors: Int64 = 0
  ) throws(EnrollError) {
    let interval = min(seconds, DeviceAuthorization.maximumIntervalSeconds)
    let notBefore = Expiry(lifetimeSeconds: max(interval, wish), from: clock.moment())
    try store.update(account) { record throws(EnrollError) in
      record.change(transactionID) { transaction in
        guard case .device(var device?) = transaction.flow else { return }
        (device.intervalSeconds, device.notBefore) = (interval, notBefore)
        (device.lastAnswer, device.serverErrors) = (answer, serverErrors)
        transaction.flow = .device(device)
      }
    }
  }
}

extension TransactionRecord.Device {
  /// The text for ``lastAnswer`` after a poll that got no answer of the provider. An earlier response that is lost is
  /// still lost.
  fileprivate func answer(orUnclear words: String) -> String {
    hasLostAnswer ? lastAnswer ?? words : words
  }
}

extension EnrollError {
  /// This error of a poll if the response to an earlier poll is lost. If that response had the tokens, the provider
  /// answers every later poll as if the code were unknown or had expired.
  fileprivate var afterLostAnswer: EnrollError {
    let unknownCode = ["invalid_grant", "incorrect_device_code", "bad_verification_code"]
    let isUnknown = oauthError.map { code in unknownCode.contains { ASCII.equals($0, code) } } ?? false
    guard isUnknown || code == .transactionExpired else { return self }
    return saying(
      "\(message). The answer to an earlier poll was lost, and may have had the tokens: begin the sign-in again, with a new code"
    )
  }
}
