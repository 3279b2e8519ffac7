// The request for a code that the user types in a browser on another device (RFC 8628 §3.1, §3.2). Pure. Options for a
// browser on this device are refused, and so are URLs that are neither https nor allowed loopback URLs (R19).

package import EnrollCrypto
import EnrollJSON

/// The response of the device authorization endpoint.
package struct DeviceAuthorization {
  package var deviceCode: Secret
  package var shown: DeviceCode
  package var lifetimeSeconds: Int64
  package var intervalSeconds: Int64

  /// The interval between polls if the response has no interval (RFC 8628 §3.2).
  static let defaultIntervalSeconds: Int64 = 5
  package static let maximumIntervalSeconds: Int64 = 300
  /// The lifetime if `expires_in` cannot be read (R32).
  static let defaultLifetimeSeconds: Int64 = 600
  static let maximumLifetimeSeconds: Int64 = 86_400
  /// Length limits with which each text, followed by a NUL, fits into its array in the C interface.
  static let maximumUserCodeBytes = 63
  static let maximumAddressBytes = 511

  /// - Throws: `.unsupported` if the provider has no device authorization endpoint; `.invalidArgument` for an option
  ///   that cannot be sent.
  package static func request(
    _ configuration: Configuration, _ metadata: ProviderMetadata, _ options: SignInOptions, scopes: [String],
    challenge: String
  ) throws(EnrollError) -> HTTPRequest {
    guard let endpoint = metadata.deviceAuthorizationEndpoint else {
      throw EnrollError(
        .unsupported, "the provider announces no device authorization endpoint (RFC 8628)", field: "kind")
    }
    try options.check(sending: scopes)
    try options.requireNoBrowser(because: "the device grant has no such parameter (RFC 8628 §3.1)")
    var form = FormEncoding(.body)
    if !scopes.isEmpty { form.add("scope", Scopes.joined(scopes)) }
    configuration.addResources(to: &form)
    form.add("code_challenge", challenge)
    form.add("code_challenge_method", PKCE.challengeMethod)
    for (name, value) in options.parameters {
      try ResourceIdentifier.requireUnset(name, configuration)
      form.add(name, value)
    }
    // The form has the client id even if the client authenticates in the header, because django-oauth-toolkit reads the
    // client id only from the form.
    form.add("client_id", configuration.clientID.text)
    return HTTPRequest(form: form, to: endpoint)
  }

  /// - Throws: `.oauth`, `.server`, `.responseInvalid`.
  package init(processing response: HTTPResponse, allowsLoopbackHTTP: Bool) throws(EnrollError) {
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
    // Google calls the member `verification_url`.
    guard
      let address = Self.address(json["verification_uri"] ?? json["verification_url"], allowsLoopbackHTTP)
    else {
      throw Self.invalid("verification_uri must be an https address", response)
    }
    deviceCode = code
    shown = DeviceCode(
      userCode: userCode, verificationURI: address,
      // `verification_uri_complete` is optional (§3.2): the user can continue without it.
      verificationURIComplete: Self.address(json["verification_uri_complete"], allowsLoopbackHTTP))
    let lifetime = TokenResponse.seconds(from: json["expires_in"])
    lifetimeSeconds = lifetime > 0 ? min(lifetime, Self.maximumLifetimeSeconds) : Self.defaultLifetimeSeconds
    let interval = TokenResponse.seconds(from: json["interval"])
    intervalSeconds = interval > 0 ? min(interval, Self.maximumIntervalSeconds) : Self.defaultIntervalSeconds
  }
}

extension DeviceAuthorization {
  /// If the interval is longer than the code's lifetime, the first poll is sent this long before the code expires.
  private static let lastPollSeconds: Int64 = 10

  /// The pause before the first poll: the interval. If the code would expire during that pause, the first poll is the
  /// only one, and is sent shortly before the code expires.
  package var firstPollSeconds: Int64 {
    guard intervalSeconds >= lifetimeSeconds else { return intervalSeconds }
    return max(lifetimeSeconds - Self.lastPollSeconds, lifetimeSeconds / 2)
  }

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

extension TransactionRecord {
  /// The device data for a poll, if one is due; else nil.
  package func duePoll(at moment: Moment) -> Device? {
    guard isLive(at: moment), case .device(let device?) = flow, device.notBefore.isOver(at: moment) else {
      return nil
    }
    return device
  }
}
