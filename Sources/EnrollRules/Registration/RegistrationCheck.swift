// The request that asks the host's back end whether it knows the user of the tokens (flows.md §7, Check
// registration). It is a POST with the access token in the header (R31); its JSON body has the installation id and
// the platform facts. The returned profile must agree with the id_token.

import EnrollCrypto
public import EnrollJSON

public enum RegistrationCheck {
  public static func request(
    endpoint: String, clientID: ClientID, tokens: TokenSet, installationID: String, platform: Platform
  ) -> HTTPRequest {
    HTTPRequest(
      .post, endpoint,
      headers: [
        HTTPHeader("Authorization", tokens.authorization), HTTPHeader("Content-Type", "application/json"),
        HTTPHeader("Accept", "application/json"),
      ],
      body: JSON.object([
        ("clientId", .string(clientID.text)), ("installationId", .string(installationID)),
        ("platform", .object(platform.facts)),
      ]).serialized())
  }

  public enum Answer: Equatable, Sendable {
    case known(subject: String, email: String?)
    /// The back end has no account of the user. The host can offer to create an account.
    case unknownAccount
    /// The status is 401: the back end does not accept the access token.
    case refused(EnrollError)
    /// The back end gave no usable answer. This counts as an outage, which changes nothing.
    case unavailable(EnrollError)
  }

  /// Reads the back end's answer: `{"sub": …, "email": …}` in a 200, or `{"unknownAccount": true}` in a 200 or 404.
  public static func answer(_ response: HTTPResponse) -> Answer {
    let status = response.status
    func unavailable(_ code: EnrollError.Code, _ expected: String) -> Answer {
      .unavailable(
        EnrollError(
          code, "registration check: \(expected), got status \(status)\(RetryAfter.words(of: response))",
          httpStatus: status,
          retryAfterSeconds: RetryAfter.seconds(of: response)))
    }
    if status == 401 {
      return .refused(
        EnrollError(.oauth, "the registration check does not accept the access token", httpStatus: status))
    }
    if status == 408 || status == 429 || status >= 500 {
      return unavailable(.server, "expected an answer")
    }
    let body = (try? JSON.parse(response.body))?.object
    if status == 200 || status == 404, body?["unknownAccount"]?.bool ?? false { return .unknownAccount }
    guard status == 200, let subject = body?["sub"]?.string, !subject.utf8.isEmpty else {
      return unavailable(.responseInvalid, "expected an object with sub")
    }
    return .known(subject: subject, email: body?["email"]?.string)
  }

  /// Checks that the back end's answer is about the user of the tokens.
  /// - Parameters:
  ///   - subject: the id_token's `sub`; nil if there was no id_token; the answer is then compared with the profile's
  ///     `sub`.
  ///   - profile: the profile that is shown to the user.
  /// - Throws: `.profileMismatch` if the answer is about another user.
  public static func requireSame(
    subject answered: String, email: String?, asSubject subject: String?, profile: JSONObject?
  ) throws(EnrollError) {
    if let known = subject ?? profile?["sub"]?.string, !ASCII.equals(known, answered) {
      throw EnrollError(
        .profileMismatch, "the registration check answers about another sub than the id_token", field: "sub")
    }
    if let email, let known = profile?["email"]?.string, !ASCII.equalsIgnoringCase(known, email) {
      throw EnrollError(
        .profileMismatch, "the registration check answers with another e-mail address than the id_token",
        field: "email")
    }
  }
}

extension Platform {
  /// The platform's facts as JSON. The members have the names that `client.open` uses for them.
  var facts: JSONObject {
    JSONObject([
      ("type", type.map { .string($0) }), ("width", width.map { .integer($0) }),
      ("height", height.map { .integer($0) }), ("appVersion", appVersion.map { .string($0) }),
      ("deviceId", deviceID.map { .string($0) }),
    ])
  }
}

extension TokenSet {
  /// The value of the Authorization header (RFC 6750 §2.1, RFC 9449 §7.1). Servers write `token_type` in different
  /// ways, but all of them accept `DPoP` and `Bearer` in this header.
  var authorization: String {
    let scheme = ASCII.equalsIgnoringCase(tokenType, "DPoP") ? "DPoP" : "Bearer"
    return "\(scheme) \(accessToken.reveal())"
  }
}
