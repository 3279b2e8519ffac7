// Pushed authorization requests (RFC 9126): the parameters go to the provider by POST, and the browser's URL carries
// only the client's id and a name for them. Refused: an answer without a usable name, or with one that is over already.

import EnrollJSON

/// The rules of one push.
public enum PushedAuthorizationRequest {
  /// Where to push; nil when the request goes through the browser.
  /// - Throws: `.unsupported` when the configuration wants what the provider does not have, or the provider what the
  ///   configuration rules out: neither is downgraded silently.
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

  /// RFC 9126 §2.1: the client's id is among the parameters.
  public static func make(
    _ request: AuthorizationRequest, endpoint: String, from client: ClientAuthentication
  ) -> HTTPRequest {
    // Written as a query, which reads the same as a body.
    client.request(request.parameters, to: endpoint, namesClient: true)
  }

  /// RFC 9126 §4: what the browser opens.
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
  /// Bytes of a name.
  static let maximumBytes = 2048

  /// Names the request; to be used once.
  public var requestURI: String

  /// - Throws: `.oauth` when the provider refuses the request; `.server` for 5xx, 429 and 408; `.responseInvalid` for
  ///   what is not JSON, a `request_uri` that is missing or not visible ASCII, and one that is over already.
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
    // Required by RFC 9126; without it there is nothing to hold the name against.
    if let lifetime = json["expires_in"], !Self.isPositive(lifetime) {
      throw Self.invalid("expires_in must be a positive number of seconds", response)
    }
    requestURI = name
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
