// What a provider of the zoo publishes: its addresses, its discovery documents and its keys.

import EnrollCore
import EnrollCrypto
import EnrollJSON

extension ZooProvider {
  /// The documents, each with the issuer that it names.
  var documents: [(url: String, issuer: String)] {
    let discovery = dialect.discovery
    let own = discovery.url ?? dialect.issuer + (discovery.path ?? ProviderMetadata.wellKnownPath)
    var documents = [(filled(joined(own)), filled(discovery.issuer ?? dialect.issuer))]
    if discovery.isAtIssuer {
      documents.append((issuer + ProviderMetadata.wellKnownPath, documents[0].1))
    }
    if let other = dialect.idToken.issuer, !dialect.idToken.hasTenant {
      documents.append((filled(other) + ProviderMetadata.wellKnownPath, filled(other)))
    }
    return documents
  }

  /// An issuer may end with a slash.
  private func joined(_ url: String) -> String { url.replacing("//.well-known", with: "/.well-known") }

  /// Where the browser signs in.
  public var authorizationURL: String { filled(dialect.urls["authorization"] ?? below("/authorize")) }

  /// Where the browser ends the provider's session; nil where there is no such place.
  public var logoutURL: String? {
    switch dialect.logout.style {
    case .none: nil
    case .auth0: below("/v2/logout")
    case .rp, .cognito:
      filled(dialect.discovery.extra["end_session_endpoint"]?.string ?? below("/logout"))
    }
  }

  /// An address of our own making, at the issuer's host: nobody wrote down where it is.
  private func below(_ path: String) -> String {
    let host = filled(dialect.urls["token"] ?? dialect.discovery.url ?? dialect.issuer)
    let parts = host.split(separator: "/", omittingEmptySubsequences: true)
    let base = dialect.urls.isEmpty && dialect.discovery.url == nil ? trimmed(issuer) : "https://\(parts[1])"
    return base + path
  }

  private func trimmed(_ issuer: String) -> String {
    issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
  }

  /// The settings that the dialect comes to.
  func set(_ settings: inout FakeProvider.Settings) {
    let dialect = dialect
    for (endpoint, role, path) in [
      (FakeProvider.Endpoint.token, "token", "/token"), (.keys, "jwks", "/keys"),
      (.userinfo, "userinfo", "/userinfo"), (.revocation, "revocation", "/revoke"),
      (.deviceAuthorization, "device", "/device"), (.pushed, "par", "/par"),
      (.introspection, "introspection", "/introspect"),
    ] { settings.addresses[endpoint] = dialect.urls[role].map { filled($0) } ?? below(path) }
    settings.addresses[.discovery] = documents[0].url
    settings.lifetime = dialect.token.expiresIn
    settings.givesRefreshToken = dialect.refresh.isIssued
    settings.offlineScopes = dialect.scope.offline
    settings.rotates = dialect.refresh.rotation != .never
    settings.graceSeconds = dialect.refresh.graceSeconds
    settings.reuse =
      switch dialect.refresh.reuse {
      case .refused: .refused
      case .family: .endsFamily
      case .keepsWorking: .keepsWorking
      }
    settings.givesIDTokenOnRefresh = dialect.refresh.bringsIDToken
    settings.scopeSeparator = dialect.token.scopeSeparator
    settings.dpopAlgorithms = dialect.dpop.isAnnounced ? ["ES256"] : []
    settings.answersBearer = !dialect.dpop.bindsWhenProven
    settings.takesPushedRequests = dialect.par.isAnnounced
    setDocuments(&settings)
    setTokens(&settings)
  }

  private func setDocuments(_ settings: inout FakeProvider.Settings) {
    settings.metadata = { [unowned self] in announce(&$0) }
    settings.keySet = { [unowned self] in publish(&$0) }
    settings.deviceAuthorization = { [unowned self] answer in
      let uri = JSON.string(below("/activate"))
      answer["verification_uri"] = nil
      answer[dialect.device.uriMember] = uri
      answer["expires_in"] = .integer(state.withLock { $0.deviceCodeSeconds })
      answer["verification_uri_complete"] =
        dialect.device.hasCompleteURI ? .string(below("/activate?user_code=WDJB-MJHT")) : nil
    }
  }

  private func announce(_ document: inout JSONObject) {
    document["authorization_endpoint"] = .string(authorizationURL)
    document["end_session_endpoint"] = dialect.logout.style == .auth0 ? nil : logoutURL.map { .string($0) }
    document["authorization_response_iss_parameter_supported"] = nil
    document["introspection_endpoint"] = nil
    if dialect.device.style == .none { document["device_authorization_endpoint"] = nil }
    if dialect.revocation.style == .none || dialect.revocation.style == .own {
      document["revocation_endpoint"] = nil
    }
    if dialect.client.code == .required {
      document["token_endpoint_auth_methods_supported"] = .array(dialect.client.methods.map { .string($0) })
    }
    for name in dialect.discovery.omit { document[name] = nil }
    for member in dialect.discovery.extra.members {
      document[member.key] = member.value.string.map { .string(filled($0)) } ?? member.value
    }
  }

  private func publish(_ set: inout JSONObject) {
    guard case .object(var key)? = set["keys"]?.array?.first, !dialect.keys.isEmpty else {
      set["keys"] = .array([])
      return
    }
    let isEntra = dialect.keys.members?.contains("issuer") ?? false
    if isEntra {
      key["issuer"] = .string(
        dialect.keys.issuerPerKey == .template ? filled(dialect.discovery.issuer ?? issuer) : issuer)
    }
    if has(.foreignKeyIssuer) {
      key["issuer"] = .string("https://login.microsoftonline.com/\(Self.foreignTenant)/v2.0")
    }
    if let members = dialect.keys.members, !members.contains("alg") { key["alg"] = nil }
    var keys = [JSON.object(key)]
    for algorithm in dialect.keys.algorithmsOfOneKid where .string(algorithm) != key["alg"] {
      var other = key
      other["alg"] = .string(algorithm)
      keys.append(.object(other))
    }
    if dialect.keys.encryption == .sameKid || has(.twoKeysOneKid), let second = try? ZooKeys.otherRSA.get() {
      var other = fake.jwk(second, id: key["kid"]?.string)
      if !has(.twoKeysOneKid) { (other["alg"], other["use"]) = (.string("RSA-OAEP"), .string("enc")) }
      keys.append(.object(other))
    }
    set["keys"] = .array(keys)
  }

  func sendDiscovery(
    _ request: HTTPRequest, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HTTPResponse {
    if let status = dialect.discovery.status { return page(Int(status)) }
    guard let document = documents.first(where: { $0.url == request.url }) else { return page(404) }
    var asked = request
    asked.url = documents[0].url
    var response = try fake.send(asked, cancellation: cancellation)
    guard case .object(var metadata)? = try? JSON.parse(response.body) else { return response }
    metadata["issuer"] = .string(document.issuer)
    response.body = JSON.object(metadata).serialized()
    return response
  }
}
