// `POST /account/export`: the data that the gateway stores about an account, as a file for the account's user.

import EnrollRules
import EnrollJSON
import EnrollHTTP

extension AccountDeletion {
  func export(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let (_, session) = try sessions.ownForm(request) else { return .redirect(to: "/login") }
    let id = session.account.id
    let copy = try callingStore { () throws(StoreFailure) in
      try store.append(AuditEntry(at: now, .exported, account: id, from: .current))
      return try AccountCopy(of: id, in: store, at: now)
    }
    guard let copy else { return .redirect(to: "/login") }
    return .json(
      copy.json,
      headers: [
        HTTPHeader("Content-Disposition", "attachment; filename=\"account.json\""),
        HTTPHeader("Cache-Control", "no-store"), HTTPHeader("X-Content-Type-Options", "nosniff"),
      ])
  }
}
