// `POST /account/export`: what the gateway keeps about an account, as a file for the person it belongs to.

import EnrollCore
import EnrollJSON
import EnrollHTTP

extension Gateway {
  func export(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let (_, session) = try ownForm(request) else { return .redirect(to: "/login") }
    let id = session.account.id
    let copy = try stored { () throws(StoreFailure) in
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
