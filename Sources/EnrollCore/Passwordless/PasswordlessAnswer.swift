// What came of a one-time code (flows.md §6): tokens, "that is not it" with another try, or the end.

/// The answer to a one-time code.
enum PasswordlessAnswer {
  /// A 2xx: to be read as the answer to an authorization code is.
  case tokens
  /// `invalid_grant`: the code is wrong, or too old. The user may try again.
  case wrong(EnrollError)
  /// The provider takes no more tries, or refuses the client.
  case ended(EnrollError)
  /// The server is in trouble: nothing is known of the code.
  case unclear(EnrollError)

  init(processing response: HTTPResponse) {
    guard let error = TokenEndpointError.read(response) else {
      self = .tokens
      return
    }
    // Some say it with 429, which elsewhere is trouble that passes.
    let code = TokenEndpointError.oauthError(in: response.body)
    if let code, ASCII.equals(code, "too_many_attempts") {
      self = .ended(
        EnrollError(
          .oauth, "the provider takes no more codes", httpStatus: response.status, oauthError: code))
      return
    }
    guard error.code == .oauth else {
      self = .unclear(error)
      return
    }
    let isWrong = error.oauthError.map { ASCII.equals($0, "invalid_grant") } ?? false
    self = isWrong ? .wrong(error) : .ended(error)
  }
}
