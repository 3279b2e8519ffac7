// An answer out of a cache: the answer to an earlier request. No cache may answer a POST (RFC 9111 §4), and some do. Its refresh
// token is spent, and the session would end when it is sent again. So it counts as no answer, and what it says is not used.

import EnrollCrypto

/// The refresh tokens of an account that were sent last, as hashes.
public struct SentRefreshTokens: Equatable, Sendable {
  /// A cache that replays an older answer than these is found out by its headers.
  static let limit = 8

  /// SHA-256, base64url. The one that was sent last is last.
  public private(set) var hashes: [String]

  public init(_ hashes: [String] = []) { self.hashes = hashes }

  mutating func add(_ hash: String) {
    hashes.removeAll { ASCII.equals($0, hash) }
    hashes.append(hash)
    if hashes.count > Self.limit { hashes.removeFirst() }
  }

  /// Whether that token was sent, and another one after it.
  func isSpent(_ hash: String) -> Bool { hashes.dropLast().contains { ASCII.equals($0, hash) } }
}

/// Looks at the answers to one refresh token.
struct ReplayCheck {
  /// The server's clock when the token was sent, as far as it is known.
  let serverTime: UnixTime?
  /// The `Date` of an answer that was too old.
  private var doubtedDate: String?

  init(serverTime: UnixTime?) { self.serverTime = serverTime }

  /// The sign that an answer with tokens is an earlier one; nil for none.
  /// - Parameters:
  ///   - isSpent: it brings a refresh token that was sent before this one.
  ///   - isNew: it brings a refresh token that was never sent. Its `Date` alone is then no sign: such a token must not be lost
  ///     because a clock was set.
  ///   - isForeign: its id_token is that of another session, which it would end (R27). Every sign then counts: it was given to
  ///     another user, and nothing in it is of use to this one.
  mutating func problem(
    with http: HTTPResponse, isSpent: Bool, isNew: Bool, isForeign: Bool = false
  ) -> EnrollError? {
    if isForeign && http.isFromCache { return Self.replayed("its Age says so") }
    if isSpent { return Self.replayed("its refresh token was sent before") }
    let tolerance = isForeign ? Self.foreignToleranceSeconds : ServerClock.toleranceSeconds
    guard isForeign || !isNew, let serverTime, let text = http.header("Date"),
      let date = HTTPDate.parse(text), serverTime.since(date) > tolerance
    else { return nil }
    // The clock of a server goes on from one answer to the next. A cache may have the answers to several other users.
    if !isForeign, let doubtedDate, !ASCII.equals(doubtedDate, text) { return nil }
    doubtedDate = text
    // A Date has seconds: the next one of a server that runs is another one.
    return Self.replayed("its Date is \(serverTime.since(date)) s before the request").retrying(after: 1)
  }

  /// As far as the clocks of a provider's machines may differ (R26).
  static let foreignToleranceSeconds: Int64 = 10

  private static func replayed(_ sign: String) -> EnrollError {
    EnrollError(
      .responseInvalid,
      "the answer to the refresh token comes out of a cache (\(sign)), which must not answer a POST (RFC 9111 §4)"
    )
  }
}

extension Engine {
  /// For an answer that no nonce ties to its request: tokens for a device code or a one-time code, or another app's.
  /// - Throws: `.responseInvalid` for an answer that was surely made before its request: it brings the tokens of somebody else.
  func requireOwn(_ http: HTTPResponse) throws(EnrollError) {
    guard let seconds = secondsBefore(http, tolerating: ServerClock.toleranceSeconds) else { return }
    throw EnrollError(
      .responseInvalid,
      "the answer with the tokens comes out of a cache (its Date is \(seconds) s before the request), which must not answer a POST (RFC 9111 §4)",
      httpStatus: http.status)
  }

  /// How long before its request an answer was made, by the `Date` of the server's own answers and documents: a document out of a
  /// cache is too early, never too late. nil where nothing shows that it was.
  func secondsBefore(_ http: HTTPResponse, tolerating tolerance: Int64) -> Int64? {
    let told = [provider.serverTime, provider.documentTime].compactMap { $0 }.max()
    guard let told, let date = http.header("Date").flatMap({ HTTPDate.parse($0) }) else { return nil }
    let seconds = told.since(date)
    return seconds > tolerance ? seconds : nil
  }
}
