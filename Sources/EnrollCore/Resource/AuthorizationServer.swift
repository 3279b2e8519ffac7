// The metadata of an authorization server that a resource named (RFC 8414 §3, OpenID Connect Discovery §4), and how an app
// becomes its client. The rules of every provider's metadata hold (ProviderMetadata): its issuer byte for byte (R18), https (R19),
// PKCE (R13).

import EnrollJSON

/// An authorization server that nobody configured, with the ways to become its client.
struct AuthorizationServer: Equatable, Sendable {
  var metadata: ProviderMetadata
  /// Where it was found; nil where a client looks by itself.
  var discoveryURI: String?
  /// `registration_endpoint` (RFC 7591 §3).
  var registrationEndpoint: String?
  /// `client_id_metadata_document_supported`: it takes the URL of a client id metadata document as a client id.
  var takesClientMetadataDocuments: Bool
  /// `token_endpoint_auth_methods_supported`; RFC 8414 §2 has a default for its absence.
  var authenticationMethods: [String]

  static let oauthName = "oauth-authorization-server"
  static let openIDName = "openid-configuration"

  /// Where its metadata may be, in the order in which it is asked: RFC 8414 §3.1, then both forms of OpenID Connect (RFC 8414 §5).
  static func locations(of issuer: Issuer) -> [String] {
    guard let url = try? StrictURL(issuer.text) else { return [] }
    let locations = [
      WellKnown.inserting(oauthName, into: url, withoutLastSlash: true),
      WellKnown.inserting(openIDName, into: url, withoutLastSlash: true),
      issuer.url(ofPath: ProviderMetadata.wellKnownPath),
    ]
    return ASCII.equals(locations[1], locations[2]) ? Array(locations[..<2]) : locations
  }

  /// - Parameter location: where it was found.
  /// - Throws: as `ProviderMetadata`.
  init(_ response: HTTPResponse, at location: String, _ probe: Configuration) throws(EnrollError) {
    metadata = try ProviderMetadata(processing: response, configuration: probe)
    // The sign-in reads the document that was looked at here, and no other of the same issuer.
    let isFirst = ProviderMetadata.urls(of: probe).first.map { ASCII.equals($0, location) } ?? false
    discoveryURI = isFirst ? nil : location
    let document = try ResourceDocument(
      response.body, "the metadata of \(Shown.url(probe.issuer.text))")
    takesClientMetadataDocuments = try document.flag("client_id_metadata_document_supported")
    authenticationMethods =
      try document.texts("token_endpoint_auth_methods_supported") ?? [ClientSecretMethod.basic.rawValue]
    guard let endpoint = document["registration_endpoint"] else { return }
    guard let text = endpoint.string else {
      throw document.wrong("registration_endpoint", "expected a string")
    }
    do throws(EnrollError) {
      try ConfiguredURL.endpoint(
        text, key: "registration_endpoint", allowsLoopbackHTTP: probe.allowsLoopbackHTTP)
    } catch {
      throw document.wrong("registration_endpoint", error.message)
    }
    registrationEndpoint = text
  }

  /// A configuration of that issuer, to read its metadata by: nothing of it is sent.
  /// - Throws: `.configuration` for a server that serves no apps.
  static func probe(_ issuer: Issuer, allowsLoopbackHTTP: Bool) throws(EnrollError) -> Configuration {
    try Configuration(
      issuer: issuer.text, clientID: "-", redirectURI: "http://127.0.0.1/", scopes: [],
      allowsLoopbackHTTP: allowsLoopbackHTTP)
  }
}
