// The memory of one account's fresh token. Slots are reused and never freed, so that a call can read a slot with
// nothing but its lock: no object has to be kept alive meanwhile (performance.md, A cached token).

import CPosix
public import EnrollRules
import EnrollCrypto
import EnrollPosix

/// The content of a ``TokenCache``, at an address that stays valid after the cache is freed.
struct TokenSlot: @unchecked Sendable {
  // Unchecked: everything in a slot except `origin`, which never changes, is only touched with the slot's mutex held;
  // the list of free slots is only touched while no fork can happen.

  /// The values that a call reads before every request of the host: numbers, and the address of the token's bytes.
  struct TokenView {
    /// The bytes of `token`, which keeps them alive.
    var bytes: UnsafeRawBufferPointer
    var expiresAt: UnixTime
    var freshness: Freshness
    /// The instant until which the token is returned without reading the store.
    var trustedUntil: Instant

    func isFresh(at now: Instant, _ minimumLifetimeSeconds: Int64) -> Bool {
      now < trustedUntil && freshness.holds(at: now, minimumLifetimeSeconds: minimumLifetimeSeconds)
    }
  }

  /// The fresh token for one audience.
  struct AudienceToken {
    let audience: TokenAudience
    var view: TokenView
    /// The token, which keeps the bytes of `view` alive.
    var token: AccessToken
  }

  struct Content {
    fileprivate var mutex = pthread_mutex_t()
    fileprivate let origin = ForkGuard()
    fileprivate var nextFree: UnsafeMutablePointer<Content>?
    var view: TokenView?
    var token: AccessToken?
    /// The fresh tokens for audiences; at most as many as a session can have (``AudienceTokens/limit``).
    var audiences: [AudienceToken] = [] {
      didSet { lookup.removeAll() }
    }
    /// The bytes with which callers have named the audiences since ``audiences`` last changed.
    fileprivate var lookup = AudienceLookup()
    var version: UInt64 = 0
  }

  let content: UnsafeMutablePointer<Content>

  private nonisolated(unsafe) static var firstFree: UnsafeMutablePointer<Content>?

  /// Returns an empty slot. A child of fork() never uses a slot of its parent, because a thread that does not exist in
  /// the child may hold the slot's mutex.
  static func allocate() -> TokenSlot {
    ForkGuard.withoutForks {
      if let free = firstFree {
        firstFree = free.pointee.nextFree
        if !free.pointee.origin.isForkedChild { return TokenSlot(content: free) }
        firstFree = nil
      }
      let made = UnsafeMutablePointer<Content>.allocate(capacity: 1)
      made.initialize(to: Content())
      pthread_mutex_init(&made.pointee.mutex, nil)
      return TokenSlot(content: made)
    }
  }

  /// Returns the slot for reuse. The owner calls this once, after emptying it.
  func recycle() {
    ForkGuard.withoutForks {
      content.pointee.nextFree = Self.firstFree
      Self.firstFree = content
    }
  }

  var isForkedChild: Bool { content.pointee.origin.isForkedChild }

  func lock() { pthread_mutex_lock(&content.pointee.mutex) }

  func unlock() { pthread_mutex_unlock(&content.pointee.mutex) }
}

/// A pointer to a client's fresh token, for callers that hold no reference to the client, but know whether the client
/// still exists.
public struct TokenPointer: Sendable {
  private let slot: TokenSlot

  init(_ slot: TokenSlot) { self.slot = slot }

  /// The pointer for an address; nil for 0.
  /// - Parameter address: an ``address``, or 0.
  public init?(address: UInt) {
    guard let content = UnsafeMutablePointer<TokenSlot.Content>(bitPattern: address) else { return nil }
    slot = TokenSlot(content: content)
  }

  /// The address for ``init(address:)``; never 0.
  public var address: UInt { UInt(bitPattern: slot.content) }

  /// Copies the token's bytes if they fit.
  /// - Parameters:
  ///   - now: by the client's clock.
  ///   - isAlive: whether the client that the caller means still exists; another client may use the slot now.
  /// - Returns: the number of bytes, and when the token expires; nil if no fresh token is in memory.
  public func copy(
    minimumLifetimeSeconds: Int64, at now: Instant, into buffer: UnsafeMutableRawBufferPointer,
    if isAlive: () -> Bool
  ) -> (count: Int, expiresAt: UnixTime)? {
    guard !slot.isForkedChild else { return nil }
    slot.lock()
    defer { slot.unlock() }
    guard isAlive(), let view = slot.content.pointee.view else { return nil }
    return Self.copy(view, minimumLifetimeSeconds, now, buffer)
  }

  /// Like ``copy(minimumLifetimeSeconds:at:into:if:)``, but copies the token for an audience. The audience is named by
  /// the bytes of its resource and of its scopes; the scopes may be in any order. The resource or the scopes may be
  /// empty.
  public func copy(
    resource: UnsafeRawBufferPointer, scopes: UnsafeRawBufferPointer, minimumLifetimeSeconds: Int64,
    at now: Instant, into buffer: UnsafeMutableRawBufferPointer, if isAlive: () -> Bool
  ) -> (count: Int, expiresAt: UnixTime)? {
    guard !slot.isForkedChild else { return nil }
    slot.lock()
    defer { slot.unlock() }
    guard isAlive() else { return nil }
    if let view = slot.content.pointee.lookup.view(resource, scopes) {
      return Self.copy(view, minimumLifetimeSeconds, now, buffer)
    }
    let named = slot.content.pointee.audiences.first {
      $0.audience.isNamed(resource: resource, scopes: scopes)
    }
    guard let named else { return nil }
    slot.content.pointee.lookup.append(resource, scopes, named.view)
    return Self.copy(named.view, minimumLifetimeSeconds, now, buffer)
  }

  private static func copy(
    _ view: TokenSlot.TokenView, _ minimumLifetimeSeconds: Int64, _ now: Instant,
    _ buffer: UnsafeMutableRawBufferPointer
  ) -> (count: Int, expiresAt: UnixTime)? {
    guard view.isFresh(at: now, minimumLifetimeSeconds) else { return nil }
    if view.bytes.count <= buffer.count { buffer.copyMemory(from: view.bytes) }
    return (view.bytes.count, view.expiresAt)
  }
}
