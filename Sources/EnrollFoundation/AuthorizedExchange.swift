// The rules for a request that carries a token (RFC 6750 §3.1, RFC 9449 §9): which servers get the token, and when a
// request that a server refused with 401 is sent once more. This file sends no request. A token is only sent to https
// and to loopback addresses, and only to the origin of the first URL.

import EnrollKit
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The reason to send a request again after a 401.
enum ExchangeStep: Equatable {
  /// The new request needs its own proof, because a redirect leads to another URL.
  case proof
  /// The server requires a proof with this nonce.
  case nonce(String)
  /// The server refused the token, so the request needs another token.
  case renewal
}

/// Scheme, host and port of a URL to which a token may be sent (RFC 6454 §4).
struct TokenOrigin: Equatable {
  let scheme: String
  let host: String
  let port: Int

  /// The origin of a URL to which a token may be sent.
  /// - Throws: `.invalidArgument` for a URL that is neither https nor http to a loopback address, has a user name or
  ///   password, or has a host that Foundation and libcurl may read in different ways. The error shows no part of the
  ///   URL except the host.
  init(_ url: URL?) throws(EnrollError) {
    scheme = url?.scheme?.lowercased() ?? ""
    host = url?.host(percentEncoded: true)?.lowercased() ?? ""
    guard !host.isEmpty, host.utf8.allSatisfy(Self.isHostByte) else {
      throw Self.refusal("expected an absolute URL with a host of ASCII letters and digits, got another")
    }
    guard scheme == "https" || (scheme == "http" && Self.isLoopback(host)) else {
      let got = scheme == "http" ? "http to \(host)" : "another scheme"
      throw Self.refusal("expected https, or http to a loopback address, got \(got)")
    }
    guard url?.user == nil, url?.password == nil else {
      throw Self.refusal("expected a URL without user name and password, got one with them")
    }
    port = url?.port ?? (scheme == "https" ? 443 : 80)
  }

  /// Refuses a proxy from the environment: libcurl, which URLSession uses outside Apple's systems, sends http to a
  /// loopback address through such a proxy.
  /// - Throws: `.invalidArgument` if a proxy would see the token.
  func refuseProxy(in environment: [String: String]) throws(EnrollError) {
    let proxies = ["http_proxy", "all_proxy", "ALL_PROXY"].compactMap { environment[$0] }
    guard scheme == "http", proxies.contains(where: { !$0.isEmpty }) else { return }
    let exclusions = ["no_proxy", "NO_PROXY"].lazy.compactMap { environment[$0] }.first ?? ""
    let excluded = exclusions.split(whereSeparator: { $0 == "," || $0 == " " }).map { $0.lowercased() }
    guard !excluded.contains(host), !excluded.contains("*") else { return }
    throw Self.refusal(
      "expected no proxy before a loopback address, got one of the environment, which would see the token (add \(host) to NO_PROXY)"
    )
  }

  private static func refusal(_ text: String) -> EnrollError {
    EnrollError(.invalidArgument, "url: \(text); a token is not sent there", field: "url")
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: "-._:[]".utf8.contains(byte)
    }
  }

  private static func isLoopback(_ host: String) -> Bool {
    if ["localhost", "::1", "[::1]"].contains(host) { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}

/// One request from its first sending to its last answer. Each step except ``ExchangeStep/proof`` happens at most once.
/// Only an answer of the first origin causes a step.
struct AuthorizedExchange {
  /// The maximum number of proofs, because a server may redirect in a loop.
  static let maximumProofs = 20

  private let origin: TokenOrigin
  /// The token that the next request carries.
  var token: AccessToken
  private var proofs = 0
  private var hasNonce = false
  private var hasRenewed = false

  init(_ url: URL?, token: AccessToken) throws(EnrollError) {
    origin = try TokenOrigin(url)
    #if canImport(FoundationNetworking)
      try origin.refuseProxy(in: ProcessInfo.processInfo.environment)
    #endif
    self.token = token
  }

  var needsProof: Bool { token.tokenType.lowercased() == "dpop" }

  /// Whether the URL belongs to the origin that gets the token.
  func isAt(_ url: URL?) -> Bool { (try? TokenOrigin(url)) == origin }

  mutating func countProof() { proofs += 1 }

  /// The step after an answer; nil if the answer is final and goes to the caller.
  mutating func step(after answer: GuardedAnswer) -> ExchangeStep? {
    guard answer.response.statusCode == 401, !answer.hasLeftOrigin, isAt(answer.request.url) else {
      return nil
    }
    if needsProof {
      guard proofs < Self.maximumProofs else { return nil }
      if answer.request.value(forHTTPHeaderField: "DPoP") == nil { return .proof }
      let challenge = answer.response.value(forHTTPHeaderField: "WWW-Authenticate") ?? ""
      if !hasNonce, challenge.contains("use_dpop_nonce"),
        let nonce = answer.response.value(forHTTPHeaderField: "DPoP-Nonce")
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

extension URL {
  /// The URL as a proof contains it (`htu`, RFC 9449 §4.2): without query and fragment, with scheme and host in lower
  /// case.
  var proofTarget: String? {
    guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return nil }
    parts.query = nil
    parts.fragment = nil
    parts.scheme = parts.scheme?.lowercased()
    parts.encodedHost = parts.encodedHost?.lowercased()
    return parts.string
  }
}
