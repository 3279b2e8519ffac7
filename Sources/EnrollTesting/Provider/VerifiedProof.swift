// The server's part of DPoP (RFC 9449 §4.3), as far as a fake provider needs it.

import EnrollRules
import EnrollCrypto
import EnrollJSON

/// A verified DPoP proof.
struct VerifiedProof {
  /// The thumbprint of the key (RFC 7638).
  var thumbprint: String
  var nonce: String?
  var identifier: String

  /// Reads the proof of a request. nil unless the proof is for this request: its method, its URL and its token match,
  /// it was made within 60 seconds of `now`, and its own key signed it.
  init?(of request: HTTPRequest, now: UnixTime) {
    let proofs = request.headers.filter { $0.name == "DPoP" }
    guard proofs.count == 1, let jwt = ReceivedJWT(proofs[0].value), jwt.header["typ"]?.string == "dpop+jwt",
      let jwk = jwt.header["jwk"], jwk["kty"]?.string == "EC", jwk["crv"]?.string == "P-256", jwk["d"] == nil,
      let x = jwk["x"]?.string, let y = jwk["y"]?.string,
      let key = try? PublicKey.ec(
        curve: .p256, x: Base64URL.decode(x) ?? [], y: Base64URL.decode(y) ?? []),
      jwt.isSigned(by: key, .ES256),
      jwt.claims["htm"]?.string == request.method.rawValue,
      jwt.claims["htu"]?.string == String(request.url.prefix { $0 != "?" && $0 != "#" }),
      let issued = jwt.claims["iat"]?.integer, abs(issued - now.seconds) <= 60,
      let identifier = jwt.claims["jti"]?.string, identifier.utf8.count >= 16,
      Self.covers(jwt.claims["ath"]?.string, request)
    else { return nil }
    let text = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
    guard let hash = try? Digest.sha256.hash(Array(text.utf8)) else { return nil }
    thumbprint = Base64URL.encode(hash)
    nonce = jwt.claims["nonce"]?.string
    self.identifier = identifier
  }

  /// Whether `ath` is the hash of the request's token, or absent if there is no token.
  private static func covers(_ hash: String?, _ request: HTTPRequest) -> Bool {
    guard let header = request.headers.first(where: { $0.name == "Authorization" }) else {
      return hash == nil
    }
    guard header.value.hasPrefix("DPoP "),
      let expected = try? Digest.sha256.hash(Array(header.value.dropFirst(5).utf8))
    else { return false }
    return hash == Base64URL.encode(expected)
  }
}
