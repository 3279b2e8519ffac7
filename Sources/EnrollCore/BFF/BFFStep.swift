// Signing in through a back end: begin hands out its URL, and the one-time code that comes back is redeemed for a
// session token (flows.md §10, R6, R13-R15). RFC 9700 §4.3.2 forbids tokens in redirects; one is
// accepted only behind a switch with an alarming name.

import EnrollCrypto
import EnrollJSON

extension Engine {
  func beginAtBackend(
    _ options: SignInOptions, loopbackRedirectURI: String?
  ) throws(EnrollError) -> Transaction {
    let asksForLogin = try store.read(account)?.asksForLogin ?? false
    let request = try BFFRequest.make(
      configuration: configuration, options: options, redirectURI: loopbackRedirectURI,
      asksForLogin: asksForLogin, at: clock.moment(),
      random: try random.bytes(BFFRequest.randomByteCount))
    try remember(request.transaction)
    return Transaction(of: request.transaction, action: .openURL(request.url))
  }

  /// Code to session token.
  func redeem(
    _ code: Secret, of transaction: TransactionRecord.BFF, asked base: String,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Arrival {
    let bff = try BFFEndpoint.settings(of: configuration)
    guard let exchange = transaction.exchange else { throw .settledBefore }
    guard ASCII.equals(bff.base, base) else {
      throw EnrollError(
        .configuration, "bff.base has changed since the transaction began", field: "bff.base")
    }
    let request = BFFEndpoint.redeem(code, with: exchange, base: bff.base)
    let sent = clock.moment()
    let http = try transport.send(request, cancellation: cancellation)
    var arrived = arrival(try BFFEndpoint.session(http, at: sent), cancellation: cancellation)
    arrived.clockOffsetSeconds = clockOffset(of: http, at: sent)
    return arrived
  }

  /// A session token that came in the redirect itself.
  func accept(
    _ token: Secret, lifetimeSeconds: Int64, cancellation: (any Cancellation)?
  ) -> Arrival {
    arrival(
      BFFEndpoint.session(token, lifetimeSeconds: lifetimeSeconds, at: clock.moment()),
      cancellation: cancellation)
  }

  /// There is no id_token: the profile is what userinfo says, or empty.
  private func arrival(_ tokens: TokenSet, cancellation: (any Cancellation)?) -> Arrival {
    Arrival(
      tokens: tokens, profile: toldProfile(of: tokens, cancellation: cancellation), clockOffsetSeconds: nil)
  }

  /// Whether `address` is on the back end's own origin: its session token is shown to nobody else.
  func isOfBackend(_ address: String) -> Bool {
    guard let base = configuration.bff.flatMap({ try? StrictURL($0.base) }),
      let url = try? StrictURL(address)
    else { return false }
    return url.bytes[..<url.path.lowerBound].elementsEqual(base.bytes[..<base.path.lowerBound])
  }
}
