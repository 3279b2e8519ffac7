// Makes a configuration for a resource (flows.md §12). Its client id is the app's own client id, if the app has one.
// Otherwise it is the URL of the app's client id metadata document, if the server accepts such URLs. Otherwise a client
// is registered (RFC 7591), once for all processes, and stored.

import EnrollCrypto
import EnrollJSON
public import EnrollRules

/// Makes configurations for resources.
public struct ResourceRegistrar: Sendable {
  private let directory: ResourceDirectory
  private let store: any TokenStore
  private let clock: any Clock
  private let caFile: String?

  /// - Parameters:
  ///   - store: the store for registered clients.
  ///   - caFile: the CA file that the transport uses, which is put into the configuration.
  public init(_ directory: ResourceDirectory, store: any TokenStore, clock: any Clock, caFile: String? = nil)
  {
    self.directory = directory
    self.store = store
    self.clock = clock
    self.caFile = caFile
  }

  /// Makes a configuration. A client that was registered before is returned without any request, so that a session
  /// does not end because of an outage, or because the resource now lists other scopes. A client that the server
  /// refused at a renewal is registered again, once for each refusal.
  /// - Parameter preparing: called with the redirect URI before a server is told of that URI for the first time.
  /// - Throws: the errors of `preparing`; as ``ResourceDirectory/discover(_:issuer:challenge:cancellation:)``, unless
  ///   the request has a discovery; `.issuerMismatch` if the resource no longer names `issuer`; `.unsupported` if the
  ///   server accepts no new clients; the errors of a registration's response; `.configuration` for an argument that no
  ///   configuration accepts; errors of the store.
  public func register(
    _ request: ResourceRequest, cancellation: (any Cancellation)? = nil,
    preparing: (String) throws(EnrollError) -> Void = { _ in }
  ) throws(EnrollError) -> ResourceClient {
    if let uri = request.clientMetadataURI { try checkMetadataURI(uri) }
    let challenge = try request.challenge.map { header throws(EnrollError) in
      try ResourceChallenge(header: header)
    }
    let before = request.clientID == nil ? try registeredBefore(request) : nil
    if !request.again, let before, let kept = try kept(before, for: request, challenge) {
      guard before.client.isForgotten(by: store, as: try kept.configuration()) else { return kept }
      var anew = request
      anew.again = true
      do throws(EnrollError) {
        return try registered(anew, before, challenge, cancellation, preparing)
      } catch {
        // If the server cannot be reached, the old client is returned, because its session may still have a valid
        // token.
        guard error.isRetryable else { throw error }
        return kept
      }
    }
    return try registered(request, before, challenge, cancellation, preparing)
  }

  private func registered(
    _ request: ResourceRequest, _ before: Before?, _ challenge: ResourceChallenge?,
    _ cancellation: (any Cancellation)?, _ preparing: (String) throws(EnrollError) -> Void
  ) throws(EnrollError) -> ResourceClient {
    let found = try found(request, cancellation)
    keep(found)
    let scopes = scopes(request, found, challenge, before?.client)
    var keys = JSONObject(
      found.server.keys + [
        ("clientId", .string("-")), ("redirectUri", .string(request.redirectURI)),
        ("resource", .string(found.resource)), ("scopes", .strings(scopes)),
        ("dpop", found.requiresDPoP || challenge?.requiresDPoP ?? false ? .string("always") : nil),
        ("allowLoopbackHTTP", directory.allowsLoopbackHTTP ? .bool(true) : nil),
        ("caFile", caFile.map { .string($0) }),
      ])
    // The host's values are checked before a server gets them.
    _ = try Configuration(json: .object(keys))
    let (origin, isNew) = try name(&keys, request, found, before?.client, cancellation, preparing)
    let client = ResourceClient(keys: keys, origin: origin, isNew: isNew)
    _ = try client.configuration()
    return client
  }

  /// The discovery that the host passed, if it is for this request; otherwise the result of a new discovery of the
  /// resource.
  private func found(
    _ request: ResourceRequest, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> ResourceDiscovery {
    guard let found = request.discovery, ASCII.equals(found.url, request.resource) else {
      return try directory.discover(
        request.resource, issuer: request.issuer, challenge: request.challenge, cancellation: cancellation)
    }
    guard found.names(Issuer(request.issuer)) else {
      throw ResourceDirectory.unnamed(request.issuer, found.authorizationServers)
    }
    return found
  }

  /// Keeps the server's metadata, so that the sign-in does not ask for it again.
  private func keep(_ found: ResourceDiscovery) {
    guard let document = found.server.document else { return }
    let name = ProviderName(issuer: Issuer(found.issuer), trust: directory.transport.trust)
    let freshness = Expiry(lifetimeSeconds: document.freshSeconds, from: clock.moment())
    store.keepProviderDocuments(name) {
      $0.metadata = KeptDocument(url: document.url, body: document.body, tag: nil, freshness: freshness)
    }
  }

  private struct Before {
    var name: RegistrationName
    var client: RegisteredClient
  }

  private func registeredBefore(_ request: ResourceRequest) throws(EnrollError) -> Before? {
    let name = try name(request, issuer: request.issuer, request.resource)
    guard let client = try store.registeredClient(name) else { return nil }
    guard let resource = client.keys?["resource"]?.string, !ASCII.equals(resource, request.resource) else {
      return Before(name: name, client: client)
    }
    // The metadata of the resource's host describes this resource, so the client is registered for the host.
    let own = try self.name(request, issuer: request.issuer, resource)
    return try store.registeredClient(own).map { Before(name: own, client: $0) }
  }

  private func kept(
    _ before: Before, for request: ResourceRequest, _ challenge: ResourceChallenge?
  ) throws(EnrollError) -> ResourceClient? {
    guard before.client.isUsable(at: clock.wallTime()), var keys = before.client.keys else { return nil }
    let (named, earlier) = (Self.named(request, challenge), before.client.scopes)
    let scopes = named ?? challenge?.scopes(after: earlier) ?? earlier
    guard before.client.serves(scopes) else { return nil }
    let isBound =
      challenge?.requiresDPoP ?? false && keys["dpop"]?.string.map { !ASCII.equals($0, "always") } ?? true
    let isOther = named == nil && scopes != earlier
    if isBound { keys["dpop"] = .string("always") }
    if isOther { keys["scopes"] = .strings(scopes) }
    if isBound || isOther {
      let text = String(decoding: JSON.object(keys).serialized(), as: UTF8.self)
      try store.updateRegisteredClient(before.name) {
        if $0?.clientID == before.client.clientID { $0?.configuration = text }
      }
    }
    if named != nil { keys["scopes"] = .strings(scopes) }
    keys["allowLoopbackHTTP"] = directory.allowsLoopbackHTTP ? .bool(true) : nil
    keys["caFile"] = caFile.map { .string($0) }
    Self.name(&keys, before.client)
    let again = ResourceClient(keys: keys, origin: .registered, isNew: false)
    _ = try again.configuration()
    return again
  }

  private func name(
    _ request: ResourceRequest, issuer: String, _ resource: String
  ) throws(EnrollError) -> RegistrationName {
    RegistrationName(
      issuer: Issuer(issuer), redirectURI: request.redirectURI,
      resource: try ResourceIdentifier(resource, allowsLoopbackHTTP: directory.allowsLoopbackHTTP),
      trust: directory.transport.trust)
  }

  /// Adds the keys that name the client.
  static func name(_ keys: inout JSONObject, _ client: RegisteredClient) {
    keys["clientId"] = .string(client.clientID.text)
    keys["clientSecret"] = client.clientSecret.map { .string($0.reveal()) }
    keys["tokenEndpointAuthMethod"] =
      client.clientSecret == nil ? nil : client.secretMethod.map { .string($0.rawValue) }
  }

  /// The scopes that the host names, plus the scopes that the session lacked if the resource refused the session for
  /// that reason; nil if the host names no scopes.
  private static func named(_ request: ResourceRequest, _ challenge: ResourceChallenge?) -> [String]? {
    guard let scopes = request.scopes, let challenge, challenge.isForMoreScopes else { return request.scopes }
    return challenge.scopes(after: scopes)
  }

  /// The scopes that the resource needs. The result also includes `offline_access`, for a refresh token, and `openid`,
  /// if the server lists these scopes; `openid` is included so that the confirmation at the end of the sign-in can name
  /// the user.
  private func scopes(
    _ request: ResourceRequest, _ found: ResourceDiscovery, _ challenge: ResourceChallenge?,
    _ before: RegisteredClient?
  ) -> [String] {
    if let scopes = Self.named(request, challenge) { return scopes }
    if let before, let challenge, challenge.isForMoreScopes { return challenge.scopes(after: before.scopes) }
    let metadata = found.server.metadata
    return AuthorizationServer.ownScopes.reduce(found.scopes ?? []) { scopes, scope in
      guard Scopes.contains(scope, in: metadata.scopes ?? []) else { return scopes }
      // `openid` is left out if the issuer has no keys: its id_token could not be verified, and the sign-in would fail.
      if ASCII.equals(scope, "openid"), metadata.jwksURI == nil { return scopes }
      return Scopes.adding(scope, to: scopes)
    }
  }

  // MARK: The choice of a client

  /// Adds the client to the configuration.
  private func name(
    _ keys: inout JSONObject, _ request: ResourceRequest, _ found: ResourceDiscovery,
    _ before: RegisteredClient?, _ cancellation: (any Cancellation)?,
    _ preparing: (String) throws(EnrollError) -> Void
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
    let (client, isNew) = try registered(request, found, keys, before, cancellation, preparing)
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

  /// The stored client, or a new one. All processes that ask at the same time get the client that the first of them
  /// registers. A client that is replaced by another client is deleted at its server.
  /// - Parameter before: the client that was stored when the call began. If the request is to register again, a stored
  ///   client is still accepted if it differs from `before`, because it was then registered after the call began.
  private func registered(
    _ request: ResourceRequest, _ found: ResourceDiscovery, _ keys: JSONObject,
    _ before: RegisteredClient?, _ cancellation: (any Cancellation)?,
    _ preparing: (String) throws(EnrollError) -> Void
  ) throws(EnrollError) -> (RegisteredClient, isNew: Bool) {
    let configuration = String(decoding: JSON.object(keys).serialized(), as: UTF8.self)
    let scopes = keys["scopes"]?.array?.compactMap { $0.string } ?? []
    let name = try name(request, issuer: found.issuer, found.resource)
    var result: (RegisteredClient, isNew: Bool)?
    var replaced: RegisteredClient?
    try store.updateRegisteredClient(name) { (kept: inout RegisteredClient?) throws(EnrollError) in
      if let client = kept, !request.again || client != before, client.isUsable(at: clock.wallTime()),
        client.serves(scopes)
      {
        result = (client, false)
        return
      }
      // `preparing` is called only for a first client. If a client is replaced, the server already knows the redirect
      // URI, and a sign-in of the old client may be listening on its port.
      if kept == nil { try preparing(request.redirectURI) }
      var client = try register(request, found, name, scopes, cancellation)
      client.configuration = configuration
      // A client that is replaced for further scopes keeps its session until the next sign-in ends.
      let givesWay = !request.again && kept?.isUsable(at: clock.wallTime()) ?? false
      if givesWay { kept.map { client.replace($0) } } else { replaced = kept }
      kept = client
      result = (client, true)
    }
    guard let result else { throw EnrollError(.internal, "the store did not run the change of a client") }
    if !ASCII.equals(found.resource, request.resource) {
      // Stores an entry under the resource's own name. The entry refers to the client of the resource's host.
      let pointer = RegisteredClient(
        clientID: ClientID("-"), registeredAt: clock.wallTime(), configuration: configuration)
      try store.updateRegisteredClient(try self.name(request, issuer: found.issuer, request.resource)) {
        $0 = pointer
      }
    }
    if let replaced { delete(replaced, cancellation) }
    if let issuer = request.previousIssuer, !ASCII.equals(issuer, found.issuer) {
      try forget(try self.name(request, issuer: issuer, request.resource), cancellation)
    }
    return result
  }

  /// Registers with the scopes, because some servers grant a client no scopes that it did not register (django-allauth,
  /// Hydra, Spring). If the server refuses the scopes, registers without them: some servers do not know a resource's
  /// scopes (node-oidc-provider), or refuse a client that names `openid` (Keycloak).
  private func register(
    _ request: ResourceRequest, _ found: ResourceDiscovery, _ name: RegistrationName, _ scopes: [String],
    _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegisteredClient {
    guard let endpoint = found.server.registrationEndpoint else {
      throw EnrollError(
        .unsupported,
        "\(Shown.url(found.issuer)) registers no clients. Register the app there, and pass its client id",
        field: "clientId")
    }
    var registration = ClientRegistration(
      redirectURI: request.redirectURI, name: request.clientName, scopes: scopes,
      method: try ClientRegistration.method(among: found.server.authenticationMethods),
      hasDeviceGrant: found.server.metadata.deviceAuthorizationEndpoint != nil,
      isDPoPBound: found.requiresDPoP)
    // A full disk is reported now, before a client is registered that could not be stored.
    try store.reserveSpace(name)
    do throws(EnrollError) {
      return try send(registration, to: endpoint, cancellation)
    } catch {
      guard !scopes.isEmpty, error.code == .oauth, error.httpStatus == 400 || error.httpStatus == 403 else {
        throw error
      }
    }
    registration.scopes = []
    return try send(registration, to: endpoint, cancellation)
  }

  private func send(
    _ registration: ClientRegistration, to endpoint: String, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegisteredClient {
    let sent = clock.wallTime()
    let response = try directory.transport.send(
      registration.request(to: endpoint), cancellation: cancellation)
    return try registration.client(
      processing: response, of: endpoint, sent: sent, allowsLoopbackHTTP: directory.allowsLoopbackHTTP)
  }

  // MARK: The end of a client

  private func forget(_ name: RegistrationName, _ cancellation: (any Cancellation)?) throws(EnrollError) {
    guard let client = try store.registeredClient(name) else { return }
    try store.updateRegisteredClient(name) { if $0 == client { $0 = nil } }
    delete(client, cancellation)
  }

  /// Requests the deletion of the client. A failure is ignored, because a client that stays at the server does no
  /// harm.
  private func delete(_ client: RegisteredClient, _ cancellation: (any Cancellation)?) {
    guard let management = client.management else { return }
    _ = try? directory.transport.send(management.deletion, cancellation: cancellation)
  }
}
