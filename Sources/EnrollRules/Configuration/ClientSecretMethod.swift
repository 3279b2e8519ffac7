// How a client secret is sent (RFC 6749 §2.3.1).

/// How a client secret is sent, named as in RFC 8414 §2.
public enum ClientSecretMethod: String, Sendable, CaseIterable {
  /// In the header `Authorization` (RFC 6749 §2.3.1).
  case basic = "client_secret_basic"
  /// In the body (RFC 6749 §2.3.1).
  case post = "client_secret_post"

  var other: ClientSecretMethod { self == .basic ? .post : .basic }

  /// The methods for one endpoint, in the order in which they are tried. Metadata is often wrong about the
  /// methods. A client is often registered for only one method, and the metadata does not say which one.
  /// - Parameters:
  ///   - configured: the method in the configuration.
  ///   - worked: the method that this provider accepted before.
  ///   - announced: the methods that the metadata lists for the token endpoint. If it lists neither method,
  ///     the body is tried first, because every provider without metadata accepts it.
  ///   - announcedHere: the methods that the metadata lists for this endpoint; empty if it lists no methods.
  package static func order(
    configured: ClientSecretMethod?, worked: ClientSecretMethod?, announced: [ClientSecretMethod],
    announcedHere: [ClientSecretMethod] = []
  ) -> [ClientSecretMethod] {
    let announcedFirst = allCases.first { announced.contains($0) } ?? .post
    let usual = configured ?? worked ?? announcedFirst
    if let here = announcedHere.first, !announcedHere.contains(usual) { return [here, usual] }
    return configured != nil ? [usual] : [usual, usual.other]
  }
}
