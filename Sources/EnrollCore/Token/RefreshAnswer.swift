// The answer to a refresh token, read so that no rotated refresh token is lost (R30), and judged by the table of
// RenewalJudgement.

public import EnrollCrypto
import EnrollJSON

/// The answer to a refresh token.
public enum RefreshAnswer: Equatable, Sendable {
  case tokens(TokenResponse)
  /// The answer's access token cannot be used, but it brought a new refresh token, which replaces the old one all the
  /// same (R30).
  case rotatedOnly(refreshToken: Secret, EnrollError)
  /// No tokens came, and what that means for the session.
  case refused(EnrollError, RenewalVerdict)

  /// - Parameter binding: which types of token the answer may have.
  public init(processing response: HTTPResponse, binding: DPoPBinding = .none) {
    if let error = TokenEndpointError.refusal(in: response) {
      let content = RefusalContent(code: error.oauthError, isEmpty: response.isStatedEmpty)
      let isGitHubs = (200..<300).contains(response.status) && error.isGitHubs
      let verdict = RenewalJudgement.verdict(status: isGitHubs ? 400 : response.status, content: content)
      // An answer to an earlier request says nothing about this refresh token.
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
  /// A code that nobody but GitHub gives, which refuses inside a success. Another code in a success proves nothing: no token
  /// endpoint answers so.
  fileprivate var isGitHubs: Bool {
    oauthError.map { Scopes.contains($0, in: ["bad_refresh_token", "incorrect_client_credentials"]) } ?? false
  }
}
