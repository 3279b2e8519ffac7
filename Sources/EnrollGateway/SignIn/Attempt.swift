// A sign-in in progress, in its own sealed cookie. The gateway stores nothing until the provider has answered, so any
// replica can handle the answer. Refused: a cookie that the gateway's keys did not seal, a cookie that is older than
// ten minutes, and a cookie that belongs to another `state`.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollHTTP

struct Attempt: Equatable {
  var provider: String
  /// The state, nonce and verifier of the authorization request that waits for its answer.
  var transaction: TransactionRecord
  /// When the attempt expires, in wall time: replicas share no other clock.
  var expires: UnixTime
  /// The app that waits for the sign-in; nil if the user signs in with a browser only.
  var app: App?
  /// Where the browser goes after the sign-in: a URL of the configured list, or a path of the gateway; nil for the
  /// account page.
  var returnTo: String?
  var purpose: Purpose = .signIn
  var reauthentication: Reauthentication = .notRequested

  /// Whether the provider is asked to authenticate the user again (OpenID Connect Core §3.1.2.1).
  enum Reauthentication: Equatable {
    /// The provider decides.
    case notRequested
    /// The request has `max_age`: the provider authenticates the user again if it last did so more than ten minutes
    /// ago.
    case byAge
    /// The request also has `prompt=login`, because the `auth_time` of an earlier answer did not prove a recent
    /// authentication. The first request does not have `prompt=login`, because some providers that get it ask the user
    /// again and again (Canaille 0.3.6 with a consent page).
    case byPrompt
  }

  /// The purpose of the sign-in.
  enum Purpose: Equatable {
    case signIn
    /// The sign-in links the identity to this account.
    case link(account: AccountID)
    /// The sign-in proves that the user owns this account: the identity must already belong to the account.
    case confirm(account: AccountID)
  }

  /// The app's part of the sign-in.
  struct App: Equatable {
    var id: String
    var redirectURI: String
    var state: String?
    /// The S256 challenge (RFC 7636 §4.2).
    var challenge: String
  }

  static let lifetimeSeconds: Int64 = 600
  /// How many seconds the cookie lives: longer than the attempt, so that a late answer gets the right failure, and the
  /// waiting app gets an error.
  static let cookieSeconds: Int64 = 1_200
  /// The largest number of sign-ins in progress in one browser. There is a limit, because the size of a request is
  /// limited.
  static let limit = 5
  private static let cookiePrefix = "__Host-enroll-signin-"

  /// The name of a state's cookie. Each state has its own cookie, so that concurrent sign-ins do not overwrite each
  /// other.
  static func cookieName(forState state: Secret) throws(EnrollError) -> String {
    do throws(CryptoError) {
      return cookiePrefix + Base64URL.encode(Array(try Digest.sha256.hash(state)[..<12]))
    } catch {
      throw EnrollError(error, "SHA-256 failed")
    }
  }

  /// The limit in bytes for one cookie: browsers accept at most 4,096.
  static let byteLimit = 3_500
  /// The limit in bytes for all sign-in cookies of a browser together: the server would refuse requests with larger
  /// headers.
  static let totalByteLimit = 9_000

  /// The names of the cookies that must be deleted to make space for one more sign-in. These are the oldest cookies, at
  /// most ten at a time.
  static func surplus(in request: WebRequest, beside newBytes: Int) -> [String] {
    let known = request.cookies.filter { $0.name.utf8.starts(with: cookiePrefix.utf8) }
    var bytes = known.reduce(newBytes) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    var names: [String] = []
    for cookie in known.prefix(10) where known.count - names.count >= limit || bytes > totalByteLimit {
      names.append(cookie.name)
      bytes -= cookie.name.utf8.count + cookie.value.utf8.count
    }
    return names
  }
}

extension Attempt {
  private var json: JSON {
    .object([
      ("provider", .string(provider)), ("transaction", transaction.json),
      ("expires", .integer(expires.seconds)),
      (
        "app",
        app.map {
          .object([
            ("id", .string($0.id)), ("redirect", .string($0.redirectURI)),
            ("state", $0.state.map { .string($0) }),
            ("challenge", .string($0.challenge)),
          ])
        }
      ),
      ("returnTo", returnTo.map { .string($0) }), ("link", linkedAccount.map { .string($0.text) }),
      ("confirm", confirmedAccount.map { .string($0.text) }),
      ("prompted", reauthentication == .byPrompt ? .bool(true) : nil),
    ])
  }

  private var linkedAccount: AccountID? { if case .link(let account) = purpose { account } else { nil } }
  private var confirmedAccount: AccountID? {
    if case .confirm(let account) = purpose { account } else { nil }
  }

  /// The value of the cookie.
  func sealed(with keys: KeyRing, at now: UnixTime, random: any RandomSource) throws(EnrollError) -> String {
    try keys.seal(Secret(json.serialized()), for: .attempt, at: now, random: random)
  }

  /// Returns nil if these keys did not seal the text. The caller checks whether the attempt has expired.
  init?(sealed text: String, with keys: KeyRing) {
    guard let opened = keys.open(text, for: .attempt), let json = try? JSON.parse(opened.revealBytes()),
      let provider = json["provider"]?.string, let transaction = json["transaction"],
      let record = try? TransactionRecord(json: transaction, "attempt"),
      let expires = json["expires"]?.integer
    else { return nil }
    self.init(provider: provider, transaction: record, expires: UnixTime(seconds: expires))
    returnTo = json["returnTo"]?.string
    if let text = json["link"]?.string {
      guard let account = AccountID(text) else { return nil }
      purpose = .link(account: account)
    }
    if let text = json["confirm"]?.string {
      guard let account = AccountID(text) else { return nil }
      purpose = .confirm(account: account)
    }
    if purpose != .signIn { reauthentication = json["prompted"] == .bool(true) ? .byPrompt : .byAge }
    guard let app = json["app"] else { return }
    guard let id = app["id"]?.string, let redirect = app["redirect"]?.string,
      let challenge = app["challenge"]?.string
    else { return nil }
    self.app = App(id: id, redirectURI: redirect, state: app["state"]?.string, challenge: challenge)
  }
}
