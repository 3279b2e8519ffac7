// Handles providers that forbid the scope `offline_access`, which EnrollKit requests by default
// (Configuration.Defaults.scopes). They refuse the authorize request, the pushed request or the token request (RFC
// 6749 §4.1.2.1, §5.2). Keycloak has its own error code for this, and sends it after the user has typed the password.
// The scope is then left out, the same transaction continues, and the account's record stores the refusal. A scope
// that the host chose is never left out: the error names that scope.

import EnrollRules

extension AuthorizationStep {
  /// The options of a sign-in, without a default scope that the provider refused before.
  func withoutRefused(
    _ options: SignInOptions, at metadata: ProviderMetadata
  ) throws(EnrollError) -> SignInOptions {
    guard options.scopes == nil, configuration.hasDefaultScopes,
      try store.read(account)?.refusesOfflineAccess ?? false
    else { return options }
    var options = options
    options.scopes = configuration.scopes(at: metadata).filter { !Self.isOfflineAccess($0) }
    return options
  }

  static func isOfflineAccess(_ scope: String) -> Bool { ASCII.equals(scope, "offline_access") }

  /// Whether the refusal may concern the default scope `offline_access`. If so, the record stores the refusal.
  /// - Parameter scopes: the requested scopes.
  func noticesRefusal(_ error: EnrollError, of scopes: [String]) -> Bool {
    let own = AuthorizationRequest.scopes(configuration, SignInOptions(), at: provider.cachedMetadata)
    guard error.isAboutScopes, configuration.hasDefaultScopes, scopes.contains(where: Self.isOfflineAccess),
      scopes.count == own.count, scopes.allSatisfy({ Scopes.contains($0, in: own) })
    else { return false }
    do throws(EnrollError) {
      try store.update(account) { record throws(EnrollError) in record.refusesOfflineAccess = true }
    } catch {
      return false
    }
    return true
  }

  /// Continues the same transaction with another authorize request, which has no `offline_access`.
  /// - Parameter transaction: the transaction, which is open, or in an exchange that the provider refused.
  /// - Returns: the URL at which the transaction continues; nil if the refusal concerns something else, or the
  ///   transaction cannot continue.
  func leaveOutOfflineAccess(
    of transaction: TransactionRecord, after error: EnrollError, cancellation: (any Cancellation)?
  ) -> String? {
    guard case .signIn(let signIn) = transaction.flow, !signIn.request.isSocial,
      noticesRefusal(error, of: transaction.scopes)
    else { return nil }
    do throws(EnrollError) {
      return try goOn(
        with: transaction, signIn, scopes: transaction.scopes.filter { !Self.isOfflineAccess($0) },
        prompt: signIn.request.prompt, cancellation)
    } catch {
      warn(error.saying("\(error.message). The sign-in does not go on without offline_access."))
      return nil
    }
  }

  /// Continues the same transaction with another authorize request.
  /// - Returns: the URL at which the transaction continues; nil if it was settled in the meantime.
  func goOn(
    with transaction: TransactionRecord, _ signIn: TransactionRecord.SignIn, scopes: [String],
    prompt: String?, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> String? {
    let metadata = try provider.metadata(cancellation: cancellation)
    let before = signIn.request
    let request = try AuthorizationRequest.make(
      configuration: configuration, metadata: metadata,
      options: SignInOptions(
        scopes: scopes, prompt: prompt, maxAgeSeconds: before.demands.maxAgeSeconds,
        acrValues: before.demands.acrValues),
      redirectURI: before.redirect.listensOnLoopback ? before.redirect.uri : nil,
      wantsConsent: wantsConsent(),
      dpopKey: try requests.newDPoPKey(metadata), at: clock.moment(),
      random: try random.bytes(AuthorizationRequest.randomByteCount))
    let url = try browserURL(of: request, metadata: metadata, cancellation: cancellation).text
    var sent = request.sent
    sent.expectedSubject = before.expectedSubject
    let next = TransactionRecord(
      id: transaction.id, issuer: transaction.issuer, scopes: scopes, began: transaction.began,
      deadline: transaction.deadline,
      flow: .signIn(.init(sent, cause: signIn.cause, hasFallenBack: signIn.hasFallenBack)))
    let moment = clock.moment()
    var isOpen = false
    try store.update(account) { record throws(EnrollError) in
      record.change(transaction.id) { known in
        isOpen = !known.isSettled && transaction.deadline.secondsLeft(at: moment) > 0
        if isOpen { known = next }
      }
    }
    guard isOpen else { return nil }
    _ = try? apply(.advanced(transactionID: transaction.id, step: .browser))
    return url
  }
}
