// Computes the server's time from the clock of this boot and the dates of responses (R25). A response to a request that
// only this client can send is always fresh. A document that anybody may fetch can come from a cache, even if nothing
// in the response shows that. The date of such a response is too early.

/// What this process knows about a server's clock.
package struct ServerTimes: Sendable {
  /// The server's clock according to responses that no cache can have stored, because only this client requests them.
  private var answers = ServerClock()
  /// The server's clock according to the discovery document and the provider's keys, which may come from a cache.
  private var documents = ServerClock()

  package init() {}

  package func byAnswers(at now: Instant) -> UnixTime? { Self.time(answers, now) }

  package func byDocuments(at now: Instant) -> UnixTime? { Self.time(documents, now) }

  package mutating func learn(from answer: HTTPResponse, at now: Instant) {
    if let offset = Self.offset(answer, now) { answers.hear(offsetSeconds: offset) }
  }

  package mutating func learn(fromDocument document: HTTPResponse, at now: Instant) {
    if let offset = Self.offset(document, now) { documents.hear(offsetSeconds: offset) }
  }

  private static func time(_ clock: ServerClock, _ now: Instant) -> UnixTime? {
    clock.offsetSeconds.map { UnixTime(seconds: seconds(now)) + $0 }
  }

  /// The offset of the server's clock according to the response's date; nil if the response has no date, or says that
  /// it comes from a cache (RFC 9111 §5.1), because some caches change the date.
  private static func offset(_ response: HTTPResponse, _ now: Instant) -> Int64? {
    guard !response.isFromCache,
      let date = response.header("Date").flatMap({ HTTPDate.parse($0) })
    else { return nil }
    return date.since(UnixTime(seconds: seconds(now)))
  }

  private static func seconds(_ now: Instant) -> Int64 { now.nanoseconds / 1_000_000_000 }
}
