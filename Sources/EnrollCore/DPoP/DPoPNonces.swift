// The nonces that servers want to see in proofs (RFC 9449 §8, §9): the last one of each origin. Those of the provider are kept in
// the account's record: a request without a nonce may spend its refresh token before it is refused.

/// The last nonce that each server gave.
public struct DPoPNonces: Equatable, Sendable {
  /// The last nonce of one server.
  public struct Entry: Equatable, Sendable {
    /// Scheme, host and port.
    public var origin: String
    /// The last one that the server gave.
    public var nonce: String
    /// When, by this machine's clock.
    public var learned: UnixTime

    public init(origin: String, nonce: String, learned: UnixTime) {
      self.origin = origin
      self.nonce = nonce
      self.learned = learned
    }
  }

  /// Origins that are remembered; the one that was longest silent gives way.
  static let limit = 16
  static let maximumBytes = 1024
  static let headerName = "DPoP-Nonce"

  /// Origins that an account's record keeps: the provider's endpoints are at one or two.
  static let keptLimit = 4

  /// The one that was heard last is last.
  public private(set) var entries: [Entry] = []

  public init(_ entries: [Entry] = []) { self.entries = entries }

  subscript(origin: String) -> Entry? { entries.first { ASCII.equals($0.origin, origin) } }

  mutating func remember(_ entry: Entry, atMost limit: Int = Self.limit) {
    entries.removeAll { ASCII.equals($0.origin, entry.origin) }
    if entries.count >= limit { entries.removeFirst() }
    entries.append(entry)
  }

  /// Takes over those of another list that were heard later.
  mutating func keep(_ others: DPoPNonces) {
    for entry in others.entries {
      if let known = self[entry.origin], known == entry || known.learned > entry.learned { continue }
      remember(entry, atMost: Self.keptLimit)
    }
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
