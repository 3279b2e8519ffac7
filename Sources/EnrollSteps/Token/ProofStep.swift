// DPoP proofs for the host's own requests (RFC 9449; flows.md §11).

public import EnrollCrypto
public import EnrollRules

/// Makes DPoP proofs for the host's own requests.
public final class ProofStep: EngineStep {
  let context: EngineContext
  private let nonces: NonceCache
  private let requests: ClientRequests

  init(_ context: EngineContext, nonces: NonceCache, requests: ClientRequests) {
    self.context = context
    self.nonces = nonces
    self.requests = requests
  }

  /// A proof for a request of the host (`dpop.proof`).
  /// - Parameters:
  ///   - nonce: the nonce that the resource server demanded; it is also used for later requests to the same server.
  ///     nil: the last nonce of that server.
  ///   - accessToken: the access token of the request; nil: the session's current access token.
  /// - Throws: `.invalidArgument` with its `field`; `.reauthenticate` if no user is signed in; `.storeLocked`;
  ///   `.illegalState` if the token is a Bearer token, or waits for confirmation.
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
    switch try context.session() {
    case .live(_, let live): tokens = live
    case .none(let outcome):
      _ = try outcome.token()
      throw Self.noProofForBearer
    }
    guard let key = tokens.proofKey(of: accessToken) else { throw Self.noProofForBearer }
    let origin = target.origin
    if let nonce {
      let entry = DPoPNonces.Entry(origin: origin, nonce: nonce, learned: clock.wallTime())
      nonces.note(entry)
    }
    let known = requests.nonce(of: origin)
    return try DPoPProof.make(
      key.signer(), for: target, at: context.provenTime(), nonce: known,
      accessToken: accessToken ?? tokens.accessToken, random: random.bytes(DPoPProof.randomByteCount))
  }

  private static var noProofForBearer: EnrollError {
    EnrollError(.illegalState, "the access token is a Bearer token, which is shown without a proof")
  }
}
