// Sends requests with DPoP proofs (RFC 9449). Each transaction has a key; each request with the transaction's code or
// tokens has a proof; and the servers' nonces are remembered.

import EnrollCrypto
import EnrollRules

extension ClientRequests {
  /// A key for a new transaction; nil if its tokens will be Bearer tokens.
  /// - Throws: `.unsupported` if the configuration requires DPoP and the provider announces only other algorithms.
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

  /// Checks that a flow may request its tokens without a proof.
  /// - Throws: `.configuration` if the configuration requires proofs.
  func requireBearerTokensAllowed() throws(EnrollError) {
    guard configuration.dpop != .always else {
      throw EnrollError(
        .configuration, "dpop: always refuses Bearer tokens, and this flow has no others", field: "dpop")
    }
  }

  /// The token types that a response may have, if `key` signed a proof for the request.
  func binding(_ key: DPoPKey?) -> DPoPBinding {
    key == nil ? .none : configuration.dpop == .always ? .required : .offered
  }

  /// Sends a request, with a proof if there is a key. If the server demands a nonce, the request is sent once more with
  /// that nonce (R15), and the second response is the result.
  /// - Parameter accessToken: the token in the request's Authorization header.
  func send(
    _ request: HTTPRequest, provenBy key: DPoPKey?, accessToken: Secret? = nil,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HTTPResponse {
    var repeats = Repeats()
    return try send(
      request, provenBy: key, accessToken: accessToken, repeats: &repeats, cancellation: cancellation)
  }

  /// Does the same as the method above, for a caller that may send the request several times.
  /// - Parameter repeats: the request is sent again with a nonce only if ``Repeats/withNonce`` is set, which is then
  ///   removed.
  func send(
    _ request: HTTPRequest, provenBy key: DPoPKey?, accessToken: Secret? = nil, repeats: inout Repeats,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HTTPResponse {
    guard let key else { return try transport.send(request, cancellation: cancellation) }
    guard let target = DPoPRequest(request) else {
      throw EnrollError(.internal, "no proof can be made for that endpoint's URL")
    }
    let signer = try key.signer()
    let first = try signedInTime(&repeats, while: { $0.refusesProof }) { (time, _) throws(EnrollError) in
      try sendOnce(request, target, signer, at: time, accessToken, cancellation)
    }
    guard repeats.withNonce, DPoPNonces.isDemanded(by: first), DPoPNonces.nonce(in: first) != nil else {
      return first
    }
    repeats.withNonce = false
    return try sendOnce(request, target, signer, at: context.provenTime(), accessToken, cancellation)
  }

  /// Sends a request that is signed with the current time of the server's clock, as far as that time is known. The
  /// stored difference between the clocks is wrong if somebody has changed this device's date since it was stored. So
  /// if the server refuses the signature, and the `Date` of its response shows another time, the request is signed
  /// with that time and sent once more (R15, R25).
  /// - Parameters:
  ///   - repeats: the request is sent once more only with ``Repeats/withServerTime``, which is then removed.
  ///   - isRefused: whether a response refuses the signature.
  ///   - send: signs with the given time, sends, and learns the server's time from the response.
  func signedInTime(
    _ repeats: inout Repeats, while isRefused: (HTTPResponse) -> Bool,
    _ send: (UnixTime, inout Repeats) throws(EnrollError) -> HTTPResponse
  ) throws(EnrollError) -> HTTPResponse {
    let (time, begun) = (context.provenTime(), clock.instant())
    let response = try send(time, &repeats)
    guard repeats.withServerTime, isRefused(response), let serverTime = provider.serverTime else {
      return response
    }
    let elapsed = (clock.instant().nanoseconds - begun.nanoseconds) / 1_000_000_000
    let difference = serverTime.since(time) - elapsed
    guard difference > Self.clockTolerance || difference < -Self.clockTolerance else { return response }
    repeats.withServerTime = false
    return try send(context.provenTime(), &repeats)
  }

  /// Seconds by which the times of a signature and of the response may differ because the response took time.
  private static var clockTolerance: Int64 { 5 }

  private func sendOnce(
    _ request: HTTPRequest, _ target: DPoPRequest, _ signer: DPoPSigner, at time: UnixTime,
    _ accessToken: Secret?, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HTTPResponse {
    let proof = try DPoPProof.make(
      signer, for: target, at: time, nonce: nonce(of: target.origin),
      accessToken: accessToken, random: random.bytes(DPoPProof.randomByteCount))
    var request = request
    request.headers.append(HTTPHeader(DPoPProof.headerName, proof))
    let response = try transport.send(request, cancellation: cancellation)
    provider.learnTime(of: response)
    if let nonce = DPoPNonces.nonce(in: response) {
      let entry = DPoPNonces.Entry(origin: target.origin, nonce: nonce, learned: clock.wallTime())
      nonces.receive(entry)
    }
    return response
  }

  /// The last nonce that this or another process received from a server (§8.2).
  func nonce(of origin: String) -> String? {
    let heard = nonces[origin]
    guard let kept = (try? store.read(account))?.nonces[origin] else { return heard?.nonce }
    guard let heard, heard.learned >= kept.learned else { return kept.nonce }
    return heard.nonce
  }

  /// Adds the nonces and the authentication method that this process has learned to a record that is about to be saved
  /// for another reason. Other processes then know them, too.
  func keepLearned(in record: inout AccountRecord) {
    record.nonces.keep(nonces.ofProvider)
    record.secretMethod = provider.secretMethod ?? record.secretMethod
  }
}
