// Detects a response from a cache, which belongs to an earlier request. No cache may answer a POST (RFC 9111
// §4), but some do. The refresh token in such a response is spent, and sending it would end the session. So
// such a response counts as no response, and its content is not used.

/// Checks the responses to one refresh token.
package struct ReplayCheck {
  /// The server's time when the token was sent, if it is known.
  let serverTime: UnixTime?
  /// The `Date` of a response that this check refused as too old.
  private var doubtedDate: String?

  package init(serverTime: UnixTime?) { self.serverTime = serverTime }

  /// The sign that a response with tokens belongs to an earlier request; nil if there is no such sign.
  /// - Parameters:
  ///   - isSpent: whether the response has a refresh token that was sent before the current one.
  ///   - isNew: whether the response has a refresh token that was never sent. A wrong `Date` alone is then not a sign,
  ///     because such a token must not be lost after somebody changed a clock.
  ///   - isForeign: whether the response's id_token belongs to another session, which would end this session (R27).
  ///     Every sign then counts: the response was made for another user, and nothing in it is useful for this user.
  package mutating func problem(
    with http: HTTPResponse, isSpent: Bool, isNew: Bool, isForeign: Bool = false
  ) -> EnrollError? {
    if isForeign && http.isFromCache { return Self.replayed("its Age says so") }
    if isSpent { return Self.replayed("its refresh token was sent before") }
    let tolerance = isForeign ? Self.foreignToleranceSeconds : ServerClock.toleranceSeconds
    guard isForeign || !isNew, let serverTime, let text = http.header("Date"),
      let date = HTTPDate.parse(text), serverTime.since(date) > tolerance
    else { return nil }
    // A response whose `Date` differs from that of the doubted response does not come from a cache, because a server's
    // clock advances between two responses. But a response for another user stays doubted, because a cache may have
    // responses for several users.
    if !isForeign, let doubtedDate, !ASCII.equals(doubtedDate, text) { return nil }
    doubtedDate = text
    // The request is repeated after one second: a `Date` is in seconds, so a live server then sends a later `Date`.
    return Self.replayed("its Date is \(serverTime.since(date)) s before the request").retrying(after: 1)
  }

  /// The difference that is tolerated between the clocks of a provider's machines (R26).
  package static let foreignToleranceSeconds: Int64 = 10

  private static func replayed(_ sign: String) -> EnrollError {
    EnrollError(
      .responseInvalid,
      "the answer to the refresh token comes out of a cache (\(sign)), which must not answer a POST (RFC 9111 §4)"
    )
  }
}
