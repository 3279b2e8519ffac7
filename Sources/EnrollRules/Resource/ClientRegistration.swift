// Dynamic client registration (RFC 7591 §3) of a native app: the request, and the checks of the response. A response is
// refused if the client id is missing, if the redirect URIs differ from the requested URI, or if EnrollKit does not
// support the authentication method.

import EnrollCrypto
import EnrollJSON

/// The metadata with which a client is registered.
package struct ClientRegistration: Equatable, Sendable {
  package var redirectURI: String
  /// The name of the client that the server's pages show; nil for a client without a name.
  package var name: String?
  /// The scopes that the client will request; empty if the server refuses to register scopes.
  package var scopes: [String] = []
  /// How the client will authenticate (`token_endpoint_auth_method`, RFC 7591 §2).
  package var method: String
  /// Whether the client also uses the device flow (RFC 8628).
  package var hasDeviceGrant = false
  /// Whether the client will use only access tokens that are bound to a key: `dpop_bound_access_tokens` (RFC 9449
  /// §5.2).
  package var isDPoPBound: Bool

  package init(
    redirectURI: String, name: String? = nil, scopes: [String] = [], method: String,
    hasDeviceGrant: Bool = false, isDPoPBound: Bool
  ) {
    self.redirectURI = redirectURI
    self.name = name
    self.scopes = scopes
    self.method = method
    self.hasDeviceGrant = hasDeviceGrant
    self.isDPoPBound = isDPoPBound
  }

  static let none = "none"
  /// The maximum number of bytes of a client id or secret, as in a configuration.
  private static let maximumBytes = 512
  /// The maximum number of bytes of the URL or token for managing the client.
  private static let maximumURIBytes = 4096

  /// The authentication method that the client requests: `none` if the server accepts public clients; otherwise a
  /// secret, preferably in the header.
  /// - Throws: `.unsupported` if the server accepts neither public clients nor such a secret.
  package static func method(among announced: [String]) throws(EnrollError) -> String {
    let known = [none] + ClientSecretMethod.allCases.map { $0.rawValue }
    guard let method = known.first(where: { Scopes.contains($0, in: announced) }) else {
      throw EnrollError(
        .unsupported,
        "the server registers no client that is public or has a secret. Register the app there, and pass its client id",
        field: "token_endpoint_auth_methods_supported")
    }
    return method
  }

  package func request(to endpoint: String) -> HTTPRequest {
    let body = JSON.object([
      ("redirect_uris", .strings([redirectURI])), ("client_name", name.map { .string($0) }),
      (
        "grant_types",
        .strings(
          ["authorization_code", "refresh_token"] + (hasDeviceGrant ? [TokenRequest.deviceGrant] : []))
      ),
      ("response_types", .strings(["code"])), ("token_endpoint_auth_method", .string(method)),
      // A client with an https redirect is a web client (OpenID Connect Registration §2).
      ("application_type", .string(redirectURI.utf8.starts(with: "https:".utf8) ? "web" : "native")),
      ("scope", scopes.isEmpty ? nil : .string(Scopes.joined(scopes))),
      ("dpop_bound_access_tokens", isDPoPBound ? .bool(true) : nil),
    ])
    // On a fresh connection libcurl does not repeat the request. If the request is repeated, or the response is lost,
    // the server has registered a client that EnrollKit does not know.
    var request = HTTPRequest.post(body, to: endpoint, freshConnection: true)
    request.mustAwaitResponse = true
    return request
  }

  /// - Parameters:
  ///   - endpoint: the URL of the request.
  ///   - sent: when the request was sent, by the device's clock.
  /// - Throws: `.oauth` for a refusal, `.server` for 5xx and 429, `.responseInvalid` for any other response without a
  ///   registration.
  package func client(
    processing response: HTTPResponse, of endpoint: String, sent: UnixTime, allowsLoopbackHTTP: Bool
  ) throws(EnrollError) -> RegisteredClient {
    if let error = TokenEndpointError.read(response, expecting: "the registration of a client") {
      throw refusal(error)
    }
    let json = try TokenResponse.object(in: response, "client registration")
    guard let id = Self.text(json["client_id"]) else {
      throw Self.invalid("client_id must be 1 to \(Self.maximumBytes) printable characters", response)
    }
    try checkMetadata(json, response)
    let (secret, method) = try authentication(json, response)
    let expiry = secret.flatMap { _ in json["client_secret_expires_at"].flatMap { Self.time($0) } }
      .map { Self.byDevice($0, response, sent: sent) }
    if let expiry, expiry <= sent {
      throw Self.invalid(
        "client_secret_expires_at is over: expected a time to come, or 0 for a secret that does not expire",
        response)
    }
    return RegisteredClient(
      clientID: ClientID(id), clientSecret: secret, secretMethod: method, secretExpiresAt: expiry,
      management: management(json, of: endpoint, allowsLoopbackHTTP), registeredScopes: scopes,
      registeredAt: sent)
  }

  /// The data for managing the client (RFC 7592 §3). The token is sent only to the server that issued it.
  private func management(
    _ json: JSON, of endpoint: String, _ allowsLoopbackHTTP: Bool
  ) -> ClientManagement? {
    guard let uri = json["registration_client_uri"]?.string, uri.utf8.count <= Self.maximumURIBytes,
      let token = json["registration_access_token"]?.string,
      (1...Self.maximumURIBytes).contains(token.utf8.count),
      token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      ConfiguredURL.endpoint(uri, allowsLoopbackHTTP: allowsLoopbackHTTP) == nil,
      let own = try? StrictURL(endpoint), let url = try? StrictURL(uri), url.hasSameOrigin(as: own)
    else { return nil }
    return ClientManagement(uri: uri, token: Secret(token))
  }

  /// Converts the server's time to the device's clock, if the response has the server's date (RFC 9110 §6.6.1).
  private static func byDevice(_ time: UnixTime, _ response: HTTPResponse, sent: UnixTime) -> UnixTime {
    guard let now = response.header("Date").flatMap(HTTPDate.parse) else { return time }
    return sent + time.since(now)
  }

  /// Refuses a response whose metadata would prevent a sign-in: the server may change the requested metadata (RFC 7591
  /// §3.2.1).
  private func checkMetadata(_ json: JSON, _ response: HTTPResponse) throws(EnrollError) {
    if let uris = json["redirect_uris"] {
      guard let registered = uris.array, registered.count == 1, let only = registered[0].string,
        ASCII.equals(only, redirectURI)
      else {
        throw Self.invalid("redirect_uris are not those that were asked for", response)
      }
    }
    for (name, word) in [("grant_types", "authorization_code"), ("response_types", "code")] {
      guard let words = json[name] else { continue }
      guard words.array?.contains(where: { ASCII.equals($0.string ?? "", word) }) ?? false else {
        throw Self.invalid("\(name) lack \(word)", response)
      }
    }
  }

  private func authentication(
    _ json: JSON, _ response: HTTPResponse
  ) throws(EnrollError) -> (Secret?, ClientSecretMethod?) {
    let answered = json["token_endpoint_auth_method"]?.string ?? method
    // A public client needs no secret.
    if ASCII.equals(answered, Self.none) { return (nil, nil) }
    guard let method = ClientSecretMethod(rawValue: answered) else {
      throw Self.invalid("token_endpoint_auth_method is none that was announced", response)
    }
    guard let secret = Self.text(json["client_secret"]) else {
      throw Self.invalid(
        "the client needs a client_secret of 1 to \(Self.maximumBytes) printable characters", response)
    }
    return (Secret(secret), method)
  }

  /// The error for the server's refusal, with the remedy (RFC 7591 §3.2.2).
  private func refusal(_ error: EnrollError) -> EnrollError {
    guard error.code == .oauth else { return error }
    let isClosed = error.httpStatus == 401 || error.httpStatus == 403
    return error.saying(
      error.message
        + (isClosed
          ? ". The server registers only clients that it knows: register the app there, and pass its client id"
          : ". Check the redirect URI, or register the app at the server and pass its client id"))
  }

  /// Seconds since 1970; nil for 0, which means never.
  private static func time(_ json: JSON) -> UnixTime? {
    switch json {
    case .integer(let seconds): seconds > 0 ? UnixTime(seconds: seconds) : nil
    case .number(let seconds) where seconds >= 1 && seconds < 9e15: UnixTime(seconds: Int64(seconds))
    case .number, .null, .bool, .string, .array, .object: nil
    }
  }

  private static func text(_ json: JSON?) -> String? {
    guard let text = json?.string, (1...maximumBytes).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
    else { return nil }
    return text
  }

  private static func invalid(_ text: String, _ response: HTTPResponse) -> EnrollError {
    EnrollError(.responseInvalid, "client registration: \(text)", httpStatus: response.status)
  }
}
