// `POST /v1/auth/{provider}/backchannel-logout`: a provider reports that a user has signed out there, or was signed out (OpenID
// Connect Back-Channel Logout 1.0 §2.5 to §2.8). The gateway's sessions that began with the user's sign-in at the
// provider end at once, in browsers and apps. So do codes that no app has redeemed. A repeated token is refused.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollGatewayPages
import EnrollJSON
import EnrollHTTP

/// Requests that providers send about their users.
struct ProviderRequests: GatewaySteps {
  let services: GatewayServices
  let store: any AccountChanges
  let notices: AccountNotices

  func receiveLogout(_ request: WebRequest, _ provider: SignInProvider) throws(Interruption) -> WebResponse {
    guard request.query == nil, let text = request.form?["logout_token"] else {
      return Self.logoutRefusal("expected a form with logout_token")
    }
    let token: LogoutToken
    do throws(EnrollError) {
      try LogoutToken.checkType(of: text)
      token = try LogoutToken(
        try provider.signedClaims(of: Secret(text), named: "logout_token"), issuer: provider.issuer,
        tenants: provider.tenants,
        clientID: provider.clientID, at: now)
    } catch {
      log.write(.warning, "\(provider.name): back-channel logout: \(error.code.name): \(error.message)")
      // If the check could not be made, the answer is 503, so that the provider sends the token again.
      guard error.code == .idTokenInvalid else { throw .failure(.providerUnavailable) }
      return Self.logoutRefusal("the logout_token is refused")
    }
    let logout = ProviderLogout(
      provider: provider.name,
      subject: token.subject.map { provider.key(ofSubject: $0, issuer: token.issuer) },
      session: token.session.map { provider.key(ofSubject: $0, issuer: token.issuer) },
      hash: try name(of: token, from: provider),
      expires: token.expires)
    let count = try callingStore { () throws(StoreFailure) in try store.end(logout, at: now) }
    guard let count else {
      log.write(.warning, "\(provider.name): back-channel logout: a token came twice")
      return Self.logoutRefusal("the logout_token was used before")
    }
    log.write(.info, "\(provider.name): back-channel logout: \(count) sessions were ended")
    return WebResponse(200, headers: [HTTPHeader("Cache-Control", "no-store")])
  }

  private func name(of token: LogoutToken, from provider: SignInProvider) throws(Interruption) -> [UInt8] {
    let name = "logout \(provider.name) \(token.issuer.text) \(token.id)"
    return try internalCall { () throws(EnrollError) in
      do throws(CryptoError) { return try Digest.sha256.hash(Array(name.utf8)) } catch {
        throw EnrollError(error, "SHA-256 failed")
      }
    }
  }

  /// The refusal of OpenID Connect Back-Channel Logout 1.0 §2.8.
  private static func logoutRefusal(_ description: String) -> WebResponse {
    .refusal("invalid_request", description, headers: [HTTPHeader("Cache-Control", "no-store")])
  }
}
