// Signing in: begin hands out the authorize URL, resume takes the redirect back (flows.md §2, R5-R8, R13-R17, R21-R30).
// And a refused scope in words (RFC 6749 §4.1.2.1, §5.2).

import EnrollCrypto
import EnrollJSON

extension Engine {
  /// Transactions kept per account. The oldest of those that are settled gives way, then of those that were given up;
  /// one that waits for its answer never does.
  public static let transactionLimit = 32
  /// No exchange takes longer: six requests, one after the other, at most.
  public static let exchangeSeconds: Int64 = 6 * HTTPRequest.totalTimeoutSeconds

  /// Begins a sign-in.
  /// - Parameters:
  ///   - redirectURI: the redirect URI to send where it is not the configured one: a loopback listener's, with its port.
  /// - Throws: `.illegalState`, `.network` and its kin when discovery fails, `.issuerMismatch`, store errors.
  public func begin(
    _ options: SignInOptions, loopbackRedirectURI: String? = nil, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Transaction {
    try requireNative()
    if state == .starting { _ = try settleBesideSession(cancellation: cancellation) }
    try require(.begun(transactionID: "", step: .browser))
    switch options.kind {
    case .signIn, .register:
      if options.kind == .register, case .page(let page) = configuration.registration {
        return try beginAtPage(page, options)
      }
      return try beginInBrowser(options, loopbackRedirectURI: loopbackRedirectURI, cancellation: cancellation)
    case .bff:
      try requireBearerTokensAllowed()
      return try beginAtBackend(options, loopbackRedirectURI: loopbackRedirectURI)
    case .app2app:
      try requireBearerTokensAllowed()
      return try beginWithApp2App(options, cancellation: cancellation)
    case .device:
      let chosen = try withoutRefused(options)
      do throws(EnrollError) {
        return try beginDevice(chosen, cancellation: cancellation)
      } catch {
        let scopes = AuthorizationRequest.scopes(configuration, chosen, listed: nil)
        guard chosen.scopes == nil, noticesRefusal(error, of: scopes) else { throw error }
        return try beginDevice(try withoutRefused(options), cancellation: cancellation)
      }
    case .passwordless:
      return try beginPasswordless(
        options, loopbackRedirectURI: loopbackRedirectURI, cancellation: cancellation)
    }
  }

  private func beginInBrowser(
    _ given: SignInOptions, loopbackRedirectURI: String?, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Transaction {
    let options = try withoutRefused(given)
    let metadata = try provider.metadata(cancellation: cancellation)
    let asksForLogin = try store.read(account)?.asksForLogin ?? false
    let moment = clock.moment()
    let request = try AuthorizationRequest.make(
      configuration: configuration, metadata: metadata, options: options,
      redirectURI: loopbackRedirectURI, asksForLogin: asksForLogin,
      dpopKey: try newDPoPKey(metadata), at: moment,
      random: try random.bytes(AuthorizationRequest.randomByteCount))
    if let warning = request.warning { warn(warning) }
    let url: String
    do throws(EnrollError) {
      url = try browserURL(of: request, metadata: metadata, cancellation: cancellation)
    } catch {
      guard given.scopes == nil, noticesRefusal(error, of: request.transaction.scopes) else { throw error }
      return try beginInBrowser(
        given, loopbackRedirectURI: loopbackRedirectURI, cancellation: cancellation)
    }
    try remember(request.transaction)
    return Transaction(of: request.transaction, action: .openURL(url))
  }

  /// The gateway's own page: nothing redirects from there, so the transaction waits for the link in an e-mail at once
  /// (flows.md §3). What is asked for now is asked for again with the link.
  private func beginAtPage(_ page: String, _ options: SignInOptions) throws(EnrollError) -> Transaction {
    let transaction = try AuthorizationRequest.atPage(
      configuration: configuration, options: options, at: clock.moment(), random: try random.bytes(16))
    try remember(transaction)
    return Transaction(of: transaction, action: .openURL(page))
  }

  /// Into the store before the host hears of it: whoever gets the answer knows the transaction (R12).
  /// - Parameter change: what else the same save holds; made first.
  /// - Throws: `.busy` when as many as are kept wait for their answers.
  func remember(
    _ transaction: TransactionRecord,
    also change: (inout AccountRecord) throws(EnrollError) -> Void = { _ in }
  ) throws(EnrollError) {
    let moment = clock.moment()
    try store.update(account) { record throws(EnrollError) in
      // One in the middle of its exchange may end after its deadline.
      record.transactions.removeAll {
        $0.deadline.secondsLeft(at: moment) <= ($0.status == .exchanging ? -Self.exchangeSeconds : 0)
      }
      try change(&record)
      try record.makeRoom(at: moment)
      record.transactions.append(transaction)
    }
    try apply(.begun(transactionID: transaction.id, step: transaction.step))
  }

  /// Where an account has no room for another transaction: settles those whose process has ended, and with it the listener for
  /// their redirect (R4, R12).
  /// - Parameter isListenedAt: whether a program listens at a loopback redirect URI.
  public func settleAbandoned(unless isListenedAt: (String) -> Bool) throws(EnrollError) {
    let transactions = try store.read(account)?.transactions ?? []
    guard transactions.count >= Self.transactionLimit else { return }
    let abandoned = transactions.filter { transaction in
      transaction.status == .pending && !transaction.survivesProcess
        && !(transaction.redirectURI.map(isListenedAt) ?? true)
    }
    guard !abandoned.isEmpty else { return }
    try store.update(account) { record throws(EnrollError) in
      for transaction in abandoned { record.settle(transaction.id, as: .failed) }
    }
  }

  /// Takes a redirect back and carries its transaction to its end.
  /// - Parameter transactionID: the transaction that the host takes it for; needed only for a return without `state`
  ///   when several are pending (R6).
  /// - Parameter goesOn: whether the caller opens ``Settlement/nextURL``; else what could go on there ends.
  /// - Throws: when the URL settles nothing: `.redirectMalformed`, `.redirectMismatch`, `.unsolicited`,
  ///   `.alreadySettled`, `.transactionExpired`; or when the provider cannot be reached before the
  ///   code is sent: `.network` and its kin. No side effect then (R6), the transaction stays pending.
  public func resume(
    _ url: String, transactionID: TransactionID? = nil, goesOn: Bool = false,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Settlement {
    try requireNative()
    let redirect = try Redirect(parsing: url, configured: configuration.redirectURI)
    if let settlement = try resumeFromApp2App(
      redirect, transactionID: transactionID, cancellation: cancellation)
    {
      return settlement
    }
    let record = try store.read(account) ?? AccountRecord()
    let transactions = record.transactions
    var verified = try VerifiedRedirect(
      verifying: redirect, among: transactions, named: transactionID,
      issuerAnnounced: provider.cachedMetadata?.announcesIssuerInRedirect ?? false,
      acceptsTokens: configuration.bff?.dangerouslyAcceptsTokenInRedirect ?? false, at: clock.moment())
    if case .code = verified.answer, verified.transaction.codeRequest != nil {
      // All that the exchange needs of the network beside the exchange: without it the transaction stays pending, and
      // the same URL may be tried again.
      let metadata = try provider.prepare(
        needsKeys: verified.transaction.asksForIDToken, cancellation: cancellation)
      verified = try VerifiedRedirect(
        verifying: redirect, among: transactions, named: transactionID,
        issuerAnnounced: metadata.announcesIssuerInRedirect,
        at: clock.moment())
    }
    let transaction = verified.transaction
    switch verified.answer {
    case .error(let told):
      let error = told.hiding(SentSecrets(of: record))
      // No automatic step on the word of an answer without iss, where every answer has one (R17).
      let isIdentified =
        redirect.issuer != nil || provider.cachedMetadata?.announcesIssuerInRedirect == false
      if goesOn, isIdentified,
        let next = leaveOutOfflineAccess(of: transaction, after: error, cancellation: cancellation)
      {
        return Settlement(transaction.id, goesOnAt: next, after: error)
      }
      let fallsBack = transaction.isSilentFallback && error.asksForUser && isIdentified
      var settlement = try conclude(
        transaction, failed: explained(transaction.explained(error), scopes: transaction.scopes),
        isReported: !fallsBack)
      if fallsBack { settlement.silentFallback = transaction }
      return settlement
    case .code(let code):
      return try conclude(transaction, goesOn: goesOn, cancellation) { () throws(EnrollError) in
        if case .bff(let bff) = transaction.flow {
          return try redeem(code, of: bff, asked: transaction.issuer.text, cancellation: cancellation)
        }
        return try exchange(
          code, of: transaction, namedIssuer: redirect.issuer, cancellation: cancellation)
      }
    case .sessionToken(let token, let lifetimeSeconds):
      return try conclude(transaction) { () throws(EnrollError) in
        accept(token, lifetimeSeconds: lifetimeSeconds, cancellation: cancellation)
      }
    }
  }

  /// Code to proven tokens.
  private func exchange(
    _ code: Secret, of transaction: TransactionRecord, namedIssuer: Issuer?,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Arrival {
    guard let request = transaction.codeRequest, let secrets = request.secrets else { throw .settledBefore }
    let metadata = try provider.metadata(cancellation: cancellation)
    let exchange = TokenRequest.exchange(
      code: code, redirectURI: request.redirect.uri, codeVerifier: secrets.codeVerifier,
      configuration: configuration, metadata: metadata)
    let sent = clock.moment()
    let http = try atNamedEndpoint { () throws(EnrollError) in
      try send(exchange, provenBy: secrets.dpopKey, cancellation: cancellation)
    }
    return try arrival(
      in: http, sent: sent, of: Grant(request, of: transaction, namedIssuer: namedIssuer),
      cancellation: cancellation)
  }

  /// Where a transaction stands.
  /// - Throws: `.notFound`; `.transactionExpired` when its deadline passed before its redirect came, or its exchange cannot
  ///   go on any more.
  public func transactionStatus(_ transactionID: TransactionID) throws(EnrollError)
    -> TransactionRecord.Status
  {
    let known = try transaction(transactionID)
    guard !known.isOpen || known.isLive(at: clock.moment()) else { throw .pastDeadline }
    if known.status == .exchanging, known.deadline.secondsLeft(at: clock.moment()) <= -Self.exchangeSeconds {
      throw Self.exchangeDied
    }
    return known.status
  }

  /// The process that sent the code has ended: its answer is lost, and the code is spent.
  public static var exchangeDied: EnrollError {
    EnrollError(
      .transactionExpired,
      "the process that sent the code of this sign-in ended before the tokens were stored; begin the sign-in again"
    )
  }

  /// Whether another transaction brought tokens while this one was open: what waits for this one need not go on.
  public func isOvertaken(_ transactionID: TransactionID) throws(EnrollError) -> Bool {
    try store.read(account)?.transactions.named(transactionID)?.isOvertaken ?? false
  }
}

extension AccountRecord {
  /// - Throws: `.busy` when every transaction that is kept waits for its answer.
  fileprivate mutating func makeRoom(at moment: Moment) throws(EnrollError) {
    guard transactions.count >= Engine.transactionLimit else { return }
    let index =
      transactions.firstIndex { $0.isSettled } ?? transactions.firstIndex { $0.status == .cancelled }
    guard let index else {
      throw EnrollError(
        .busy,
        "\(transactions.count) sign-ins of this account are pending, which is the limit; cancel them (registration.cancel)",
        field: EnrollError.transactionField,
        retryAfterSeconds: transactions.map { $0.deadline.secondsLeft(at: moment) }.min())
    }
    transactions.remove(at: index)
  }
}

extension Transaction {
  init(of transaction: TransactionRecord, action: HostAction) {
    self.init(
      transactionID: transaction.id, action: action, redirectURI: transaction.redirectURI,
      expiresAt: transaction.deadline.expiresAt, survivesProcess: transaction.survivesProcess)
  }
}

extension Engine {
  /// The same error, with what was asked and what is listed where it is about the scopes: a developer compares the scopes
  /// that were asked for with those that the provider lists (RFC 8414 §2).
  func explained(_ error: EnrollError, scopes: [String]) -> EnrollError {
    guard error.isAboutScopes else { return withRegistration(error) }
    let isOwn = noticesRefusal(error, of: scopes)
    var text = "\(error.message); asked: \(Scopes.joined(scopes))"
    if let listed = provider.cachedMetadata?.scopes {
      text += "; the provider lists: \(PrintableText.bounded(Scopes.joined(listed), maximumBytes: 500))"
    } else {
      text += "; the provider lists no scopes"
    }
    text += ProviderPreset.advice(for: configuration)
    if isOwn { text += "; the next sign-in leaves offline_access out" }
    return EnrollError(
      error.code, text, field: error.field ?? "scopes", httpStatus: error.httpStatus,
      oauthError: error.oauthError, retryAfterSeconds: error.retryAfterSeconds)
  }
}
