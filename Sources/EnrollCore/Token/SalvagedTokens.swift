// Tokens out of an answer that R37 refuses, a member that is there twice, say. They come once: what they were given for, a
// refresh token or a code, is spent by then (R30, R35).

import EnrollJSON

extension TokenResponse {
  /// The members of a success. Of a body that R37 refuses they are those that the text gives without doubt.
  /// - Parameter needed: a member without which nothing is taken where the text leaves a doubt about it.
  /// - Returns: also why the body is refused, where it is.
  static func members(of response: HTTPResponse, undoubted needed: String) -> (JSON, EnrollError?) {
    do throws(EnrollError) {
      return (try object(in: response), nil)
    } catch {
      let names = ["access_token", "token_type", "expires_in", "refresh_token", "id_token", "scope"]
      let members = JSON.salvaged(names, undoubted: needed, from: response.body)
      return (members.map { .object($0) } ?? .null, error)
    }
  }

  /// The token `name` of a body whose end is missing, where the token itself is whole. Nothing else of such a body is used.
  static func tokenBeforeCut(_ name: String, in response: HTTPResponse) -> JSON? {
    JSON.salvaged(name, beforeCutIn: response.body)
  }
}

extension HTTPResponse {
  /// Whether it is a success with tokens, though perhaps in a body that is refused.
  var bringsTokens: Bool {
    guard (200..<300).contains(status) else { return false }
    if let members = try? TokenResponse.object(in: self) { return members["access_token"] != nil }
    return ASCII.contains(body, "\"access_token\"") || ASCII.contains(body, "\"refresh_token\"")
  }

  /// The answer to a code that is spent by it: where the body is refused, what the text gives without doubt takes its place.
  func salvagingTokens() -> HTTPResponse {
    guard bringsTokens else { return self }
    let (members, problem) = TokenResponse.members(of: self, undoubted: "access_token")
    guard problem != nil, members["access_token"] != nil else { return self }
    var answer = self
    answer.body = members.serialized()
    return answer
  }
}
