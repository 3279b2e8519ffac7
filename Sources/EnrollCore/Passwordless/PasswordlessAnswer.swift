// The answer to a one-time code (flows.md §6): tokens, "wrong code" with another try, or the end.

/// The answer to a one-time code.
enum PasswordlessAnswer {
  /// A 2xx: to be read as the answer to an authorization code is.
  case tokens
  /// `invalid_grant`: the code is wrong, or too old. The user may try again.
  case wrong(EnrollError)
  /// The provider takes no more tries, or refuses the client.
  case ended(EnrollError)
  /// The server is in trouble, or something else answered in its place: nothing is known of the code.
  case unclear(EnrollError)

  init(processing response: HTTPResponse) {
    if response.bringsTokens {
      self = .tokens
      return
    }
    let status = response.status
    let error = TokenEndpointError.read(response)
    let code = TokenEndpointError.oauthError(in: response)
    // Some say it with 429, which elsewhere is trouble that passes.
    if let code, (400..<500).contains(status), ASCII.equals(code, "too_many_attempts") {
      self = .ended(
        EnrollError(.oauth, "the provider accepts no more codes", httpStatus: status, oauthError: code))
      return
    }
    // Only the provider's own word counts, not the page of a proxy.
    guard let error, error.code == .oauth, let code, status == 400 || status == 401 || status == 403 else {
      self = .unclear(
        error.flatMap { $0.code == .oauth ? nil : $0 }
          ?? EnrollError(
            .responseInvalid, "expected tokens, got status \(status) without an OAuth error",
            httpStatus: status))
      return
    }
    self = ASCII.equals(code, "invalid_grant") ? .wrong(error) : .ended(error)
  }
}
