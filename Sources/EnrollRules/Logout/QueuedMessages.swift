// Messages of the outbox: which are equal, and which revoke a token.

package import EnrollCrypto

extension OutboxEntry {
  /// The token that a revocation is about; nil for other messages.
  package var revokedToken: Secret? {
    if case .revocation(let revocation) = message { revocation.token } else { nil }
  }

  package mutating func endLogoutWait() { (pause, awaitedLogout) = (nil, nil) }
}

extension OutboxEntry {
  /// Whether the entries are equal except for their attempts, which another process may have counted
  /// meanwhile.
  package func isSame(as other: OutboxEntry) -> Bool {
    message == other.message && queued == other.queued && sender == other.sender
      && issuer == other.issuer
  }
}

extension [OutboxEntry] {
  /// Replaces or removes an entry after an attempt to send it.
  /// - Parameter left: the entry that replaces `entry`; nil removes `entry`. The stored number of attempts, which
  ///   another process may have changed, grows by one.
  package mutating func put(_ left: OutboxEntry?, inPlaceOf entry: OutboxEntry) {
    guard let left else { return removeAll { $0.isSame(as: entry) } }
    for index in indices where self[index].isSame(as: entry) {
      let attempts = self[index].attempts
      self[index] = left
      self[index].attempts = attempts + 1
    }
  }
}

extension OutboxEntry {
  /// Whether the message revokes this token.
  package func revokes(_ token: Secret) -> Bool {
    if case .revocation(let revocation) = message { revocation.token == token } else { false }
  }
}

extension [OutboxEntry] {
  /// Adds the messages that the outbox does not have yet.
  package mutating func add(_ entries: [OutboxEntry]) {
    for entry in entries where !contains(where: { $0.isTwin(of: entry) }) { append(entry) }
  }
}

extension OutboxEntry {
  /// Whether both entries are the same message to the same server. Two revocations of one token are the same message,
  /// even if they are sent with different bearer tokens: the token of an audience may be in the stored tokens, and
  /// also in renewed tokens that could not be stored, each time with another bearer token.
  func isTwin(of other: OutboxEntry) -> Bool {
    guard sender == other.sender, issuer == other.issuer else { return false }
    guard case .revocation(let own) = message, case .revocation(let others) = other.message else {
      return message == other.message
    }
    return own.token == others.token && own.clientID == others.clientID && own.user == others.user
  }
}

extension OutboxEntry {
  package var isErrorReport: Bool {
    if case .errorReport = message { true } else { false }
  }
}
