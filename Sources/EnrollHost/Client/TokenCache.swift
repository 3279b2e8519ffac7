// The token that most calls want, in memory: one lock, one look at the clock, no IO (performance.md, A cached token).
// It is served for one second; then the store is asked whether another process changed the record
// (store.md, Memory and the disk).

import EnrollCore
import EnrollCrypto

/// The fresh access tokens of one account.
final class TokenCache: Sendable {
  /// How long memory is believed without a look at the store.
  static let believedNanoseconds: Int64 = 1_000_000_000

  private let place = TokenPlace.take()
  private let clock: any Clock
  private let graceSeconds: Int64

  init(clock: any Clock, graceSeconds: Int64) {
    self.clock = clock
    self.graceSeconds = graceSeconds
  }

  deinit {
    guard !place.isForkedChild else { return }
    forget()
    place.giveBack()
  }

  var hotToken: HotToken { HotToken(place) }

  /// Read before the store is, and given to ``keep(_:expiry:since:)``.
  var version: UInt64 {
    place.lock()
    defer { place.unlock() }
    return place.content.pointee.version
  }

  /// Remembers what the store said, unless the tokens were changed by this process meanwhile.
  /// - Parameter audience: for whom the token is; nil: the session's own.
  func keep(_ token: AccessToken, expiry: Expiry, for audience: TokenAudience? = nil, since version: UInt64) {
    let moment = clock.moment()
    let served = TokenPlace.Served(
      bytes: token.value.unsafeBytes, expiresAt: token.expiresAt,
      freshness: expiry.freshness(at: moment, graceSeconds: graceSeconds),
      believedUntil: moment.instant.advanced(byNanoseconds: Self.believedNanoseconds))
    place.lock()
    defer { place.unlock() }
    guard place.content.pointee.version == version else { return }
    guard let audience else { return replace(token, served) }
    place.content.pointee.audiences.removeAll { $0.audience == audience }
    if place.content.pointee.audiences.count >= AudienceTokens.limit {
      place.content.pointee.audiences.removeFirst()
    }
    place.content.pointee.audiences.append(
      TokenPlace.AudiencePlace(audience: audience, served: served, token: token))
  }

  /// The tokens changed: nothing in memory counts any more.
  func forget() {
    place.lock()
    defer { place.unlock() }
    replace(nil, nil)
    place.content.pointee.audiences = []
    place.content.pointee.version &+= 1
  }

  func fresh(minimumLifetimeSeconds: Int64, for audience: TokenAudience? = nil) -> AccessToken? {
    let now = clock.instant()
    place.lock()
    defer { place.unlock() }
    if let audience {
      guard let kept = place.content.pointee.audiences.first(where: { $0.audience == audience }),
        kept.served.isFresh(at: now, minimumLifetimeSeconds)
      else { return nil }
      return kept.token
    }
    guard let served = place.content.pointee.served, served.isFresh(at: now, minimumLifetimeSeconds) else {
      return nil
    }
    return place.content.pointee.token
  }

  /// Called with the lock held.
  private func replace(_ token: AccessToken?, _ served: TokenPlace.Served?) {
    place.content.pointee.served = served
    place.content.pointee.token = token
  }
}
