// Registration with another app in two requests (flows.md §9): the first gets the other app's link (`initUri`), the
// second sends the artefact that the other app returned and gets the tokens (`completeUri`). The other app's return
// has no `state`, so it is accepted only for the transaction that the host names, or for the only pending transaction
// of this kind (R6).

import EnrollCrypto
import EnrollJSON
public import EnrollRules

/// Signs in with another app.
public final class App2AppStep: StateChangingStep {
  let context: EngineContext
  let machine: StateMachine
  private let requests: ClientRequests
  private let revocations: RevocationStep
  private let transactions: TransactionStep
  private let grants: GrantStep
  private let conclusion: ConclusionStep

  init(
    _ context: EngineContext, machine: StateMachine, requests: ClientRequests, revocations: RevocationStep,
    transactions: TransactionStep, grants: GrantStep, conclusion: ConclusionStep
  ) {
    self.context = context
    self.machine = machine
    self.requests = requests
    self.revocations = revocations
    self.transactions = transactions
    self.grants = grants
    self.conclusion = conclusion
  }

  func beginWithApp2App(
    _ options: SignInOptions, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Transaction {
    let settings = try App2AppExchange.settings(of: configuration)
    try options.requireOnly([], "the other app decides")
    guard !configuration.usesLoopbackRedirect else {
      throw EnrollError(
        .configuration, "redirectUri: another app returns by an app link, not to a loopback port",
        field: "redirectUri")
    }
    // A store without PINs is reported here, before the user is sent to the other app.
    if settings.requiresPIN { _ = try context.pins() }
    let http = try transport.send(App2AppExchange.initRequest(settings), cancellation: cancellation)
    let session = try App2AppExchange.Session(http, settings)
    let moment = clock.moment()
    let transaction = TransactionRecord(
      id: try TransactionID(from: random), issuer: configuration.issuer, began: moment.wall,
      deadline: Expiry(lifetimeSeconds: configuration.transactionSeconds, from: moment),
      flow: .app2app(.init(redirectURI: configuration.redirectURI, session: .init(session.id))))
    try transactions.remember(transaction)
    return Transaction(of: transaction, action: .openOtherApp(session.link))
  }

  /// The number of artefacts that the gateway may refuse before the transaction ends.
  static let artefactTries: Int64 = 10

  /// Handles the URL with which the other app returns.
  /// - Returns: nil if the URL is not such a return.
  /// - Throws: the reason why the return completes no transaction; nothing has changed then. `.codeRejected` if the
  ///   gateway refuses the artefact. Anybody can put an artefact into such a link, so the transaction then waits for
  ///   another artefact.
  func resumeFromApp2App(
    _ redirect: Redirect, transactionID: TransactionID?, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Settlement? {
    guard redirect.state == nil, let settings = configuration.app2app,
      let artefactID = try redirect.artefactID(named: settings.artefactIDField)
    else { return nil }
    let moment = clock.moment()
    let (transaction, awaited) = try TransactionRecord.answeredWithoutState(
      .app2app, named: transactionID, among: try store.read(account)?.transactions ?? [], at: moment
    ) { flow in
      if case .app2app(let app2app) = flow { app2app } else { nil }
    }
    try VerifiedRedirect.requireRedirectURI(of: transaction, redirect.url)
    try transaction.requireLive(at: moment)
    guard let session = awaited.session else { throw .settledBefore }
    // First fetches everything else that is needed from the network. If that fails, the transaction stays pending.
    _ = try provider.prepare(
      needsKeys: Scopes.contains("openid", in: configuration.scopes), cancellation: cancellation)
    try conclusion.beginExchange(of: transaction)
    let sent = clock.moment()
    let http: HTTPResponse
    do throws(EnrollError) {
      http = try transport.send(
        App2AppExchange.completeRequest(settings, sessionID: session.id, artefactID: artefactID),
        cancellation: cancellation)
    } catch {
      guard !error.isUnsent else { throw try conclusion.givenBack(transaction, because: error) }
      return try conclusion.settle(transaction, failed: error)
    }
    if (400..<500).contains(http.status), let refusal = TokenEndpointError.read(http) {
      return try refuse(transaction, because: refusal)
    }
    return try conclusion.finish(transaction) { () throws(EnrollError) in
      try context.requireOwn(http)
      return try received(completing: http, sent: sent, of: transaction, cancellation: cancellation)
    }
  }

  /// Handles the gateway's refusal of an artefact.
  /// - Returns: the end of a transaction that accepts no more artefacts.
  private func refuse(
    _ transaction: TransactionRecord, because refusal: EnrollError
  ) throws(EnrollError) -> Settlement {
    var left: Int64 = 0
    try store.update(account) { record throws(EnrollError) in
      left = 0
      record.change(transaction.id) { kept in
        guard kept.status == .exchanging, case .app2app(var awaited) = kept.flow,
          let tries = awaited.session?.tries
        else { return }
        left = Self.artefactTries - tries - 1
        guard left > 0 else { return }
        awaited.session?.tries = tries + 1
        kept.flow = .app2app(awaited)
        kept.status = transaction.status
      }
    }
    guard left > 0 else { return try conclusion.settle(transaction, failed: refusal) }
    try apply(.advanced(transactionID: transaction.id, step: .otherApp))
    throw EnrollError(
      .codeRejected,
      "the gateway refused the artefact of the other app's link; \(left) tries are left: \(refusal.message)",
      httpStatus: refusal.httpStatus, oauthError: refusal.oauthError,
      oauthErrorDescription: refusal.oauthErrorDescription)
  }

  private func received(
    completing http: HTTPResponse, sent: Moment, of transaction: TransactionRecord,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> ReceivedTokens {
    let completion: App2AppExchange.Completion
    do throws(EnrollError) {
      completion = try App2AppExchange.Completion(http)
    } catch {
      revocations.revokeTokens(in: http, of: Grant(of: transaction))
      throw error
    }
    let tokens: TokenSet
    switch completion {
    case .tokens(let response):
      tokens = response.tokenSet(
        requestedScopes: [], withoutExpirySeconds: configuration.withoutExpirySeconds, at: sent)
    case .refreshToken(let token): tokens = try renewAtOnce(token, cancellation: cancellation)
    }
    var user: String?
    do throws(EnrollError) {
      return try grants.received(
        of: tokens, by: Grant(of: transaction), request: http.sent,
        clockOffsetSeconds: context.clockOffset(of: http, at: sent), user: &user,
        cancellation: cancellation)
    } catch {
      let isSomebodyElses =
        tokens.idToken.map {
          Grant(of: transaction).isContradicted(by: $0, clientID: configuration.clientID)
        } ?? false
      if !isSomebodyElses { revocations.revokeUnkept([UnkeptTokens(tokens, user: user)]) }
      throw error.hiding(http.sent)
    }
  }

  /// Exchanges a refresh token for an access token, within the limits of R33. A refresh token that returns no access
  /// token is revoked, because it is not stored.
  private func renewAtOnce(
    _ refreshToken: Secret, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> TokenSet {
    let metadata = try provider.metadata(cancellation: cancellation)
    var refreshToken = refreshToken
    var attempt = 1
    while true {
      let request = TokenRequest.refresh(
        refreshToken: refreshToken, configuration: configuration, metadata: metadata)
      let sent = clock.moment()
      var (trouble, isWorthAnother) = (EnrollError(.network, "no request was sent to the provider"), true)
      do throws(EnrollError) {
        switch RefreshAnswer(
          processing: try requests.sendAsClient(request, of: metadata, cancellation: cancellation))
        {
        case .tokens(let response):
          var tokens = response.tokenSet(
            requestedScopes: [], withoutExpirySeconds: configuration.withoutExpirySeconds, at: sent)
          tokens.refreshToken = tokens.refreshToken ?? refreshToken
          return tokens
        // The next attempt uses the new refresh token, because the token that was sent is spent (R30).
        case .rotatedOnly(let rotated, let error): (refreshToken, trouble) = (rotated, error)
        case .refused(let error, _): (trouble, isWorthAnother) = (error, error.isRetryable)
        }
      } catch {
        (trouble, isWorthAnother) = (error, error.isRetryable)
      }
      guard isWorthAnother, attempt < RenewalStep.triesPerRenewal else {
        if trouble.code != .oauth { revocations.revokeLoose(refreshToken) }
        // The artefact is spent, whether or not this request was sent.
        throw trouble.withoutUnsent()
      }
      try requests.pause(after: trouble, attempt: attempt)
      attempt += 1
    }
  }

  /// Reports that the host could not open the other app's link, because there is no such app on the device.
  /// - Throws: `.notFound`; `.illegalState` for a transaction of another kind; `.alreadySettled`;
  ///   `.transactionExpired`.
  public func otherAppMissing(transactionID: TransactionID) throws(EnrollError) -> Settlement {
    try context.requireNative()
    let transaction = try transactions.transaction(transactionID)
    guard case .app2app = transaction.flow else {
      throw EnrollError(
        .illegalState, "a transaction of kind \(transaction.kind.rawValue) does not wait for another app",
        field: "transaction")
    }
    try transaction.requireLive(at: clock.moment())
    return try conclusion.conclude(
      transaction, failed: EnrollError(.otherAppMissing, "the other app is not on this device"))
  }
}
