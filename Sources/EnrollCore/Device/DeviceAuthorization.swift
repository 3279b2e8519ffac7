// Asking for a code that the user types in a browser elsewhere (RFC 8628 §3.1, §3.2). Pure. Refused: options that
// belong to a browser on this device, and addresses that are neither https nor allowed loopback (R19).

import EnrollCrypto
import EnrollJSON

/// The response of the device authorization endpoint.
struct DeviceAuthorization {
  var deviceCode: Secret
  var shown: DeviceCode
  var lifetimeSeconds: Int64
  var intervalSeconds: Int64

  /// RFC 8628 §3.2, where the answer says nothing.
  static let defaultIntervalSeconds: Int64 = 5
  static let maximumIntervalSeconds: Int64 = 300
  /// Where `expires_in` cannot be read, and at most (R32).
  static let defaultLifetimeSeconds: Int64 = 600
  static let maximumLifetimeSeconds: Int64 = 86_400
  /// With their NULs they fit into the arrays of the C face.
  static let maximumUserCodeBytes = 63
  static let maximumAddressBytes = 511

  /// - Throws: `.unsupported` when the provider has no such endpoint; `.invalidArgument` for an option that cannot be
  ///   sent.
  static func request(
    _ configuration: Configuration, _ metadata: ProviderMetadata, _ options: SignInOptions, scopes: [String]
  ) throws(EnrollError) -> HTTPRequest {
    guard let endpoint = metadata.deviceAuthorizationEndpoint else {
      throw EnrollError(
        .unsupported, "the provider announces no device authorization endpoint (RFC 8628)", field: "kind")
    }
    try options.check(sending: scopes)
    try options.requireNoBrowser(because: "the device grant has no such parameter (RFC 8628 §3.1)")
    var form = FormEncoding(.body)
    if !scopes.isEmpty { form.add("scope", Scopes.joined(scopes)) }
    if let resource = configuration.resource { form.add(ResourceIdentifier.parameter, resource.text) }
    for (name, value) in options.parameters {
      try ResourceIdentifier.requireUnset(name, configuration)
      form.add(name, value)
    }
    // Also of a client that proves itself in the header: django-oauth-toolkit looks nowhere else.
    form.add("client_id", configuration.clientID.text)
    return ClientAuthentication(configuration, at: metadata).request(form, to: endpoint, namesClient: true)
  }

  /// - Throws: `.oauth`, `.server`, `.responseInvalid`.
  init(processing response: HTTPResponse, allowsLoopbackHTTP: Bool) throws(EnrollError) {
    if let error = TokenEndpointError.read(response, expecting: "a device code") { throw error }
    let json = try TokenResponse.object(in: response)
    guard let code = TokenResponse.token(json["device_code"]) else {
      throw Self.invalid("device_code must be a text of visible characters", response)
    }
    guard let userCode = json["user_code"]?.string,
      (1...Self.maximumUserCodeBytes).contains(userCode.utf8.count),
      userCode.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F })
    else {
      throw Self.invalid("user_code must be 1 to \(Self.maximumUserCodeBytes) printable characters", response)
    }
    // Google spells it differently.
    guard
      let address = Self.address(json["verification_uri"] ?? json["verification_url"], allowsLoopbackHTTP)
    else {
      throw Self.invalid("verification_uri must be an https address", response)
    }
    deviceCode = code
    shown = DeviceCode(
      userCode: userCode, verificationURI: address,
      // Optional (§3.2): the user can go on without it.
      verificationURIComplete: Self.address(json["verification_uri_complete"], allowsLoopbackHTTP))
    let lifetime = TokenResponse.seconds(from: json["expires_in"])
    lifetimeSeconds = lifetime > 0 ? min(lifetime, Self.maximumLifetimeSeconds) : Self.defaultLifetimeSeconds
    let interval = TokenResponse.seconds(from: json["interval"])
    intervalSeconds = interval > 0 ? min(interval, Self.maximumIntervalSeconds) : Self.defaultIntervalSeconds
  }
}

extension DeviceAuthorization {
  private static func address(_ json: JSON?, _ allowsLoopbackHTTP: Bool) -> String? {
    guard let text = json?.string, text.utf8.count <= maximumAddressBytes, let url = try? StrictURL(text)
    else { return nil }
    switch url.kind {
    case .https: return text
    case .loopbackHTTP: return allowsLoopbackHTTP ? text : nil
    case .privateScheme: return nil
    }
  }

  private static func invalid(_ text: String, _ response: HTTPResponse) -> EnrollError {
    EnrollError(.responseInvalid, "device authorization response: \(text)", httpStatus: response.status)
  }
}
