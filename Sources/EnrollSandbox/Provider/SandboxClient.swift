// The apps that are registered at the provider. They are public clients (RFC 8252 §8.4) unless they have a secret; PKCE is
// always required.

import Foundation

/// A registered app.
public struct SandboxClient: Sendable, Equatable {
  public var id: String
  /// The client's secret, accepted in the body or in the header (RFC 6749 §2.3.1); nil for a public client.
  public var secret: String?
  /// The client's name, as the provider's pages show it.
  public var name: String
  /// The registered redirect URIs. They are compared byte by byte, except that a loopback address matches with any
  /// port (RFC 8252 §7.3).
  public var redirectURIs: [String]
  /// The registered post-logout redirect URIs, which are compared like ``redirectURIs``.
  public var postLogoutRedirectURIs: [String]
  /// The URI to which the gateway returns if it does not know which authorization request to continue (flows.md §4).
  public var fallbackURI: String?
  /// The scopes that the client may request; nil if it may request any scope.
  public var scopes: [String]?

  public init(
    id: String, name: String, redirectURIs: [String], postLogoutRedirectURIs: [String],
    fallbackURI: String? = nil
  ) {
    self.fallbackURI = fallbackURI
    self.id = id
    self.name = name
    self.redirectURIs = redirectURIs
    self.postLogoutRedirectURIs = postLogoutRedirectURIs
  }

  public static let sample = SandboxClient(
    id: "sample-app", name: "Sample App",
    redirectURIs: [
      "http://127.0.0.1/callback", "http://[::1]/callback", "com.example.app:/callback",
      "com.example.app:/oauth2/callback",
    ],
    postLogoutRedirectURIs: [
      "http://127.0.0.1/signed-out", "http://[::1]/signed-out", "com.example.app:/signed-out",
      "com.example.app.oauth:/logout/callback",
    ], fallbackURI: "com.example.app://identity/fallback")

  func allows(redirectURI: String) -> Bool {
    redirectURIs.contains { Self.matches(registered: $0, requested: redirectURI) }
  }

  func allows(postLogoutRedirectURI: String) -> Bool {
    postLogoutRedirectURIs.contains { Self.matches(registered: $0, requested: postLogoutRedirectURI) }
  }

  /// Whether the two URIs are equal byte by byte, except for the port of a loopback IP literal.
  static func matches(registered: String, requested: String) -> Bool {
    if registered.utf8.elementsEqual(requested.utf8) { return true }
    for host in ["http://127.0.0.1", "http://[::1]"] {
      guard registered.hasPrefix(host), requested.hasPrefix(host) else { continue }
      guard let left = withoutPort(registered.dropFirst(host.count)),
        let right = withoutPort(requested.dropFirst(host.count))
      else { return false }
      return left.utf8.elementsEqual(right.utf8)
    }
    return false
  }

  /// `rest` without its port: `/path?query` for `:port/path?query`. nil if something other than a port or a path
  /// follows the host.
  private static func withoutPort(_ rest: Substring) -> Substring? {
    guard rest.hasPrefix(":") else { return rest.isEmpty || rest.hasPrefix("/") ? rest : nil }
    let digits = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
    guard let port = UInt16(digits), port > 0 else { return nil }
    let path = rest.dropFirst(1 + digits.count)
    return path.isEmpty || path.hasPrefix("/") ? path : nil
  }
}
