// The device grant (RFC 8628): a code to show, then polling until the user is done elsewhere. Everything that polling
// needs is in the store, so any process may go on with it; when the next poll may be sent stands there too, so that
// threads and processes together never ask more often than the server allows.

import EnrollCrypto

extension Engine {
  func beginDevice(
    _ options: SignInOptions, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Transaction {
    let metadata = try provider.metadata(cancellation: cancellation)
    let scopes = AuthorizationRequest.scopes(configuration, options, listed: metadata.scopes)
    let request = try DeviceAuthorization.request(configuration, metadata, options, scopes: scopes)
    sendRevocations(cancellation: cancellation)
    let asked = clock.moment()
    let http = try atNamedEndpoint { () throws(EnrollError) in
      try transport.send(request, cancellation: cancellation)
    }
    let authorization: DeviceAuthorization
    do throws(EnrollError) {
      authorization = try DeviceAuthorization(
        processing: http, allowsLoopbackHTTP: configuration.allowsLoopbackHTTP)
    } catch {
      throw explained(error, scopes: scopes)
    }
    let transaction = TransactionRecord(
      id: try TransactionID(from: random), issuer: configuration.issuer, scopes: scopes,
      began: asked.wall,
      deadline: Expiry(lifetimeSeconds: authorization.lifetimeSeconds, from: asked),
      flow: .device(
        .init(
          code: authorization.deviceCode, intervalSeconds: authorization.intervalSeconds,
          notBefore: Expiry(lifetimeSeconds: authorization.intervalSeconds, from: clock.moment()),
          dpopKey: try newDPoPKey(metadata))))
    try remember(transaction)
    return Transaction(of: transaction, action: .showDeviceCode(authorization.shown))
  }

  /// Whether ``pollDevice(_:)`` would send a poll now. Reads only.
  public func isDevicePollDue(_ transactionID: TransactionID) throws(EnrollError) -> Bool {
    try store.read(account)?.transactions.named(transactionID)?.duePoll(at: clock.moment()) != nil
  }

  /// Asks once whether the user is done, if it is time to. Not to be given up halfway: the answer may be the only one
  /// that brings the tokens.
  /// - Returns: how the transaction ended; nil while the user is not done, and when the server could not be asked.
  /// - Throws: store errors, `.tls`: the transaction stays pending.
  public func pollDevice(_ transactionID: TransactionID) throws(EnrollError) -> Settlement? {
    guard let (transaction, device) = try takePoll(transactionID) else { return nil }
    let interval = device.intervalSeconds
    let metadata: ProviderMetadata
    let sent: Moment
    let http: HTTPResponse
    do throws(EnrollError) {
      // The keys first: tokens that could not be checked would be lost.
      metadata = try provider.prepare(needsKeys: transaction.asksForIDToken, cancellation: nil)
      sent = clock.moment()
      let request = TokenRequest.poll(
        deviceCode: device.code, configuration: configuration, metadata: metadata)
      http = try atNamedEndpoint { () throws(EnrollError) in
        try send(request, provenBy: device.dpopKey, cancellation: nil).salvagingTokens()
      }
    } catch {
      // RFC 8628 §3.5: after a time-out, ask less often.
      let isTimeout = error.code == .timeout
      try putOff(transactionID, bySeconds: isTimeout ? max(interval, min(interval * 2, 60)) : interval)
      // A response that is not HTTP, or not a discovery document, is not the provider's own answer either.
      guard error.isRetryable || error.code == .responseInvalid else { throw error }
      return nil
    }

    switch DevicePollAnswer(processing: http) {
    case .pending:
      try putOff(transactionID, bySeconds: interval)
      return nil
    case .slowDown(let named):
      try putOff(
        transactionID, bySeconds: max(interval + DevicePollAnswer.extraSeconds, named),
        atLeast: RetryAfter.seconds(of: http) ?? 0)
      return nil
    case .unclear(let error):
      try putOff(transactionID, bySeconds: interval, atLeast: error.retryAfterSeconds ?? 0)
      return nil
    case .ended(let error): return try conclude(transaction, failed: withRegistration(error))
    case .tokens:
      return try conclude(
        Grant(of: transaction, dpopKey: device.dpopKey), with: http, sent: sent, cancellation: nil)
    }
  }

  /// Takes the turn: until it is given back or runs out, nobody else polls for this transaction.
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
        transaction.flow = .device(device)
      }
    }
    return taken
  }

  /// - Parameters:
  ///   - seconds: the interval from now on.
  ///   - wish: what the server asks for this once.
  private func putOff(
    _ transactionID: TransactionID, bySeconds seconds: Int64, atLeast wish: Int64 = 0
  ) throws(EnrollError) {
    let interval = min(seconds, DeviceAuthorization.maximumIntervalSeconds)
    let notBefore = Expiry(lifetimeSeconds: max(interval, wish), from: clock.moment())
    try store.update(account) { record throws(EnrollError) in
      record.change(transactionID) { transaction in
        guard case .device(var device?) = transaction.flow else { return }
        (device.intervalSeconds, device.notBefore) = (interval, notBefore)
        transaction.flow = .device(device)
      }
    }
  }
}

extension TransactionRecord {
  /// The device to poll for, if it is time to; else nil.
  fileprivate func duePoll(at moment: Moment) -> Device? {
    guard isLive(at: moment), case .device(let device?) = flow, device.notBefore.isOver(at: moment) else {
      return nil
    }
    return device
  }
}
