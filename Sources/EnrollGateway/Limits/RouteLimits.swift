// Which requests are limited by their client's address. What an e-mail or a password costs is limited where it is asked for, by the
// person, too.

import EnrollHTTP

extension Route {
  /// nil: such requests are not limited.
  var limit: LimitKind? {
    switch self {
    case .start: .start
    case .callback: .callback
    case .redeem: .redeem
    default: nil
    }
  }
}

extension Gateway {
  /// Takes one, or ends the answering of the request.
  /// - Throws: `.limited`: 429 with `Retry-After` (RFC 6585 §4).
  func limit(_ kind: LimitKind, _ key: LimitKey) throws(Interruption) {
    guard case .refused(let seconds) = limits.take(kind, key: key) else { return }
    throw .limited(retryAfterSeconds: seconds)
  }

  /// Counts an e-mail, whether there is anybody at the address or not.
  /// - Returns: false when the address has had its e-mails: the answer is then the same, and nothing is sent.
  /// - Throws: `.limited` when the client has caused too many.
  func mayMail(_ email: EmailAddress, _ request: WebRequest) throws(Interruption) -> Bool {
    try limit(.mail, .client(request.client))
    return limits.take(.mail, key: .person(email.key)) == .granted
  }

  /// Counts a password that is tried for the address.
  /// - Throws: `.limited` when the client, or everybody together for this address, tried too many.
  func limitPasswords(_ email: EmailAddress, _ request: WebRequest) throws(Interruption) {
    try limit(.password, .client(request.client))
    try limit(.password, .person(email.key))
  }
}
