// Dynamic client registration (RFC 7591 §3) of a native app: the request, and what is believed of its answer. Refused: an answer
// without a client id, one with other redirect URIs, and a way of authentication that is not ours.

import EnrollCrypto
import EnrollJSON

/// What a client is to be registered as.
struct ClientRegistration: Equatable, Sendable {
  var redirectURI: String
  /// For the server's pages; nil for none.
  var name: String?
  var scopes: [String]
  /// How the client will prove itself, by the name of RFC 7591 §2.
  var method: String
  /// `dpop_bound_access_tokens` (RFC 9449 §5.2).
  var isDPoPBound: Bool

  static let none = "none"
  /// Bytes of a client id or secret, as in a configuration.
  private static let maximumBytes = 512

  /// A public client where the server has such; else one with a secret, in the body rather than in the header.
  /// - Throws: `.unsupported` where the server takes neither.
  static func method(among announced: [String]) throws(EnrollError) -> String {
    let known = [none] + ClientSecretMethod.allCases.map { $0.rawValue }
    guard let method = known.first(where: { Scopes.contains($0, in: announced) }) else {
      throw EnrollError(
        .unsupported,
        "the server registers no client that is public or has a secret. Register the app there, and pass its clientId",
        field: "token_endpoint_auth_methods_supported")
    }
    return method
  }

  func request(to endpoint: String) -> HTTPRequest {
    let body = JSON.object([
      ("redirect_uris", .strings([redirectURI])), ("client_name", name.map { .string($0) }),
      ("grant_types", .strings(["authorization_code", "refresh_token"])),
      ("response_types", .strings(["code"])), ("token_endpoint_auth_method", .string(method)),
      // OpenID Connect Registration §2: an https redirect is a web client's.
      ("application_type", .string(redirectURI.utf8.starts(with: "https:".utf8) ? "web" : "native")),
      ("scope", scopes.isEmpty ? nil : .string(Scopes.joined(scopes))),
      ("dpop_bound_access_tokens", isDPoPBound ? .bool(true) : nil),
    ])
    // Repeated silently, or without its answer, it would leave a client behind that nobody knows.
    var request = HTTPRequest.post(body, to: endpoint, freshConnection: true)
    request.isFollowedUp = true
    return request
  }

  /// - Parameter sent: when the request was sent, by the device's clock.
  /// - Throws: `.oauth` for a refusal, `.server` for 5xx and 429, `.responseInvalid` for anything else that is no registration.
  func client(
    processing response: HTTPResponse, sent: UnixTime
  ) throws(EnrollError) -> RegisteredClient {
    if let error = TokenEndpointError.read(response, expecting: "the registration of a client") {
      throw refusal(error, response)
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
      scopes: scopes, registeredAt: sent)
  }

  /// The server's time by the device's clock, where the answer tells the server's (RFC 9110 §6.6.1).
  private static func byDevice(_ time: UnixTime, _ response: HTTPResponse, sent: UnixTime) -> UnixTime {
    guard let now = response.header("Date").flatMap(HTTPDate.parse) else { return time }
    return sent + time.since(now)
  }

  /// The server may change what was asked for (RFC 7591 §3.2.1); a client that could not sign in is none.
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
    // A public client has no use of a secret.
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

  /// With the server's own words (RFC 7591 §3.2.2): nothing that was sent is a secret.
  private func refusal(_ error: EnrollError, _ response: HTTPResponse) -> EnrollError {
    guard error.code == .oauth else { return error }
    let isClosed = error.httpStatus == 401 || error.httpStatus == 403
    let words = (try? JSON.parse(response.body))?["error_description"]?.string
    return error.saying(
      error.message
        + (words.map { " (\(PrintableText.bounded($0, maximumBytes: 200)))" } ?? "")
        + (isClosed
          ? ". The server registers only clients that it knows: register the app there, and pass its clientId"
          : ". Check redirectUri and scopes, or register the app at the server and pass its clientId"))
  }

  /// Seconds since 1970; nil for 0, which is never.
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
