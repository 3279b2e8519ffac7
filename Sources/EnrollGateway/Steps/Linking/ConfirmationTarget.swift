// Changing how a user signs in to an account, or deleting an account, requires a sign-in within the last ten minutes: a
// session that was left open or stolen is not enough (step-up authentication, RFC 9470). The user has to sign in with
// an identity of the account; another identity changes nothing, and creates no account.

import EnrollRules
import EnrollSteps
import EnrollGatewayPages
import EnrollHTTP

/// The page for which a recent sign-in was required, and to which the browser returns afterwards.
enum ConfirmationTarget: String, CaseIterable {
  case account
  case deletion = "delete"

  var path: String {
    switch self {
    case .account: "/account"
    case .deletion: "/account/delete"
    }
  }

  /// The page that asks for the sign-in.
  var confirmPath: String { self == .account ? "/account/confirm" : "/account/confirm?then=\(rawValue)" }
}

extension IdentityLinking {
  /// `GET /account/confirm`
  func confirmPage(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let hash = sessions.sessionHash(request), let session = try sessions.liveSession(request) else {
      return .redirect(to: "/login", headers: sessions.clearingSession(request))
    }
    let identities = try callingStore { () throws(StoreFailure) in
      try store.identities(ofAccount: session.account.id)
    }
    let methods = providers.filter { provider in
      identities.contains { ASCII.equals($0.provider, provider.name) }
    }
    let then =
      Parameters(encoded: request.query)?["then"].flatMap { ConfirmationTarget(rawValue: $0) } ?? .account
    // If the account has no provider with which the user can confirm, a sign-in by e-mail proves the identity.
    if methods.isEmpty, services.registration != nil {
      return .redirect(to: try path("/signin", keeping: SignInDestination(returnTo: then.path)))
    }
    let formToken = try formToken(hash)
    return try page(views.confirm(methods, then: then, formToken: formToken, for: request))
  }

  /// `POST /account/confirm/start`
  func startConfirming(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let (_, session) = try sessions.ownForm(request) else { return .redirect(to: "/login") }
    guard let name = request.form?["provider"],
      let target = request.form?["then"].flatMap({ ConfirmationTarget(rawValue: $0) })
    else { throw .failure(.invalidRequest) }
    return try starts.send(
      request, to: try services.provider(name), purpose: .confirm(account: session.account.id),
      returnTo: target.path)
  }

}

extension SignInCallback {
  /// Handles the provider's answer to the sign-in with which the user confirms a change.
  func handleConfirmCallback(
    _ request: WebRequest, _ identity: Identity, account: AccountID, _ attempt: Attempt,
    clearingCookie: HTTPHeader
  ) throws(Interruption) -> WebResponse {
    let owner = try callingStore { () throws(StoreFailure) in try store.account(of: identity.key) }
    guard owner == account else {
      log.write(.info, "\(identity.provider): account \(account) was confirmed by another identity")
      return views.failure(.otherIdentity, for: request, retryAt: "/account", headers: [clearingCookie])
    }
    return try completeWebSignIn(request, identity, attempt, isProven: true, clearingCookie: clearingCookie)
  }
}

extension Views {
  func confirm(
    _ methods: [SignInProvider], then: ConfirmationTarget, formToken: String, for request: WebRequest
  ) -> WebResponse? {
    guard let action = link("/account/confirm/start"), let account = link("/account") else { return nil }
    let page = ConfirmPage(
      methods: methods.map { method($0) }, action: action, then: then.rawValue, account: account,
      token: FormToken(name: Self.formField, value: formToken))
    return answer(page, for: request)
  }

  func method(_ provider: SignInProvider) -> ConfirmPage.SignInMethod {
    ConfirmPage.SignInMethod(
      name: provider.name, label: provider.label, sign: ProviderSign(named: provider.name))
  }
}
