// What is known of the provider: its metadata and its keys, fetched when needed, kept in memory while fresh
// (R18, R23; OpenID Connect Discovery §4, RFC 7517).

import EnrollCrypto

/// Metadata and keys of one issuer, shared by every thread.
public final class ProviderDirectory: Sendable {
  private let configuration: Configuration
  private let transport: any Transport
  private let clock: any Clock
  private let cache: Guarded<Cache>

  private struct Cache {
    var metadata: ProviderMetadata?
    var metadataFreshUntil = Instant(nanoseconds: .min)
    var metadataTag: String?
    var keys: JWKSet?
    var keysFreshUntil = Instant(nanoseconds: .min)
    var keysTag: String?
    var keysRefetched = Instant(nanoseconds: .min)
    /// The server's time, and when it was told.
    var told: (time: UnixTime, at: Instant)?
  }

  /// A `kid` that is not known causes one refetch of the keys, at most this often (R23).
  static let refetchPauseSeconds: Int64 = 60

  init(configuration: Configuration, transport: any Transport, clock: any Clock, exclusion: any Exclusion) {
    self.configuration = configuration
    self.transport = transport
    self.clock = clock
    cache = Guarded(Cache(), by: exclusion)
  }

  /// The provider's metadata: configured endpoints, or discovery's, revalidated when no longer fresh. An outage while
  /// older metadata is at hand is no failure.
  public func metadata(cancellation: (any Cancellation)?) throws(EnrollError) -> ProviderMetadata {
    if let configured = ProviderMetadata(configured: configuration) { return configured }
    let known = cache.withLock { $0 }
    if let metadata = known.metadata, clock.instant() < known.metadataFreshUntil { return metadata }
    let request = ProviderMetadata.request(
      configuration: configuration, knownTag: known.metadata == nil ? nil : known.metadataTag)
    let response: HTTPResponse
    do throws(EnrollError) {
      response = try transport.send(request, cancellation: cancellation)
      if let metadata = known.metadata, response.status == 304 || response.status >= 500 {
        return remember(metadata, response)
      }
    } catch {
      if let metadata = known.metadata, error.isRetryable { return metadata }
      throw error
    }
    return remember(try ProviderMetadata(processing: response, configuration: configuration), response)
  }

  /// Metadata that is at hand without asking anybody.
  public var cachedMetadata: ProviderMetadata? {
    ProviderMetadata(configured: configuration) ?? cache.withLock { $0.metadata }
  }

  /// Now by the server's clock, as its last response told it: neither a wrong date on this device nor one that is set
  /// meanwhile matters. nil as long as none told it.
  var serverTime: UnixTime? {
    guard let told = cache.withLock({ $0.told }) else { return nil }
    return told.time + clock.instant().since(told.at) / 1_000_000_000
  }

  func learnTime(of response: HTTPResponse) {
    guard let date = response.header("Date").flatMap({ HTTPDate.parse($0) }) else { return }
    // A response out of a cache is older than it looks (RFC 9111 §5.1).
    let age = response.header("Age").flatMap { DecimalText.parse($0) } ?? 0
    let now = clock.instant()
    cache.withLock { $0.told = (date + min(age, CacheControl.maximumSeconds), now) }
  }

  private func remember(_ metadata: ProviderMetadata, _ response: HTTPResponse) -> ProviderMetadata {
    learnTime(of: response)
    let until = clock.instant().advanced(bySeconds: CacheControl.freshSeconds(of: response))
    cache.withLock {
      $0.metadata = metadata
      $0.metadataFreshUntil = until
      $0.metadataTag = response.header("ETag") ?? $0.metadataTag
    }
    return metadata
  }

  /// Has metadata, and keys where they are needed, at hand: before something is sent that cannot be sent again.
  func prepare(needsKeys: Bool, cancellation: (any Cancellation)?) throws(EnrollError) -> ProviderMetadata {
    if needsKeys { _ = try keys(cancellation: cancellation) }
    return try metadata(cancellation: cancellation)
  }

  /// Proves an id_token with the issuer's keys; a `kid` that they do not hold causes one refetch (R21, R23).
  /// - Throws: `.idTokenInvalid`; `.keysUnavailable` when the keys cannot be had, or hold none for the token.
  func verify(
    _ idToken: Secret, expecting: IDTokenExpectations, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> IDToken {
    let unverified = try IDToken.Unverified(parsing: idToken)
    do throws(EnrollError) {
      return try unverified.verify(keys: try keys(cancellation: cancellation), expecting: expecting)
    } catch {
      guard error.code == .keysUnavailable, mayRefetchKeys() else { throw error }
      return try unverified.verify(keys: try fetchKeys(cancellation: cancellation), expecting: expecting)
    }
  }

  private func keys(cancellation: (any Cancellation)?) throws(EnrollError) -> JWKSet {
    let known = cache.withLock { $0 }
    if let keys = known.keys, clock.instant() < known.keysFreshUntil { return keys }
    return try fetchKeys(cancellation: cancellation)
  }

  private func mayRefetchKeys() -> Bool {
    let now = clock.instant()
    return cache.withLock {
      guard now > $0.keysRefetched.advanced(bySeconds: Self.refetchPauseSeconds) else { return false }
      $0.keysRefetched = now
      return true
    }
  }

  private func fetchKeys(cancellation: (any Cancellation)?) throws(EnrollError) -> JWKSet {
    let request = JWKSet.request(try metadata(cancellation: cancellation).jwksURI)
    let response: HTTPResponse
    do throws(EnrollError) {
      response = try transport.send(request, cancellation: cancellation)
    } catch {
      // A certificate that is refused stays what it is: final, not an outage (R19). A want of memory is ours.
      if [.cancelled, .tls, .outOfMemory].contains(error.code) { throw error }
      throw EnrollError(.keysUnavailable, "the issuer's keys could not be fetched: \(error.message)")
    }
    learnTime(of: response)
    let keys = try JWKSet.accept(response)
    let until = clock.instant().advanced(bySeconds: CacheControl.freshSeconds(of: response))
    cache.withLock {
      $0.keys = keys
      $0.keysFreshUntil = until
    }
    return keys
  }
}
