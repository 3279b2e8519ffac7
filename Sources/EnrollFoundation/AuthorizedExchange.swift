// The rules of a request that carries a token (RFC 6750 §3.1, RFC 9449 §9): which servers get the token, and when a request
// that a server refused with 401 is sent once more. Pure: no request is sent here. A token goes to https and to a loopback
// address alone, and stays at the origin of the first URL.

import EnrollKit
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The reason to send a request again after a 401.
enum ExchangeStep: Equatable {
  /// A proof for the URL to which the server redirected.
  case proof
  /// A proof with the nonce that the server requires.
  case nonce(String)
  /// Another token.
  case renewal
}

/// Scheme, host and port of a URL that may get a token (RFC 6454 §4).
struct TokenOrigin: Equatable {
  let scheme: String
  let host: String
  let port: Int

  /// - Throws: `.invalidArgument` for a URL that is neither https nor http to a loopback address.
  init(_ url: URL?) throws(EnrollError) {
    scheme = url?.scheme?.lowercased() ?? ""
    host = url?.host?.lowercased() ?? ""
    guard !host.isEmpty, scheme == "https" || (scheme == "http" && Self.isLoopback(host)) else {
      throw EnrollError(
        .invalidArgument,
        "url: expected https, or http to a loopback address, got \(scheme)://\(host); a token is not sent there",
        field: "url")
    }
    port = url?.port ?? (scheme == "https" ? 443 : 80)
  }

  private static func isLoopback(_ host: String) -> Bool {
    if ["localhost", "::1", "[::1]"].contains(host) { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}

/// One request from its first sending to its last answer: each step happens once, and at the first origin alone.
struct AuthorizedExchange {
  private let origin: TokenOrigin
  /// The token that the next request carries.
  var token: AccessToken
  private var proved: URL?
  private var hasNonce = false
  private var hasRenewed = false

  init(_ url: URL?, token: AccessToken) throws(EnrollError) {
    origin = try TokenOrigin(url)
    self.token = token
  }

  var needsProof: Bool { token.tokenType.lowercased() == "dpop" }

  /// Whether the URL belongs to the origin that gets the token.
  func isAt(_ url: URL?) -> Bool { (try? TokenOrigin(url)) == origin }

  /// The next proof is about this URL.
  mutating func proves(_ url: URL?) { proved = url }

  /// The step after an answer; nil: the answer is the caller's.
  mutating func step(after answer: HTTPURLResponse, hasLeft: Bool) -> ExchangeStep? {
    guard answer.statusCode == 401, !hasLeft, isAt(answer.url) else { return nil }
    if needsProof {
      if proved != answer.url { return .proof }
      let challenge = answer.value(forHTTPHeaderField: "WWW-Authenticate") ?? ""
      if !hasNonce, challenge.contains("use_dpop_nonce"),
        let nonce = answer.value(forHTTPHeaderField: "DPoP-Nonce")
      {
        hasNonce = true
        return .nonce(nonce)
      }
    }
    if hasRenewed { return nil }
    hasRenewed = true
    return .renewal
  }
}
