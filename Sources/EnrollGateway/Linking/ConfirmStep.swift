// Whoever changes how an account is reached, or deletes it, has proven it within ten minutes: a session that was left open, or stolen,
// is not enough (RFC 9470 names the idea). The proof is a sign-in with an identity of the account; another identity changes nothing,
// and makes no account.

import EnrollCore
import EnrollGatewayPages
import EnrollHTTP

/// What somebody wanted when a proof was asked for, and where it goes on.
enum ConfirmedWish: String, CaseIterable {
  case account
  case deletion = "delete"

  var path: String {
    switch self {
    case .account: "/account"
    case .deletion: "/account/delete"
    }
  }

  /// Where the proof is asked for.
  var confirmPath: String { self == .account ? "/account/confirm" : "/account/confirm?then=\(rawValue)" }
}

extension Gateway {
  /// `GET /account/confirm`
  func confirmPage(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let hash = sessionHash(request), let session = try liveSession(request) else {
      return .redirect(to: "/login", headers: forgetting(request))
    }
    let identities = try stored { () throws(StoreFailure) in
      try store.identities(ofAccount: session.account.id)
    }
    let ways = providers.filter { provider in
      identities.contains { ASCII.equals($0.provider, provider.name) }
    }
    // A sign-in by e-mail is a proof, too: the account page goes on from it.
    if ways.isEmpty, registration != nil { return .redirect(to: "/signin") }
    let then = Parameters(encoded: request.query)?["then"].flatMap { ConfirmedWish(rawValue: $0) }
    let mark = try owned { () throws(EnrollError) in try keys.mark(hash, for: .form, at: now) }
    return try page(views.confirm(ways, then: then ?? .account, formToken: mark, for: request))
  }

  /// `POST /account/confirm/start`
  func startConfirming(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let (_, session) = try ownForm(request) else { return .redirect(to: "/login") }
    guard let name = request.form?["provider"],
      let wish = request.form?["then"].flatMap({ ConfirmedWish(rawValue: $0) })
    else { throw .failure(.invalidRequest) }
    return try send(
      request, to: try provider(name), purpose: .confirm(account: session.account.id), returnTo: wish.path)
  }

  /// The provider says who confirms.
  func finishConfirming(
    _ request: WebRequest, _ identity: Identity, account: String, _ attempt: Attempt, over: HTTPHeader
  ) throws(Interruption) -> WebResponse {
    let owner = try stored { () throws(StoreFailure) in try store.account(of: identity.key) }
    guard let owner, ASCII.equals(owner, account) else {
      log.write(.info, "\(identity.provider): account \(account) was confirmed by another identity")
      return views.failure(.otherIdentity, for: request, retryAt: "/account", headers: [over])
    }
    return try enterWeb(request, identity, attempt, isProven: true, over: over)
  }

  /// - Throws: `.failure(.internalError)` for a page that could not be made.
  func page(_ made: WebResponse?) throws(Interruption) -> WebResponse {
    guard let made else { throw .failure(.internalError) }
    return made
  }
}
