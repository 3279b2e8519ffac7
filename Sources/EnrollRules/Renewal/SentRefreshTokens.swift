// The refresh tokens that were sent: a response that contains one of them is a replay of an earlier response.

/// The refresh tokens of an account that were sent last, as hashes.
public struct SentRefreshTokens: Equatable, Sendable {
  /// The maximum number of hashes. If a cache replays a response that is older than these tokens, only the response's
  /// headers show that.
  static let limit = 8

  /// SHA-256 of each token, base64url. The last hash belongs to the token that was sent last.
  public private(set) var hashes: [String]

  public init(_ hashes: [String] = []) { self.hashes = hashes }

  package mutating func add(_ hash: String) {
    hashes.removeAll { ASCII.equals($0, hash) }
    hashes.append(hash)
    if hashes.count > Self.limit { hashes.removeFirst() }
  }

  /// Whether this token was sent, and a newer token was sent later.
  package func isSpent(_ hash: String) -> Bool { hashes.dropLast().contains { ASCII.equals($0, hash) } }
}
