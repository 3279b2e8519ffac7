// A user deletes their account after a sign-in within the last ten minutes. One transaction deletes all data
// with the sessions, and queues the tokens of providers for revocation. Apps notice the deletion at their
// next request. The user gets an e-mail.

import EnrollRules
import EnrollSteps
import EnrollGatewayPages
import EnrollHTTP

/// The deletion of an account by its user, and the copy of its data.
struct AccountDeletion: GatewaySteps {
  let services: GatewayServices
  let store: any SessionStore & AccountChanges & AuditStore
  let sessions: GatewaySessions
  let notices: AccountNotices
  let revocations: Revocations

  /// `GET /account/delete`
  func deletePage(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let hash = sessions.sessionHash(request), let session = try sessions.liveSession(request) else {
      return .redirect(to: "/login", headers: sessions.clearingSession(request))
    }
    guard sessions.proof(request, hash, session) != nil else {
      return .redirect(to: ConfirmationTarget.deletion.confirmPath)
    }
    let formToken = try formToken(hash)
    return try page(views.delete(formToken: formToken, for: request))
  }

  /// `POST /account/delete/confirm`
  func deleteAccount(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let (hash, session) = try sessions.ownForm(request) else {
      return .redirect(to: "/login", headers: sessions.clearingSession(request))
    }
    guard let proof = sessions.proof(request, hash, session) else {
      return .redirect(to: ConfirmationTarget.deletion.confirmPath)
    }
    let deleted = try callingStore { () throws(StoreFailure) in
      try store.deleteAccount(session.account.id, by: proof, at: now)
    }
    guard let deleted else { return .redirect(to: ConfirmationTarget.deletion.confirmPath) }
    log.write(.info, "account \(session.account.id) was deleted")
    notices.notify(.accountDeleted, about: deleted.identities, for: request)
    revocations.revokeNow()
    return .redirect(to: "/account-deleted", headers: GatewaySessions.withoutSession)
  }
}

extension Views {
  func delete(formToken: String, for request: WebRequest) -> WebResponse? {
    guard let action = link("/account/delete/confirm"), let account = link("/account") else { return nil }
    let token = FormToken(name: Self.formField, value: formToken)
    return answer(DeletePage(action: action, account: account, token: token), for: request)
  }

  func deleted(for request: WebRequest) -> WebResponse {
    answer(DeletedPage(signUp: link("/signup")), for: request)
  }
}
