// A sign-in under way, in a sealed cookie of its own: the gateway keeps nothing until the provider has answered, and any replica can
// take the answer. Refused: what no key of ours sealed, what is older than ten minutes, what belongs to another state.

import EnrollCore
import EnrollCrypto
import EnrollJSON
import EnrollHTTP

struct Attempt: Equatable {
  var provider: String
  /// The authorize request that waits for its answer: state, nonce and verifier.
  var transaction: TransactionRecord
  /// When the cookie stops being of use, by the date: replicas share no other clock.
  var expires: UnixTime
  /// The app that waits; nil: a browser.
  var app: App?
  /// Where the browser goes afterwards: an address of the configuration's list, or of the gateway; nil: the account page.
  var returnTo: String?
  var purpose: Purpose = .signIn
  var question: Question = .usual

  /// Whether the provider is made to ask the person (OpenID Connect Core §3.1.2.1).
  enum Question: Equatable {
    /// As it likes.
    case usual
    /// By `max_age`: it asks whom it asked more than ten minutes ago.
    case byAge
    /// By `prompt=login`, too, after an answer that did not tell by `auth_time` that it asked. Not at first: there are providers that
    /// ask again and again then (Canaille 0.3.6, where it has a page of consent).
    case byPrompt
  }

  /// What the provider's answer is for.
  enum Purpose: Equatable {
    case signIn
    /// The identity is linked to this account.
    case link(account: String)
    /// The identity proves this account, and no other.
    case confirm(account: String)
  }

  /// The app's side of the hand-off.
  struct App: Equatable {
    var id: String
    var redirectURI: String
    var state: String?
    /// S256 (RFC 7636 §4.2).
    var challenge: String
  }

  static let lifetimeSeconds: Int64 = 600
  /// Its cookie stays for longer, so that an answer that comes too late is told what it is, and the app that waits is told.
  static let cookieSeconds: Int64 = 1_200
  /// Sign-ins that one browser may have under way: what a request can carry is limited.
  static let limit = 5
  private static let cookiePrefix = "__Host-enroll-signin-"

  /// A cookie for each state, so that sign-ins side by side do not end one another.
  static func cookieName(forState state: Secret) throws(EnrollError) -> String {
    do throws(CryptoError) {
      return cookiePrefix + Base64URL.encode(Array(try Digest.sha256.hash(state)[..<12]))
    } catch {
      throw EnrollError(error, "SHA-256 failed")
    }
  }

  /// Bytes of one such cookie: browsers take no longer ones than 4,096.
  static let byteLimit = 3_500
  /// Bytes of all of them: with more, a browser's requests would be refused for their heads.
  static let totalByteLimit = 9_000

  /// The names of the oldest cookies of sign-ins that give way to one more, at most ten at a time.
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
      ("returnTo", returnTo.map { .string($0) }), ("link", linkedAccount.map { .string($0) }),
      ("confirm", confirmedAccount.map { .string($0) }),
      ("prompted", question == .byPrompt ? .bool(true) : nil),
    ])
  }

  private var linkedAccount: String? { if case .link(let account) = purpose { account } else { nil } }
  private var confirmedAccount: String? {
    if case .confirm(let account) = purpose { account } else { nil }
  }

  /// The value of its cookie.
  func sealed(with keys: KeyRing, at now: UnixTime, random: any RandomSource) throws(EnrollError) -> String {
    try keys.seal(Secret(json.serialized()), for: .attempt, at: now, random: random)
  }

  /// nil for anything that was not sealed here. Whether it has expired is to be asked.
  init?(sealed text: String, with keys: KeyRing) {
    guard let opened = keys.open(text, for: .attempt), let json = try? JSON.parse(opened.revealBytes()),
      let provider = json["provider"]?.string, let transaction = json["transaction"],
      let record = try? TransactionRecord(json: transaction, "attempt"),
      let expires = json["expires"]?.integer
    else { return nil }
    self.init(provider: provider, transaction: record, expires: UnixTime(seconds: expires))
    returnTo = json["returnTo"]?.string
    if let account = json["link"]?.string { purpose = .link(account: account) }
    if let account = json["confirm"]?.string { purpose = .confirm(account: account) }
    if purpose != .signIn { question = json["prompted"] == .bool(true) ? .byPrompt : .byAge }
    guard let app = json["app"] else { return }
    guard let id = app["id"]?.string, let redirect = app["redirect"]?.string,
      let challenge = app["challenge"]?.string
    else { return nil }
    self.app = App(id: id, redirectURI: redirect, state: app["state"]?.string, challenge: challenge)
  }
}
