// Which requests are limited by their client's address. What an e-mail or a password costs is limited where it is asked for, by the
// person, too.

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
}
