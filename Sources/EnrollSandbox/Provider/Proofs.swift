// The server's part of DPoP (RFC 9449): a proof is valid for one request and only once; codes, refresh tokens and access tokens
// are bound to the key for which they were issued. Written from the specification alone.

import EnrollCrypto
import EnrollJSON
import Foundation

/// A verified DPoP proof.
struct KeyProof: Sendable, Equatable {
  /// The thumbprint of the key (RFC 7638).
  var thumbprint: String
  var nonce: String?
  var id: String
  /// The hash of the access token in the proof.
  var accessTokenHash: String?

  /// The largest difference between `iat` and the server's clock.
  static let toleranceSeconds: Int64 = 60

  /// Parses and checks a proof (§4.3), except for its nonce and whether it was used before.
  init(_ text: String, method: String, url: String, now: Int64) throws(OAuthRefusal) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.json(parts[0]), let claims = Self.json(parts[1]),
      let signature = Encoding.bytes(base64URL: parts[2])
    else { throw Self.refusal("it is not a JWT") }
    guard header["typ"]?.string == "dpop+jwt" else { throw Self.refusal("typ must be dpop+jwt") }
    guard header["alg"]?.string == "ES256" else { throw Self.refusal("alg must be ES256") }
    guard let jwk = header["jwk"], jwk["d"] == nil else { throw Self.refusal("jwk must be a public key") }
    guard jwk["kty"]?.string == "EC", jwk["crv"]?.string == "P-256", let x = jwk["x"]?.string,
      let y = jwk["y"]?.string,
      let key = try? PublicKey.ec(
        curve: .p256, x: Encoding.bytes(base64URL: x[...]) ?? [], y: Encoding.bytes(base64URL: y[...]) ?? [])
    else { throw Self.refusal("jwk must be a P-256 key") }
    let input = Array((parts[0] + "." + parts[1]).utf8)
    guard (try? key.verify(signature: signature, message: input, algorithm: .ES256)) == true else {
      throw Self.refusal("the signature is not the key's")
    }
    guard claims["htm"]?.string == method else { throw Self.refusal("htm must be \(method)") }
    guard claims["htu"]?.string == url else { throw Self.refusal("htu must be \(url)") }
    guard let issued = claims["iat"]?.integer, abs(issued - now) <= Self.toleranceSeconds else {
      throw Self.refusal("iat must be now")
    }
    guard let id = claims["jti"]?.string, (16...256).contains(id.utf8.count) else {
      throw Self.refusal("jti must be 16 to 256 characters")
    }
    self.id = id
    nonce = claims["nonce"]?.string
    accessTokenHash = claims["ath"]?.string
    let members = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
    guard let hash = try? Digest.sha256.hash(Array(members.utf8)) else { throw Self.refusal("no hash") }
    thumbprint = Encoding.base64URL(hash)
  }

  func covers(_ accessToken: String) -> Bool {
    (try? Digest.sha256.hash(Array(accessToken.utf8))).map { Encoding.base64URL($0) } == accessTokenHash
  }

  static func refusal(_ text: String) -> OAuthRefusal { OAuthRefusal("invalid_dpop_proof", text) }

  private static func json(_ part: Substring) -> JSON? {
    Encoding.bytes(base64URL: part).flatMap { try? JSON.parse($0) }
  }
}

/// The proofs that were used, and the nonces that are accepted (§8).
struct ProofMemory: Sendable {
  private var seen: Set<String> = []
  /// The accepted nonces, the newest last. The previous nonce is still accepted, because requests overlap.
  private var nonces: [String] = []

  static let seenLimit = 10_000

  /// Records that a proof was used.
  /// - Returns: false if the proof was used before.
  mutating func use(_ id: String) -> Bool {
    if seen.count >= Self.seenLimit { seen = [] }
    return seen.insert(id).inserted
  }

  mutating func newNonce() -> String {
    nonces = nonces.suffix(1) + [Encoding.randomToken()]
    return nonces.last ?? ""
  }

  func isCurrent(_ nonce: String?) -> Bool { nonce.map { nonces.contains($0) } ?? false }
}

extension Provider {
  /// The request's DPoP proof; nil if the request has no proof.
  func proof(of http: SandboxRequest, at endpoint: Endpoint) throws(OAuthRefusal) -> KeyProof? {
    guard options.dpop != .off, let text = http.headers["dpop"] else {
      if options.dpop == .required { throw KeyProof.refusal("the header DPoP is missing") }
      return nil
    }
    let proof = try KeyProof(text, method: http.method, url: issuer + endpoint.path, now: now)
    guard !options.demandsNonces || proofs.isCurrent(proof.nonce) else {
      throw OAuthRefusal("use_dpop_nonce", "a proof needs the nonce of the last answer")
    }
    guard proofs.use(proof.id) else { throw KeyProof.refusal("the proof was used before") }
    return proof
  }

  /// Adds a new nonce to every answer if proofs need a nonce (§8.2).
  func addNonce(to answer: inout SandboxAnswer) {
    if options.demandsNonces, options.dpop != .off { answer.setHeader("DPoP-Nonce", proofs.newNonce()) }
  }
}
