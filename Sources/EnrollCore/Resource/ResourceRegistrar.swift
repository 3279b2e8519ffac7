// From a resource to a configuration (flows.md §12): the app's own client id, else the URL of its client id metadata document where
// the server takes those, else a registration (RFC 7591), which is made once for all processes and kept.

public import EnrollCrypto
public import EnrollJSON

/// What a host says of itself, and which server its user agreed to.
public struct ResourceRequest: Sendable {
  /// The resource that tokens are for.
  public var resource: String
  /// The server that the user was shown: one of those that the resource names.
  public var issuer: String
  /// Where the browser comes back to.
  public var redirectURI: String
  /// For the server's pages, if the client is registered.
  public var clientName: String?
  /// The scopes to ask for; nil: those that the resource lists, and `offline_access` where the server lists that.
  public var scopes: [String]?
  /// The client id, if the server knows the app already.
  public var clientID: String?
  /// The secret of that client; nil for none.
  public var clientSecret: Secret?
  /// The https URL of the app's client id metadata document.
  public var clientMetadataURI: String?
  /// Registers anew, because the server has forgotten the client.
  public var again = false

  public init(resource: String, issuer: String, redirectURI: String) {
    self.resource = resource
    self.issuer = issuer
    self.redirectURI = redirectURI
  }
}

/// What the app signs in as.
public enum ClientOrigin: String, Sendable, CaseIterable {
  /// The client id that the host gave.
  case configured
  /// The URL of the client id metadata document that the host gave.
  case metadataDocument
  /// A client that was registered.
  case registered
}

/// A client for a resource.
public struct ResourceClient: Sendable {
  /// A whole configuration, by the names of its keys.
  public let keys: JSONObject
  /// How the app became a client.
  public let origin: ClientOrigin
  /// Whether this call registered it.
  public let isNew: Bool

  /// - Parameter more: the host's own keys, which take the place of those of the same name.
  /// - Throws: `.configuration` for a key of `more`.
  public func configuration(
    adding more: JSONObject = JSONObject()
  ) throws(EnrollError) -> Configuration {
    var keys = keys
    for member in more.members { keys[member.key] = member.value }
    return try Configuration(json: .object(keys))
  }
}

/// Makes configurations for resources.
public struct ResourceRegistrar: Sendable {
  private let directory: ResourceDirectory
  private let store: any TokenStore
  private let clock: any Clock
  private let caFile: String?

  /// - Parameters:
  ///   - store: keeps registered clients.
  ///   - caFile: of the transport, for the configuration.
  public init(_ directory: ResourceDirectory, store: any TokenStore, clock: any Clock, caFile: String? = nil)
  {
    self.directory = directory
    self.store = store
    self.clock = clock
    self.caFile = caFile
  }

  /// A client that was registered before is given again without any request: an outage, or a resource that lists other scopes
  /// today, ends no session.
  /// - Throws: as ``ResourceDirectory/discover(_:issuer:cancellation:)``, for the resource is looked at again: `.issuerMismatch`
  ///   if it does not name `issuer` any more; `.unsupported` where the server takes no new client; as a registration's answer
  ///   says; `.configuration` for an argument that no configuration takes; errors of the store.
  public func register(
    _ request: ResourceRequest, cancellation: (any Cancellation)? = nil
  ) throws(EnrollError) -> ResourceClient {
    if let uri = request.clientMetadataURI { try checkMetadataURI(uri) }
    let before = request.clientID == nil ? try store.registeredClient(try name(request)) : nil
    if !request.again, let before, let kept = try kept(before, for: request) { return kept }
    let found = try directory.discover(
      request.resource, issuer: request.issuer, cancellation: cancellation)
    let scopes = scopes(request, found)
    var keys = JSONObject([
      ("issuer", .string(found.issuer)),
      ("discoveryUri", found.server.discoveryURI.map { .string($0) }), ("clientId", .string("-")),
      ("redirectUri", .string(request.redirectURI)), ("resource", .string(found.resource)),
      ("scopes", .strings(scopes)), ("dpop", found.requiresDPoP ? .string("always") : nil),
      ("allowLoopbackHTTP", directory.allowsLoopbackHTTP ? .bool(true) : nil),
      ("caFile", caFile.map { .string($0) }),
    ])
    // What the host says is checked before a server hears it.
    _ = try Configuration(json: .object(keys))
    let (origin, isNew) = try name(&keys, request, found, scopes, before, cancellation)
    let client = ResourceClient(keys: keys, origin: origin, isNew: isNew)
    _ = try client.configuration()
    return client
  }

  private func kept(
    _ client: RegisteredClient, for request: ResourceRequest
  ) throws(EnrollError) -> ResourceClient? {
    guard client.isUsable(scopes: request.scopes, at: clock.wallTime()),
      var keys = client.configuration.flatMap({ (try? JSON.parse(Array($0.utf8)))?.object })
    else { return nil }
    if let scopes = request.scopes { keys["scopes"] = .strings(scopes) }
    keys["allowLoopbackHTTP"] = directory.allowsLoopbackHTTP ? .bool(true) : nil
    keys["caFile"] = caFile.map { .string($0) }
    Self.name(&keys, client)
    let again = ResourceClient(keys: keys, origin: .registered, isNew: false)
    _ = try again.configuration()
    return again
  }

  private func name(_ request: ResourceRequest) throws(EnrollError) -> RegistrationName {
    RegistrationName(
      issuer: Issuer(request.issuer), redirectURI: request.redirectURI,
      resource: try ResourceIdentifier(request.resource, allowsLoopbackHTTP: directory.allowsLoopbackHTTP),
      trust: directory.transport.trust)
  }

  private static func name(_ keys: inout JSONObject, _ client: RegisteredClient) {
    keys["clientId"] = .string(client.clientID.text)
    keys["clientSecret"] = client.clientSecret.map { .string($0.reveal()) }
    keys["tokenEndpointAuthMethod"] =
      client.clientSecret == nil ? nil : client.secretMethod.map { .string($0.rawValue) }
  }

  /// The scopes that the resource needs, and, where the server lists them, `offline_access` for a refresh token and `openid`, so
  /// that the question at the end of the sign-in can name the user.
  private func scopes(_ request: ResourceRequest, _ found: ResourceDiscovery) -> [String] {
    if let scopes = request.scopes { return scopes }
    let metadata = found.server.metadata
    return ["openid", "offline_access"].reduce(found.scopes ?? []) { scopes, scope in
      guard Scopes.contains(scope, in: metadata.scopes ?? []) else { return scopes }
      // An id_token without keys to prove it would fail the sign-in.
      if ASCII.equals(scope, "openid"), metadata.jwksURI == nil { return scopes }
      return Scopes.adding(scope, to: scopes)
    }
  }

  /// Adds the client to the configuration.
  private func name(
    _ keys: inout JSONObject, _ request: ResourceRequest, _ found: ResourceDiscovery, _ scopes: [String],
    _ before: RegisteredClient?, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> (ClientOrigin, isNew: Bool) {
    if let id = request.clientID {
      keys["clientId"] = .string(id)
      keys["clientSecret"] = request.clientSecret.map { .string($0.reveal()) }
      return (.configured, false)
    }
    if let uri = request.clientMetadataURI, found.takesClientMetadataDocuments {
      keys["clientId"] = .string(uri)
      return (.metadataDocument, false)
    }
    let plain = String(decoding: JSON.object(keys).serialized(), as: UTF8.self)
    let (client, isNew) = try registered(request, found, scopes, plain, before, cancellation)
    Self.name(&keys, client)
    return (.registered, isNew)
  }

  private func checkMetadataURI(_ uri: String) throws(EnrollError) {
    guard let url = try? StrictURL(uri), url.kind == .https, !url.hadFragment, url.path.count > 1 else {
      throw EnrollError(
        .invalidArgument,
        "clientMetadataUri: expected the https URL of a client id metadata document, with a path and without a fragment",
        field: "clientMetadataUri")
    }
  }

  /// The kept client, or a new one. All processes that ask at the same time get the one that the first of them registers.
  /// - Parameter before: the client that was kept when the call began; a later one is new to whoever asks for one anew.
  private func registered(
    _ request: ResourceRequest, _ found: ResourceDiscovery, _ scopes: [String], _ configuration: String,
    _ before: RegisteredClient?, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> (RegisteredClient, isNew: Bool) {
    let name = try name(request)
    var result: (RegisteredClient, isNew: Bool)?
    try store.updateRegisteredClient(name) { (kept: inout RegisteredClient?) throws(EnrollError) in
      if let client = kept, !request.again || client != before,
        client.isUsable(scopes: request.scopes, at: clock.wallTime())
      {
        result = (client, false)
        return
      }
      // With the scopes of the client before: two programs that ask for different ones end with one client for both.
      let all = (kept?.scopes ?? []).reduce(scopes) { Scopes.adding($1, to: $0) }
      var client = try register(request, found, all, name, cancellation)
      client.configuration = configuration
      kept = client
      result = (client, true)
    }
    guard let result else { throw EnrollError(.internal, "the store did not run the change of a client") }
    return result
  }

  private func register(
    _ request: ResourceRequest, _ found: ResourceDiscovery, _ scopes: [String], _ name: RegistrationName,
    _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegisteredClient {
    guard let endpoint = found.server.registrationEndpoint else {
      throw EnrollError(
        .unsupported,
        "\(Shown.url(found.issuer)) registers no clients. Register the app there, and pass its clientId",
        field: "clientId")
    }
    let registration = ClientRegistration(
      redirectURI: request.redirectURI, name: request.clientName, scopes: scopes,
      method: try ClientRegistration.method(among: found.server.authenticationMethods),
      isDPoPBound: found.requiresDPoP)
    // A full disk shows now, before a client is registered that nobody could keep.
    try store.reserveSpace(name)
    let sent = clock.wallTime()
    let response = try directory.transport.send(
      registration.request(to: endpoint), cancellation: cancellation)
    return try registration.client(processing: response, sent: sent)
  }
}
