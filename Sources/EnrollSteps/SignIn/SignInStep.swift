// The sign-in: `begin` returns the authorize URL, `resume` accepts the redirect (flows.md §2, R5-R8, R13-R17, R21-R30).
// Each kind of sign-in has its own step. All kinds begin here, and their redirects return here.

import EnrollCrypto
public import EnrollRules

/// Begins a sign-in of any kind, and accepts its redirect.
public final class SignInStep: EngineStep {
  let context: EngineContext
  private let machine: StateMachine
  private let requests: ClientRequests
  private let registration: RegistrationStep
  private let transactions: TransactionStep
  private let authorization: AuthorizationStep
  private let grants: GrantStep
  private let conclusion: ConclusionStep
  private let bff: BFFStep
  private let app2app: App2AppStep
  private let device: DeviceStep
  private let passwordless: PasswordlessStep

  init(
    _ context: EngineContext, machine: StateMachine, requests: ClientRequests, registration: RegistrationStep,
    transactions: TransactionStep, authorization: AuthorizationStep, grants: GrantStep,
    conclusion: ConclusionStep, bff: BFFStep, app2app: App2AppStep, device: DeviceStep,
    passwordless: PasswordlessStep
  ) {
    self.context = context
    self.machine = machine
    self.requests = requests
    self.registration = registration
    self.transactions = transactions
    self.authorization = authorization
    self.grants = grants
    self.conclusion = conclusion
    self.bff = bff
    self.app2app = app2app
    self.device = device
    self.passwordless = passwordless
  }

  /// Begins a sign-in.
  /// - Parameter loopbackRedirectURI: the redirect URI of a loopback listener, with its port; it replaces the
  ///   configured one.
  /// - Throws: `.illegalState`; `.configuration` if the client's key cannot be used; `.network` and related errors if
  ///   discovery fails; `.issuerMismatch`; the errors of the store.
  public func begin(
    _ options: SignInOptions, loopbackRedirectURI: String? = nil, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Transaction {
    try context.requireNative()
    if machine.state == .starting { _ = try registration.settleBesideSession(cancellation: cancellation) }
    try machine.require(.begun(transactionID: "", step: .browser))
    try requests.requireUsableKey()
    switch options.kind {
    case .signIn, .register:
      if options.kind == .register, case .page(let page) = configuration.registration {
        return try beginAtPage(page, options)
      }
      return try beginInBrowser(options, loopbackRedirectURI: loopbackRedirectURI, cancellation: cancellation)
    case .bff:
      try requests.requireBearerTokensAllowed()
      return try bff.beginAtBackend(options, loopbackRedirectURI: loopbackRedirectURI)
    case .app2app:
      try requests.requireBearerTokensAllowed()
      return try app2app.beginWithApp2App(options, cancellation: cancellation)
    case .device:
      return try device.beginDevice(options, cancellation: cancellation)
    case .passwordless:
      return try passwordless.beginPasswordless(
        options, loopbackRedirectURI: loopbackRedirectURI, cancellation: cancellation)
    }
  }

  private func beginInBrowser(
    _ given: SignInOptions, loopbackRedirectURI: String?, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Transaction {
    let metadata = try provider.metadata(cancellation: cancellation)
    let options = try authorization.withoutRefused(given, at: metadata)
    let asksForLogin = try store.read(account)?.asksForLogin ?? false
    let moment = clock.moment()
    let request = try AuthorizationRequest.make(
      configuration: configuration, metadata: metadata, options: options,
      redirectURI: loopbackRedirectURI, asksForLogin: asksForLogin,
      wantsConsent: authorization.wantsConsent(),
      dpopKey: try requests.newDPoPKey(metadata), at: moment,
      random: try random.bytes(AuthorizationRequest.randomByteCount))
    if let warning = request.warning { warn(warning) }
    let url: BrowserURL
    do throws(EnrollError) {
      url = try authorization.browserURL(
        of: request, metadata: metadata, opensLater: options.opensLater, cancellation: cancellation)
    } catch {
      let isNews =
        given.scopes == nil && authorization.noticesRefusal(error, of: request.transaction.scopes)
        || authorization.noticesConsent(error, of: request.transaction)
      guard isNews else { throw error }
      return try beginInBrowser(
        given, loopbackRedirectURI: loopbackRedirectURI, cancellation: cancellation)
    }
    try transactions.remember(request.transaction)
    return Transaction(of: request.transaction, opening: url)
  }

  /// Begins at the gateway's own page. That page does not redirect, so the transaction waits at once for the link in an
  /// e-mail (flows.md §3). The options apply to the sign-in that the link begins.
  private func beginAtPage(_ page: String, _ options: SignInOptions) throws(EnrollError) -> Transaction {
    let transaction = try AuthorizationRequest.atPage(
      configuration: configuration, options: options, at: clock.moment(), random: try random.bytes(16))
    try transactions.remember(transaction)
    return Transaction(of: transaction, action: .openURL(page))
  }

  /// Accepts a redirect and completes its transaction.
  /// - Parameter transactionID: the transaction to which the host assigns the redirect; needed only for a return
  ///   without `state` while several transactions are pending (R6).
  /// - Parameter mayContinueInBrowser: whether the caller opens ``Settlement/nextURL``; if not, a transaction that could continue
  ///   there ends.
  /// - Throws: `.redirectMalformed`, `.redirectMismatch`, `.unsolicited`, `.alreadySettled` or `.transactionExpired` if
  ///   the URL completes no transaction; `.network` and related errors if the provider cannot be reached before the
  ///   code is sent. In all these cases the call has no side effect (R6), and the transaction stays pending.
  public func resume(
    _ url: String, transactionID: TransactionID? = nil, mayContinueInBrowser: Bool = false,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Settlement {
    try context.requireNative()
    let redirect = try Redirect(parsing: url, configured: configuration.redirectURI)
    if let settlement = try app2app.resumeFromApp2App(
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
      // A response without `iss` may come from another server. It causes a further authorize request only if the
      // provider does not announce that it sends `iss` (R17).
      let isIdentified =
        redirect.issuer != nil || provider.cachedMetadata?.announcesIssuerInRedirect == false
      if mayContinueInBrowser, isIdentified,
        let next = authorization.leaveOutOfflineAccess(
          of: transaction, after: error, cancellation: cancellation)
          ?? authorization.askForConsent(of: transaction, after: error, cancellation: cancellation)
      {
        return Settlement(transaction.id, continuingAt: next, after: error)
      }
      let fallsBack = transaction.isSilentFallback && error.asksForUser && isIdentified
      var settlement = try conclusion.conclude(
        transaction,
        failed: authorization.explained(transaction.explained(error), scopes: transaction.scopes),
        isReported: !fallsBack)
      if fallsBack { settlement.silentFallback = transaction }
      return settlement
    case .code(let code):
      return try conclusion.conclude(transaction, mayContinueInBrowser: mayContinueInBrowser, cancellation) {
        () throws(EnrollError) in
        if case .bff(let begun) = transaction.flow {
          return try bff.redeem(code, of: begun, asked: transaction.issuer.text, cancellation: cancellation)
        }
        return try exchange(
          code, of: transaction, namedIssuer: redirect.issuer, cancellation: cancellation)
      }
    case .sessionToken(let token, let lifetimeSeconds):
      return try conclusion.conclude(transaction) { () throws(EnrollError) in
        bff.accept(token, lifetimeSeconds: lifetimeSeconds, cancellation: cancellation)
      }
    }
  }

  /// Settles the transaction of a redirect whose code was sent by a process that has ended: the response is lost, and
  /// the code is spent (R15).
  /// - Returns: nil if no exchange of this redirect is under way: the process had stored its result.
  package func settleLostExchange(_ url: String) throws(EnrollError) -> Settlement? {
    let redirect = try Redirect(parsing: url, configured: configuration.redirectURI)
    guard let lost = redirect.exchanging(among: try store.read(account)?.transactions ?? []) else {
      return nil
    }
    return try conclusion.settle(lost, failed: TransactionStep.exchangeDied)
  }

  /// Exchanges the code for verified tokens.
  private func exchange(
    _ code: Secret, of transaction: TransactionRecord, namedIssuer: Issuer?,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> ReceivedTokens {
    guard let request = transaction.codeRequest, let secrets = request.secrets else { throw .settledBefore }
    let metadata = try provider.metadata(cancellation: cancellation)
    let exchange = TokenRequest.exchange(
      code: code, redirectURI: request.redirect.uri, codeVerifier: secrets.codeVerifier,
      configuration: configuration, metadata: metadata)
    let sent = clock.moment()
    let http = try requests.atNamedEndpoint { () throws(EnrollError) in
      try requests.sendAsClient(exchange, of: metadata, provenBy: secrets.dpopKey, cancellation: cancellation)
    }
    return try grants.received(
      in: http, sent: sent, of: Grant(request, of: transaction, namedIssuer: namedIssuer),
      cancellation: cancellation)
  }
}
