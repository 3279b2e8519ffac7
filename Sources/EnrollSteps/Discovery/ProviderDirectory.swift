// The provider's metadata and keys: fetched when needed, kept in memory and in the store, and used until a valid
// response replaces them, even when they are no longer fresh (R18, R23; OpenID Connect Discovery §4, RFC 7517).

import EnrollCrypto
public import EnrollRules

/// The metadata and keys of one issuer, shared by all threads.
public final class ProviderDirectory: Sendable {
  private let configuration: Configuration
  private let transport: any Transport
  private let store: any TokenStore
  private let clock: any Clock
  private let name: ProviderName
  private let cache: Guarded<Cache>

  private struct Cache {
    var metadata = KnownDocument<ProviderMetadata>()
    /// The URL of ``metadata``; nil if there is no metadata yet.
    var metadataURL: String?
    var keys = KnownDocument<JWKSet>()
    var keyRefetches = KeyRefetches()
    /// When an endpoint of ``metadata`` last failed.
    var doubted: Instant?
    var times = ServerTimes()
    var secretMethod: ClientSecretMethod?
    /// The algorithm of the last verified id_token.
    var idTokenAlgorithm: SignatureAlgorithm?
  }

  init(
    configuration: Configuration, transport: any Transport, store: any TokenStore, clock: any Clock,
    exclusion: any Lock
  ) {
    self.configuration = configuration
    self.transport = transport
    self.store = store
    self.clock = clock
    name = ProviderName(issuer: configuration.issuer, trust: transport.trust)
    cache = Guarded(Cache(), by: exclusion)
  }

  var issuer: Issuer { configuration.issuer }

  /// The method with which the provider accepted the client's secret last, in this process.
  var secretMethod: ClientSecretMethod? { cache.withLock { $0.secretMethod } }

  func remember(secretMethod: ClientSecretMethod) { cache.withLock { $0.secretMethod = secretMethod } }

  // MARK: Metadata

  /// The provider's metadata: configured endpoints, or a discovery document, which is fetched again when it is no
  /// longer fresh. If older metadata is known, this call succeeds even if the request fails or the fetched document
  /// names another issuer.
  /// - Parameters:
  ///   - doubt: whether an endpoint may have moved, so that even fresh metadata is fetched again.
  ///   - isOldGood: whether metadata that is not fresh may be used. A request to an endpoint that has moved then fails.
  /// - Throws: if no metadata is known and none can be fetched.
  public func metadata(
    doubt: DocumentDoubt = .none, isOldGood: Bool = false, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> ProviderMetadata {
    if let configured = ProviderMetadata(configured: configuration) { return configured }
    let known = knownMetadata()
    let now = clock.instant()
    if let metadata = known.serving(at: now, doubt: doubt, isOldGood: isOldGood) { return metadata }
    if let refusal = known.refusal(at: now) { throw refusal }
    do throws(EnrollError) {
      return try fetchMetadata(knowing: known, isUncached: doubt != .none, cancellation: cancellation)
    } catch {
      if error.code == .cancelled { throw error }
      let now = clock.instant()
      let (failure, document) = cache.withLock { ($0.metadata.postpone(error, at: now), $0.metadata) }
      guard let metadata = document.content else { throw failure }
      let pause = document.pause(at: clock.moment())
      store.keepProviderDocuments(name) { $0.metadata?.pause = pause }
      return metadata
    }
  }

  /// Call this if an endpoint of the metadata, or the keys, did not respond like the provider: the next call for the
  /// metadata, in any process, fetches it again. The call has an effect at most once a minute.
  func doubtMetadata() {
    let moment = clock.moment()
    let isDoubted = cache.withLock { cache in
      if let last = cache.doubted, moment.instant < last.advanced(bySeconds: 60) { return false }
      cache.doubted = moment.instant
      cache.metadata.expire()
      return true
    }
    guard isDoubted else { return }
    store.keepProviderDocuments(name) {
      $0.metadata?.freshness = Expiry(lifetimeSeconds: 0, from: moment)
    }
  }

  /// Fetches the discovery document from the issuer, whatever is cached, for a decision that needs a response of this
  /// provider. Configured endpoints are trusted without a request.
  /// - Parameter serverTime: the server's time, if it is known.
  /// - Returns: the metadata, and its age in seconds in a cache, by the headers; 0 if no cache sent it.
  /// - Throws: `.issuerMismatch` if another provider responds, or this one with another issuer; the request's error.
  func requireIssuer(
    serverTime: UnixTime?, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> (ProviderMetadata, ageSeconds: Int64) {
    if let configured = ProviderMetadata(configured: configuration) { return (configured, 0) }
    let (request, response) = try askForMetadata(
      knownTag: nil, isUncached: true, cancellation: cancellation)
    let age = response.secondsInCache(serverTime: serverTime)
    return (try accept(response, to: request, knowing: KnownDocument()), age)
  }

  private func fetchMetadata(
    knowing known: KnownDocument<ProviderMetadata>, isUncached: Bool, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> ProviderMetadata {
    let (request, response) = try askForMetadata(
      knownTag: known.tag, isUncached: isUncached, cancellation: cancellation)
    return try accept(response, to: request, knowing: known)
  }

  private func accept(
    _ response: HTTPResponse, to request: HTTPRequest, knowing known: KnownDocument<ProviderMetadata>
  ) throws(EnrollError) -> ProviderMetadata {
    let metadata: ProviderMetadata
    if response.status == 304, let same = known.content, known.tag != nil {
      metadata = same
    } else {
      metadata = try ProviderMetadata(
        processing: response, from: request.url, configuration: configuration)
    }
    let moment = clock.moment()
    cache.withLock {
      $0.times.learn(fromDocument: response, at: moment.instant)
      $0.metadata.accept(metadata, from: response, at: moment.instant)
      $0.metadataURL = request.url
    }
    store.keepProviderDocuments(name) { $0.metadata.note(response, to: request, at: moment) }
    return metadata
  }

  /// Requests the document from its last URL, after a 404 from another URL. If both fail, returns the first response.
  /// - Parameter isUncached: whether caches must not respond.
  private func askForMetadata(
    knownTag: String?, isUncached: Bool = false, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> (HTTPRequest, HTTPResponse) {
    let known = cache.withLock { $0.metadataURL }
    var urls = ProviderMetadata.urls(of: configuration)
    if let known, urls.contains(where: { ASCII.equals($0, known) }) {
      urls = [known] + urls.filter { !ASCII.equals($0, known) }
    }
    let first = ProviderMetadata.request(urls[0], knownTag: knownTag, isUncached: isUncached)
    let response = try transport.send(first, cancellation: cancellation)
    guard response.status == 404, urls.count > 1 else { return (first, response) }
    let second = ProviderMetadata.request(urls[1], isUncached: isUncached)
    guard let other = try? transport.send(second, cancellation: cancellation), other.status == 200 else {
      return (first, response)
    }
    return (second, other)
  }

  /// The newest known metadata: from memory, or from the store if another process fetched it later.
  private func knownMetadata() -> KnownDocument<ProviderMetadata> {
    let known = cache.withLock { $0.metadata }
    let moment = clock.moment()
    guard known.serving(at: moment.instant) == nil, let kept = store.providerDocuments(name)?.metadata,
      ProviderMetadata.urls(of: configuration).contains(where: { ASCII.equals($0, kept.url) }),
      let metadata = try? ProviderMetadata(
        processing: kept.response, from: kept.url, configuration: configuration)
    else { return known }
    return cache.withLock {
      $0.metadata.adopt(metadata, kept, at: moment)
      $0.metadataURL = kept.url
      return $0.metadata
    }
  }

  /// The known metadata, without a request.
  public var cachedMetadata: ProviderMetadata? {
    ProviderMetadata(configured: configuration) ?? cache.withLock { $0.metadata.content }
  }

  /// Why the known metadata could not be updated; nil if the last request for it succeeded.
  var metadataFailure: EnrollError? { cache.withLock { $0.metadata.failure } }

  /// The number of the provider's keys that can verify a signature with one of these algorithms.
  func keyCount(
    for algorithms: [SignatureAlgorithm], cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Int {
    try keys(cancellation: cancellation).0.keys.count { key in algorithms.contains { key.fits($0) } }
  }

  /// Fetches the metadata, and the keys if they are needed, before a request that cannot be repeated.
  func prepare(needsKeys: Bool, cancellation: (any Cancellation)?) throws(EnrollError) -> ProviderMetadata {
    if needsKeys { _ = try keys(cancellation: cancellation) }
    return try metadata(cancellation: cancellation)
  }

  // MARK: The server's time

  /// The server's current time, from its responses to this process: it does not depend on this device's date, even if
  /// somebody changes that date. nil until a response has had a date.
  var serverTime: UnixTime? {
    let now = clock.instant()
    return cache.withLock { $0.times.byAnswers(at: now) }
  }

  /// The server's time, from its documents and keys. This time may be too early if the documents came from a cache.
  var documentTime: UnixTime? {
    let now = clock.instant()
    return cache.withLock { $0.times.byDocuments(at: now) }
  }

  /// Learns the server's time from a response to this client alone: such a response does not come from a cache.
  func learnTime(of response: HTTPResponse) {
    let now = clock.instant()
    cache.withLock { $0.times.learn(from: response, at: now) }
  }

  // MARK: Keys

  /// Verifies an id_token with the issuer's keys. If known keys do not verify it, newer keys are fetched once (R21, R23).
  /// - Throws: `.idTokenInvalid`; `.keysUnavailable` if the keys cannot be fetched, or include none for the token.
  func verify(
    _ idToken: Secret, expecting: IDTokenExpectations, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> IDToken {
    try prove(
      IDToken.Unverified(parsing: idToken), algorithms: expecting.algorithms, cancellation: cancellation
    ).checked(against: expecting)
  }

  /// Verifies only the signature.
  /// - Parameter isFromStranger: whether anybody may have sent the token; false for a response of the provider.
  /// - Throws: as ``verify(_:expecting:cancellation:)``; the error of ``EnrollError/ofToken(_:)``.
  func prove(
    _ idToken: IDToken.Unverified, algorithms: [SignatureAlgorithm], isFromStranger: Bool = false,
    isOldGood: Bool = false, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> IDToken.Signed {
    let (known, wereFetched) = try keys(isOldGood: isOldGood, cancellation: cancellation)
    switch try idToken.signature(keys: known, algorithms: algorithms) {
    case .proven(let signed): return noting(signed, isFromStranger)
    case .unproven(let error):
      let (now, text) = (clock.instant(), isFromStranger)
      let wait = wereFetched ? nil : cache.withLock { $0.keyRefetches.begin(at: now, forText: text) }
      guard !wereFetched, wait == nil else {
        // If newer keys could not be fetched, it is unknown whether the token is valid.
        throw cache.withLock { $0.keys.failure }
          ?? error.ofToken(isFromStranger && wait == nil).saying(refetchingAfter: wait)
      }
    }
    let newer = try fetchKeys(from: try keysURI(false, cancellation), cancellation: cancellation)
    switch try idToken.signature(keys: newer, algorithms: algorithms) {
    case .proven(let signed): return noting(signed, isFromStranger)
    case .unproven(let error): throw error.ofToken(isFromStranger)
    }
  }

  private func noting(_ signed: IDToken.Signed, _ isFromStranger: Bool) -> IDToken.Signed {
    if !isFromStranger { cache.withLock { $0.idTokenAlgorithm = signed.algorithm } }
    return signed
  }

  /// The algorithm of the last verified id_token; nil if no id_token has been verified yet.
  var idTokenAlgorithm: SignatureAlgorithm? { cache.withLock { $0.idTokenAlgorithm } }

  /// The issuer's keys, and whether they were requested just now.
  func keys(
    isOldGood: Bool = false, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> (JWKSet, wereFetched: Bool) {
    let (uri, now) = (try keysURI(isOldGood, cancellation), clock.instant())
    let known = knownKeys(from: uri)
    if let keys = known.serving(at: now, isOldGood: isOldGood) { return (keys, false) }
    if let refusal = known.refusal(at: now) { throw refusal }
    do throws(EnrollError) {
      return (try fetchKeys(from: uri, cancellation: cancellation), true)
    } catch {
      guard error.code != .cancelled, let keys = known.content else { throw error }
      return (keys, true)
    }
  }

  private func keysURI(_ isOldGood: Bool, _ cancellation: (any Cancellation)?) throws(EnrollError) -> String {
    guard let uri = try metadata(isOldGood: isOldGood, cancellation: cancellation).jwksURI else {
      throw EnrollError(
        .unsupported,
        "the scope openid needs the provider's keys, and no jwks_uri is announced; configure endpoints.jwksUri",
        field: "endpoints.jwksUri")
    }
    return uri
  }

  private func knownKeys(from uri: String) -> KnownDocument<JWKSet> {
    let known = cache.withLock { $0.keys }
    let moment = clock.moment()
    guard known.serving(at: moment.instant) == nil, let kept = store.providerDocuments(name)?.keys,
      ASCII.equals(kept.url, uri), let keys = try? JWKSet.accept(kept.response)
    else { return known }
    return cache.withLock {
      $0.keys.adopt(keys, kept, at: moment)
      return $0.keys
    }
  }

  private func fetchKeys(
    from uri: String, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> JWKSet {
    do throws(EnrollError) {
      return try askForKeys(at: uri, cancellation: cancellation)
    } catch {
      guard error.code != .cancelled else { throw error }
      doubtMetadata()
      let now = clock.instant()
      let (failure, document) = cache.withLock { ($0.keys.postpone(error, at: now), $0.keys) }
      let pause = document.pause(at: clock.moment())
      store.keepProviderDocuments(name) { $0.keys?.pause = pause }
      throw failure
    }
  }

  private func askForKeys(at uri: String, cancellation: (any Cancellation)?) throws(EnrollError) -> JWKSet {
    let known = cache.withLock { $0.keys }
    let request = JWKSet.request(uri, knownTag: known.tag)
    let response: HTTPResponse
    do throws(EnrollError) {
      response = try transport.send(request, cancellation: cancellation)
    } catch {
      // A refused certificate is final, and not an outage (R19). A lack of memory is a problem of this process.
      if [.cancelled, .tls, .outOfMemory].contains(error.code) { throw error }
      throw EnrollError(.keysUnavailable, "the issuer's keys could not be fetched: \(error.message)")
    }
    let keys: JWKSet
    if response.status == 304, let same = known.content, known.tag != nil {
      keys = same
    } else {
      keys = try JWKSet.accept(response)
    }
    let moment = clock.moment()
    cache.withLock {
      $0.times.learn(fromDocument: response, at: moment.instant)
      $0.keys.accept(keys, from: response, at: moment.instant)
    }
    store.keepProviderDocuments(name) { $0.keys.note(response, to: request, at: moment) }
    return keys
  }
}

extension EnrollError {
  /// This error with the seconds until keys may be fetched again; unchanged if `seconds` is nil.
  fileprivate func saying(refetchingAfter seconds: Int64?) -> EnrollError {
    guard let seconds else { return self }
    return saying(
      "\(message); the keys were fetched often in the last minute, and are fetched again in \(seconds) s")
  }
}
