// Pushed authorization requests (RFC 9126): the parameters are sent to the provider by POST, and the browser's URL has
// only the client id and a `request_uri`. Refused: a response without a usable `request_uri`, or with one that has
// expired.

import EnrollJSON

/// Builds a push and the URL for its result.
public enum PushedAuthorizationRequest {
  /// The timeout in seconds for a push that neither the configuration nor the provider requires. The timeout is short,
  /// because a caller waits for 30 seconds by default, and must get a URL in time even if the push fails.
  package static let optionalTimeoutSeconds: Int64 = 10

  /// Whether the browser's URL may have the whole request if the push fails.
  package static func isOptional(_ configuration: Configuration, _ metadata: ProviderMetadata) -> Bool {
    configuration.pushedRequests == .auto && !metadata.requiresPushedRequests
  }

  /// The endpoint for the push; nil if the request is sent through the browser.
  /// - Throws: `.unsupported` if the configuration requires pushing and the provider has no endpoint, or the provider
  ///   requires pushing and the configuration forbids it: there is no silent downgrade.
  public static func endpoint(
    configuration: Configuration, metadata: ProviderMetadata
  ) throws(EnrollError) -> String? {
    let endpoint = metadata.pushedAuthorizationRequestEndpoint
    switch configuration.pushedRequests {
    case .never:
      guard !metadata.requiresPushedRequests else {
        throw EnrollError(
          .unsupported, "the provider requires pushed authorization requests, but pushedRequests is never",
          field: "pushedRequests")
      }
      return nil
    case .auto, .always:
      if let endpoint { return endpoint }
      guard !metadata.requiresPushedRequests, configuration.pushedRequests == .auto else {
        throw EnrollError(
          .unsupported, "the provider has no endpoint for pushed authorization requests (RFC 9126)",
          field: "pushedRequests")
      }
      return nil
    }
  }

  /// The request that pushes the parameters. They include the client's id (RFC 9126 §2.1).
  public static func make(_ request: AuthorizationRequest, endpoint: String) -> HTTPRequest {
    // The parameters are encoded as a query, which is also valid as a body.
    HTTPRequest(form: request.parameters, to: endpoint)
  }

  /// The URL that the browser opens (RFC 9126 §4).
  public static func url(
    naming requestURI: String, configuration: Configuration, metadata: ProviderMetadata
  ) -> String {
    var query = FormEncoding(.query)
    query.add("client_id", configuration.clientID.text)
    query.add("request_uri", requestURI)
    return EndpointURL.adding(query, to: metadata.authorizationEndpoint)
  }
}

/// The endpoint's response (RFC 9126 §2.2).
public struct PushedAuthorizationResponse: Equatable, Sendable {
  /// The longest `request_uri`, in bytes.
  static let maximumBytes = 2048

  /// The identifier of the pushed request. It can be used once.
  public var requestURI: String
  /// How long the provider keeps the request; nil if the provider does not say.
  public var lifetimeSeconds: Int64?

  /// Reads the endpoint's response.
  /// - Throws: `.oauth` if the provider refuses the request; `.server` for 5xx, 429 and 408; `.responseInvalid` for a
  ///   body that is not a JSON object, a `request_uri` that is missing, too long or not visible ASCII, and an
  ///   `expires_in` that is not positive.
  public init(processing response: HTTPResponse) throws(EnrollError) {
    if let error = TokenEndpointError.read(response, expecting: "a request_uri") {
      throw error
    }
    let json = try TokenResponse.object(in: response, "pushed request")
    guard let name = json["request_uri"]?.string, (1...Self.maximumBytes).contains(name.utf8.count),
      name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else {
      throw Self.invalid("request_uri must be 1 to \(Self.maximumBytes) visible characters", response)
    }
    // RFC 9126 requires `expires_in`. Without it the lifetime of the `request_uri` is unknown.
    if let lifetime = json["expires_in"], !Self.isPositive(lifetime) {
      throw Self.invalid("expires_in must be a positive number of seconds", response)
    }
    requestURI = name
    let seconds = TokenResponse.seconds(from: json["expires_in"])
    lifetimeSeconds = seconds > 0 ? seconds : nil
  }

  private static func isPositive(_ lifetime: JSON) -> Bool {
    switch lifetime {
    case .integer(let seconds): seconds > 0
    case .number(let seconds): seconds >= 1
    case .string(let text): (DecimalText.parse(text) ?? 0) > 0
    case .null, .bool, .array, .object: false
    }
  }

  private static func invalid(_ text: String, _ response: HTTPResponse) -> EnrollError {
    EnrollError(.responseInvalid, "pushed request: \(text)", httpStatus: response.status)
  }
}

/// Why a request could not be pushed.
package struct RefusedPush: Error {
  package let refusal: EnrollError
  /// Whether the request would also fail in the browser, or would begin a sign-in that fails.
  package let isFinal: Bool

  package init(refusal: EnrollError, isFinal: Bool) {
    self.refusal = refusal
    self.isFinal = isFinal
  }
}

extension HTTPResponse {
  /// Whether an endpoint refuses the redirect URI. RFC 6749 has no error code for this refusal. Most servers mention
  /// the redirect URI only in the error's description (Keycloak, node-oidc-provider); some send the error code of RFC
  /// 7591 §3.2.2.
  package var refusesRedirect: Bool {
    guard status == 400 || status == 401, let code = TokenEndpointError.oauthError(in: self) else {
      return false
    }
    if ASCII.equals(code, "invalid_redirect_uri") { return true }
    guard ASCII.equals(code, "invalid_request") else { return false }
    let description = (try? JSON.parse(body))?["error_description"]?.string ?? ""
    return ASCII.contains(Array(description.utf8), "redirect_uri")
  }
}
