// Passwordless sign-in (flows.md §6): a code that the user types, or a link that returns as a redirect. Each try is
// counted in the store before it is sent, so that neither threads nor restarts allow more tries.

public import EnrollCrypto
public import EnrollRules

/// Signs in with a one-time code or a link.
public final class PasswordlessStep: StateChangingStep {
  let context: EngineContext
  let machine: StateMachine
  private let requests: ClientRequests
  private let outbox: OutboxStep
  private let transactions: TransactionStep
  private let conclusion: ConclusionStep

  init(
    _ context: EngineContext, machine: StateMachine, requests: ClientRequests, outbox: OutboxStep,
    transactions: TransactionStep, conclusion: ConclusionStep
  ) {
    self.context = context
    self.machine = machine
    self.requests = requests
    self.outbox = outbox
    self.transactions = transactions
    self.conclusion = conclusion
  }

  func beginPasswordless(
    _ options: SignInOptions, loopbackRedirectURI: String?, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Transaction {
    let recipient = try PasswordlessRequest.recipient(configuration, options)
    outbox.sendRevocations(cancellation: cancellation)
    let moment = clock.moment()
    switch options.message {
    case .code:
      let scopes = AuthorizationRequest.scopes(
        configuration, options, at: provider.cachedMetadata)
      try options.check(sending: scopes)
      let transaction = TransactionRecord(
        id: try TransactionID(from: random), issuer: configuration.issuer, scopes: scopes,
        began: moment.wall,
        deadline: Expiry(lifetimeSeconds: configuration.transactionSeconds, from: moment),
        flow: .oneTimeCode(.init(to: recipient)))
      try send(to: recipient, nil, options, cancellation)
      try transactions.remember(transaction)
      return Transaction(of: transaction, action: .enterCode(recipient: recipient.address))
    case .link:
      let metadata = try provider.metadata(cancellation: cancellation)
      var request = try AuthorizationRequest.make(
        configuration: configuration, metadata: metadata, options: options,
        redirectURI: loopbackRedirectURI, dpopKey: try requests.newDPoPKey(metadata), at: moment,
        random: try random.bytes(AuthorizationRequest.randomByteCount))
      request.transaction.deadline = Expiry(lifetimeSeconds: configuration.emailWaitSeconds, from: moment)
      request.transaction.flow = .magicLink(.init(request.sent, to: recipient))
      try send(to: recipient, request, options, cancellation)
      try transactions.remember(request.transaction)
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

  /// Submits the one-time code that the user typed.
  /// - Throws: `.codeRejected` if the code is wrong, after which the transaction waits for another code; `.network`
  ///   and related errors if the provider could not be reached, and then nothing has changed; `.notFound`,
  ///   `.alreadySettled`, `.transactionExpired`; `.illegalState` if the transaction waits for no code;
  ///   `.invalidArgument`.
  public func submitCode(
    _ code: Secret, transactionID: TransactionID, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Settlement {
    try context.requireNative()
    guard
      code.withBytes({
        (1...PasswordlessRequest.maximumCodeBytes).contains($0.count)
          && $0.allSatisfy { $0 > 0x20 && $0 < 0x7F }
      })
    else {
      throw EnrollError(
        .invalidArgument,
        "code: expected 1 to \(PasswordlessRequest.maximumCodeBytes) visible characters",
        field: "code")
    }
    let known = try transactions.transaction(transactionID)
    try known.requireLive(at: clock.moment())
    guard case .oneTimeCode = known.flow else {
      throw EnrollError(.illegalState, "this transaction does not wait for a code", field: "transaction")
    }
    // First fetches everything else that is needed from the network, because tokens that cannot be checked would be
    // lost.
    let metadata = try provider.prepare(needsKeys: known.asksForIDToken, cancellation: cancellation)
    let dpopKey = try requests.newDPoPKey(metadata)
    let (transaction, awaited) = try takeTry(of: known)
    let sent = clock.moment()
    let http: HTTPResponse
    do throws(EnrollError) {
      let request = PasswordlessRequest.redeem(
        code, of: awaited.recipient, scopes: transaction.scopes, configuration: configuration,
        metadata: metadata)
      http = try requests.atNamedEndpoint { () throws(EnrollError) in
        try requests.sendAsClient(request, of: metadata, provenBy: dpopKey, cancellation: cancellation)
          .salvagingTokens()
      }
    } catch {
      try giveBackTry(transactionID)
      throw error
    }
    switch PasswordlessAnswer(processing: http) {
    case .tokens:
      return try conclusion.conclude(
        Grant(of: transaction, dpopKey: dpopKey), with: http, sent: sent, cancellation: cancellation)
    case .wrong(let error):
      let left = PasswordlessRequest.maximumTries - awaited.tries
      guard left > 0 else {
        return try conclusion.conclude(
          transaction,
          failed: EnrollError(
            .accessDenied, "the code was wrong \(awaited.tries) times: begin again", field: "code",
            httpStatus: error.httpStatus, oauthError: error.oauthError,
            oauthErrorDescription: error.oauthErrorDescription))
      }
      try apply(.advanced(transactionID: transaction.id, step: .codePending))
      let rejection = EnrollError(
        .codeRejected, "the code is wrong or too old; \(left) tries are left", field: "code",
        httpStatus: error.httpStatus, oauthError: error.oauthError,
        oauthErrorDescription: error.oauthErrorDescription)
      notify(.errorReported(rejection))
      throw rejection
    case .ended(let error): return try conclusion.conclude(transaction, failed: error)
    case .unclear(let error):
      try giveBackTry(transaction.id)
      throw error
    }
  }

  /// Counts a try durably, before the code is sent.
  /// - Returns: the transaction, and its data with this try counted.
  private func takeTry(
    of known: TransactionRecord
  ) throws(EnrollError) -> (TransactionRecord, TransactionRecord.OneTimeCode) {
    var taken: (TransactionRecord, TransactionRecord.OneTimeCode)?
    try store.update(account) { record throws(EnrollError) in
      taken = nil
      record.change(known.id) { transaction in
        guard transaction.isOpen, case .oneTimeCode(var code?) = transaction.flow,
          code.tries < PasswordlessRequest.maximumTries
        else { return }
        code.tries += 1
        transaction.flow = .oneTimeCode(code)
        taken = (transaction, code)
      }
    }
    guard let taken else {
      throw EnrollError(.alreadySettled, "this transaction was settled before, or accepts no more codes")
    }
    return taken
  }

  /// Takes back the count of a try, because the provider did not check the code: the request was not sent, or the
  /// provider had a problem.
  private func giveBackTry(_ transactionID: TransactionID) throws(EnrollError) {
    try store.update(account) { record throws(EnrollError) in
      record.change(transactionID) { transaction in
        guard case .oneTimeCode(var code?) = transaction.flow, code.tries > 0 else { return }
        code.tries -= 1
        transaction.flow = .oneTimeCode(code)
      }
    }
  }
}
