// From a resource to the server that gives tokens for it (RFC 9728, RFC 8414): requests for public documents and nothing else. No
// token, no client id and nothing about the user or the device is sent, nothing is registered: a host shows the server first.

import EnrollJSON

/// What a resource and its authorization server say.
public struct ResourceDiscovery: Equatable, Sendable {
  /// The resource, as it was asked for.
  public let resource: String
  /// Where the resource's metadata was found.
  public let metadataURI: String
  /// The resource's own name for itself; nothing proves it. nil where it says none.
  public let name: String?
  /// The issuers that the resource names.
  public let authorizationServers: [String]
  /// The chosen one, whose metadata was read.
  public let issuer: String
  /// The page that the user is sent to.
  public let authorizationEndpoint: String
  /// The scopes that the resource lists; nil where it lists none.
  public let scopes: [String]?
  /// Whether the server registers clients (RFC 7591).
  public let canRegister: Bool
  /// Whether the server accepts the URL of a client id metadata document as a client id.
  public let takesClientMetadataDocuments: Bool
  /// Whether the resource accepts only tokens that are bound to a key (RFC 9449).
  public let requiresDPoP: Bool
  let server: AuthorizationServer
}

/// Finds resources and their servers.
public struct ResourceDirectory: Sendable {
  let transport: any Transport
  let allowsLoopbackHTTP: Bool

  /// - Parameter userAgent: the library's name and version, for servers.
  public init(
    transport: any Transport, userAgent: String = "EnrollKit", clock: any Clock, allowsLoopbackHTTP: Bool
  ) {
    self.transport = ReadingTransport(transport, clock, userAgent: userAgent)
    self.allowsLoopbackHTTP = allowsLoopbackHTTP
  }

  /// - Parameters:
  ///   - resource: https, without a fragment.
  ///   - issuer: which of its servers; nil: the first one.
  /// - Throws: `.invalidArgument`; `.unsupported` for a resource without metadata, or a server without S256; `.responseInvalid` for
  ///   metadata of another resource, and for whatever is not as the specifications say; `.issuerMismatch` for a server that names
  ///   itself otherwise, and for an `issuer` that the resource does not name; what a transport throws.
  public func discover(
    _ resource: String, issuer: String? = nil, cancellation: (any Cancellation)? = nil
  ) throws(EnrollError) -> ResourceDiscovery {
    let resource = try ResourceIdentifier(resource, allowsLoopbackHTTP: allowsLoopbackHTTP)
    let (metadata, location) = try metadata(of: resource, cancellation)
    let chosen = try choose(issuer, among: metadata.servers)
    let server = try server(chosen, cancellation)
    return ResourceDiscovery(
      resource: resource.text, metadataURI: location, name: metadata.name,
      authorizationServers: metadata.servers.map { $0.text }, issuer: chosen.text,
      authorizationEndpoint: server.metadata.authorizationEndpoint, scopes: metadata.scopes,
      canRegister: server.registrationEndpoint != nil,
      takesClientMetadataDocuments: server.takesClientMetadataDocuments, requiresDPoP: metadata.requiresDPoP,
      server: server)
  }

  private func choose(_ issuer: String?, among servers: [Issuer]) throws(EnrollError) -> Issuer {
    guard let issuer else { return servers[0] }
    guard let server = servers.first(where: { ASCII.equals($0.text, issuer) }) else {
      var names = ""
      for server in servers { names += (names.utf8.isEmpty ? "" : ", ") + Shown.url(server.text) }
      throw EnrollError(
        .issuerMismatch,
        "the resource names the authorization servers \(names), and \(Shown.url(issuer)) is not among them. "
          + "Discover the resource again and show the user the new server",
        field: "issuer")
    }
    return server
  }

  // MARK: The resource

  /// RFC 9728 §3.1, then the host's metadata as a whole, then what the resource says to a request without a token (§5.1).
  private func metadata(
    of resource: ResourceIdentifier, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> (ProtectedResourceMetadata, location: String) {
    let name = ProtectedResourceMetadata.wellKnownName
    let own = WellKnown.inserting(name, into: resource.url)
    let origin = WellKnown.atOrigin(name, of: resource.url)
    var absences: [String] = []
    if let body = try document(at: own, absences: &absences, cancellation) {
      return (try read(body, resource, own), own)
    }
    var refusal: EnrollError?
    if !ASCII.equals(own, origin), let body = try document(at: origin, absences: &absences, cancellation) {
      do throws(EnrollError) {
        return (try read(body, resource, origin), origin)
      } catch {
        // One host may have several resources: this one may say where its own metadata is.
        refusal = error
      }
    }
    if let location = try hint(of: resource, absences: &absences, cancellation),
      let body = try document(at: location, absences: &absences, cancellation)
    {
      return (try read(body, resource, location), location)
    }
    if let refusal { throw refusal }
    var found = ""
    for absence in absences { found += (found.utf8.isEmpty ? "" : "; ") + absence }
    throw EnrollError(
      .unsupported,
      "the resource has no metadata (RFC 9728): \(found). Check the resource, or configure issuer and clientId",
      field: "resource")
  }

  private func read(
    _ body: [UInt8], _ resource: ResourceIdentifier, _ location: String
  ) throws(EnrollError) -> ProtectedResourceMetadata {
    try ProtectedResourceMetadata(body, of: resource, at: location, allowsLoopbackHTTP: allowsLoopbackHTTP)
  }

  /// Asks the resource without a token, and reads the address that a 401 names. Another origin than the resource's own is refused:
  /// it could be anybody's.
  private func hint(
    of resource: ResourceIdentifier, absences: inout [String], _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> String? {
    let response = try send(resource.text, cancellation)
    guard response.status == 401 else {
      absences.append("the resource itself answered \(response.status) to a request without a token, not 401")
      return nil
    }
    var named: String?
    for challenge in try AuthenticationChallenge.all(in: response) {
      let isForTokens = ["Bearer", "DPoP"].contains { ASCII.equalsIgnoringCase(challenge.scheme, $0) }
      guard isForTokens, let location = challenge.parameter("resource_metadata") else { continue }
      guard named.map({ ASCII.equals($0, location) }) ?? true else {
        throw wrongHint("its 401 names two addresses of its metadata")
      }
      named = location
    }
    guard let named else {
      absences.append("its 401 has no resource_metadata")
      return nil
    }
    let url: StrictURL
    do throws(StrictURL.Refusal) { url = try StrictURL(named) } catch { throw wrongHint(error.text) }
    guard url.hasSameOrigin(as: resource.url), !url.hadFragment else {
      throw wrongHint(
        "expected an address at \(resource.url.shownOrigin), got \(Shown.url(named)). "
          + "Metadata from another origin is not used")
    }
    return named
  }

  private func wrongHint(_ text: String) -> EnrollError {
    EnrollError(
      .responseInvalid, "resource_metadata of the resource's 401: \(text)", field: "resource_metadata")
  }

  // MARK: The server

  private func server(
    _ issuer: Issuer, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> AuthorizationServer {
    let probe = try AuthorizationServer.probe(issuer, allowsLoopbackHTTP: allowsLoopbackHTTP)
    var absences: [String] = []
    for location in AuthorizationServer.locations(of: issuer) {
      guard let body = try document(at: location, absences: &absences, cancellation) else { continue }
      return try AuthorizationServer(HTTPResponse(status: 200, body: body), at: location, probe)
    }
    var found = ""
    for absence in absences { found += (found.utf8.isEmpty ? "" : "; ") + absence }
    throw EnrollError(
      .unsupported, "the authorization server \(Shown.url(issuer.text)) has no metadata: \(found)",
      field: "issuer")
  }

  // MARK: Documents

  /// The document at that address; nil if there is none: a refusal, a redirect, which is not followed (R20), or a page for people.
  /// - Throws: `.server` where it may be there at another time.
  private func document(
    at location: String, absences: inout [String], _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> [UInt8]? {
    let response = try send(location, cancellation)
    let status = response.status
    if status == 200, !response.isPage { return response.body }
    guard status != 408, status != 429, status < 500 else {
      throw EnrollError(
        .server, "expected metadata at \(Shown.url(location)), got status \(status)", httpStatus: status,
        retryAfterSeconds: RetryAfter.seconds(of: response))
    }
    let answer =
      switch status {
      case 200: "a page"
      case 300..<400: "status \(status), and redirects are not followed"
      default: "status \(status)"
      }
    absences.append("\(Shown.url(location)) answered \(answer)")
    return nil
  }

  private func send(
    _ url: String, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HTTPResponse {
    let response = try transport.send(
      HTTPRequest(
        .get, url, headers: [HTTPHeader("Accept", "application/json")],
        responseLimit: ProtectedResourceMetadata.bodyLimit), cancellation: cancellation)
    guard response.body.count <= ProtectedResourceMetadata.bodyLimit else {
      throw EnrollError(
        .responseInvalid,
        "\(Shown.url(url)): expected at most \(ProtectedResourceMetadata.bodyLimit) bytes, got more",
        httpStatus: response.status)
    }
    return response
  }
}
