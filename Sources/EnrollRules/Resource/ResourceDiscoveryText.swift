// The result of a resource's discovery, as text. A host passes the text to the registration, so that the registration
// does not repeat the requests of the discovery.

import EnrollJSON

extension ResourceDiscovery {
  /// The whole discovery, for ``init(text:allowsLoopbackHTTP:)``.
  public var text: String {
    let json = JSON.object([
      ("url", .string(url)), ("resource", .string(resource)),
      ("metadataUri", metadataURI.map { .string($0) }), ("name", name.map { .string($0) }),
      ("authorizationServers", .strings(authorizationServers)), ("scopes", scopes.map { .strings($0) }),
      ("requiresDPoP", .bool(requiresDPoP)), ("issuer", .string(issuer)),
      (
        "document",
        server.document.map {
          .object([
            ("url", .string($0.url)), ("body", .string(String(decoding: $0.body, as: UTF8.self))),
            ("freshSeconds", .integer($0.freshSeconds)),
          ])
        }
      ),
    ])
    return String(decoding: json.serialized(), as: UTF8.self)
  }

  /// Reads the text of a discovery.
  /// - Throws: `.invalidArgument` if the argument is not the ``text`` of a discovery; the errors of the discovery if
  ///   the metadata of the server is not acceptable.
  public init(text: String, allowsLoopbackHTTP: Bool) throws(EnrollError) {
    guard let json = try? JSON.parse(Array(text.utf8)), let url = json["url"]?.string,
      let resource = json["resource"]?.string, let issuer = json["issuer"]?.string,
      let servers = json["authorizationServers"]?.array?.compactMap({ $0.string }),
      let requiresDPoP = json["requiresDPoP"]?.bool
    else {
      throw EnrollError(
        .invalidArgument, "discovery: expected the text that resource.discover gave", field: "discovery")
    }
    let asked = try ResourceIdentifier(url, allowsLoopbackHTTP: allowsLoopbackHTTP)
    _ = try ResourceIdentifier(resource, allowsLoopbackHTTP: allowsLoopbackHTTP)
    let server: AuthorizationServer
    if let document = json["document"], let place = document["url"]?.string {
      server = try AuthorizationServer(
        PublishedDocument(
          url: place, body: Array((document["body"]?.string ?? "").utf8),
          freshSeconds: document["freshSeconds"]?.integer ?? 0),
        of: Issuer(issuer), isOwnSpelling: false, allowsLoopbackHTTP: allowsLoopbackHTTP)
    } else {
      server = try AuthorizationServer(withoutMetadataAt: asked, allowsLoopbackHTTP: allowsLoopbackHTTP)
    }
    self.init(
      url: url, resource: resource, metadataURI: json["metadataUri"]?.string, name: json["name"]?.string,
      authorizationServers: servers, scopes: json["scopes"]?.array?.compactMap { $0.string },
      requiresDPoP: requiresDPoP,
      server: server)
  }
}
