// The token endpoint's answer while the user approves on another device (RFC 8628 §3.5). Only the provider's own
// answer ends the wait: a proxy's page, a status that no token endpoint gives, and server errors (R33) do not.

import EnrollJSON

/// The answer to one poll.
enum DevicePollAnswer {
  /// A 2xx with an access token: to be read as the answer to a code is.
  case tokens
  /// `authorization_pending`.
  case pending
  /// `slow_down`: this poll and all later ones take ``extraSeconds`` longer, or as long as the answer says; 0 where it says
  /// nothing.
  case slowDown(intervalSeconds: Int64)
  /// The transaction is over.
  case ended(EnrollError)
  /// The server is in trouble, or something else answered in its place: nothing is known.
  case unclear(EnrollError)

  static let extraSeconds: Int64 = 5

  init(processing response: HTTPResponse) {
    let status = response.status
    if response.bringsTokens {
      self = .tokens
      return
    }
    let error =
      TokenEndpointError.read(response)
      ?? EnrollError(
        .responseInvalid, "expected tokens, got status \(status) without them", httpStatus: status)
    // Some providers answer with 428 or 429, and some with 200.
    guard (200..<500).contains(status), let code = TokenEndpointError.oauthError(in: response) else {
      self = .unclear(error)
      return
    }
    let interval = (try? JSON.parse(response.body)).map { TokenResponse.seconds(from: $0["interval"]) } ?? 0
    self = Self.read(code, status, interval) ?? .unclear(error)
  }

  /// - Returns: nil for a code that is not the provider's word about this grant.
  private static func read(_ code: String, _ status: Int, _ interval: Int64) -> DevicePollAnswer? {
    func isAny(of codes: [String]) -> Bool { codes.contains { ASCII.equals($0, code) } }

    if isAny(of: ["authorization_pending"]) { return .pending }
    if isAny(of: ["slow_down"]) { return .slowDown(intervalSeconds: interval) }
    // RFC 8628 §3.5, RFC 6749 §5.2: a token endpoint says what ends the wait with 400 or 401; Google denies with 403.
    let isTokenEndpoints = status == 400 || status == 401 || status < 300
    guard isTokenEndpoints || status == 403 else { return nil }
    // The second one is Microsoft's.
    if isAny(of: ["access_denied", "authorization_declined"]) {
      return .ended(
        EnrollError(
          .accessDenied, "the user denied access (RFC 8628 §3.5)", httpStatus: status, oauthError: code))
    }
    if isAny(of: ["expired_token"]) {
      return .ended(
        EnrollError(
          .transactionExpired, "the provider says that the device code expired (RFC 8628 §3.5)",
          httpStatus: status, oauthError: code))
    }
    // RFC 8628 §3.5: any other code of RFC 6749 §5.2 stops the polling.
    let final = [
      "invalid_request", "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
      // GitHub's and Microsoft's.
      "incorrect_client_credentials", "incorrect_device_code", "bad_verification_code",
      "device_flow_disabled",
    ]
    guard isAny(of: ["invalid_grant"]) || isTokenEndpoints && isAny(of: final) else { return nil }
    return .ended(
      EnrollError(
        .oauth, "expected tokens, got the error \(code)", httpStatus: status, oauthError: code))
  }
}
