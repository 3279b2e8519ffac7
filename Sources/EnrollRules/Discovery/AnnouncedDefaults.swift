// Scopes and algorithms that the provider announces. A request uses them if the configuration does not set
// them.

public import EnrollCrypto

extension Configuration {
  /// The scopes of a request for which the host names no scopes. A configured list is used unchanged. The default list
  /// omits `offline_access` if the provider lists its scopes (RFC 8414 §2) without it, because some of these providers
  /// refuse the scope, and issue refresh tokens without it. For a server without OpenID Connect, the default list also
  /// omits `openid` and `profile`, and keeps `offline_access` only if the server lists it.
  /// - Parameter metadata: nil if no metadata of the provider is known.
  public func scopes(at metadata: ProviderMetadata?) -> [String] {
    guard hasDefaultScopes, let metadata else { return scopes }
    let isOpenID = metadata.hasOpenIDConnect
    var left = isOpenID ? [] : ["openid", "profile"]
    if !Scopes.contains("offline_access", in: metadata.scopes ?? (isOpenID ? scopes : [])) {
      left.append("offline_access")
    }
    return scopes.filter { !Scopes.contains($0, in: left) }
  }

  /// The algorithms with which id_tokens may be signed: the configured algorithms, else the announced ones.
  /// - Parameter metadata: nil if no metadata of the provider is known.
  public func idTokenAlgorithms(at metadata: ProviderMetadata?) -> [SignatureAlgorithm] {
    if let idTokenAlgorithms { return idTokenAlgorithms }
    guard let announced = metadata?.idTokenAlgorithms else { return SignatureAlgorithm.allCases }
    return SignatureAlgorithm.allCases.filter { known in
      announced.contains { SignatureAlgorithm(name: $0)?.isSame(as: known) ?? false }
    }
  }
}
