// Keeps in memory the token that most calls want. Returning it takes one lock and one read of the clock, and no IO
// (performance.md, A cached token). The cache returns it for one second; after that, the next call checks whether
// another process changed the record (store.md, Memory and the disk).

import EnrollRules
import EnrollSteps
import EnrollCrypto

/// The fresh access tokens of one account.
final class TokenCache: Sendable {
  /// How long a token is returned from memory without reading the store.
  static let trustedNanoseconds: Int64 = 1_000_000_000

  private let slot = TokenSlot.allocate()
  private let clock: any Clock
  private let graceSeconds: Int64

  init(clock: any Clock, graceSeconds: Int64) {
    self.clock = clock
    self.graceSeconds = graceSeconds
  }

  deinit {
    guard !slot.isForkedChild else { return }
    forget()
    slot.recycle()
  }

  var tokenPointer: TokenPointer { TokenPointer(slot) }

  /// The version of the cached tokens. Read it before you read the store, and pass it to ``keep(_:expiry:since:)``.
  var version: UInt64 {
    slot.lock()
    defer { slot.unlock() }
    return slot.content.pointee.version
  }

  /// Remembers the token from the store, unless this process changed the tokens since `version` was read.
  /// - Parameter audience: the audience of the token; nil for the session's own token.
  func keep(_ token: AccessToken, expiry: Expiry, for audience: TokenAudience? = nil, since version: UInt64) {
    let moment = clock.moment()
    let view = TokenSlot.TokenView(
      bytes: token.value.unsafeBytes, expiresAt: token.expiresAt,
      freshness: expiry.freshness(at: moment, graceSeconds: graceSeconds),
      trustedUntil: moment.instant.advanced(byNanoseconds: Self.trustedNanoseconds))
    slot.lock()
    defer { slot.unlock() }
    guard slot.content.pointee.version == version else { return }
    guard let audience else { return replace(token, view) }
    slot.content.pointee.audiences.removeAll { $0.audience == audience }
    if slot.content.pointee.audiences.count >= AudienceTokens.limit {
      slot.content.pointee.audiences.removeFirst()
    }
    slot.content.pointee.audiences.append(
      TokenSlot.AudienceToken(audience: audience, view: view, token: token))
  }

  /// Empties the cache, because the tokens changed.
  func forget() {
    slot.lock()
    defer { slot.unlock() }
    replace(nil, nil)
    slot.content.pointee.audiences = []
    slot.content.pointee.version &+= 1
  }

  func fresh(minimumLifetimeSeconds: Int64, for audience: TokenAudience? = nil) -> AccessToken? {
    let now = clock.instant()
    slot.lock()
    defer { slot.unlock() }
    if let audience {
      guard let kept = slot.content.pointee.audiences.first(where: { $0.audience == audience }),
        kept.view.isFresh(at: now, minimumLifetimeSeconds)
      else { return nil }
      return kept.token
    }
    guard let view = slot.content.pointee.view, view.isFresh(at: now, minimumLifetimeSeconds) else {
      return nil
    }
    return slot.content.pointee.token
  }

  /// Called with the lock held.
  private func replace(_ token: AccessToken?, _ view: TokenSlot.TokenView?) {
    slot.content.pointee.view = view
    slot.content.pointee.token = token
  }
}
