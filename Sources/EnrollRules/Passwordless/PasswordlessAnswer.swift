// The response to a one-time code (flows.md §6): tokens, a wrong code that the user may correct, or the end
// of the transaction.

/// The response to a one-time code.
package enum PasswordlessAnswer {
  /// A 2xx: it is read like the response to an authorization code.
  case tokens
  /// `invalid_grant`: the code is wrong, or too old. The user may try again.
  case wrong(EnrollError)
  /// The provider accepts no more tries, or refuses the client.
  case ended(EnrollError)
  /// The server has a problem, or another server responded: nothing is known about the code.
  case unclear(EnrollError)

  package init(processing response: HTTPResponse) {
    if response.bringsTokens {
      self = .tokens
      return
    }
    let status = response.status
    let error = TokenEndpointError.read(response)
    let code = TokenEndpointError.oauthError(in: response)
    // Some providers send the error code with 429, which otherwise means a temporary problem.
    if let code, (400..<500).contains(status), ASCII.equals(code, "too_many_attempts") {
      self = .ended(
        EnrollError(.oauth, "the provider accepts no more codes", httpStatus: status, oauthError: code))
      return
    }
    // Only an error response of the provider itself counts; the page of a proxy does not.
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
