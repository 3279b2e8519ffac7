// The token that most calls want, in memory: one lock, one look at the clock, no IO (performance.md).
// What it holds may be served for one second; then the store is asked whether another process changed it
// (reliability.md, Memory and truth).

import EnrollCore
import EnrollCrypto

/// The fresh access token of one account.
final class TokenCache: Sendable {
  /// How long memory is believed without a look at the store.
  static let believedNanoseconds: Int64 = 1_000_000_000

  private struct Entry {
    var token: AccessToken
    var expiry: Expiry
    var believedUntil: Instant
  }

  private struct State {
    var entry: Entry?
    var version: UInt64 = 0
  }

  private let state = Guarded(State(), by: Mutex())
  private let clock: any Clock
  private let graceSeconds: Int64

  init(clock: any Clock, graceSeconds: Int64) {
    self.clock = clock
    self.graceSeconds = graceSeconds
  }

  /// Read before the store is, and given to ``keep(_:expiry:since:)``.
  var version: UInt64 { state.withLock { $0.version } }

  /// Remembers what the store said, unless the tokens were changed by this process meanwhile.
  func keep(_ token: AccessToken, expiry: Expiry, since version: UInt64) {
    let until = clock.instant().advanced(byNanoseconds: Self.believedNanoseconds)
    state.withLock {
      if $0.version == version { $0.entry = Entry(token: token, expiry: expiry, believedUntil: until) }
    }
  }

  /// The tokens changed: nothing in memory counts any more.
  func forget() {
    state.withLock {
      $0.entry = nil
      $0.version &+= 1
    }
  }

  func fresh(minimumLifetimeSeconds: Int64) -> AccessToken? {
    withFresh(minimumLifetimeSeconds) { $0.token }
  }

  /// Copies the token's bytes if they fit.
  /// - Returns: how many there are, and when it expires; nil when none is at hand.
  func copyFresh(
    minimumLifetimeSeconds: Int64, into buffer: UnsafeMutableRawBufferPointer
  ) -> (count: Int, expiresAt: UnixTime)? {
    withFresh(minimumLifetimeSeconds) { entry in
      entry.token.value.withBytes { bytes in
        if bytes.count <= buffer.count { buffer.copyMemory(from: bytes) }
      }
      return (entry.token.value.count, entry.token.expiresAt)
    }
  }

  private func withFresh<Result>(_ minimumLifetimeSeconds: Int64, _ body: (Entry) -> Result) -> Result? {
    let now = clock.instant()
    return state.withLock { state -> Result? in
      guard let entry = state.entry, now < entry.believedUntil,
        entry.expiry.isFresh(
          at: now, graceSeconds: graceSeconds, minimumLifetimeSeconds: minimumLifetimeSeconds)
      else { return nil }
      return body(entry)
    }
  }
}
