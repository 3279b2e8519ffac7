// The sign-in: `begin` returns the authorize URL, `resume` accepts the redirect (flows.md §2, R5-R8, R13-R17, R21-R30).
// Also the explanation of a refused scope (RFC 6749 §4.1.2.1, §5.2).

import EnrollCrypto
public import EnrollRules

extension Engine {
  /// Begins a sign-in.
  /// - Parameter loopbackRedirectURI: the redirect URI of a loopback listener, with its port; it replaces the
  ///   configured one.
  /// - Throws: `.illegalState`; `.configuration` if the client's key cannot be used; `.network` and related errors if
  ///   discovery fails; `.issuerMismatch`; the errors of the store.
  public func begin(
    _ options: SignInOptions, loopbackRedirectURI: String? = nil, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Transaction {
    try requireNative()
    if state == .starting { _ = try settleBesideSession(cancellation: cancellation) }
    try require(.begun(transactionID: "", step: .browser))
    try requireUsableKey()
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
      return try beginDevice(options, cancellation: cancellation)
    case .passwordless:
      return try beginPasswordless(
        options, loopbackRedirectURI: loopbackRedirectURI, cancellation: cancellation)
    }
  }

  private func beginInBrowser(
    _ given: SignInOptions, loopbackRedirectURI: String?, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Transaction {
    let metadata = try provider.metadata(cancellation: cancellation)
    let options = try withoutRefused(given, at: metadata)
    let asksForLogin = try store.read(account)?.asksForLogin ?? false
    let moment = clock.moment()
    let request = try AuthorizationRequest.make(
      configuration: configuration, metadata: metadata, options: options,
      redirectURI: loopbackRedirectURI, asksForLogin: asksForLogin, wantsConsent: wantsConsent(),
      dpopKey: try newDPoPKey(metadata), at: moment,
      random: try random.bytes(AuthorizationRequest.randomByteCount))
    if let warning = request.warning { warn(warning) }
    let url: BrowserURL
    do throws(EnrollError) {
      url = try browserURL(
        of: request, metadata: metadata, opensLater: options.opensLater, cancellation: cancellation)
    } catch {
      let isNews =
        given.scopes == nil && noticesRefusal(error, of: request.transaction.scopes)
        || noticesConsent(error, of: request.transaction)
      guard isNews else { throw error }
      return try beginInBrowser(
        given, loopbackRedirectURI: loopbackRedirectURI, cancellation: cancellation)
    }
    try remember(request.transaction)
    return Transaction(of: request.transaction, opening: url)
  }

  /// Begins at the gateway's own page. It does not redirect, so the transaction waits for the link in an e-mail at once
  /// (flows.md §3). The options apply to the sign-in that the link begins.
  private func beginAtPage(_ page: String, _ options: SignInOptions) throws(EnrollError) -> Transaction {
    let transaction = try AuthorizationRequest.atPage(
      configuration: configuration, options: options, at: clock.moment(), random: try random.bytes(16))
    try remember(transaction)
    return Transaction(of: transaction, action: .openURL(page))
  }

  /// Stores the transaction before the host knows of it, so that every process that can get the answer knows the
  /// transaction (R12).
  /// - Parameter change: an additional change in the same save; it is made first.
  /// - Throws: `.busy` if the account has its limit of pending transactions.
  func remember(
    _ transaction: TransactionRecord,
    also change: (inout AccountRecord) throws(EnrollError) -> Void = { _ in }
  ) throws(EnrollError) {
    let moment = clock.moment()
    try store.update(account) { record throws(EnrollError) in
      // An exchange may end after the transaction's deadline.
      record.transactions.removeAll {
        $0.deadline.secondsLeft(at: moment)
          <= ($0.status == .exchanging ? -TransactionRecord.exchangeSeconds : 0)
      }
      try change(&record)
      keepLearned(in: &record)
      try record.makeRoom(at: moment)
      record.transactions.append(transaction)
    }
    try apply(.begun(transactionID: transaction.id, step: transaction.step))
  }

  /// If the account is at its limit of transactions, settles those whose process has ended, and with it the listener
  /// for their redirect (R4, R12).
  /// - Parameter isListenedAt: whether a program listens at a loopback redirect URI.
  public func settleAbandoned(unless isListenedAt: (String) -> Bool) throws(EnrollError) {
    let transactions = try store.read(account)?.transactions ?? []
    guard transactions.count >= AccountRecord.transactionLimit else { return }
    let abandoned = transactions.filter { transaction in
      transaction.status == .pending && !transaction.survivesProcess
        && !(transaction.redirectURI.map(isListenedAt) ?? true)
    }
    guard !abandoned.isEmpty else { return }
    try store.update(account) { record throws(EnrollError) in
      for transaction in abandoned { record.settle(transaction.id, as: .failed) }
    }
  }

  /// Accepts a redirect and completes its transaction.
  /// - Parameter transactionID: the transaction to which the host assigns the redirect; needed only for a return
  ///   without `state` while several are pending (R6).
  /// - Parameter goesOn: whether the caller opens ``Settlement/nextURL``; if not, a transaction that could continue
  ///   there ends.
  /// - Throws: if the URL settles nothing: `.redirectMalformed`, `.redirectMismatch`, `.unsolicited`,
  ///   `.alreadySettled`, `.transactionExpired`; or if the provider cannot be reached before the code is sent:
  ///   `.network` and related errors. There is then no side effect (R6), and the transaction stays pending.
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
      // Fetches everything else that the exchange needs from the network. If that fails, the transaction stays pending,
      // and the same URL may be used again.
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
      // No automatic step after a response without iss, unless the provider does not announce iss (R17).
      let isIdentified =
        redirect.issuer != nil || provider.cachedMetadata?.announcesIssuerInRedirect == false
      if goesOn, isIdentified,
        let next = leaveOutOfflineAccess(of: transaction, after: error, cancellation: cancellation)
          ?? askForConsent(of: transaction, after: error, cancellation: cancellation)
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

  /// Exchanges the code for verified tokens.
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
      try sendAsClient(exchange, of: metadata, provenBy: secrets.dpopKey, cancellation: cancellation)
    }
    return try arrival(
      in: http, sent: sent, of: Grant(request, of: transaction, namedIssuer: namedIssuer),
      cancellation: cancellation)
  }

  /// The status of a transaction.
  /// - Throws: `.notFound`; `.transactionExpired` if its deadline passed before its redirect came, or its exchange
  ///   cannot end any more.
  public func transactionStatus(_ transactionID: TransactionID) throws(EnrollError)
    -> TransactionRecord.Status
  {
    let known = try transaction(transactionID)
    guard !known.isOpen || known.isLive(at: clock.moment()) else { throw known.pastDeadline }
    if known.status == .exchanging,
      known.deadline.secondsLeft(at: clock.moment()) <= -TransactionRecord.exchangeSeconds
    {
      throw Self.exchangeDied
    }
    return known.status
  }

  /// The process that sent the code has ended: the response is lost, and the code is spent.
  public static var exchangeDied: EnrollError {
    EnrollError(
      .transactionExpired,
      "the process that sent the code of this sign-in ended before the tokens were stored; begin the sign-in again"
    )
  }

  /// Whether another transaction brought tokens while this one was open: then nobody needs to wait for this
  /// transaction.
  public func isOvertaken(_ transactionID: TransactionID) throws(EnrollError) -> Bool {
    try store.read(account)?.transactions.named(transactionID)?.isOvertaken ?? false
  }
}

extension Engine {
  /// Adds the requested scopes and the scopes that the provider lists (RFC 8414 §2), if the error concerns scopes: a
  /// developer can compare them.
  func explained(_ error: EnrollError, scopes: [String]) -> EnrollError {
    guard !error.isAboutTarget else { return error.namingResourceKeys }
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
    return error.leading(to: error.code, text, field: error.field ?? "scopes")
  }
}
