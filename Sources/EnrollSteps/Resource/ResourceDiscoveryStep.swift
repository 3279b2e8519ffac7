// Finds the server that issues tokens for a resource (RFC 9728, RFC 8414). All requests are for public documents. The
// requests contain no token, no client id and nothing about the user or the device, and no client is registered: the
// host first shows the server to the user.

public import EnrollRules

/// Finds resources and their servers.
public struct ResourceDirectory: Sendable {
  let transport: any Transport
  let allowsLoopbackHTTP: Bool

  /// - Parameter userAgent: the library's name and version, which requests send to servers.
  public init(
    transport: any Transport, userAgent: String = "EnrollKit", clock: any Clock, allowsLoopbackHTTP: Bool
  ) {
    self.transport = ReadingTransport(transport, clock, userAgent: userAgent)
    self.allowsLoopbackHTTP = allowsLoopbackHTTP
  }

  /// Finds the server of a resource.
  /// - Parameters:
  ///   - resource: an https URL without a fragment.
  ///   - issuer: one of the resource's servers; nil for the first server. If the resource has no metadata, this may be
  ///     any server.
  ///   - challenge: the value of `WWW-Authenticate` of the resource's 401 or 403, if the host has this header.
  /// - Throws: `.invalidArgument`; `.unsupported` for a resource that names no server, or for a server without S256;
  ///   `.responseInvalid` for metadata of another resource, and for metadata that violates the specifications;
  ///   `.issuerMismatch` for a server whose metadata has another issuer, and for an `issuer` that the resource does
  ///   not name; the errors of the transport.
  public func discover(
    _ resource: String, issuer: String? = nil, challenge: String? = nil,
    cancellation: (any Cancellation)? = nil
  ) throws(EnrollError) -> ResourceDiscovery {
    let resource = try ResourceIdentifier(resource, allowsLoopbackHTTP: allowsLoopbackHTTP)
    let met = try challenge.map { header throws(EnrollError) in try ResourceChallenge(header: header) }
    var search = ResourceSearch(resource, challenge: met, allowsLoopbackHTTP: allowsLoopbackHTTP)
    var documents = PublicDocuments(transport, cancellation)
    guard let (metadata, location) = try search.metadata(&documents) else {
      let server = try undescribed(resource, issuer, search, &documents)
      return ResourceDiscovery(
        url: resource.text, resource: resource.text, metadataURI: nil, name: nil,
        authorizationServers: [server.metadata.issuer.text], scopes: search.challenge?.scopes,
        requiresDPoP: search.challenge?.requiresDPoP ?? false, server: server)
    }
    let chosen = try choose(issuer, among: metadata.servers)
    guard let server = try server(chosen, isNamedByResource: true, &documents) else {
      throw withoutMetadata(chosen, documents)
    }
    return ResourceDiscovery(
      url: resource.text, resource: metadata.resource, metadataURI: location, name: metadata.name,
      authorizationServers: metadata.servers.map { $0.text },
      scopes: search.challenge?.scopes ?? metadata.scopes,
      requiresDPoP: metadata.requiresDPoP || search.challenge?.requiresDPoP ?? false, server: server)
  }

  /// Returns the server to use. A server that the resource does not list is refused (R42).
  private func choose(_ issuer: String?, among servers: [Issuer]) throws(EnrollError) -> Issuer {
    guard let issuer else { return servers[0] }
    guard let server = servers.first(where: { $0.isSameServer(as: Issuer(issuer)) }) else {
      throw Self.unnamed(issuer, servers.map { $0.text })
    }
    return server
  }

  static func unnamed(_ issuer: String, _ servers: [String]) -> EnrollError {
    let names = servers.reduce("") { $0 + ($0.utf8.isEmpty ? "" : ", ") + Shown.url($1) }
    return EnrollError(
      .issuerMismatch,
      "the resource names the authorization servers \(names), and \(Shown.url(issuer)) is not among them. "
        + "Discover the resource again and show the user the new server",
      field: "issuer")
  }

  /// The server of a resource without metadata: the issuer that the host passed; otherwise the server at the
  /// resource's own host, if the resource requires a token (Model Context Protocol 2025-03-26).
  private func undescribed(
    _ resource: ResourceIdentifier, _ issuer: String?, _ search: ResourceSearch,
    _ documents: inout PublicDocuments
  ) throws(EnrollError) -> AuthorizationServer {
    let host = Issuer(resource.url.shownOrigin)
    if let issuer, !Issuer(issuer).isSameServer(as: host) {
      guard let server = try server(Issuer(issuer), isNamedByResource: false, &documents) else {
        throw withoutMetadata(Issuer(issuer), documents)
      }
      return server
    }
    guard issuer != nil || search.wantsToken else {
      throw EnrollError(
        .unsupported,
        "the resource has no metadata (RFC 9728): \(documents.found). Check the resource, or name its authorization server",
        field: "resource")
    }
    if let server = try server(host, isNamedByResource: true, &documents) { return server }
    guard search.wantsToken else { throw withoutMetadata(host, documents) }
    return try AuthorizationServer(withoutMetadataAt: resource, allowsLoopbackHTTP: allowsLoopbackHTTP)
  }

  /// The metadata of a server.
  /// - Returns: nil for a server without metadata.
  private func server(
    _ issuer: Issuer, isNamedByResource: Bool, _ documents: inout PublicDocuments
  ) throws(EnrollError) -> AuthorizationServer? {
    for location in AuthorizationServer.locations(of: issuer) {
      guard let document = try documents.document(at: location) else { continue }
      return try AuthorizationServer(
        document, of: issuer, isOwnSpelling: isNamedByResource, allowsLoopbackHTTP: allowsLoopbackHTTP)
    }
    return nil
  }

  private func withoutMetadata(_ issuer: Issuer, _ documents: PublicDocuments) -> EnrollError {
    EnrollError(
      .unsupported, "the authorization server \(Shown.url(issuer.text)) has no metadata: \(documents.found)",
      field: "issuer")
  }
}
