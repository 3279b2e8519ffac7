// Redirects from the gateway's own pages to the provider that belongs to the directory. A directory that checks
// passwords returns a session token. The provider's authorization endpoint accepts this token once, in place of a
// session. The gateway redirects the browser to that endpoint with the authorization request of a normal client, but
// without a page (`prompt=none`). The browser then has a session at the provider. If the directory checks no passwords,
// the provider's own page asks for the password. Either way the user has only one identity: the provider's.

import EnrollRules
import EnrollCrypto
import EnrollGatewayPages
import EnrollHTTP

extension SignInStart {
  /// Redirects the browser to the directory's provider; after the sign-in there, the browser goes to the destination.
  /// - Parameters:
  ///   - session: the token of ``PasswordCheck/accepted(_:session:)``; nil if the provider asks for the password.
  ///   - email: the login hint for the provider's page.
  func handOver(
    _ request: WebRequest, to provider: SignInProvider, session: Secret?, email: EmailAddress,
    _ destination: SignInDestination
  ) throws(Interruption) -> WebResponse {
    let returnTo = returnAddress(of: destination)
    guard let session else {
      return try send(
        request, to: provider, prompt: nil, loginHint: email.text, app: destination.app, returnTo: returnTo)
    }
    return try send(
      request, to: provider, prompt: "none", loginHint: nil, extra: [("sessionToken", session.reveal())],
      app: destination.app, returnTo: returnTo)
  }

  /// The URL to which a browser goes after its session has begun; nil for the account page.
  func returnAddress(of destination: SignInDestination) -> String? {
    destination.fromURI ?? fallback(of: destination) ?? destination.returnTo
  }

  /// The app's fallback URI. It is for a browser that has a session, but no authorization request that could continue.
  func fallback(of destination: SignInDestination) -> String? {
    destination.clientID.flatMap { id in settings.apps.first { ASCII.equals($0.id, id) }?.fallbackURI }
  }

  /// The additional targets in `form-action` for forms that lead to a hand-over: browsers also apply `form-action` to
  /// every redirect that follows a form.
  var handOverTargets: [PageLink] {
    guard let provider = settings.directory?.provider,
      let issuer = settings.providers.first(where: { ASCII.equals($0.name, provider) })?.configuration.issuer
    else { return [] }
    let apps = settings.apps.flatMap { $0.redirectURIs + [$0.fallbackURI].compactMap { $0 } }
    let links = [try? PageLink(web: issuer.text)] + apps.map { try? PageLink(app: $0) }
    return links.compactMap { $0 }
  }
}

extension GatewaySteps {
  /// The URL in the parameter `return_to`; nil if there is no such parameter.
  /// - Throws: `.failure(.invalidRequest)` for a URL that the settings do not list, because a redirect to such a URL
  ///   would be an open redirect (RFC 9700 §4.11).
  func returnAddress(_ parameters: Parameters) throws(Interruption) -> String? {
    guard let address = parameters["return_to"] else { return nil }
    guard mayReturn(to: address) else { throw .failure(.invalidRequest) }
    return address
  }

  func mayReturn(to address: String) -> Bool {
    settings.returnTo.contains { ASCII.equals($0, address) }
  }
}
