// The token endpoint's response while the user approves on another device (RFC 8628 §3.5). Only the provider's own
// response ends the polling: a proxy's page, a status that no token endpoint sends, and server errors (R33) do not.

import EnrollJSON

/// The response to one poll.
package enum DevicePollAnswer {
  /// A 2xx response with an access token: it is read like the response to an authorization code.
  case tokens
  /// `authorization_pending`.
  case pending
  /// `slow_down`: the interval before this and all later polls grows by ``extraSeconds``, or to the interval in the
  /// response. `intervalSeconds` is 0 if the response has no interval.
  case slowDown(intervalSeconds: Int64)
  /// The transaction has ended.
  case ended(EnrollError)
  /// The server has a problem, or another server responded: the result is unknown.
  case unclear(EnrollError)

  package static let extraSeconds: Int64 = 5

  package init(processing response: HTTPResponse) {
    let status = response.status
    if response.bringsTokens {
      self = .tokens
      return
    }
    let error =
      TokenEndpointError.refusal(in: response)
      ?? EnrollError(
        .responseInvalid, "expected tokens, got status \(status) without them", httpStatus: status)
    // Some providers send an OAuth error with status 428 or 429, and some with 200.
    guard (200..<500).contains(status), let code = TokenEndpointError.oauthError(in: response) else {
      self = .unclear(error)
      return
    }
    let interval = (try? JSON.parse(response.body)).map { TokenResponse.seconds(from: $0["interval"]) } ?? 0
    self = Self.read(code, status, interval, error) ?? .unclear(error)
  }

  /// - Returns: nil for a code that does not come from the provider, or does not concern this grant.
  private static func read(
    _ code: String, _ status: Int, _ interval: Int64, _ error: EnrollError
  ) -> DevicePollAnswer? {
    func isAny(of codes: [String]) -> Bool { codes.contains { ASCII.equals($0, code) } }

    if isAny(of: ["authorization_pending"]) { return .pending }
    if isAny(of: ["slow_down"]) { return .slowDown(intervalSeconds: interval) }
    // RFC 8628 §3.5, RFC 6749 §5.2: a token endpoint sends the final codes with 400 or 401; Google sends a denial with
    // 403.
    let isTokenEndpoints = status == 400 || status == 401 || status < 300
    guard isTokenEndpoints || status == 403 else { return nil }
    // The second code is Microsoft's.
    if isAny(of: ["access_denied", "authorization_declined"]) {
      return .ended(
        error.leading(to: .accessDenied, "the user denied access (RFC 8628 §3.5)\(error.behind)"))
    }
    if isAny(of: ["expired_token"]) {
      return .ended(
        error.leading(
          to: .transactionExpired,
          "the provider says that the device code expired (RFC 8628 §3.5)\(error.behind)"))
    }
    // RFC 8628 §3.5: any other code of RFC 6749 §5.2 ends the polling.
    let final = [
      "invalid_request", "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
      // Codes of GitHub and Microsoft.
      "incorrect_client_credentials", "incorrect_device_code", "bad_verification_code",
      "device_flow_disabled",
    ]
    guard isAny(of: ["invalid_grant"]) || isTokenEndpoints && isAny(of: final) else { return nil }
    return .ended(error.code == .oauth ? error : error.leading(to: .oauth, error.message))
  }
}

extension EnrollError {
  /// The provider's description, as the end of a message.
  fileprivate var behind: String { oauthErrorDescription.map { ": \($0)" } ?? "" }
}
