// The endpoints of a back end, and what its redeem endpoint takes and gives (flows.md §10).

import EnrollCrypto
import EnrollJSON

enum BFFEndpoint {
  /// - Throws: `.configuration` without the key `bff`.
  static func settings(of configuration: Configuration) throws(EnrollError) -> BFFSettings {
    guard let bff = configuration.bff else {
      throw EnrollError(
        .configuration, "bff: the configuration needs this key for transactions of kind bff", field: "bff")
    }
    return bff
  }

  /// A name that stays one path segment whatever reads the URL.
  static func isProvider(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count)
      && name.utf8.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == 0x2D || $0 == 0x5F }
  }

  /// `{base}/v1/auth/{provider}`.
  static func start(base: String, provider: String) -> String {
    (base.utf8.last == 0x2F ? String(decoding: base.utf8.dropLast(), as: UTF8.self) : base)
      + "/v1/auth/" + provider
  }

  /// The one-time code for a session token. Sent at most once, on a connection that was never used (R15).
  static func redeem(
    _ code: Secret, with exchange: TransactionRecord.BFF.Exchange, base: String
  ) -> HTTPRequest {
    .post(
      .object([
        ("code", .string(code.reveal())), ("code_verifier", .string(exchange.codeVerifier.reveal())),
      ]), holding: [code, exchange.codeVerifier],
      to: start(base: base, provider: exchange.provider) + "/redeem",
      freshConnection: true
    ).followedUp
  }

  /// `{session_token, expires_in?}`.
  /// - Throws: as ``TokenResponse/init(processing:)``.
  static func session(_ response: HTTPResponse, at sent: Moment) throws(EnrollError) -> TokenSet {
    if let error = TokenEndpointError.read(response) { throw error }
    let json = try TokenResponse.object(in: response)
    guard let token = TokenResponse.token(json["session_token"]) else {
      throw EnrollError(
        .responseInvalid,
        "redeem: session_token must be 1 to \(TokenText.maximumBytes) visible characters",
        httpStatus: response.status)
    }
    return session(
      token, lifetimeSeconds: TokenResponse.lifetimeSeconds(from: json["expires_in"]), at: sent)
  }

  /// A session has one token: nothing renews it, and nobody but the back end may see it.
  static func session(_ token: Secret, lifetimeSeconds: Int64, at moment: Moment) -> TokenSet {
    TokenSet(
      accessToken: token, tokenType: "Bearer",
      expiry: Expiry(lifetimeSeconds: lifetimeSeconds, from: moment), source: .bff)
  }
}
