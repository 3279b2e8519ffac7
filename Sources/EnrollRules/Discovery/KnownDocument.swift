// A document that was fetched from the provider, and when it is fetched again. It is used until a valid response
// replaces it: a proxy's page, a refusal or an outage says nothing about the provider.

/// How certain it is that a document, although still fresh, is outdated.
public enum DocumentDoubt: Sendable {
  /// There is no sign that the document is outdated.
  case none
  /// A sign that may have another cause: a document that is less than a minute old is still used.
  case onceOld
  /// A definite sign: the document is fetched again.
  case certain
}

/// The metadata or the keys of an issuer, as far as this process has them.
package struct KnownDocument<Content: Sendable>: Sendable {
  /// Seconds until a known document is requested again after a failure, if the server sets no time.
  static var pauseSeconds: Int64 { 60 }

  package private(set) var content: Content?
  /// The document's ETag.
  package private(set) var tag: String?
  /// When the document was fetched; the earliest instant if it was fetched before the machine was booted.
  private var fetched = Instant(nanoseconds: .min)
  private var freshUntil = Instant(nanoseconds: .min)
  private var pausedUntil = Instant(nanoseconds: .min)
  /// The error of the last request for the document; nil if it succeeded.
  package private(set) var failure: EnrollError?

  package init() {}

  /// The content that may be used without a request: it is fresh and not in doubt, or a request has just
  /// failed.
  /// - Parameter isOldGood: whether content that is not fresh may be used.
  package func serving(at now: Instant, doubt: DocumentDoubt = .none, isOldGood: Bool = false) -> Content? {
    let isDoubted =
      switch doubt {
      case .none: false
      case .onceOld: now >= fetched.advanced(bySeconds: Self.pauseSeconds)
      case .certain: true
      }
    return (isOldGood || now < freshUntil) && !isDoubted || now < pausedUntil ? content : nil
  }

  /// Marks the document as no longer fresh.
  package mutating func expire() { freshUntil = Instant(nanoseconds: .min) }

  /// The error to return without a request, because the last request has just failed and no document is known.
  package func refusal(at now: Instant) -> EnrollError? {
    guard content == nil, now < pausedUntil else { return nil }
    return failure?.retrying(after: max(1, pausedUntil.since(now) / 1_000_000_000))
  }

  /// - Parameter response: 200, or 304, which says that the known content is still valid.
  package mutating func accept(_ content: Content, from response: HTTPResponse, at now: Instant) {
    tag = response.header("ETag") ?? (response.status == 304 ? tag : nil)
    self.content = content
    fetched = now
    freshUntil = now.advanced(bySeconds: CacheControl.freshSeconds(of: response))
    pausedUntil = Instant(nanoseconds: .min)
    failure = nil
  }

  /// Records a failed request. The known content is still used, and the server's Retry-After is respected. Without
  /// known content the pause is a minute at most, because the responding server may not be the provider.
  /// - Returns: the error to throw if no content is known.
  package mutating func postpone(_ error: EnrollError, at now: Instant) -> EnrollError {
    failure = error
    let wish = error.retryAfterSeconds
    let pause = content == nil ? wish.map { min($0, Self.pauseSeconds) } : wish ?? Self.pauseSeconds
    guard let pause else { return error }
    pausedUntil = now.advanced(bySeconds: pause)
    return wish == nil ? error : error.retrying(after: pause)
  }

  /// The rest of the current pause, for the store; nil if there is no pause.
  package func pause(at moment: Moment) -> Expiry? {
    let left = pausedUntil.since(moment.instant) / 1_000_000_000
    return left > 0 ? Expiry(lifetimeSeconds: left, from: moment) : nil
  }

  /// Replaces the content in memory with the content in the store, if the stored content stays fresh longer, or if
  /// memory has no content.
  package mutating func adopt(_ content: Content, _ kept: KeptDocument, at moment: Moment) {
    let fresh = kept.freshness.certainEnd(at: moment) ?? Instant(nanoseconds: .min)
    guard self.content == nil || fresh > freshUntil else { return }
    self.content = content
    tag = kept.tag
    fetched = kept.fetched(at: moment)
    freshUntil = fresh
    pausedUntil = kept.pause?.certainEnd(at: moment) ?? Instant(nanoseconds: .min)
    failure = nil
  }
}
