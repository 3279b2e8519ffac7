// What a refresh came to, in the classes that renewal decides by (R30, R33, R34; reliability.md). Only
// `invalid_grant` says that a session is over; everything unclear leaves it alone.

public import EnrollCrypto
import EnrollJSON

/// The answer to a refresh token.
public enum RefreshAnswer: Equatable, Sendable {
  case tokens(TokenResponse)
  /// The answer's access token cannot be used, but it brought a new refresh token, which replaces the old one all the
  /// same (R30).
  case rotatedOnly(refreshToken: Secret, EnrollError)
  /// `invalid_grant`: ends the session if the token is still the current one (R34).
  case invalidGrant(EnrollError)
  /// Any other refusal of the token endpoint; the record is kept. `httpStatus` and `oauthError` say which.
  case refused(EnrollError)
  /// The server is in trouble, or something else answered in its place (R33): nothing is known of the token.
  case unavailable(EnrollError)

  /// - Parameter binding: which types of token the answer may have.
  public init(processing response: HTTPResponse, binding: DPoPBinding = .none) {
    if let error = TokenEndpointError.read(response) {
      self = RefreshAnswer.classify(error, isEmpty: response.body.isEmpty)
      return
    }
    do throws(EnrollError) {
      let json = try TokenResponse.object(in: response)
      do throws(EnrollError) {
        self = .tokens(try TokenResponse(reading: json, of: response, binding))
      } catch {
        guard let rotated = TokenResponse.token(json["refresh_token"]) else { throw error }
        self = .rotatedOnly(refreshToken: rotated, error)
      }
    } catch {
      self = .unavailable(error)
    }
  }

  private static func classify(_ error: EnrollError, isEmpty: Bool) -> RefreshAnswer {
    let isClientError = error.httpStatus.map { (400..<500).contains($0) } ?? false
    guard isClientError, error.code != .server else { return .unavailable(error) }
    if error.demandsNonce { return .unavailable(error) }
    guard let code = error.oauthError else {
      // Glewlwyd refuses with an empty body. A page, or a status that no token endpoint gives, is somebody else's: a
      // proxy's, or a gateway's that has lost its way; however long that lasts, it says nothing of the token.
      return error.code == .oauth && isEmpty ? .refused(error) : .unavailable(error)
    }
    return ASCII.equals(code, "invalid_grant") ? .invalidGrant(error) : .refused(error)
  }
}
