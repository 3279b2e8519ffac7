// Requests with proofs (RFC 9449): a key with each transaction, a proof with each request that carries its code or its
// tokens, the server's nonces, and proofs for the host's own requests (flows.md §11).

public import EnrollCrypto

extension Engine {
  /// A key for a transaction that begins; nil where tokens will be Bearer tokens.
  /// - Throws: `.unsupported` when the configuration insists and the provider has other algorithms only.
  func newDPoPKey(_ metadata: ProviderMetadata) throws(EnrollError) -> DPoPKey? {
    let isAnnounced = Scopes.contains(DPoPKey.algorithm.rawValue, in: metadata.dpopAlgorithms)
    switch configuration.dpop {
    case .never: return nil
    case .auto: return isAnnounced ? try .make() : nil
    case .always:
      guard isAnnounced || metadata.dpopAlgorithms.isEmpty else {
        throw EnrollError(
          .unsupported, "the provider announces its DPoP algorithms, and ES256 is not among them",
          field: "dpop")
      }
      return try .make()
    }
  }

  /// For a flow that asks for its tokens without a proof.
  /// - Throws: `.configuration` when the configuration insists on one.
  func requireBearerTokensAllowed() throws(EnrollError) {
    guard configuration.dpop != .always else {
      throw EnrollError(
        .configuration, "dpop: always refuses Bearer tokens, and this flow has no others", field: "dpop")
    }
  }

  /// The binding that a response to a request proven with `key` may have.
  func binding(_ key: DPoPKey?) -> DPoPBinding {
    key == nil ? .none : configuration.dpop == .always ? .required : .offered
  }

  /// Sends a request with a proof, where there is a key to prove. A server that wants a nonce gets the request once
  /// more, with that nonce (R15); whatever it says then is the answer.
  /// - Parameter accessToken: the one in the request's Authorization header.
  func send(
    _ request: HTTPRequest, provenBy key: DPoPKey?, accessToken: Secret? = nil,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HTTPResponse {
    guard let key else { return try transport.send(request, cancellation: cancellation) }
    guard let target = DPoPRequest(request) else {
      throw EnrollError(.internal, "no proof can be made for that endpoint's URL")
    }
    let signer = try key.signer()
    let first = try sendOnce(request, target, signer, accessToken, cancellation)
    guard DPoPNonces.isDemanded(by: first), DPoPNonces.nonce(in: first) != nil else { return first }
    return try sendOnce(request, target, signer, accessToken, cancellation)
  }

  private func sendOnce(
    _ request: HTTPRequest, _ target: DPoPRequest, _ signer: DPoPSigner, _ accessToken: Secret?,
    _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HTTPResponse {
    let proof = try DPoPProof.make(
      signer, for: target, at: provenTime(), nonce: nonce(of: target.origin),
      accessToken: accessToken, random: random.bytes(DPoPProof.randomByteCount))
    var request = request
    request.headers.append(HTTPHeader(DPoPProof.headerName, proof))
    let response = try transport.send(request, cancellation: cancellation)
    provider.learnTime(of: response)
    if let nonce = DPoPNonces.nonce(in: response) {
      let entry = DPoPNonces.Entry(origin: target.origin, nonce: nonce, learned: clock.wallTime())
      memory.withLock {
        $0.nonces.remember(entry)
        $0.providerNonces.remember(entry)
      }
    }
    return response
  }

  /// The last nonce of a server, as this process or another one heard it (§8.2).
  private func nonce(of origin: String) -> String? {
    let heard = memory.withLock { $0.nonces[origin] }
    guard let kept = (try? store.read(account))?.nonces[origin] else { return heard?.nonce }
    guard let heard, heard.learned >= kept.learned else { return kept.nonce }
    return heard.nonce
  }

  /// For the next process; part of a save that takes place anyway.
  func keepNonces(in record: inout AccountRecord) {
    record.nonces.keep(memory.withLock { $0.providerNonces })
  }

  /// Now by the server's clock: as its answers told this process, else by the offset that was kept, else as its documents
  /// told it.
  private func provenTime() -> UnixTime {
    if let time = provider.serverTime { return time }
    let (now, told) = (clock.wallTime(), provider.documentTime)
    guard let offset = (try? store.read(account))?.serverClock.offsetSeconds else { return told ?? now }
    let time = now + offset
    // A document out of a cache is too early, never too late: one that is later than this tells of a date that was set.
    if let told, told.since(time) > ServerClock.toleranceSeconds { return told }
    return time
  }

  /// Now by the server's clock, as its answers told it; nil where none did.
  func knownServerTime() -> UnixTime? {
    if let time = provider.serverTime { return time }
    return (try? store.read(account))?.serverClock.offsetSeconds.map { clock.wallTime() + $0 }
  }

  /// A proof for a request of the host's own (`dpop.proof`).
  /// - Parameters:
  ///   - nonce: what the resource server demanded; it is used for later requests to the same server, too. nil: the
  ///     last one of that server.
  ///   - accessToken: the token that the request carries; nil: the present one.
  /// - Throws: `.invalidArgument`, `field` names the argument; `.reauthenticate` when nobody is signed in;
  ///   `.illegalState` when the token is a Bearer token, or waits for confirmation.
  public func dpopProof(
    method: String, url: String, nonce: String? = nil, accessToken: Secret? = nil
  ) throws(EnrollError) -> String {
    let target = try DPoPRequest(method: method, url: url)
    if let nonce, !DPoPNonces.isAcceptable(nonce) {
      throw EnrollError(
        .invalidArgument,
        "nonce: expected 1 to \(DPoPNonces.maximumBytes) visible characters without quotes (RFC 9449 §8.1)",
        field: "nonce")
    }
    let tokens: TokenSet
    switch try session() {
    case .live(_, let live): tokens = live
    case .none(let outcome):
      _ = try outcome.token()
      throw Self.noProofForBearer
    }
    guard let key = tokens.proofKey(of: accessToken) else { throw Self.noProofForBearer }
    let origin = target.origin
    if let nonce {
      let entry = DPoPNonces.Entry(origin: origin, nonce: nonce, learned: clock.wallTime())
      memory.withLock { $0.nonces.remember(entry) }
    }
    let known = self.nonce(of: origin)
    return try DPoPProof.make(
      key.signer(), for: target, at: provenTime(), nonce: known,
      accessToken: accessToken ?? tokens.accessToken, random: random.bytes(DPoPProof.randomByteCount))
  }

  private static var noProofForBearer: EnrollError {
    EnrollError(.illegalState, "the access token is a Bearer token, which is shown without a proof")
  }
}
