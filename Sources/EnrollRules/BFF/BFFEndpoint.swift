// The endpoints of a back end, and the request and response of its redeem endpoint (flows.md §10).

package import EnrollCrypto
import EnrollJSON

package enum BFFEndpoint {
  /// The settings of the key `bff`.
  /// - Throws: `.configuration` if the configuration has no key `bff`.
  package static func settings(of configuration: Configuration) throws(EnrollError) -> BFFSettings {
    guard let bff = configuration.bff else {
      throw EnrollError(
        .configuration, "bff: the configuration needs this key for transactions of kind bff", field: "bff")
    }
    return bff
  }

  /// Whether every URL parser reads the name as exactly one path segment.
  static func isProvider(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count)
      && name.utf8.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == 0x2D || $0 == 0x5F }
  }

  /// `{base}/v1/auth/{provider}`.
  static func start(base: String, provider: String) -> String {
    (base.utf8.last == 0x2F ? String(decoding: base.utf8.dropLast(), as: UTF8.self) : base)
      + "/v1/auth/" + provider
  }

  /// Exchanges the one-time code for a session token. The request is sent at most once, on a new connection (R15).
  package static func redeem(
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

  /// Reads `{session_token, expires_in?}`.
  /// - Throws: as ``TokenResponse/init(processing:)``.
  package static func session(_ response: HTTPResponse, at sent: Moment) throws(EnrollError) -> TokenSet {
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

  /// Makes the token set of a session. It has one token, which cannot be renewed and is only sent to the back end.
  package static func session(_ token: Secret, lifetimeSeconds: Int64, at moment: Moment) -> TokenSet {
    TokenSet(
      accessToken: token, tokenType: "Bearer",
      expiry: Expiry(lifetimeSeconds: lifetimeSeconds, from: moment), source: .bff)
  }
}

extension Configuration {
  /// Whether `address` is on the back end's own origin: the session token is sent nowhere else.
  package func isOfBackend(_ address: String) -> Bool {
    guard let base = bff.flatMap({ try? StrictURL($0.base) }),
      let url = try? StrictURL(address)
    else { return false }
    return url.bytes[..<url.path.lowerBound].elementsEqual(base.bytes[..<base.path.lowerBound])
  }
}
