// The scope `offline_access` that EnrollKit asks for unasked (Configuration.Defaults.scopes), where the provider forbids it: the
// authorize request, the pushed one or the token endpoint refuses (RFC 6749 §4.1.2.1, §5.2; Keycloak has a code of its own, and
// tells it after the password). It is left out, the same transaction goes on, and the account's record remembers it. A scope that
// somebody chose is never left out: its refusal names it.

import EnrollCrypto

extension EnrollError {
  /// Whether a scope is refused.
  var isAboutScopes: Bool {
    oauthError.map { Scopes.contains($0, in: ["invalid_scope", "not_allowed"]) } ?? false
  }
}

extension Engine {
  /// The options of a sign-in, with the scopes that the provider takes by experience.
  func withoutRefused(_ options: SignInOptions) throws(EnrollError) -> SignInOptions {
    guard options.scopes == nil, configuration.hasDefaultScopes,
      try store.read(account)?.refusesOfflineAccess ?? false
    else { return options }
    var options = options
    options.scopes = configuration.scopes.filter { !Self.isOfflineAccess($0) }
    return options
  }

  private static func isOfflineAccess(_ scope: String) -> Bool { ASCII.equals(scope, "offline_access") }

  /// Whether the refusal may be that of our own `offline_access`. It is remembered then.
  /// - Parameter scopes: as they were asked for.
  func noticesRefusal(_ error: EnrollError, of scopes: [String]) -> Bool {
    let own = AuthorizationRequest.scopes(configuration, SignInOptions(), listed: nil)
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

  /// The same transaction with another authorize request, which asks for no `offline_access`.
  /// - Parameter transaction: open, or in the middle of its exchange, which the provider refused.
  /// - Returns: the URL at which it goes on; nil where the refusal is about something else, or it cannot go on.
  func leaveOutOfflineAccess(
    of transaction: TransactionRecord, after error: EnrollError, cancellation: (any Cancellation)?
  ) -> String? {
    guard case .signIn(let signIn) = transaction.flow, !signIn.request.isSocial,
      noticesRefusal(error, of: transaction.scopes)
    else { return nil }
    do throws(EnrollError) {
      return try begin(
        transaction, signIn, without: transaction.scopes.filter { !Self.isOfflineAccess($0) }, cancellation)
    } catch {
      warn(error.saying("\(error.message). The sign-in does not go on without offline_access."))
      return nil
    }
  }

  private func begin(
    _ transaction: TransactionRecord, _ signIn: TransactionRecord.SignIn, without scopes: [String],
    _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> String? {
    let metadata = try provider.metadata(cancellation: cancellation)
    let before = signIn.request
    let request = try AuthorizationRequest.make(
      configuration: configuration, metadata: metadata,
      options: SignInOptions(
        scopes: scopes, prompt: before.prompt, maxAgeSeconds: before.demands.maxAgeSeconds,
        acrValues: before.demands.acrValues),
      redirectURI: before.redirect.listensOnLoopback ? before.redirect.uri : nil,
      dpopKey: try newDPoPKey(metadata), at: clock.moment(),
      random: try random.bytes(AuthorizationRequest.randomByteCount))
    let url = try browserURL(of: request, metadata: metadata, cancellation: cancellation)
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

extension Engine {
  /// A transaction that goes on in the browser, for the host to open.
  /// - Throws: `.notFound`, store errors.
  package func transaction(_ id: TransactionID, goingOnAt url: String) throws(EnrollError) -> Transaction {
    Transaction(of: try transaction(id), action: .openURL(url))
  }
}
