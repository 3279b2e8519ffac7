// The server's half of DPoP (RFC 9449 §4.3), as far as a fake provider needs it.

import EnrollCore
import EnrollCrypto
import EnrollJSON

/// A proof that was looked at.
struct CheckedProof {
  /// RFC 7638.
  var thumbprint: String
  var nonce: String?
  var identifier: String

  /// nil unless it is a proof for this request: its method, its URL, its token, made within 60 seconds of `now` and
  /// signed by its own key.
  init?(of request: HTTPRequest, now: UnixTime) {
    let proofs = request.headers.filter { $0.name == "DPoP" }
    let parts = (proofs.first?.value ?? "").split(separator: ".", omittingEmptySubsequences: false)
    guard proofs.count == 1, parts.count == 3, let header = Self.json(parts[0]),
      let claims = Self.json(parts[1]), let signature = Base64URL.decode(String(parts[2])),
      header["typ"]?.string == "dpop+jwt", header["alg"]?.string == "ES256", let jwk = header["jwk"],
      jwk["kty"]?.string == "EC", jwk["crv"]?.string == "P-256", jwk["d"] == nil,
      let x = jwk["x"]?.string, let y = jwk["y"]?.string,
      let key = try? PublicKey.ec(
        curve: .p256, x: Base64URL.decode(x) ?? [], y: Base64URL.decode(y) ?? []),
      (try? key.verify(
        signature: signature, message: Array("\(parts[0]).\(parts[1])".utf8), algorithm: .ES256)) == true,
      claims["htm"]?.string == request.method.rawValue,
      claims["htu"]?.string == String(request.url.prefix { $0 != "?" && $0 != "#" }),
      let issued = claims["iat"]?.integer, abs(issued - now.seconds) <= 60,
      let identifier = claims["jti"]?.string, identifier.utf8.count >= 16,
      Self.covers(claims["ath"]?.string, request)
    else { return nil }
    let text = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
    guard let hash = try? Digest.sha256.hash(Array(text.utf8)) else { return nil }
    thumbprint = Base64URL.encode(hash)
    nonce = claims["nonce"]?.string
    self.identifier = identifier
  }

  /// `ath` is there exactly when a token is, and is its hash.
  private static func covers(_ hash: String?, _ request: HTTPRequest) -> Bool {
    guard let header = request.headers.first(where: { $0.name == "Authorization" }) else {
      return hash == nil
    }
    guard header.value.hasPrefix("DPoP "),
      let expected = try? Digest.sha256.hash(Array(header.value.dropFirst(5).utf8))
    else { return false }
    return hash == Base64URL.encode(expected)
  }

  private static func json(_ part: Substring) -> JSON? {
    Base64URL.decode(String(part)).flatMap { try? JSON.parse($0) }
  }
}
