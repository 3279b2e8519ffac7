// Detects a response from a cache, which belongs to an earlier request. No cache may answer a POST (RFC 9111
// §4), but some do. The refresh token in such a response is spent, and sending it would end the session. So
// such a response counts as no response, and its content is not used.

/// Checks the responses to one refresh token.
package struct ReplayCheck {
  /// The server's time when the token was sent, if it is known.
  let serverTime: UnixTime?
  /// The `Date` of a response that was too old.
  private var doubtedDate: String?

  package init(serverTime: UnixTime?) { self.serverTime = serverTime }

  /// The sign that a response with tokens belongs to an earlier request; nil if there is none.
  /// - Parameters:
  ///   - isSpent: whether it has a refresh token that was sent before this one.
  ///   - isNew: whether it has a refresh token that was never sent. Then a wrong `Date` alone is not a sign, because
  ///     such a token must not be lost after somebody changed a clock.
  ///   - isForeign: whether its id_token belongs to another session, which would end this session (R27). Then
  ///     every sign counts: the response was made for another user, and nothing in it is useful for this one.
  package mutating func problem(
    with http: HTTPResponse, isSpent: Bool, isNew: Bool, isForeign: Bool = false
  ) -> EnrollError? {
    if isForeign && http.isFromCache { return Self.replayed("its Age says so") }
    if isSpent { return Self.replayed("its refresh token was sent before") }
    let tolerance = isForeign ? Self.foreignToleranceSeconds : ServerClock.toleranceSeconds
    guard isForeign || !isNew, let serverTime, let text = http.header("Date"),
      let date = HTTPDate.parse(text), serverTime.since(date) > tolerance
    else { return nil }
    // A server's clock advances between two responses. This does not clear a response for another user,
    // because a cache may have responses for several users.
    if !isForeign, let doubtedDate, !ASCII.equals(doubtedDate, text) { return nil }
    doubtedDate = text
    // A `Date` is in seconds: after one second a live server sends a later `Date`.
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
