// Continues a sign-in with `prompt=consent`, if the provider issues a refresh token only after the user has given
// consent (OpenID Connect Core §11). The account's record stores the result.

import EnrollRules

extension AuthorizationStep {
  /// Whether the account's record says that a refresh token needs consent.
  func wantsConsent() -> Bool { (try? store.read(account))?.offlineConsent == .needed }

  /// Continues the same transaction with `prompt=consent`, because the received tokens do not include the requested
  /// refresh token.
  /// - Returns: the URL at which the sign-in continues; nil if consent would not help, or the transaction cannot
  ///   continue.
  func askForConsent(
    of transaction: TransactionRecord, insteadOf received: ReceivedTokens, cancellation: (any Cancellation)?
  ) -> String? {
    guard transaction.lacksOfflineAccess(received.tokens),
      let next = askForConsent(of: transaction, cancellation)
    else { return nil }
    // The revocation waits while the sign-in is open (R35): the tokens of the next response may belong to the same
    // grant.
    revocations.revokeUnkept([UnkeptTokens(received.tokens, received.profile)])
    return next
  }

  /// Continues the transaction with `prompt=consent` after a refusal that asks for consent.
  func askForConsent(
    of transaction: TransactionRecord, after error: EnrollError, cancellation: (any Cancellation)?
  ) -> String? {
    error.asksForConsent ? askForConsent(of: transaction, cancellation) : nil
  }

  /// Whether the provider refuses the request because the user's consent is needed, and the request did not ask for
  /// it. If so, the record stores that consent is needed.
  func noticesConsent(_ error: EnrollError, of transaction: TransactionRecord) -> Bool {
    guard error.asksForConsent, transaction.canAskForConsent else { return false }
    return learnsConsent()
  }

  static var lacksRefreshToken: EnrollError {
    EnrollError(
      .consentRequired,
      "the provider gave no refresh token although offline_access was requested; the sign-in goes on with prompt=consent"
    )
  }

  private func askForConsent(
    of transaction: TransactionRecord, _ cancellation: (any Cancellation)?
  ) -> String? {
    guard case .signIn(let signIn) = transaction.flow, !signIn.request.isSocial,
      transaction.canAskForConsent, learnsConsent()
    else { return nil }
    do throws(EnrollError) {
      return try goOn(with: transaction, signIn, scopes: transaction.scopes, prompt: nil, cancellation)
    } catch {
      warn(error.saying("\(error.message). The sign-in does not go on with prompt=consent."))
      return nil
    }
  }

  /// Stores that a refresh token needs consent.
  /// - Returns: false if it was already known that consent is needed, so that asking again would not help, or if the
  ///   provider does not support `prompt=consent`.
  private func learnsConsent() -> Bool {
    guard let promptValues = provider.cachedMetadata.map({ $0.promptValues ?? ["consent"] }),
      Scopes.contains("consent", in: promptValues)
    else { return false }
    var isNews = false
    _ = try? store.update(account) { record throws(EnrollError) in
      isNews = record.offlineConsent == nil
      if isNews { record.offlineConsent = .needed }
    }
    return isNews
  }
}
