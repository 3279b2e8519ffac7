// The nonces that servers require in proofs (RFC 9449 §8, §9): the last nonce of each origin. The provider's nonces are
// stored in the account's record, because a server that refuses a request without a nonce may still spend the request's
// refresh token.

/// The last nonce of each server.
public struct DPoPNonces: Equatable, Sendable {
  /// The last nonce of one server.
  public struct Entry: Equatable, Sendable {
    /// Scheme, host and port.
    public var origin: String
    /// The last nonce of the server.
    public var nonce: String
    /// When the nonce was received, by this machine's clock.
    public var learned: UnixTime

    public init(origin: String, nonce: String, learned: UnixTime) {
      self.origin = origin
      self.nonce = nonce
      self.learned = learned
    }
  }

  /// The maximum number of origins in memory; a new origin replaces the origin whose last nonce is the oldest.
  static let limit = 16
  package static let maximumBytes = 1024
  static let headerName = "DPoP-Nonce"

  /// The maximum number of origins in an account's record: the provider's endpoints have one or two.
  static let keptLimit = 4

  /// The nonces of the servers, the newest last.
  public private(set) var entries: [Entry] = []

  public init(_ entries: [Entry] = []) { self.entries = entries }

  package subscript(origin: String) -> Entry? { entries.first { ASCII.equals($0.origin, origin) } }

  package mutating func remember(_ entry: Entry, atMost limit: Int = Self.limit) {
    entries.removeAll { ASCII.equals($0.origin, entry.origin) }
    if entries.count >= limit { entries.removeFirst() }
    entries.append(entry)
  }

  /// Adds the entries of another list that are newer than the entries here.
  package mutating func keep(_ others: DPoPNonces) {
    for entry in others.entries {
      if let known = self[entry.origin], known == entry || known.learned > entry.learned { continue }
      remember(entry, atMost: Self.keptLimit)
    }
  }

  /// Whether the nonce has the form `1*NQCHAR` (RFC 9449 §8.1).
  package static func isAcceptable(_ nonce: String) -> Bool {
    (1...maximumBytes).contains(nonce.utf8.count)
      && nonce.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
  }

  /// The nonce in a response, whatever its status.
  package static func nonce(in response: HTTPResponse) -> String? {
    response.header(headerName).flatMap { isAcceptable($0) ? $0 : nil }
  }

  /// Whether a proof was refused because it needs a nonce: an authorization server says so in the response's body (§8),
  /// a resource server in a header (§9).
  package static func isDemanded(by response: HTTPResponse) -> Bool {
    guard response.status == 400 || response.status == 401 else { return false }
    if let code = TokenEndpointError.oauthError(in: response),
      ASCII.equals(code, TokenEndpointError.useDPoPNonce)
    {
      return true
    }
    return response.headers.contains {
      ASCII.equalsIgnoringCase($0.name, "WWW-Authenticate")
        && contains($0.value.utf8, TokenEndpointError.useDPoPNonce.utf8)
    }
  }

  private static func contains(_ text: String.UTF8View, _ word: String.UTF8View) -> Bool {
    var rest = text[...]
    while rest.count >= word.count {
      if rest.starts(with: word) { return true }
      rest = rest.dropFirst()
    }
    return false
  }
}

extension HTTPResponse {
  /// Whether the server refuses the DPoP proof (RFC 9449 §5).
  package var refusesProof: Bool {
    guard status == 400 || status == 401, let code = TokenEndpointError.oauthError(in: self) else {
      return false
    }
    return ASCII.equals(code, "invalid_dpop_proof")
  }
}
