// The endpoints at which a client authenticates.

/// An endpoint whose authentication methods may be announced separately (RFC 8414 §2).
package enum ClientEndpoint: Sendable {
  /// The token endpoint, and endpoints that follow its rules (RFC 9126 §2, RFC 8628 §3.1).
  case token
  case revocation
  case introspection

  package func announced(by metadata: ProviderMetadata?) -> [ClientSecretMethod] {
    switch self {
    case .token: []
    case .revocation: metadata?.revocationSecretMethods ?? []
    case .introspection: metadata?.introspectionSecretMethods ?? []
    }
  }
}
