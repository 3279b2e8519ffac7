// The device grant (RFC 8628): a code to show, then polling until the user is done elsewhere. Everything that polling
// needs is in the store, so any process may go on with it; when the next poll may be sent stands there too, so that
// threads and processes together never ask more often than the server allows.

import EnrollCrypto

extension Engine {
  func beginDevice(
    _ options: SignInOptions, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Transaction {
    let metadata = try provider.metadata(cancellation: cancellation)
    let scopes = AuthorizationRequest.scopes(configuration, options)
    let request = try DeviceAuthorization.request(configuration, metadata, options, scopes: scopes)
    let asked = clock.moment()
    let http = try transport.send(request, cancellation: cancellation)
    let authorization: DeviceAuthorization
    do throws(EnrollError) {
      authorization = try DeviceAuthorization(
        processing: http, allowsLoopbackHTTP: configuration.allowsLoopbackHTTP)
    } catch {
      throw explained(error, scopes: scopes)
    }
    let transaction = TransactionRecord(
      id: Base64URL.encode(try random.bytes(16)), kind: .device, issuer: configuration.issuer,
      redirectURI: "", state: Secret([]), nonce: Secret([]), codeVerifier: Secret([]),
      dpopKey: try newDPoPKey(metadata),
      scopes: scopes,
      began: asked.wall,
      deadline: Expiry(lifetimeSeconds: authorization.lifetimeSeconds, from: asked),
      details: .device(
        deviceCode: authorization.deviceCode, intervalSeconds: authorization.intervalSeconds,
        notBefore: Expiry(lifetimeSeconds: authorization.intervalSeconds, from: clock.moment())))
    try remember(transaction)
    return Transaction(of: transaction, action: .showDeviceCode(authorization.shown))
  }

  /// Whether ``pollDevice(_:)`` would send a poll now. Reads only.
  public func isDevicePollDue(_ transactionID: String) throws(EnrollError) -> Bool {
    let known = try store.read(account)?.transactions.first { ASCII.equals($0.id, transactionID) }
    return known?.isDevicePollDue(at: clock.moment()) ?? false
  }

  /// Asks once whether the user is done, if it is time to. Not to be given up halfway: the answer may be the only one
  /// that brings the tokens.
  /// - Returns: how the transaction ended; nil while the user is not done, and when the server could not be asked.
  /// - Throws: store errors, `.tls`: the transaction stays pending.
  public func pollDevice(_ transactionID: String) throws(EnrollError) -> Settlement? {
    guard let (transaction, deviceCode, interval) = try takePoll(transactionID) else { return nil }
    let metadata: ProviderMetadata
    let sent: Moment
    let http: HTTPResponse
    do throws(EnrollError) {
      // The keys first: tokens that could not be checked would be lost.
      metadata = try provider.prepare(needsKeys: transaction.asksForIDToken, cancellation: nil)
      sent = clock.moment()
      let request = TokenRequest.poll(
        deviceCode: deviceCode, configuration: configuration, metadata: metadata)
      http = try send(request, provenBy: transaction.dpopKey, cancellation: nil).salvagingTokens()
    } catch {
      // RFC 8628 §3.5: after a time-out, ask less often.
      let isTimeout = error.code == .timeout
      try putOff(transactionID, bySeconds: isTimeout ? max(interval, min(interval * 2, 60)) : interval)
      // What is no HTTP, or no discovery document, is not the provider's word either.
      guard error.isRetryable || error.code == .responseInvalid else { throw error }
      return nil
    }

    switch DevicePollAnswer(processing: http) {
    case .pending:
      try putOff(transactionID, bySeconds: interval)
      return nil
    case .slowDown:
      try putOff(
        transactionID, bySeconds: interval + DevicePollAnswer.extraSeconds,
        atLeast: RetryAfter.seconds(of: http) ?? 0)
      return nil
    case .unclear(let error):
      try putOff(transactionID, bySeconds: interval, atLeast: error.retryAfterSeconds ?? 0)
      return nil
    case .ended(let error):
      try markExchanging(transaction)
      return try settle(transaction, failed: error)
    case .tokens:
      try markExchanging(transaction, holding: http)
      try apply(.advanced(transactionID: transactionID, step: .exchanging))
      do throws(EnrollError) {
        let arrived = try arrival(in: http, sent: sent, of: transaction, cancellation: nil)
        return try keep(arrived, of: transaction)
      } catch {
        return try settle(transaction, failed: error)
      }
    }
  }

  /// Takes the turn: until it is given back or runs out, nobody else polls for this transaction.
  private func takePoll(_ transactionID: String) throws(EnrollError) -> (TransactionRecord, Secret, Int64)? {
    guard try isDevicePollDue(transactionID) else { return nil }
    let moment = clock.moment()
    var taken: (TransactionRecord, Secret, Int64)?
    try store.update(account) { record throws(EnrollError) in
      taken = nil
      guard let index = record.transactions.firstIndex(where: { ASCII.equals($0.id, transactionID) }),
        record.transactions[index].isDevicePollDue(at: moment),
        case .device(let code, let interval, _) = record.transactions[index].details
      else { return }
      taken = (record.transactions[index], code, interval)
      record.transactions[index].details = .device(
        deviceCode: code, intervalSeconds: interval,
        notBefore: Expiry(lifetimeSeconds: HTTPRequest.totalTimeoutSeconds + interval, from: moment))
    }
    return taken
  }

  /// - Parameters:
  ///   - seconds: the interval from now on.
  ///   - wish: what the server asks for this once.
  private func putOff(
    _ transactionID: String, bySeconds seconds: Int64, atLeast wish: Int64 = 0
  ) throws(EnrollError) {
    let interval = min(seconds, DeviceAuthorization.maximumIntervalSeconds)
    let notBefore = Expiry(lifetimeSeconds: max(interval, wish), from: clock.moment())
    try store.update(account) { record throws(EnrollError) in
      guard let index = record.transactions.firstIndex(where: { ASCII.equals($0.id, transactionID) }),
        case .device(let code, _, _) = record.transactions[index].details
      else { return }
      record.transactions[index].details = .device(
        deviceCode: code, intervalSeconds: interval, notBefore: notBefore)
    }
  }
}

extension TransactionRecord {
  fileprivate func isDevicePollDue(at moment: Moment) -> Bool {
    guard isOpen, deadline.secondsLeft(at: moment) > 0, case .device(_, _, let notBefore) = details else {
      return false
    }
    return notBefore.isOver(at: moment)
  }
}
