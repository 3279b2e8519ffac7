// The metadata of an authorization server that a resource named (RFC 8414 §3, OpenID Connect Discovery §4), and the
// ways for an app to become its client. The rules for every provider's metadata apply (ProviderMetadata): issuer (R18),
// https (R19), PKCE (R13).

package import EnrollJSON

/// An authorization server that is in no configuration, and the ways for an app to become its client.
package struct AuthorizationServer: Equatable, Sendable {
  package var metadata: ProviderMetadata
  /// The published metadata; nil for a server without metadata. The endpoints of such a server have the paths of the
  /// Model Context Protocol of 2025-03-26.
  package var document: PublishedDocument?
  /// The URL of the metadata; nil if a client can derive it from the issuer.
  var discoveryURI: String?
  /// `registration_endpoint` (RFC 7591 §3).
  package var registrationEndpoint: String?
  /// `client_id_metadata_document_supported`: whether the server accepts the URL of a client id metadata document as a
  /// client id.
  var takesClientMetadataDocuments: Bool
  /// `token_endpoint_auth_methods_supported`; the default of RFC 8414 §2 if the member is missing.
  package var authenticationMethods: [String]

  static let oauthName = "oauth-authorization-server"
  static let openIDName = "openid-configuration"
  /// Scopes of the server, which belong to no resource. They are requested if the server lists them.
  package static let ownScopes = ["openid", "offline_access"]

  /// The possible URLs of the metadata, in the order of the requests: RFC 8414 §3.1, then both forms of OpenID Connect
  /// (RFC 8414 §5).
  package static func locations(of issuer: Issuer) -> [String] {
    guard let url = try? StrictURL(issuer.text) else { return [] }
    let locations = [
      WellKnown.inserting(oauthName, into: url, withoutLastSlash: true),
      WellKnown.inserting(openIDName, into: url, withoutLastSlash: true),
      issuer.url(ofPath: ProviderMetadata.wellKnownPath),
    ]
    return ASCII.equals(locations[1], locations[2]) ? Array(locations[..<2]) : locations
  }

  /// Checks the published metadata of a server.
  /// - Parameters:
  ///   - named: the issuer, in the spelling of the host or resource that named the server.
  ///   - isOwnSpelling: whether the server's spelling is used if the two spellings differ only by the slash of an
  ///     empty path. A resource names its server by URL, and some resources write the slash (R18).
  /// - Throws: as `ProviderMetadata`; `.configuration` for a server that apps cannot use.
  package init(
    _ published: PublishedDocument, of named: Issuer, isOwnSpelling: Bool, allowsLoopbackHTTP: Bool
  ) throws(EnrollError) {
    let document = try ResourceDocument(published.body, "the metadata of \(Shown.url(named.text))")
    var issuer = named
    if isOwnSpelling, let own = document["issuer"]?.string.map({ Issuer($0) }), own.isSameServer(as: named) {
      issuer = own
    }
    let probe = try Configuration(
      issuer: issuer.text, clientID: "-", redirectURI: "http://127.0.0.1/"
    ) {
      $0.scopes = []
      $0.allowsLoopbackHTTP = allowsLoopbackHTTP
    }
    metadata = try ProviderMetadata(
      processing: HTTPResponse(status: 200, body: published.body), from: published.url, configuration: probe)
    self.document = published
    // The sign-in must read the document that was checked here, not another document of the same issuer.
    let isFirst = ProviderMetadata.urls(of: probe).first.map { ASCII.equals($0, published.url) } ?? false
    discoveryURI = isFirst ? nil : published.url
    takesClientMetadataDocuments = try document.flag("client_id_metadata_document_supported")
    authenticationMethods =
      try document.texts("token_endpoint_auth_methods_supported") ?? [ClientSecretMethod.basic.rawValue]
    guard let endpoint = document["registration_endpoint"] else { return }
    guard let text = endpoint.string else {
      throw document.wrong("registration_endpoint", "expected a string")
    }
    if let fault = ConfiguredURL.endpoint(text, allowsLoopbackHTTP: allowsLoopbackHTTP) {
      throw document.wrong("registration_endpoint", fault.text(.documented))
    }
    registrationEndpoint = text
  }

  /// A server without metadata, at the origin of the resource: its endpoints have fixed paths (Model Context Protocol
  /// 2025-03-26, Authorization §2.3.3).
  package init(withoutMetadataAt resource: ResourceIdentifier, allowsLoopbackHTTP: Bool) throws(EnrollError) {
    let host = resource.url.shownOrigin
    let configuration = try Configuration(
      issuer: host, clientID: "-", redirectURI: "http://127.0.0.1/"
    ) {
      $0.scopes = []
      $0.endpoints = Endpoints(authorization: host + "/authorize", token: host + "/token")
      $0.allowsLoopbackHTTP = allowsLoopbackHTTP
    }
    guard let metadata = ProviderMetadata(configured: configuration) else {
      throw EnrollError(.internal, "two endpoints are not enough to sign in")
    }
    self.metadata = metadata
    registrationEndpoint = host + "/register"
    takesClientMetadataDocuments = false
    authenticationMethods = [ClientRegistration.none]
  }

  /// The configuration keys that describe the server.
  package var keys: [(String, JSON?)] {
    [
      ("issuer", .string(metadata.issuer.text)), ("discoveryUri", discoveryURI.map { .string($0) }),
      (
        "endpoints",
        document == nil
          ? .object([
            ("authorizationEndpoint", .string(metadata.authorizationEndpoint)),
            ("tokenEndpoint", .string(metadata.tokenEndpoint)),
          ]) : nil
      ),
    ]
  }
}

extension Issuer {
  /// Whether both issuers are the same URL; an empty path equals the path `/` (RFC 3986 §6.2.3). Nothing else is
  /// normalized.
  package func isSameServer(as other: Issuer) -> Bool {
    if self == other { return true }
    func withSlash(_ issuer: Issuer) -> String? {
      guard let url = try? StrictURL(issuer.text), url.query == nil, !url.hadFragment else { return nil }
      return url.path.isEmpty ? issuer.text + "/" : issuer.text
    }
    guard let own = withSlash(self), let others = withSlash(other) else { return false }
    return ASCII.equals(own, others)
  }
}
