// An account is deleted by the person it belongs to, who proved it within ten minutes. Everything of it goes in one transaction, its sessions
// with it; apps notice at their next request. The same transaction notes which tokens of providers are to be revoked. The person is
// told by mail.

import EnrollCore
import EnrollGatewayPages
import EnrollHTTP

extension Gateway {
  /// `GET /account/delete`
  func deletePage(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let hash = sessionHash(request), let session = try liveSession(request) else {
      return .redirect(to: "/login", headers: forgetting(request))
    }
    guard proof(request, hash, session) != nil else {
      return .redirect(to: ConfirmedWish.deletion.confirmPath)
    }
    let mark = try owned { () throws(EnrollError) in try keys.mark(hash, for: .form, at: now) }
    return try page(views.delete(formToken: mark, for: request))
  }

  /// `POST /account/delete/confirm`
  func deleteAccount(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let (hash, session) = try ownForm(request) else {
      return .redirect(to: "/login", headers: forgetting(request))
    }
    guard let proof = proof(request, hash, session) else {
      return .redirect(to: ConfirmedWish.deletion.confirmPath)
    }
    let deleted = try stored { () throws(StoreFailure) in
      try store.deleteAccount(session.account.id, by: proof, at: now)
    }
    guard let deleted else { return .redirect(to: ConfirmedWish.deletion.confirmPath) }
    log.write(.info, "account \(session.account.id) was deleted")
    tell(.accountDeleted, about: deleted.identities, for: request)
    revokeNow()
    return .redirect(to: "/account-deleted", headers: Self.withoutSession)
  }
}
