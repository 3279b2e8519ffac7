// A document that was fetched from the provider, and when it is fetched again. It is used until a valid response
// replaces it: a proxy's page, a refusal or an outage says nothing about the provider.

/// How much speaks against a document that is still fresh.
public enum DocumentDoubt: Sendable {
  /// Nothing.
  case none
  /// Something that may have other reasons: a document that is less than a minute old is believed.
  case onceOld
  /// Somebody says so.
  case certain
}

/// The metadata or the keys of an issuer, as far as they are at hand.
struct KnownDocument<Content: Sendable>: Sendable {
  /// After a failure a document that is known is asked for again this much later, where the server names no time.
  static var pauseSeconds: Int64 { 60 }

  private(set) var content: Content?
  /// Its ETag.
  private(set) var tag: String?
  /// When it came; unknown of one that the store kept since before this boot.
  private var fetched = Instant(nanoseconds: .min)
  private var freshUntil = Instant(nanoseconds: .min)
  private var pausedUntil = Instant(nanoseconds: .min)
  /// Why the last request for it failed; nil when it succeeded.
  private(set) var failure: EnrollError?

  /// The content that may be used without a request: it is fresh and not in doubt, or a request failed a moment ago.
  func serving(at now: Instant, doubt: DocumentDoubt = .none) -> Content? {
    let isDoubted =
      switch doubt {
      case .none: false
      case .onceOld: now >= fetched.advanced(bySeconds: Self.pauseSeconds)
      case .certain: true
      }
    return now < freshUntil && !isDoubted || now < pausedUntil ? content : nil
  }

  /// It is not fresh any more.
  mutating func expire() { freshUntil = Instant(nanoseconds: .min) }

  /// Why nobody is to be asked now although nothing is known.
  func refusal(at now: Instant) -> EnrollError? {
    guard content == nil, now < pausedUntil else { return nil }
    return failure?.retrying(after: max(1, pausedUntil.since(now) / 1_000_000_000))
  }

  /// - Parameter response: 200, or 304, which says that what is at hand still holds.
  mutating func accept(_ content: Content, from response: HTTPResponse, at now: Instant) {
    tag = response.header("ETag") ?? (response.status == 304 ? tag : nil)
    self.content = content
    fetched = now
    freshUntil = now.advanced(bySeconds: CacheControl.freshSeconds(of: response))
    pausedUntil = Instant(nanoseconds: .min)
    failure = nil
  }

  /// A request failed. The known content is still used, and the server's Retry-After is obeyed; without known content
  /// for a minute at most, because the responding server may not be the provider.
  /// - Returns: the error to throw where nothing is known.
  mutating func postpone(_ error: EnrollError, at now: Instant) -> EnrollError {
    failure = error
    let wish = error.retryAfterSeconds
    let pause = content == nil ? wish.map { min($0, Self.pauseSeconds) } : wish ?? Self.pauseSeconds
    guard let pause else { return error }
    pausedUntil = now.advanced(bySeconds: pause)
    return wish == nil ? error : error.retrying(after: pause)
  }

  /// How long the pause lasts that is under way, to be kept; nil for none.
  func pause(at moment: Moment) -> Expiry? {
    let left = pausedUntil.since(moment.instant) / 1_000_000_000
    return left > 0 ? Expiry(lifetimeSeconds: left, from: moment) : nil
  }

  /// Replaces the content in memory with the store's, if that is newer.
  mutating func adopt(_ content: Content, _ kept: KeptDocument, at moment: Moment) {
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
