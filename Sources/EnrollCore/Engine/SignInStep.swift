// Signing in: begin hands out the authorize URL, resume takes the redirect back (flows.md §2, R5-R8, R13-R17, R21-R30).

import EnrollCrypto
import EnrollJSON

extension Engine {
  /// Open transactions kept per account; the oldest gives way.
  public static let transactionLimit = 32

  /// Begins a sign-in.
  /// - Parameters:
  ///   - redirectURI: the redirect URI to send where it is not the configured one: a loopback listener's, with its port.
  /// - Throws: `.illegalState`, `.network` and its kin when discovery fails, `.issuerMismatch`, store errors.
  public func begin(
    _ options: SignInOptions, loopbackRedirectURI: String? = nil, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> BegunTransaction {
    try requireNative()
    guard options.kind == .signIn || options.kind == .register else {
      throw EnrollError(
        .unsupported, "transactions of kind \(options.kind.rawValue) cannot be begun yet", field: "kind")
    }
    if state == .starting { _ = try settleBesideSession() }
    try require(.begun(transactionID: "", step: .browser))
    let metadata = try provider.metadata(cancellation: cancellation)
    let asksForLogin = try store.read(account)?.asksForLogin ?? false
    let moment = clock.moment()
    let request = try AuthorizationRequest.make(
      configuration: configuration, metadata: metadata, options: options,
      redirectURI: loopbackRedirectURI, asksForLogin: asksForLogin, at: moment,
      random: try random.bytes(AuthorizationRequest.randomByteCount))
    let transaction = request.transaction

    try store.update(account) { record throws(EnrollError) in
      record.transactions.removeAll { $0.deadline.secondsLeft(at: moment) <= 0 }
      if record.transactions.count >= Self.transactionLimit { record.transactions.removeFirst() }
      record.transactions.append(transaction)
    }
    try apply(.begun(transactionID: transaction.id, step: .browser))
    return BegunTransaction(
      transactionID: transaction.id, action: .openURL(request.url), redirectURI: transaction.redirectURI,
      expiresAt: transaction.deadline.expiresAt, survivesProcess: !transaction.listensOnLoopback)
  }

  /// How a URL that came back ended its transaction.
  public struct Settlement: Equatable, Sendable {
    public var transactionID: String
    public var ending: Ending

    public enum Ending: Equatable, Sendable {
      case succeeded(RegistrationState)
      /// The state is F, or the session beside which the transaction ran.
      case failed(EnrollError)
    }
  }

  /// Takes a redirect back and carries its transaction to its end.
  /// - Throws: when the URL settles nothing: `.redirectMalformed`, `.redirectMismatch`, `.unsolicited`,
  ///   `.alreadySettled`, `.transactionExpired`, `.issuerMismatch`; or when the provider cannot be reached before the
  ///   code is sent: `.network` and its kin. No side effect then (R6), the transaction stays pending.
  public func resume(_ url: String, cancellation: (any Cancellation)?) throws(EnrollError) -> Settlement {
    try requireNative()
    let redirect = try Redirect(parsing: url)
    let transactions = try store.read(account)?.transactions ?? []
    var verified = try VerifiedRedirect(
      verifying: redirect, among: transactions,
      issuerAnnounced: provider.cachedMetadata?.announcesIssuerInRedirect ?? false, at: clock.moment())
    if case .code = verified.answer {
      // All that the exchange needs of the network beside the exchange: without it the transaction stays pending, and
      // the same URL may be tried again.
      let metadata = try provider.prepare(
        needsKeys: verified.transaction.asksForIDToken, cancellation: cancellation)
      verified = try VerifiedRedirect(
        verifying: redirect, among: transactions, issuerAnnounced: metadata.announcesIssuerInRedirect,
        at: clock.moment())
    }
    try spendState(of: verified)

    switch verified.answer {
    case .error(let error): return try settle(verified.transaction, failed: error)
    case .code(let code):
      try apply(.advanced(transactionID: verified.transaction.id, step: .exchanging))
      do throws(EnrollError) {
        let arrived = try exchange(code, of: verified.transaction, cancellation: cancellation)
        return try keep(arrived, of: verified.transaction)
      } catch {
        return try settle(verified.transaction, failed: error)
      }
    }
  }

  /// Marks the transaction as being exchanged, durably, before anything else happens: of two redirects at once one
  /// wins, and a code is never sent twice (R7, R15).
  private func spendState(of verified: VerifiedRedirect) throws(EnrollError) {
    try store.update(account) { record throws(EnrollError) in
      guard
        let index = record.transactions.firstIndex(where: { ASCII.equals($0.id, verified.transaction.id) }),
        record.transactions[index].isOpen
      else { throw EnrollError(.alreadySettled, "another redirect settled this transaction first") }
      record.transactions[index].status = .exchanging
    }
  }

  private struct Arrival {
    var tokens: TokenSet
    var profile: JSONObject
    var clockOffsetSeconds: Int64?
  }

  /// Code to proven tokens.
  private func exchange(
    _ code: Secret, of transaction: Transaction, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Arrival {
    let metadata = try provider.metadata(cancellation: cancellation)
    let request = TokenRequest.exchange(
      code: code, transaction: transaction, configuration: configuration, metadata: metadata)
    let sent = clock.moment()
    let http = try transport.send(request, cancellation: cancellation)
    let offset = clockOffset(of: http, at: sent)
    let response = try TokenResponse(processing: http)
    var tokens = response.tokenSet(requestedScopes: transaction.scopes, at: sent)

    guard let idToken = tokens.idToken else {
      if transaction.asksForIDToken {
        throw EnrollError(.idTokenInvalid, "the scope openid was asked for, and no id_token came (R25)")
      }
      let profile = try fetchUserinfo(with: tokens, subject: nil, cancellation: cancellation)
      return Arrival(tokens: tokens, profile: profile ?? JSONObject(), clockOffsetSeconds: offset)
    }
    let proven = try provider.verify(
      idToken,
      expecting: IDTokenExpectations(
        issuer: transaction.issuer, clientID: configuration.clientID, nonce: transaction.nonce,
        maxAgeSeconds: transaction.maxAgeSeconds, acrValues: transaction.acrValues,
        accessToken: tokens.accessToken, now: clock.wallTime() + (offset ?? 0),
        algorithms: configuration.idTokenAlgorithms),
      cancellation: cancellation)
    tokens.identity = proven.facts
    return Arrival(tokens: tokens, profile: proven.claims, clockOffsetSeconds: offset)
  }

  /// Tokens into the store, as provisional or, where no confirmation is asked for, confirmed.
  private func keep(_ arrival: Arrival, of transaction: Transaction) throws(EnrollError) -> Settlement {
    try store.update(account) { record throws(EnrollError) in
      record.settle(transaction.id, as: .succeeded)
      record.registrationType = transaction.registrationType
      record.asksForLogin = false
      record.serverClockOffsetSeconds = arrival.clockOffsetSeconds ?? record.serverClockOffsetSeconds
      // Not a change of the session's tokens: a renewal of theirs that is under way goes on.
      if configuration.requiresConfirmation {
        record.provisional = arrival.tokens
        record.provisionalProfile = arrival.profile
      } else {
        record.adopt(arrival.tokens, profile: arrival.profile)
      }
    }
    memory.withLock { $0.patience = RenewalPatience() }
    var state = try apply(.tokensArrived(profile: arrival.profile))
    if !configuration.requiresConfirmation { state = try apply(.confirmed) }
    return Settlement(transactionID: transaction.id, ending: .succeeded(state))
  }

  private func settle(
    _ transaction: Transaction, failed error: EnrollError
  ) throws(EnrollError) -> Settlement {
    let record = try store.update(account) { record throws(EnrollError) in
      record.settle(transaction.id, as: .failed)
    }
    notify(.errorReported(error))
    if state.kind != .authenticating { try apply(.advanced(transactionID: transaction.id, step: .browser)) }
    if record.hasTokens {
      // A step-up that fails leaves the session as it was (flows.md §6).
      _ = try settleBesideSession()
    } else {
      try apply(.failed(error))
    }
    return Settlement(transactionID: transaction.id, ending: .failed(error))
  }

  /// Where a transaction stands.
  /// - Throws: `.notFound`; `.transactionExpired` when its deadline passed before its redirect came.
  public func transactionStatus(_ transactionID: String) throws(EnrollError) -> Transaction.Status {
    let known = try store.read(account)?.transactions.first { ASCII.equals($0.id, transactionID) }
    guard let known else {
      throw EnrollError(.notFound, "no transaction has this id", field: "transaction")
    }
    if known.isOpen, known.deadline.secondsLeft(at: clock.moment()) <= 0 {
      throw EnrollError(.transactionExpired, "the redirect did not come before the transaction's deadline")
    }
    return known.status
  }

  /// Server's clock minus ours, from the Date header.
  func clockOffset(of response: HTTPResponse, at sent: Moment) -> Int64? {
    response.header("Date").flatMap(HTTPDate.parse)?.since(sent.wall)
  }
}

extension AccountRecord {
  /// Settled once: its secrets are gone, only the state stays, to know a second redirect by (R7).
  mutating func settle(_ transactionID: String, as status: Transaction.Status) {
    guard let index = transactions.firstIndex(where: { ASCII.equals($0.id, transactionID) }) else { return }
    transactions[index].status = status
    transactions[index].nonce = Secret([])
    transactions[index].codeVerifier = Secret([])
  }
}

extension Transaction {
  var asksForIDToken: Bool { Scopes.contains("openid", in: scopes) }

  /// What the seeds call the registration type; absent for kinds that they do not name.
  var registrationType: String? {
    switch kind {
    case .passwordless: "PASSWORDLESS"
    case .signIn, .register, .anotherApp, .backend, .device: nil
    }
  }
}
