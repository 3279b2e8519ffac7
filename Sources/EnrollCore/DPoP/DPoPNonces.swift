// The nonces that servers want to see in proofs (RFC 9449 §8, §9): the last one of each origin, kept in memory, since a
// server gives another whenever it likes.

struct DPoPNonces: Sendable {
  /// Origins that are remembered; the one that was longest silent gives way.
  static let limit = 16
  static let maximumBytes = 1024
  static let headerName = "DPoP-Nonce"

  private var known: [(origin: String, nonce: String)] = []

  subscript(origin: String) -> String? { known.first { ASCII.equals($0.origin, origin) }?.nonce }

  mutating func remember(_ nonce: String, of origin: String) {
    known.removeAll { ASCII.equals($0.origin, origin) }
    if known.count >= Self.limit { known.removeFirst() }
    known.append((origin, nonce))
  }

  /// `1*NQCHAR` of §8.1.
  static func isAcceptable(_ nonce: String) -> Bool {
    (1...maximumBytes).contains(nonce.utf8.count)
      && nonce.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
  }

  /// The nonce that a response brings, whatever its status.
  static func nonce(in response: HTTPResponse) -> String? {
    response.header(headerName).flatMap { isAcceptable($0) ? $0 : nil }
  }

  /// A proof was refused for want of a nonce: by an authorization server in its body (§8), by a resource server in a
  /// header (§9).
  static func isDemanded(by response: HTTPResponse) -> Bool {
    guard response.status == 400 || response.status == 401 else { return false }
    if let code = TokenEndpointError.oauthError(in: response), ASCII.equals(code, errorCode) {
      return true
    }
    return response.headers.contains {
      ASCII.equalsIgnoringCase($0.name, "WWW-Authenticate") && contains($0.value.utf8, errorCode.utf8)
    }
  }

  static let errorCode = "use_dpop_nonce"

  private static func contains(_ text: String.UTF8View, _ word: String.UTF8View) -> Bool {
    var rest = text[...]
    while rest.count >= word.count {
      if rest.starts(with: word) { return true }
      rest = rest.dropFirst()
    }
    return false
  }
}
