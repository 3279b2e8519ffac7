// The response to a refresh token. It is read so that no rotated refresh token is lost (R30), and a refusal is judged
// by the table of RenewalJudgement.

public import EnrollCrypto
import EnrollJSON

/// The response to a refresh token.
public enum RefreshAnswer: Equatable, Sendable {
  case tokens(TokenResponse)
  /// The access token in the response cannot be used, but the response has a new refresh token, which replaces the old
  /// one (R30).
  case rotatedOnly(refreshToken: Secret, EnrollError)
  /// The response has no tokens; the verdict says what that means for the session.
  case refused(EnrollError, RenewalVerdict)

  /// - Parameter binding: the token types that the response may have.
  public init(processing response: HTTPResponse, binding: DPoPBinding = .none) {
    if let error = TokenEndpointError.refusal(in: response) {
      let content = RefusalContent(code: error.oauthError, isEmpty: response.isStatedEmpty)
      let isGitHubs = (200..<300).contains(response.status) && error.isGitHubs
      let verdict = RenewalJudgement.verdict(status: isGitHubs ? 400 : response.status, content: content)
      // A cached response to an earlier request says nothing about this refresh token.
      self = .refused(error, response.isFromCache ? .unclear : verdict)
      return
    }
    let (json, problem) = TokenResponse.members(of: response, undoubted: "refresh_token")
    do throws(EnrollError) {
      self = .tokens(try TokenResponse(reading: json, of: response, binding))
    } catch {
      let token = json["refresh_token"] ?? TokenResponse.tokenBeforeCut("refresh_token", in: response)
      if let rotated = try? TokenResponse.refreshToken(token, response) {
        self = .rotatedOnly(refreshToken: rotated, problem ?? error)
      } else {
        self = .refused(problem ?? error, .unclear)
      }
    }
  }
}

extension EnrollError {
  /// Whether this is a code that GitHub sends with a success status. No other token endpoint refuses with a success
  /// status, so any other code with such a status proves nothing.
  fileprivate var isGitHubs: Bool {
    oauthError.map { Scopes.contains($0, in: ["bad_refresh_token", "incorrect_client_credentials"]) } ?? false
  }
}
