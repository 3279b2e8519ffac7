// Checks values before they become parameters. The checks are the same for both databases, so that neither database
// accepts what the other refuses: PostgreSQL stores no NUL, ids are UUIDs, hashes have 32 bytes, sums of seconds do not
// overflow.

import EnrollRules
import EnrollGateway

/// An identity whose values both databases can store.
struct CheckedIdentity {
  let providerName: String
  let provider: SQLValue
  let subject: SQLValue
  let email: SQLValue
  let isEmailVerified: SQLValue
  let name: SQLValue
  let providerSession: SQLValue

  /// Checks the values of an identity.
  /// - Throws: `.fault` for a NUL in the provider, subject, e-mail address or provider's session: PostgreSQL stores no
  ///   NUL.
  init(_ identity: Identity) throws(StoreFailure) {
    providerName = identity.provider
    provider = try StoredText.exact(identity.provider, "The provider's name")
    subject = try StoredText.exact(identity.subject, "The subject")
    email = if let email = identity.email { try StoredText.exact(email, "The e-mail address") } else { .null }
    isEmailVerified = .boolean(identity.isEmailVerified)
    name = StoredText.shown(identity.name)
    providerSession =
      if let session = identity.providerSession {
        try StoredText.exact(session, "The provider's session")
      } else { .null }
  }
}

/// A new session as parameters.
struct CheckedSession {
  let tokenHash: SQLValue
  let id: SQLValue
  let app: SQLValue
  let device: SQLValue
  let idleSeconds: SQLValue
  let absoluteExpires: SQLValue
  let expires: SQLValue

  /// The longest duration in seconds; a longer duration is shortened to this limit. Sums with this number do not
  /// overflow.
  private static let longestSeconds: Int64 = 1 << 40

  init(_ session: NewSession, at now: UnixTime) throws(StoreFailure) {
    guard session.tokenHash.count == 32 else {
      throw .fault(
        "The hash of the session's token has \(session.tokenHash.count) bytes. The store expects 32.")
    }
    tokenHash = .bytes(session.tokenHash)
    id = .id(session.id)
    app = StoredText.shown(session.app)
    device = StoredText.shown(session.device)
    let idle = min(max(session.idleSeconds, 0), Self.longestSeconds)
    let absolute = now + min(max(session.absoluteSeconds, 0), Self.longestSeconds)
    idleSeconds = .integer(idle)
    absoluteExpires = .integer(absolute.seconds)
    expires = .integer(min(now + idle, absolute).seconds)
  }

  /// The parameters of the statement that inserts the session.
  /// - Parameter app: the app that the code was issued to; nil for the app that the session names.
  func values(
    account: AccountID, _ provider: SQLValue, _ subject: SQLValue, app: SQLValue? = nil,
    providerSession: SQLValue, at now: UnixTime
  ) -> [SQLValue] {
    [
      tokenHash, id, .id(account), provider, subject, app ?? self.app, device, .integer(now.seconds),
      idleSeconds, absoluteExpires, expires, providerSession,
    ]
  }
}

/// A new code as parameters.
struct CheckedCode {
  let codeHash: SQLValue
  let app: SQLValue
  let provider: SQLValue
  let challenge: SQLValue
  let expires: SQLValue

  init(_ code: NewAppCode) throws(StoreFailure) {
    guard code.codeHash.count == 32 else {
      throw .fault("The hash of the code has \(code.codeHash.count) bytes. The store expects 32.")
    }
    codeHash = .bytes(code.codeHash)
    app = try StoredText.exact(code.app, "The app's name")
    provider = try StoredText.exact(code.provider, "The code's provider")
    challenge = try StoredText.exact(code.challenge, "The code's challenge")
    expires = .integer(code.expires.seconds)
  }

  /// The parameters of the statement that inserts the code.
  func values(account: AccountID, subject: SQLValue, providerSession: SQLValue) -> [SQLValue] {
    [codeHash, .id(account), provider, subject, app, challenge, expires, providerSession]
  }
}

/// The session or code that a sign-in begins, as parameters.
enum CheckedCredential {
  case session(CheckedSession)
  case code(CheckedCode)

  init(_ credential: NewCredential, at now: UnixTime) throws(StoreFailure) {
    switch credential {
    case .session(let session): self = .session(try CheckedSession(session, at: now))
    case .code(let code): self = .code(try CheckedCode(code))
    }
  }
}

enum StoredText {
  static func exact(_ text: String, _ what: String) throws(StoreFailure) -> SQLValue {
    guard !text.utf8.contains(0) else {
      throw .fault("\(what) contains a NUL character. The store expects a text without one.")
    }
    return .text(text)
  }

  /// Removes the NULs from a text that is only shown to people.
  static func shown(_ text: String?) -> SQLValue {
    guard let text else { return .null }
    return .text(text.utf8.contains(0) ? text.filter { $0 != "\0" } : text)
  }
}
