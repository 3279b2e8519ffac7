// The server's time by the clock of this boot, as answers tell it (R25). The answer to a request of ours alone is fresh;
// a document that anybody may fetch comes out of some cache, perhaps one that does not say so, and is then too early.

/// What this process knows of a server's clock.
struct ServerTimes: Sendable {
  /// By answers to requests of ours alone.
  private var answers = ServerClock()
  /// By the discovery document and the keys.
  private var documents = ServerClock()

  func byAnswers(at now: Instant) -> UnixTime? { Self.time(answers, now) }

  func byDocuments(at now: Instant) -> UnixTime? { Self.time(documents, now) }

  mutating func learn(from answer: HTTPResponse, at now: Instant) {
    if let offset = Self.offset(answer, now) { answers.hear(offsetSeconds: offset) }
  }

  mutating func learn(fromDocument document: HTTPResponse, at now: Instant) {
    if let offset = Self.offset(document, now) { documents.hear(offsetSeconds: offset) }
  }

  private static func time(_ clock: ServerClock, _ now: Instant) -> UnixTime? {
    clock.offsetSeconds.map { UnixTime(seconds: seconds(now)) + $0 }
  }

  /// nil where the answer tells none, or says that it comes out of a cache (RFC 9111 §5.1): not every cache leaves the
  /// date as it was.
  private static func offset(_ response: HTTPResponse, _ now: Instant) -> Int64? {
    guard !response.isFromCache,
      let date = response.header("Date").flatMap({ HTTPDate.parse($0) })
    else { return nil }
    return date.since(UnixTime(seconds: seconds(now)))
  }

  private static func seconds(_ now: Instant) -> Int64 { now.nanoseconds / 1_000_000_000 }
}
