// Passwordless sign-in (flows.md §6): a code that the user types, or a link that comes back as a redirect. The code's
// tries are counted in the store before each is sent, so that neither threads nor restarts give more of them.

public import EnrollCrypto

extension Engine {
  func beginPasswordless(
    _ options: SignInOptions, loopbackRedirectURI: String?, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Transaction {
    let recipient = try PasswordlessRequest.recipient(configuration, options)
    let moment = clock.moment()
    switch options.message {
    case .code:
      let scopes = AuthorizationRequest.scopes(configuration, options)
      try options.check(sending: scopes)
      let transaction = TransactionRecord(
        id: Base64URL.encode(try random.bytes(16)), kind: .passwordless, issuer: configuration.issuer,
        redirectURI: "", state: Secret([]), nonce: Secret([]), codeVerifier: Secret([]), scopes: scopes,
        began: moment.wall,
        deadline: Expiry(lifetimeSeconds: configuration.transactionSeconds, from: moment),
        step: .codePending, details: .passwordless(recipient, tries: 0))
      try send(to: recipient, nil, options, cancellation)
      try remember(transaction)
      return Transaction(of: transaction, action: .enterCode(recipient: recipient.address))
    case .link:
      let metadata = try provider.metadata(cancellation: cancellation)
      var request = try AuthorizationRequest.make(
        configuration: configuration, metadata: metadata, options: options,
        redirectURI: loopbackRedirectURI, dpopKey: try newDPoPKey(metadata), at: moment,
        random: try random.bytes(AuthorizationRequest.randomByteCount))
      request.transaction.deadline = Expiry(lifetimeSeconds: configuration.emailWaitSeconds, from: moment)
      request.transaction.step = .emailPending
      request.transaction.details = .passwordless(recipient, tries: 0)
      try send(to: recipient, request, options, cancellation)
      try remember(request.transaction)
      return Transaction(of: request.transaction, action: .awaitLink(recipient: recipient.address))
    }
  }

  private func send(
    to recipient: Recipient, _ authorization: AuthorizationRequest?, _ options: SignInOptions,
    _ cancellation: (any Cancellation)?
  ) throws(EnrollError) {
    let request = try PasswordlessRequest.start(
      recipient, authorization: authorization, configuration: configuration, options: options)
    try PasswordlessRequest.accept(try transport.send(request, cancellation: cancellation))
  }

  /// Takes the one-time code that the user typed.
  /// - Throws: `.codeRejected` when it is wrong, and the transaction waits for another; `.network` and its kin when the
  ///   provider could not be asked, and nothing changed; `.notFound`, `.alreadySettled`, `.transactionExpired`,
  ///   `.illegalState` when no code is awaited; `.invalidArgument`.
  public func submitCode(
    _ code: Secret, transactionID: String, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Settlement {
    try requireNative()
    guard
      code.withBytes({
        (1...PasswordlessRequest.maximumCodeBytes).contains($0.count)
          && $0.allSatisfy { $0 > 0x20 && $0 < 0x7F }
      })
    else {
      throw EnrollError(
        .invalidArgument,
        "code: 1 to \(PasswordlessRequest.maximumCodeBytes) visible characters were expected",
        field: "code")
    }
    let known = try openTransaction(transactionID)
    guard known.kind == .passwordless, known.step == .codePending else {
      throw EnrollError(.illegalState, "this transaction waits for no code", field: "transaction")
    }
    // All that the answer needs of the network beside itself: tokens that could not be checked would be lost.
    let metadata = try provider.prepare(needsKeys: known.asksForIDToken, cancellation: cancellation)
    let dpopKey = try newDPoPKey(metadata)
    var (transaction, recipient, tries) = try takeTry(of: known)
    transaction.dpopKey = dpopKey
    let sent = clock.moment()
    let http: HTTPResponse
    do throws(EnrollError) {
      let request = PasswordlessRequest.redeem(
        code, of: recipient, scopes: transaction.scopes, configuration: configuration, metadata: metadata)
      http = try send(request, provenBy: dpopKey, cancellation: cancellation).salvagingTokens()
    } catch {
      try giveBackTry(transactionID)
      throw error
    }
    return try conclude(http, sent: sent, transaction, tries: tries, cancellation)
  }

  private func conclude(
    _ http: HTTPResponse, sent: Moment, _ transaction: TransactionRecord, tries: Int64,
    _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Settlement {
    switch PasswordlessAnswer(processing: http) {
    case .tokens:
      try markExchanging(transaction, holding: http)
      try apply(.advanced(transactionID: transaction.id, step: .exchanging))
      do throws(EnrollError) {
        let arrived = try arrival(in: http, sent: sent, of: transaction, cancellation: cancellation)
        return try keep(arrived, of: transaction)
      } catch {
        return try settle(transaction, failed: error)
      }
    case .wrong(let error):
      let left = PasswordlessRequest.maximumTries - tries
      guard left > 0 else {
        try markExchanging(transaction)
        let text = "the code was wrong \(tries) times: begin again"
        return try settle(
          transaction,
          failed: EnrollError(
            .accessDenied, text, field: "code", httpStatus: error.httpStatus, oauthError: error.oauthError))
      }
      try apply(.advanced(transactionID: transaction.id, step: .codePending))
      let rejection = EnrollError(
        .codeRejected, "the code is wrong or too old; \(left) tries are left", field: "code",
        httpStatus: error.httpStatus, oauthError: error.oauthError)
      notify(.errorReported(rejection))
      throw rejection
    case .ended(let error):
      try markExchanging(transaction)
      return try settle(transaction, failed: error)
    case .unclear(let error):
      try giveBackTry(transaction.id)
      throw error
    }
  }

  /// - Throws: `.notFound`, `.alreadySettled`, `.transactionExpired`.
  private func openTransaction(_ id: String) throws(EnrollError) -> TransactionRecord {
    guard let known = try store.read(account)?.transactions.first(where: { ASCII.equals($0.id, id) }) else {
      throw EnrollError(.notFound, "no transaction has this id", field: "transaction")
    }
    guard known.isOpen else { throw EnrollError(.alreadySettled, "this transaction was settled before") }
    guard known.deadline.secondsLeft(at: clock.moment()) > 0 else {
      throw EnrollError(.transactionExpired, "the transaction's deadline has passed (R12)")
    }
    return known
  }

  /// One try less, durably, before the code leaves.
  private func takeTry(of known: TransactionRecord) throws(EnrollError) -> (
    TransactionRecord, Recipient, Int64
  ) {
    var taken: (TransactionRecord, Recipient, Int64)?
    try store.update(account) { record throws(EnrollError) in
      taken = nil
      guard let index = record.transactions.firstIndex(where: { ASCII.equals($0.id, known.id) }),
        record.transactions[index].isOpen,
        case .passwordless(let recipient, let tries) = record.transactions[index].details,
        tries < PasswordlessRequest.maximumTries
      else { return }
      record.transactions[index].details = .passwordless(recipient, tries: tries + 1)
      taken = (record.transactions[index], recipient, tries + 1)
    }
    guard let taken else {
      throw EnrollError(.alreadySettled, "this transaction was settled before, or takes no more codes")
    }
    return taken
  }

  /// Nothing is known of the code: the provider was not asked, or in trouble.
  private func giveBackTry(_ transactionID: String) throws(EnrollError) {
    try store.update(account) { record throws(EnrollError) in
      guard let index = record.transactions.firstIndex(where: { ASCII.equals($0.id, transactionID) }),
        case .passwordless(let recipient, let tries) = record.transactions[index].details, tries > 0
      else { return }
      record.transactions[index].details = .passwordless(recipient, tries: tries - 1)
    }
  }
}
