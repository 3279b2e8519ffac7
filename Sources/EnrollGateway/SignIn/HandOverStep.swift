// From the gateway's own pages to the provider of the directory's house. A directory that checks passwords gives a session token, which the
// provider's authorize endpoint takes for a session once: the gateway signs in there as any client does, without a page
// (`prompt=none`), and the browser has the provider's session afterwards. A directory that checks none has its passwords checked by the
// provider's own page. Either way one identity stands for the person: the provider's.

import EnrollCore
import EnrollCrypto
import EnrollGatewayPages
import EnrollHTTP

extension Gateway {
  /// The provider that signs in the people of the directory; nil where the gateway does so itself.
  var house: SignInProvider? {
    settings.directory?.provider.flatMap { name in providers.first { ASCII.equals($0.name, name) } }
  }

  /// Sends the browser to the house's provider, from where it goes on to the end of the visit.
  /// - Parameters:
  ///   - session: of ``PasswordCheck/right(_:session:)``; nil: the provider asks for the password.
  ///   - email: for the provider's page.
  func handOver(
    _ request: WebRequest, to house: SignInProvider, session: Secret?, email: EmailAddress, _ visit: Visit
  ) throws(Interruption) -> WebResponse {
    let destination = visit.fromURI ?? fallback(of: visit) ?? visit.returnTo
    guard let session else {
      return try send(
        request, to: house, prompt: nil, loginHint: email.text, app: visit.app, returnTo: destination)
    }
    return try send(
      request, to: house, prompt: "none", loginHint: nil, extra: [("sessionToken", session.reveal())],
      app: visit.app, returnTo: destination)
  }

  /// The app's own address for a browser that has a session and no authorize request to go on with.
  func fallback(of visit: Visit) -> String? {
    visit.clientID.flatMap { id in settings.apps.first { ASCII.equals($0.id, id) }?.fallbackURI }
  }

  /// What a request says about the issuer's authorize request that waits.
  /// - Throws: `.failure(.invalidRequest)` for an address that is not the issuer's own.
  func fromURI(_ parameters: Parameters) throws(Interruption) -> String? {
    guard let text = parameters["fromURI"] else { return nil }
    guard let address = FromURI(text, allowed: settings.directory?.fromURIs ?? []) else {
      throw .failure(.invalidRequest)
    }
    return address.text
  }

  /// Where the forms before a hand-over may be redirected to: browsers apply `form-action` to every redirect behind a form.
  var handOverTargets: [PageLink] {
    guard let house = settings.directory?.provider,
      let issuer = settings.providers.first(where: { ASCII.equals($0.name, house) })?.configuration.issuer
    else { return [] }
    let apps = settings.apps.flatMap { $0.redirectURIs + [$0.fallbackURI].compactMap { $0 } }
    let links = [try? PageLink(web: issuer.text)] + apps.map { try? PageLink(app: $0) }
    return links.compactMap { $0 }
  }
}
