// What the token endpoint says while the user is busy elsewhere (RFC 8628 §3.5). Only a refusal ends the wait: trouble
// on the way or at the server (R33) does not.

/// The answer to one poll.
enum DevicePollAnswer {
  /// A 2xx: to be read as the answer to a code is.
  case tokens
  /// `authorization_pending`.
  case pending
  /// `slow_down`: this poll and all later ones take ``extraSeconds`` longer.
  case slowDown
  /// The transaction is over.
  case ended(EnrollError)
  /// The server is in trouble: nothing is known.
  case unclear(EnrollError)

  static let extraSeconds: Int64 = 5

  init(processing response: HTTPResponse) {
    guard let error = TokenEndpointError.read(response) else {
      self = .tokens
      return
    }
    guard error.code == .oauth, let code = error.oauthError else {
      // A refusal without a word of why is a refusal; anything else came from somewhere in between.
      self = error.code == .oauth ? .ended(error) : .unclear(error)
      return
    }
    if ASCII.equals(code, "authorization_pending") {
      self = .pending
    } else if ASCII.equals(code, "slow_down") {
      self = .slowDown
    } else if ASCII.equals(code, "access_denied") {
      self = .ended(
        EnrollError(
          .accessDenied, "the user said no (RFC 8628 §3.5)", httpStatus: response.status, oauthError: code))
    } else if ASCII.equals(code, "expired_token") {
      self = .ended(
        EnrollError(
          .transactionExpired, "the provider says that the device code expired (RFC 8628 §3.5)",
          httpStatus: response.status, oauthError: code))
    } else if error.demandsNonce {
      self = .unclear(error)
    } else {
      self = .ended(error)
    }
  }
}
