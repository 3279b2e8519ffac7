// Reads tokens from a response that R37 refuses, for example because a member is repeated. The provider issues these
// tokens only once: the refresh token or the code that was sent for these tokens is spent (R30, R35).

package import EnrollJSON

extension TokenResponse {
  /// The members of a successful response. If R37 refuses the body, these are only the members that are unambiguous in
  /// the text.
  /// - Parameter needed: the member that must be unambiguous; otherwise no member of a refused body is used.
  /// - Returns: the members, and the reason why the body is refused, if it is.
  package static func members(of response: HTTPResponse, undoubted needed: String) -> (JSON, EnrollError?) {
    do throws(EnrollError) {
      return (try object(in: response), nil)
    } catch {
      let names = ["access_token", "token_type", "expires_in", "refresh_token", "id_token", "scope"]
      let members = JSON.salvaged(names, undoubted: needed, from: response.body)
      return (members.map { .object($0) } ?? .null, error)
    }
  }

  /// The token `name` from a body whose end is missing, if the token itself is complete. Nothing else in such a body is
  /// used.
  package static func tokenBeforeCut(_ name: String, in response: HTTPResponse) -> JSON? {
    JSON.salvaged(name, beforeCutIn: response.body)
  }
}

extension HTTPResponse {
  /// Whether the response is a success with tokens, even if its body is refused.
  var bringsTokens: Bool {
    guard (200..<300).contains(status) else { return false }
    if let members = try? TokenResponse.object(in: self) { return members["access_token"] != nil }
    return ASCII.contains(body, "\"access_token\"") || ASCII.contains(body, "\"refresh_token\"")
  }

  /// The response, with a refused body replaced by the unambiguous members of that body. Call this for the response to
  /// a code: the code is spent, so the tokens cannot be requested again.
  package func salvagingTokens() -> HTTPResponse {
    guard bringsTokens else { return self }
    let (members, problem) = TokenResponse.members(of: self, undoubted: "access_token")
    guard problem != nil, members["access_token"] != nil else { return self }
    var answer = self
    answer.body = members.serialized()
    return answer
  }
}

extension TokenEndpointError {
  /// The refusal in a response; nil for any other response. Unlike ``read(_:expecting:)``, this counts a successful
  /// status with `error` and without a token as a refusal, too: some providers (GitHub) refuse in this way.
  static func refusal(in response: HTTPResponse) -> EnrollError? {
    if let error = read(response) { return error }
    guard !response.bringsTokens, oauthError(in: response) != nil,
      (try? JSON.parse(response.body))?["refresh_token"] == nil
    else { return nil }
    return clientError(response, "tokens")
  }
}
