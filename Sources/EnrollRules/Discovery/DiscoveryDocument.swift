// The members of a discovery document, with checked types (OpenID Connect Discovery §3, §4.2).

import EnrollJSON

/// A discovery document that is a JSON object; its members are not checked yet.
struct DiscoveryDocument {
  private let object: JSONObject
  private let allowsLoopbackHTTP: Bool
  /// ``ProviderPreset/advice(for:)``.
  private let advice: String
  /// The faults of optional members. These members count as absent.
  private(set) var unusable: [EnrollError] = []

  /// - Throws: `.server` for 5xx, 429 and 408; `.responseInvalid`, with the configured issuer, for another status and
  ///   for a body that is not a JSON object.
  init(_ response: HTTPResponse, configuration: Configuration) throws(EnrollError) {
    let status = response.status
    let field = configuration.discoveryURI == nil ? "issuer" : "discoveryUri"
    guard status == 200 else {
      if status == 408 || status == 429 || status >= 500 {
        throw EnrollError(
          .server,
          "expected the discovery document, got status \(status)\(response.place)\(RetryAfter.words(of: response))",
          httpStatus: status, retryAfterSeconds: RetryAfter.seconds(of: response))
      }
      throw EnrollError(
        .responseInvalid, Self.mismatch("status \(status)", configuration), field: field, httpStatus: status)
    }
    do throws(JSONError) {
      let json = try JSON.parse(response.body)
      guard let object = json.object else { throw JSONError("expected an object, got \(json.kind)") }
      self.object = object
    } catch {
      throw EnrollError(
        .responseInvalid, Self.mismatch("no JSON object", configuration) + ". Reading it failed: ", error,
        field: field)
    }
    allowsLoopbackHTTP = configuration.allowsLoopbackHTTP
    advice = ProviderPreset.advice(for: configuration)
  }

  /// The message of an error, which says what was expected, what was received, and what the developer should check.
  private static func mismatch(_ got: String, _ configuration: Configuration) -> String {
    "expected the discovery document of \(PrintableText.bounded(configuration.issuer.text, maximumBytes: 200)) "
      + "at \(place(configuration)), got \(got): check "
      + (configuration.discoveryURI == nil ? "the issuer" : "discoveryUri")
      + ProviderPreset.advice(for: configuration)
  }

  private static func place(_ configuration: Configuration) -> String {
    configuration.discoveryURI.map { PrintableText.bounded($0, maximumBytes: 200) }
      ?? "its \(ProviderMetadata.wellKnownPath)"
  }

  func text(_ name: String) throws(EnrollError) -> String {
    guard let text = object[name]?.string else { throw wrong(name, "expected a string") }
    return text
  }

  /// Whether the document has a member that only OpenID Connect defines, or lists the scope `openid`.
  var speaksOfOpenIDConnect: Bool {
    let members = ["id_token_signing_alg_values_supported", "subject_types_supported", "userinfo_endpoint"]
    return members.contains { object[$0] != nil }
      || Scopes.contains("openid", in: ((try? texts("scopes_supported")) ?? nil) ?? [])
  }

  /// The texts of a member that is a list; nil if the member is absent or `null`.
  func texts(_ name: String) throws(EnrollError) -> [String]? {
    guard let json = object[name], !json.isNull else { return nil }
    guard let array = json.array else { throw wrong(name, "expected an array") }
    var texts: [String] = []
    for item in array {
      guard let text = item.string else { throw wrong(name, "expected an array of strings") }
      texts.append(text)
    }
    return texts
  }

  /// The value of a boolean member; false if the member is absent or `null`.
  func flag(_ name: String) throws(EnrollError) -> Bool {
    guard let json = object[name], !json.isNull else { return false }
    guard let flag = json.bool else { throw wrong(name, "expected true or false") }
    return flag
  }

  /// The URL of an endpoint. It must be https, or http to a loopback address if the configuration allows that (R19).
  /// - Parameter own: the configured endpoint, which replaces the announced endpoint.
  func endpoint(_ name: String, unless own: String?) throws(EnrollError) -> String {
    if let own { return own }
    guard let text = try endpointIfPresent(name) else {
      throw wrong(name, "it is missing; if the provider has one, configure it in endpoints" + advice)
    }
    return text
  }

  /// An endpoint that a sign-in does not need. If the endpoint cannot be used, the result is nil and ``unusable`` has
  /// the reason.
  mutating func optionalEndpoint(_ name: String) -> String? {
    do throws(EnrollError) {
      return try endpointIfPresent(name)
    } catch {
      unusable.append(error)
      return nil
    }
  }

  /// Like ``texts(_:)``, for a member that a sign-in does not need. If the member cannot be used, the result is nil and
  /// ``unusable`` has the reason.
  mutating func optionalTexts(_ name: String) -> [String]? {
    do throws(EnrollError) {
      return try texts(name)
    } catch {
      unusable.append(error)
      return nil
    }
  }

  /// The methods for sending a client secret, taken from the document's list of authentication methods.
  /// - Parameter usual: the result if the document has no such list.
  mutating func secretMethods(_ name: String, or usual: [ClientSecretMethod] = []) -> [ClientSecretMethod] {
    optionalTexts(name)?.compactMap { ClientSecretMethod(rawValue: $0) } ?? usual
  }

  private func endpointIfPresent(_ name: String) throws(EnrollError) -> String? {
    guard let json = object[name], !json.isNull else { return nil }
    guard let text = json.string else { throw wrong(name, "expected a string") }
    let url: StrictURL
    do throws(StrictURL.Refusal) { url = try StrictURL(text) } catch {
      throw wrong(name, error.serverText)
    }
    guard !url.hadFragment else { throw wrong(name, "an endpoint has no fragment") }
    switch url.kind {
    case .https: return text
    case .loopbackHTTP where allowsLoopbackHTTP: return text
    case .loopbackHTTP: throw wrong(name, "http to loopback needs allowLoopbackHTTP")
    case .privateScheme: throw wrong(name, "expected https")
    }
  }

  private func wrong(_ name: String, _ text: String) -> EnrollError {
    EnrollError(.responseInvalid, "discovery document, \(name): \(text)", field: name)
  }
}
