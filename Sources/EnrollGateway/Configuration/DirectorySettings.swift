// The part of the configuration about the directory: where users who register by e-mail are stored, the gateway's credentials
// there, and the provider that signs in the directory's users. Refused: a URL with a query, http to another machine, two kinds
// of credentials, a provider that is not configured.

import EnrollRules
import EnrollCrypto
import EnrollJSON

/// The settings of the directory.
public struct DirectorySettings: Sendable {
  public enum Kind: String, Sendable, CaseIterable {
    /// The gateway's own tables.
    case own
    /// A SCIM directory (RFC 7644).
    case scim
    /// Okta's APIs.
    case okta
  }

  public let kind: Kind
  /// The directory's URL without a slash at its end; empty for the gateway's own tables.
  public let url: String
  /// The kind of the gateway's credentials at the directory; nil for the gateway's own tables.
  public let credentials: DirectoryCredentials.Kind?
  public let lookup: [SCIMLookup]
  /// The path of a file with PEM certificates to trust instead of the system's certificates.
  public let caFile: String?
  /// Whether http to this machine is allowed.
  public let allowsLoopbackHTTP: Bool
  /// The name of the provider that signs in the directory's users.
  public let provider: String?
  /// The permitted values of `fromURI`. The query of `fromURI` is ignored; the rest must be identical.
  let fromURIs: [StrictURL]

  static let keys: [ConfigurationKey] = [
    ConfigurationKey(
      "kind", .oneOf(Kind.allCases.map { $0.rawValue }), required: true,
      "own for the gateway's own tables, scim for a SCIM 2.0 directory, okta for Okta's APIs."),
    ConfigurationKey(
      "url", .url,
      "The directory's URL: with scim the parent of /Users, with okta the organization's URL. Required except for own."
    ),
    ConfigurationKey(
      "token", .text, secret: true,
      "The bearer token for scim, or the API token for okta. Use tokenFile, the path of a file, instead."),
    ConfigurationKey(
      "tokenUri", .url,
      "With scim, instead of a token: the token endpoint that issues one to clientId (client credentials)."),
    ConfigurationKey("clientId", .text, "With tokenUri: the gateway's client id."),
    ConfigurationKey(
      "clientSecret", .text, secret: true,
      "With tokenUri: the client's secret. Use clientSecretFile, the path of a file, instead."),
    ConfigurationKey("scope", .text, "With tokenUri: the scopes to request, separated by spaces."),
    ConfigurationKey(
      "lookup", .list(.oneOf(SCIMLookup.allCases.map { $0.rawValue })),
      "With scim: the attributes by which to look a user up, in order. userName and emails by default."),
    ConfigurationKey(
      "provider", .text,
      "The name of the entry in providers that signs in the users stored in this directory. Required with okta."
    ),
    ConfigurationKey(
      "fromUris", .list(.url),
      "With okta: the URLs that fromURI may have, up to the query. The authorization endpoint of the provider's issuer by default."
    ),
    ConfigurationKey("caFile", .text, "PEM certificates to trust instead of the system's."),
  ]

  /// Reads the settings from JSON.
  /// - Parameters:
  ///   - providers: the configured providers.
  ///   - isDevelopment: whether http to this machine is allowed.
  /// - Throws: `.configuration`; `field` is the invalid key.
  init(json: JSON, providers: [GatewaySettings.Provider], isDevelopment: Bool) throws(EnrollError) {
    let reader = try ConfigurationReader(json, keys: Self.keys, path: "directory")
    kind = reader.text("kind").flatMap { Kind(rawValue: $0) } ?? .own
    caFile = reader.text("caFile")
    allowsLoopbackHTTP = isDevelopment
    let lookup = (reader.texts("lookup") ?? []).compactMap { SCIMLookup(rawValue: $0) }
    self.lookup = lookup.isEmpty ? SCIMLookup.allCases : lookup
    if kind == .own {
      for key in Self.keys where reader.value(key.name) != nil && key.name != "kind" {
        throw Self.refusal(key.name, "the gateway's own directory does not take it; leave it out")
      }
      (url, credentials, provider, fromURIs) = ("", nil, nil, [])
      return
    }
    url = try Self.address(reader.text("url"), "url", isDevelopment)
    credentials = try Self.credentials(reader, kind, isDevelopment)
    provider = reader.text("provider")
    let signInProvider = provider.flatMap { name in providers.first { ASCII.equals($0.name, name) } }
    guard provider == nil || signInProvider != nil else {
      throw Self.refusal("provider", "expected the name of one of the providers")
    }
    guard kind == .okta else {
      guard reader.value("fromUris") == nil else { throw Self.refusal("fromUris", "only okta takes it") }
      fromURIs = []
      return
    }
    guard let signInProvider else {
      throw Self.refusal("provider", "expected the name of the provider whose sessions the directory begins")
    }
    guard reader.value("lookup") == nil else { throw Self.refusal("lookup", "only scim takes it") }
    let issuer = signInProvider.configuration.issuer.text
    var addresses: [StrictURL] = []
    for text in reader.texts("fromUris") ?? [Self.authorizeAddress(ofIssuer: issuer)] {
      addresses.append(try Self.fromAddress(text, issuer: issuer))
    }
    fromURIs = addresses
  }
}

extension DirectorySettings {
  private static func refusal(_ field: String, _ text: String) -> EnrollError {
    EnrollError(.configuration, "directory.\(field): \(text)", field: "directory.\(field)")
  }

  /// Checks a URL: accepts https, or http to this machine, and removes a slash at the end.
  private static func address(
    _ text: String?, _ field: String, _ isDevelopment: Bool
  ) throws(EnrollError) -> String {
    guard let text, let url = try? StrictURL(text), url.query == nil, !url.hadFragment,
      url.kind == .https || url.kind == .loopbackHTTP && isDevelopment
    else {
      throw refusal(
        field, "expected an https address without a query; http on this machine needs allowLoopbackHttp")
    }
    return text.utf8.last == 0x2F ? String(decoding: text.utf8.dropLast(), as: UTF8.self) : text
  }

  private static func credentials(
    _ reader: ConfigurationReader, _ kind: Kind, _ isDevelopment: Bool
  ) throws(EnrollError) -> DirectoryCredentials.Kind {
    let token = reader.text("token")
    let client = ["tokenUri", "clientId", "clientSecret", "scope"].filter { reader.value($0) != nil }
    if let token {
      guard isToken(token) else {
        throw refusal("token", "expected 1 to 4096 visible characters on one line")
      }
      guard client.isEmpty else { throw refusal(client[0], "expected either a token or a client, not both") }
      return kind == .okta ? .ssws(Secret(token)) : .bearer(Secret(token))
    }
    guard kind == .scim, !client.isEmpty else {
      throw refusal("token", "expected tokenFile, the path of a file with the directory's token")
    }
    guard let id = reader.text("clientId"), let secret = reader.text("clientSecret"), !id.utf8.isEmpty,
      !secret.utf8.isEmpty
    else { throw refusal("clientId", "expected clientId and clientSecretFile beside tokenUri") }
    return .client(
      DirectoryCredentials.Client(
        tokenURI: try address(reader.text("tokenUri"), "tokenUri", isDevelopment), id: id,
        secret: Secret(secret), scope: reader.text("scope")))
  }

  private static func isToken(_ text: String) -> Bool {
    (1...4096).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  /// The URL of Okta's authorization endpoint, for a custom authorization server or for the organization itself.
  static func authorizeAddress(ofIssuer issuer: String) -> String {
    let url = try? StrictURL(issuer)
    let path = url.map { $0.text($0.path) } ?? ""
    return issuer + (path.utf8.starts(with: "/oauth2/".utf8) ? "/v1/authorize" : "/oauth2/v1/authorize")
  }

  private static func fromAddress(_ text: String, issuer: String) throws(EnrollError) -> StrictURL {
    guard let url = try? StrictURL(text), let issuer = try? StrictURL(issuer), url.query == nil,
      !url.hadFragment, url.kind == issuer.kind, ASCII.equals(url.shownOrigin, issuer.shownOrigin)
    else {
      throw refusal("fromUris", "expected addresses of the provider's issuer, without a query")
    }
    return url
  }
}
