// The provider's metadata and keys: fetched when needed, kept in memory and in the store while fresh, and used beyond
// that until a valid response replaces them (R18, R23; OpenID Connect Discovery §4, RFC 7517).

package import EnrollCrypto
package import EnrollJSON

/// Metadata and keys of one issuer, shared by every thread.
public final class ProviderDirectory: Sendable {
  private let configuration: Configuration
  private let transport: any Transport
  private let store: any TokenStore
  private let clock: any Clock
  /// Under what the store keeps the documents.
  private let name: ProviderName
  private let cache: Guarded<Cache>

  private struct Cache {
    var metadata = KnownDocument<ProviderMetadata>()
    /// Where ``metadata`` came from; nil before any did.
    var metadataURL: String?
    var keys = KnownDocument<JWKSet>()
    var keyRefetches = KeyRefetches()
    /// When an endpoint of ``metadata`` last failed.
    var doubted: Instant?
    var times = ServerTimes()
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

  // MARK: Metadata

  /// The provider's metadata: configured endpoints, or discovery's, asked for again when no longer fresh. While older
  /// metadata is at hand, nothing that goes wrong with that is a failure: a document that names another issuer is another
  /// provider's, and says nothing about this one.
  /// - Parameter doubt: an endpoint of it may have moved, so that it is asked for again although it is fresh.
  /// - Throws: when nothing is at hand.
  public func metadata(
    doubt: DocumentDoubt = .none, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> ProviderMetadata {
    if let configured = ProviderMetadata(configured: configuration) { return configured }
    let known = knownMetadata()
    let now = clock.instant()
    if let metadata = known.serving(at: now, doubt: doubt) { return metadata }
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

  /// An endpoint of the metadata, or its keys, gave no answer of the provider's in a sign-in: whoever needs the metadata next, in any
  /// process, asks for it again. Once a minute at most.
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

  /// Asks at the issuer's address whether its provider is there, whatever is at hand: before something is believed that only the
  /// provider itself may say. Configured endpoints are believed.
  /// - Parameter serverTime: now by the server's clock, as far as it is known.
  /// - Returns: also how many seconds ago the document was made, where its headers show that a cache kept it; else 0.
  /// - Throws: `.issuerMismatch` where another provider answers, or ours under another name; why there is no document.
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
      metadata = try ProviderMetadata(processing: response, configuration: configuration)
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

  /// Asks where the known document came from or, without one, at each place where it may be. An answer that says that there
  /// is no document is that of the first place, unless another one has it.
  /// - Parameter isUncached: no cache is to answer.
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

  /// As the store has it where that is newer: another process may have asked meanwhile.
  private func knownMetadata() -> KnownDocument<ProviderMetadata> {
    let known = cache.withLock { $0.metadata }
    let moment = clock.moment()
    guard known.serving(at: moment.instant) == nil, let kept = store.providerDocuments(name)?.metadata,
      ProviderMetadata.urls(of: configuration).contains(where: { ASCII.equals($0, kept.url) }),
      let metadata = try? ProviderMetadata(processing: kept.response, configuration: configuration)
    else { return known }
    return cache.withLock {
      $0.metadata.adopt(metadata, kept, at: moment)
      $0.metadataURL = kept.url
      return $0.metadata
    }
  }

  /// Metadata that is at hand without asking anybody.
  public var cachedMetadata: ProviderMetadata? {
    ProviderMetadata(configured: configuration) ?? cache.withLock { $0.metadata.content }
  }

  /// Why the document at hand is an earlier one; nil where the last request for it succeeded.
  var metadataFailure: EnrollError? { cache.withLock { $0.metadata.failure } }

  /// How many keys of the provider can check a signature with one of these algorithms.
  func keyCount(
    for algorithms: [SignatureAlgorithm], cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Int {
    try keys(cancellation: cancellation).0.keys.count { key in algorithms.contains { key.fits($0) } }
  }

  /// Has metadata, and keys where they are needed, at hand: before something is sent that cannot be sent again.
  func prepare(needsKeys: Bool, cancellation: (any Cancellation)?) throws(EnrollError) -> ProviderMetadata {
    if needsKeys { _ = try keys(cancellation: cancellation) }
    return try metadata(cancellation: cancellation)
  }

  // MARK: The server's time

  /// Now by the server's clock, as its answers to this process told it: neither a wrong date on this device nor one that
  /// is set meanwhile matters. nil as long as none told it.
  var serverTime: UnixTime? {
    let now = clock.instant()
    return cache.withLock { $0.times.byAnswers(at: now) }
  }

  /// The same by discovery and keys, which may have been waiting in a cache: it may be too early.
  var documentTime: UnixTime? {
    let now = clock.instant()
    return cache.withLock { $0.times.byDocuments(at: now) }
  }

  /// Takes the time from the answer to a request that only we made, and that no cache answers.
  func learnTime(of response: HTTPResponse) {
    let now = clock.instant()
    cache.withLock { $0.times.learn(from: response, at: now) }
  }

  // MARK: Keys

  /// Proves an id_token with the issuer's keys. Where keys that were at hand do not prove it, they are fetched once more,
  /// and those judge it (R21, R23).
  /// - Throws: `.idTokenInvalid`; `.keysUnavailable` when the keys are unavailable, or hold none for the token.
  func verify(
    _ idToken: Secret, expecting: IDTokenExpectations, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> IDToken {
    try prove(
      IDToken.Unverified(parsing: idToken), algorithms: expecting.algorithms, cancellation: cancellation
    ).checked(against: expecting)
  }

  /// Proves the signature alone.
  /// - Parameter isFromStranger: anybody may have sent it; the provider's own answer did not bring it.
  /// - Throws: as ``verify(_:expecting:cancellation:)``.
  func prove(
    _ idToken: IDToken.Unverified, algorithms: [SignatureAlgorithm], isFromStranger: Bool = false,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> IDToken.Signed {
    let (known, wereFetched) = try keys(cancellation: cancellation)
    switch try idToken.signature(keys: known, algorithms: algorithms) {
    case .proven(let signed): return signed
    case .unproven(let error):
      let now = clock.instant()
      let wait =
        wereFetched ? nil : cache.withLock { $0.keyRefetches.begin(at: now, forText: isFromStranger) }
      guard !wereFetched, wait == nil else {
        // Newer keys were asked for in vain: nobody knows whether the token is good.
        throw cache.withLock { $0.keys.failure } ?? error.saying(refetchingAfter: wait)
      }
    }
    let uri = try keysURI(cancellation: cancellation)
    let newer = try fetchKeys(from: uri, cancellation: cancellation)
    switch try idToken.signature(keys: newer, algorithms: algorithms) {
    case .proven(let signed): return signed
    case .unproven(let error): throw error
    }
  }

  /// The claims of a signed text that is no id_token: a logout token, or the provider's notification of something. Only the
  /// signature is proven, by a key that signs for its `iss`; who calls judges every claim.
  /// - Throws: as ``verify(_:expecting:cancellation:)``.
  package func claims(
    signedIn text: Secret, algorithms: [SignatureAlgorithm], cancellation: (any Cancellation)?
  ) throws(EnrollError) -> JSONObject {
    let token = try IDToken.Unverified(signatureOf: text)
    let signed = try prove(
      token, algorithms: algorithms, isFromStranger: true, cancellation: cancellation)
    guard let claims = (try? JSON.parse(signed.payload))?.object else {
      throw EnrollError(.idTokenInvalid, "the signed text is no JSON object")
    }
    try signed.checkKey(signing: Issuer(claims["iss"]?.string ?? ""), of: configuration.issuer)
    return claims
  }

  /// - Returns: also whether they were asked for just now.
  private func keys(cancellation: (any Cancellation)?) throws(EnrollError) -> (JWKSet, wereFetched: Bool) {
    let uri = try keysURI(cancellation: cancellation)
    let known = knownKeys(from: uri)
    let now = clock.instant()
    if let keys = known.serving(at: now) { return (keys, false) }
    if let refusal = known.refusal(at: now) { throw refusal }
    do throws(EnrollError) {
      return (try fetchKeys(from: uri, cancellation: cancellation), true)
    } catch {
      guard error.code != .cancelled, let keys = known.content else { throw error }
      return (keys, true)
    }
  }

  private func keysURI(cancellation: (any Cancellation)?) throws(EnrollError) -> String {
    guard let uri = try metadata(cancellation: cancellation).jwksURI else {
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
      // A certificate that is refused stays what it is: final, not an outage (R19). A want of memory is ours.
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
  /// With the limit that kept newer keys from being fetched; nil for none.
  fileprivate func saying(refetchingAfter seconds: Int64?) -> EnrollError {
    guard let seconds else { return self }
    return saying(
      "\(message); the keys were fetched often in the last minute, and are fetched again in \(seconds) s")
  }
}
