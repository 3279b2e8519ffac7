// A redirect that belongs to a live transaction. It has the state and the redirect URI that were sent (R5, R6, R7,
// R12), and its code comes from the issuer (R17). The token exchange accepts no other type, and only this file creates
// it.

public import EnrollCrypto

/// The answer to one transaction. Whatever it contains, it settles that transaction, once.
public struct VerifiedRedirect: Equatable, Sendable {
  public enum Answer: Equatable, Sendable {
    /// The code to exchange, once (R15), after the state is spent (R7).
    case code(Secret)
    /// A session token that a back end put into the redirect. The configuration allows that (flows.md §10).
    case sessionToken(Secret, lifetimeSeconds: Int64)
    /// The provider refused, or another provider answered: the transaction is settled as failed. The error is
    /// `.loginRequired`, `.interactionRequired`, `.consentRequired`, `.accessDenied`, `.server` or `.oauth` if the
    /// provider refused. It is `.issuerMismatch` if `iss` is another issuer, or if the provider announces `iss` and the
    /// redirect has a code without `iss`.
    case error(EnrollError)
  }

  /// The transaction before this redirect settles it.
  public let transaction: TransactionRecord
  public let answer: Answer

  /// Verifies a redirect. If this throws, every transaction stays unchanged: the URL has no side effect (R6).
  /// - Parameters:
  ///   - transactions: all transactions of the account, including settled ones.
  ///   - transactionID: the transaction that the host names; nil if the host names no transaction.
  ///   - issuerAnnounced: whether the provider announces `iss` in every response (RFC 9207 §3).
  ///   - acceptsTokens: whether the redirect may have a back end's session token.
  /// - Throws: `.unsolicited` if no transaction has this state; `.redirectMismatch`; `.alreadySettled`;
  ///   `.transactionExpired`; `.redirectMalformed` if there is neither a code nor an error.
  @_optimize(speed)
  public init(
    verifying redirect: Redirect, among transactions: [TransactionRecord],
    named transactionID: TransactionID? = nil,
    issuerAnnounced: Bool, acceptsTokens: Bool = false, at moment: Moment
  ) throws(EnrollError) {
    let transaction: TransactionRecord
    if acceptsTokens, redirect.hasSessionToken, !redirect.hasState {
      (transaction, _) = try TransactionRecord.answeredWithoutState(
        .bff, named: transactionID, among: transactions, at: moment
      ) { flow in
        if case .bff(let bff) = flow { bff } else { nil }
      }
    } else {
      transaction = transactions[try VerifiedRedirect.match(redirect, transactions)]
      guard transactionID == nil || transactionID == transaction.id else {
        throw EnrollError(.unsolicited, "the URL belongs to another transaction than the named one")
      }
    }
    try VerifiedRedirect.requireRedirectURI(of: transaction, redirect.url)
    try transaction.requireLive(at: moment)
    self.transaction = transaction
    if let fault = VerifiedRedirect.issuerFault(redirect, transaction, issuerAnnounced) {
      answer = .error(fault)
    } else if acceptsTokens, case .bff = transaction.flow, let token = try redirect.sessionToken() {
      answer = .sessionToken(token, lifetimeSeconds: redirect.sessionLifetimeSeconds)
    } else if let code = try redirect.code() {
      answer = .code(code)
    } else if redirect.hasError {
      answer = .error(VerifiedRedirect.providerError(redirect))
    } else {
      throw EnrollError(.redirectMalformed, "the URL has neither code nor error")
    }
  }
}

extension Redirect {
  /// The transaction whose code is being exchanged, and whose state this redirect has; nil if no transaction matches.
  package func exchanging(among transactions: [TransactionRecord]) -> TransactionRecord? {
    transactions.first { $0.status == .exchanging && ($0.redirect.map { hasState($0.state) } ?? false) }
  }
}

extension VerifiedRedirect {
  /// Compares the redirect's state with the state of every transaction, each in constant time, so that the duration
  /// reveals nothing about any state (R7).
  /// - Returns: the transaction's index.
  private static func match(_ redirect: Redirect, _ transactions: [TransactionRecord]) throws(EnrollError)
    -> Int
  {
    guard redirect.hasState else {
      throw EnrollError(.unsolicited, "the URL has no state, so no transaction asked for it")
    }
    var found: Int?
    for index in transactions.indices {
      if let awaited = transactions[index].redirect, redirect.hasState(awaited.state) { found = index }
    }
    guard let found else {
      throw EnrollError(.unsolicited, "no transaction has the URL's state")
    }
    return found
  }

  /// - Throws: `.redirectMismatch`.
  package static func requireRedirectURI(of transaction: TransactionRecord, _ url: StrictURL)
    throws(EnrollError)
  {
    guard let sent = transaction.redirectURI, isRedirectURI(sent, of: url) else {
      throw EnrollError(.redirectMismatch, "the URL is not the redirect URI that this transaction sent")
    }
  }

  /// Whether a URL is the redirect URI that was sent. The URLs are compared byte for byte, without their queries, and
  /// without the port of a loopback redirect (R5).
  private static func isRedirectURI(_ sent: String, of url: StrictURL) -> Bool {
    if url.hasBase(sent) { return true }
    guard url.kind == .loopbackHTTP, let sent = try? StrictURL(sent) else { return false }
    return url.hasSameBase(as: sent, ignoringPort: true)
  }

  /// The error if the redirect's `iss` shows another issuer, or is missing where it is required (RFC 9207 §2.4); nil
  /// otherwise. An error response without `iss` is accepted, because no token can come from it, and some providers
  /// leave `iss` out (R17).
  private static func issuerFault(
    _ redirect: Redirect, _ transaction: TransactionRecord, _ issuerAnnounced: Bool
  ) -> EnrollError? {
    let isSame =
      transaction.issuer.isTemplate
      ? redirect.issuer.map { transaction.issuer.isIssuer(ofTenant: $0) }
      : redirect.hasIssuer(transaction.issuer)
    if let isSame {
      if isSame { return nil }
      let came = PrintableText.bounded(redirect.issuer?.text ?? "", maximumBytes: 256)
      return EnrollError(
        .issuerMismatch,
        "the redirect comes from the issuer \(came), but the sign-in began at \(transaction.issuer)",
        field: "iss")
    }
    guard issuerAnnounced, redirect.hasCode, transaction.codeRequest != nil else { return nil }
    return EnrollError(
      .issuerMismatch, "the provider announces iss, but the redirect has a code without it", field: "iss")
  }

  /// The error that the provider reports in its redirect (RFC 6749 §4.1.2.1, OpenID Connect Core §3.1.2.6).
  private static func providerError(_ redirect: Redirect) -> EnrollError {
    let code = redirect.errorCode
    let description = redirect.errorDescription.map { ": \($0)" } ?? ""
    let text = "the provider answered \(code ?? "an error without a proper code")\(description)"
    return EnrollError(
      errorCode(for: code ?? ""), text, oauthError: code, oauthErrorDescription: redirect.errorDescription)
  }

  private static func errorCode(for oauthError: String) -> EnrollError.Code {
    let known: [(String, EnrollError.Code)] = [
      ("login_required", .loginRequired), ("interaction_required", .interactionRequired),
      ("account_selection_required", .interactionRequired), ("consent_required", .consentRequired),
      ("access_denied", .accessDenied), ("server_error", .server), ("temporarily_unavailable", .server),
    ]
    return known.first { ASCII.equals($0.0, oauthError) }?.1 ?? .oauth
  }
}
