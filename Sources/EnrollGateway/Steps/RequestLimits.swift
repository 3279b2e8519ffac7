// Functions that count requests against the limits for a client or a person.

import EnrollHTTP

extension Limits {
  /// Counts a request, and throws if the request exceeds the limit.
  /// - Throws: `.limited`, which is answered by 429 with `Retry-After` (RFC 6585 §4).
  func count(_ kind: LimitKind, _ key: LimitKey) throws(Interruption) {
    guard case .refused(let seconds) = take(kind, key: key) else { return }
    throw .limited(retryAfterSeconds: seconds)
  }

  /// Counts an e-mail, whether the address has an account or not.
  /// - Returns: false if too many e-mails were sent to the address. The answer to the user must then be the same, but
  ///   no e-mail is sent.
  /// - Throws: `.limited` if the client has caused too many e-mails.
  func mayMail(_ email: EmailAddress, _ request: WebRequest) throws(Interruption) -> Bool {
    try count(.mail, .client(request.client))
    return take(.mail, key: .person(email.key)) == .granted
  }

  /// Counts a password attempt for the address.
  /// - Throws: `.limited` if there were too many attempts by the client, or by all clients for this address.
  func countPassword(_ email: EmailAddress, _ request: WebRequest) throws(Interruption) {
    try count(.password, .client(request.client))
    try count(.password, .person(email.key))
  }
}
