// A back end that signs in on the app's behalf: what it knows of its users, and the codes and tokens that it gave out.
// The providers behind it are the sandbox's own pages under other names. Pure: time and random texts come in.

import EnrollCrypto

/// A user's account at the back end.
public struct BFFAccount: Sendable, Equatable {
  /// The same for life, and nobody else's.
  public var userID: String
  /// `google`, `facebook` or `apple`.
  public var providerID: String
  public var providerUserID: String
  public var email: String
  /// Seconds since 1970.
  public var created: Int64
  public var lastLogin: Int64
}

struct BFF: Sendable {
  /// Whom it signs in with.
  enum Identity: String, CaseIterable, Sendable {
    case google, facebook, apple

    var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
  }

  /// The session that a redirect's one-time code is redeemed for.
  struct Code: Sendable {
    var userID: String
    var identity: Identity
    var codeChallenge: String
    var expiresAt: Int64
    var sessionToken: String?
  }

  struct Session: Sendable {
    var userID: String
    var expiresAt: Int64
  }

  private(set) var accounts: [BFFAccount] = []
  private(set) var codes: [String: Code] = [:]
  /// By session token.
  private(set) var sessions: [String: Session] = [:]
  /// Seals the cookies of sign-ins under way.
  let cookieKey: Secret

  init() throws {
    cookieKey = try SystemRandom.secret(AESGCM.keyCount)
  }

  /// Makes the account at the first sign-in, and finds it at every later one.
  mutating func signIn(
    _ identity: Identity, providerUserID: String, email: String, newID: String, now: Int64
  ) -> BFFAccount {
    let known = accounts.firstIndex {
      $0.providerID == identity.rawValue && $0.providerUserID == providerUserID
    }
    guard let known else {
      let account = BFFAccount(
        userID: newID, providerID: identity.rawValue, providerUserID: providerUserID, email: email,
        created: now, lastLogin: now)
      accounts.append(account)
      return account
    }
    accounts[known].email = email
    accounts[known].lastLogin = now
    return accounts[known]
  }

  mutating func add(_ code: Code, as text: String) { codes[text] = code }

  mutating func begin(userID: String, as text: String, until expiresAt: Int64) {
    sessions[text] = Session(userID: userID, expiresAt: expiresAt)
  }

  mutating func end(_ text: String) { sessions[text] = nil }

  /// A code works once, for its own provider, with the verifier of the challenge that began the sign-in.
  mutating func redeem(
    _ text: String, identity: Identity, verifier: String, newToken: String, until expiresAt: Int64, now: Int64
  ) throws(OAuthRefusal) -> String {
    guard var code = codes[text] else { throw .invalidGrant("the code is not known") }
    if let given = code.sessionToken {
      end(given)
      throw .invalidGrant("the code was used before; what it gave is revoked")
    }
    guard code.identity == identity else { throw .invalidGrant("the code came from another provider") }
    guard now <= code.expiresAt else { throw .invalidGrant("the code expired") }
    guard PKCE.matches(verifier: verifier, challenge: code.codeChallenge) else {
      throw .invalidGrant("code_verifier does not match the app's code_challenge")
    }
    code.sessionToken = newToken
    codes[text] = code
    begin(userID: code.userID, as: newToken, until: expiresAt)
    return newToken
  }

  /// The account behind a session that lives.
  func account(ofSession text: String?, now: Int64) -> BFFAccount? {
    guard let text, let session = sessions[text], now < session.expiresAt else { return nil }
    return accounts.first { $0.userID == session.userID }
  }
}
