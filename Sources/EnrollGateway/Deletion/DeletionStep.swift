// An account is deleted by the person it belongs to, who proved it within ten minutes. Everything of it goes in one transaction, its sessions
// with it; apps notice at their next request. Afterwards the providers' tokens are revoked and the person is told by mail: neither
// can undo what was done.

import EnrollCore
import EnrollGatewayPages

extension Gateway {
  /// `GET /account/delete`
  func deletePage(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let hash = sessionHash(request), let session = try liveSession(request) else {
      return .redirect(to: "/login", headers: forgetting(request))
    }
    guard isRecent(session) else { return .redirect(to: ConfirmedWish.deletion.confirmPath) }
    let mark = try owned { () throws(EnrollError) in try keys.mark(hash, for: .form, at: now) }
    return try page(views.delete(formToken: mark, for: request))
  }

  /// `POST /account/delete/confirm`
  func deleteAccount(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let (hash, session) = try ownForm(request) else {
      return .redirect(to: "/login", headers: forgetting(request))
    }
    let proof = proof(hash, session)
    let deleted = try stored { () throws(StoreFailure) in
      try store.deleteAccount(session.account.id, by: proof, at: now)
    }
    guard let deleted else { return .redirect(to: ConfirmedWish.deletion.confirmPath) }
    log.write(.info, "account \(session.account.id) was deleted")
    tell(.accountDeleted, about: deleted.identities, for: request)
    revoke(deleted.tokens)
    return .redirect(to: "/account-deleted", headers: [.cookie(Self.sessionCookie, "", seconds: 0)])
  }

  /// Asks the providers to revoke tokens. A revocation that fails is logged and not repeated.
  func revoke(_ tokens: [KeptProviderToken]) {
    for kept in tokens {
      let name = kept.identity.provider
      guard let provider = providers.first(where: { ASCII.equals($0.name, name) }) else {
        log.write(.warning, "\(name): a token was not revoked: the provider is not configured")
        continue
      }
      guard let token = keys.open(kept.sealed, for: .providerToken) else {
        log.write(.warning, "\(name): a token was not revoked: its key is gone from the key file")
        continue
      }
      do throws(EnrollError) { try provider.revoke(token) } catch {
        log.write(.warning, "\(name): a token was not revoked: \(error.code.name): \(error.message)")
      }
    }
  }
}
