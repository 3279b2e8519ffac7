// Where one account's fresh token stands in memory. Places are used again but never freed, so that a call can look at
// one with nothing but its lock: no object has to be kept alive meanwhile (performance.md, A cached token).

import CPosix
public import EnrollCore
import EnrollCrypto
import EnrollPosix

/// The content of a ``TokenCache``, at an address that stays valid when the cache is gone.
struct TokenPlace: @unchecked Sendable {
  // Unchecked: all of a place but `origin`, which never changes, is only touched with its mutex held; the list of free
  // ones only where no fork can fall.

  /// The values that a call reads before every request of the host: numbers, and the address of the bytes.
  struct Served {
    /// Those of `token`, which keeps them there.
    var bytes: UnsafeRawBufferPointer
    var expiresAt: UnixTime
    var freshness: Freshness
    /// How long memory is believed without a look at the store.
    var believedUntil: Instant

    func isFresh(at now: Instant, _ minimumLifetimeSeconds: Int64) -> Bool {
      now < believedUntil && freshness.holds(at: now, minimumLifetimeSeconds: minimumLifetimeSeconds)
    }
  }

  /// The fresh token for one audience.
  struct AudiencePlace {
    let audience: TokenAudience
    var served: Served
    /// Keeps the bytes of `served` there.
    var token: AccessToken
  }

  struct Content {
    fileprivate var mutex = pthread_mutex_t()
    fileprivate let origin = ForkGuard()
    fileprivate var nextFree: UnsafeMutablePointer<Content>?
    var served: Served?
    var token: AccessToken?
    /// At most as many as a session has (``AudienceTokens/limit``).
    var audiences: [AudiencePlace] = [] {
      didSet { spelt.removeAll() }
    }
    /// How callers spelt them, since they last changed.
    fileprivate var spelt = SpeltAudiences()
    var version: UInt64 = 0
  }

  let content: UnsafeMutablePointer<Content>

  private nonisolated(unsafe) static var firstFree: UnsafeMutablePointer<Content>?

  /// An empty place. A place made before a fork is never used again: its mutex may be held by a thread that the child
  /// does not have.
  static func take() -> TokenPlace {
    ForkGuard.undisturbed {
      if let free = firstFree {
        firstFree = free.pointee.nextFree
        if !free.pointee.origin.isForkedChild { return TokenPlace(content: free) }
        firstFree = nil
      }
      let made = UnsafeMutablePointer<Content>.allocate(capacity: 1)
      made.initialize(to: Content())
      pthread_mutex_init(&made.pointee.mutex, nil)
      return TokenPlace(content: made)
    }
  }

  /// To be called once, by whoever took it, after emptying it.
  func giveBack() {
    ForkGuard.undisturbed {
      content.pointee.nextFree = Self.firstFree
      Self.firstFree = content
    }
  }

  var isForkedChild: Bool { content.pointee.origin.isForkedChild }

  func lock() { pthread_mutex_lock(&content.pointee.mutex) }

  func unlock() { pthread_mutex_unlock(&content.pointee.mutex) }
}

/// A client's fresh token, to be copied without a reference to the client, by who can tell whether it lives.
public struct HotToken: Sendable {
  private let place: TokenPlace

  init(_ place: TokenPlace) { self.place = place }

  /// - Parameter word: a ``word``, or 0.
  public init?(word: UInt) {
    guard let content = UnsafeMutablePointer<TokenPlace.Content>(bitPattern: word) else { return nil }
    place = TokenPlace(content: content)
  }

  /// For ``init(word:)``; never 0.
  public var word: UInt { UInt(bitPattern: place.content) }

  /// Copies the token's bytes if they fit.
  /// - Parameters:
  ///   - now: by the client's clock.
  ///   - isAlive: whether the client that the caller means is still there; the place may be another client's by now.
  /// - Returns: how many bytes there are, and when the token expires; nil when none is at hand.
  public func copy(
    minimumLifetimeSeconds: Int64, at now: Instant, into buffer: UnsafeMutableRawBufferPointer,
    if isAlive: () -> Bool
  ) -> (count: Int, expiresAt: UnixTime)? {
    guard !place.isForkedChild else { return nil }
    place.lock()
    defer { place.unlock() }
    guard isAlive(), let served = place.content.pointee.served else { return nil }
    return Self.copy(served, minimumLifetimeSeconds, now, buffer)
  }

  /// The same for an audience, named by the bytes of its resource and of its scopes, in any order; empty ones for none.
  public func copy(
    resource: UnsafeRawBufferPointer, scopes: UnsafeRawBufferPointer, minimumLifetimeSeconds: Int64,
    at now: Instant, into buffer: UnsafeMutableRawBufferPointer, if isAlive: () -> Bool
  ) -> (count: Int, expiresAt: UnixTime)? {
    guard !place.isForkedChild else { return nil }
    place.lock()
    defer { place.unlock() }
    guard isAlive() else { return nil }
    if let served = place.content.pointee.spelt.served(resource, scopes) {
      return Self.copy(served, minimumLifetimeSeconds, now, buffer)
    }
    let named = place.content.pointee.audiences.first {
      $0.audience.isNamed(resource: resource, scopes: scopes)
    }
    guard let named else { return nil }
    place.content.pointee.spelt.append(resource, scopes, named.served)
    return Self.copy(named.served, minimumLifetimeSeconds, now, buffer)
  }

  private static func copy(
    _ served: TokenPlace.Served, _ minimumLifetimeSeconds: Int64, _ now: Instant,
    _ buffer: UnsafeMutableRawBufferPointer
  ) -> (count: Int, expiresAt: UnixTime)? {
    guard served.isFresh(at: now, minimumLifetimeSeconds) else { return nil }
    if served.bytes.count <= buffer.count { buffer.copyMemory(from: served.bytes) }
    return (served.bytes.count, served.expiresAt)
  }
}
