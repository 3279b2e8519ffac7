// Rows parsed into the values of EnrollGateway, and the rules for them: when the use of a session is
// recorded, and when a code is refused.

import EnrollRules
import EnrollGateway

/// A row of ``SQLStatement/session`` or ``SQLStatement/sessions``.
struct SessionRecord {
  var session: LiveSession
  let idleSeconds: Int64
  let absoluteExpires: UnixTime

  init(_ row: some SQLRow) {
    session = LiveSession(
      id: row.id(0),
      account: Account(
        id: row.id(8), created: row.time(9), lastLogin: row.time(10)),
      identity: Identity(
        provider: row.text(11), subject: row.text(12), email: row.textOrNil(13),
        isEmailVerified: row.boolean(14), name: row.textOrNil(15)),
      app: row.textOrNil(1), device: row.textOrNil(2), created: row.time(3), lastSeen: row.time(4),
      expires: row.time(5))
    idleSeconds = row.integer(6)
    absoluteExpires = row.time(7)
  }

  /// The use of a session is recorded at most once in this many seconds.
  static let touchSeconds: Int64 = 60

  /// True if a use at `now` has to be recorded.
  func isDue(at now: UnixTime) -> Bool { now.since(session.lastSeen) >= Self.touchSeconds }

  /// Updates the record after the use at `now` was stored.
  mutating func touch(at now: UnixTime) {
    session.lastSeen = now
    session.expires = expires(afterUseAt: now)
  }

  /// The parameters of ``SQLStatement/touch``.
  func touchValues(_ tokenHash: [UInt8], at now: UnixTime) -> [SQLValue] {
    [
      .bytes(tokenHash), .integer(now.seconds), .integer((now - Self.touchSeconds).seconds),
      .integer(expires(afterUseAt: now).seconds),
    ]
  }

  private func expires(afterUseAt now: UnixTime) -> UnixTime { min(now + idleSeconds, absoluteExpires) }
}

extension Account {
  /// A row of ``SQLStatement/accountByID`` or ``SQLStatement/accountsByEmail``.
  init(row: some SQLRow) {
    self.init(id: row.id(0), created: row.time(1), lastLogin: row.time(2))
  }
}

extension UnixTime {
  /// Milliseconds since 1970, limited to a range in which sums do not overflow.
  var milliseconds: Int64 { min(max(seconds, 0), 1 << 50) * 1_000 }
}

extension Identity {
  /// A row of ``SQLStatement/identities``.
  init(row: some SQLRow) {
    self.init(
      provider: row.text(0), subject: row.text(1), email: row.textOrNil(2), isEmailVerified: row.boolean(3),
      name: row.textOrNil(4))
  }
}

/// A row of ``SQLStatement/code``.
struct CodeRecord {
  let provider: String
  let challenge: String
  let expires: UnixTime
  let isSpent: Bool
  let sessionHash: [UInt8]
  let account: Account
  let subject: String
  let app: String
  let providerSession: String?

  init(_ row: some SQLRow) {
    provider = row.text(0)
    challenge = row.text(1)
    expires = row.time(2)
    isSpent = !row.isNull(3)
    sessionHash = row.isNull(4) ? [] : row.bytes(4)
    account = Account(id: row.id(5), created: row.time(8), lastLogin: row.time(9))
    subject = row.text(6)
    app = row.text(7)
    providerSession = row.textOrNil(10)
  }

  /// Why the code is refused; nil if it is good. A second use of a code, which ends the session (RFC 6749 §4.1.2),
  /// counts only with the app's verifier: otherwise anybody who saw a code in a redirect could end the session that it
  /// began. With the verifier the session ends even if the request has other faults, because then somebody else has
  /// both the code and the verifier.
  func refusal(provider: String, challenge: String, at now: UnixTime) -> Redemption? {
    if isSpent { return challenge == self.challenge ? .reused : .otherVerifier }
    if provider != self.provider { return .otherProvider }
    if now >= expires { return .expired }
    if challenge != self.challenge { return .otherVerifier }
    return nil
  }
}

extension AuditEntry {
  /// The audit entry for a code that was presented a second time.
  static func reuse(of code: CodeRecord, at now: UnixTime, from origin: AuditOrigin) -> AuditEntry {
    AuditEntry(
      at: now, .codeReused, .refused, account: code.account.id, detail: code.app, from: origin)
  }
}
