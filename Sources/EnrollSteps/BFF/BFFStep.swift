// The sign-in through a back end: `begin` returns the back end's URL, and the one-time code in the redirect is
// exchanged for a session token (flows.md §10, R6, R13-R15). RFC 9700 §4.3.2 forbids tokens in redirects, so a token in
// a redirect is accepted only with the option `dangerouslyAcceptTokenInRedirect`.

import EnrollCrypto
import EnrollJSON
import EnrollRules

/// The step that signs in through a back end.
final class BFFStep: EngineStep {
  let context: EngineContext
  private let userinfo: UserinfoStep
  private let transactions: TransactionStep

  init(_ context: EngineContext, userinfo: UserinfoStep, transactions: TransactionStep) {
    self.context = context
    self.userinfo = userinfo
    self.transactions = transactions
  }

  func beginAtBackend(
    _ options: SignInOptions, loopbackRedirectURI: String?
  ) throws(EnrollError) -> Transaction {
    let asksForLogin = try store.read(account)?.asksForLogin ?? false
    let request = try BFFRequest.make(
      configuration: configuration, options: options, redirectURI: loopbackRedirectURI,
      asksForLogin: asksForLogin, at: clock.moment(),
      random: try random.bytes(BFFRequest.randomByteCount))
    try transactions.remember(request.transaction)
    return Transaction(of: request.transaction, action: .openURL(request.url))
  }

  /// Exchanges the code for a session token.
  func redeem(
    _ code: Secret, of transaction: TransactionRecord.BFF, asked base: String,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> ReceivedTokens {
    let bff = try BFFEndpoint.settings(of: configuration)
    guard let exchange = transaction.exchange else { throw .settledBefore }
    guard ASCII.equals(bff.base, base) else {
      throw EnrollError(
        .configuration, "bff.base has changed since the transaction began", field: "bff.base")
    }
    let request = BFFEndpoint.redeem(code, with: exchange, base: bff.base)
    let sent = clock.moment()
    let http = try transport.send(request, cancellation: cancellation)
    var received = self.received(try BFFEndpoint.session(http, at: sent), cancellation: cancellation)
    received.clockOffsetSeconds = context.clockOffset(of: http, at: sent)
    return received
  }

  /// Accepts a session token from the redirect itself.
  func accept(
    _ token: Secret, lifetimeSeconds: Int64, cancellation: (any Cancellation)?
  ) -> ReceivedTokens {
    received(
      BFFEndpoint.session(token, lifetimeSeconds: lifetimeSeconds, at: clock.moment()),
      cancellation: cancellation)
  }

  /// The tokens with the profile. There is no id_token, so the profile comes from userinfo, or is empty.
  private func received(_ tokens: TokenSet, cancellation: (any Cancellation)?) -> ReceivedTokens {
    ReceivedTokens(
      tokens: tokens, profile: userinfo.toldProfile(of: tokens, cancellation: cancellation),
      clockOffsetSeconds: nil)
  }
}
