import EnrollRules
import EnrollJSON
import Expectations
import Testing

@Suite("Discovery (OpenID Connect Discovery §4)")
struct ProviderMetadataTests {
  private func configuration(_ issuer: String = Fixture.issuer, loopback: Bool = false) throws
    -> Configuration
  {
    try Configuration(
      issuer: issuer, clientID: "c", redirectURI: "com.example.app:/cb"
    ) {
      $0.allowsLoopbackHTTP = loopback
    }
  }

  private func document(_ changes: [(String, JSON?)] = []) -> HTTPResponse {
    var object = JSONObject([
      ("issuer", .string(Fixture.issuer)), ("authorization_endpoint", .string("https://id.example.com/a")),
      ("token_endpoint", .string("https://id.example.com/t")),
      ("jwks_uri", .string("https://keys.example.com/j")),
    ])
    for (key, value) in changes { object[key] = value }
    return HTTPResponse(status: 200, body: JSON.object(object).serialized())
  }

  @Test(
    "the document's address keeps the issuer's path",
    arguments: [
      ("https://id.example.com", "https://id.example.com/.well-known/openid-configuration"),
      ("https://id.example.com/", "https://id.example.com/.well-known/openid-configuration"),
      (
        "https://id.example.com:8443/oauth2/default",
        "https://id.example.com:8443/oauth2/default/.well-known/openid-configuration"
      ),
    ])
  func address(issuer: String, url: String) throws {
    let request = ProviderMetadata.request(ProviderMetadata.urls(of: try configuration(issuer))[0])
    expect(request.url, is: url)
    expect(request.method, is: .get)
    #expect(!request.headers.contains { $0.name == "If-None-Match" })
  }

  @Test("a known tag is sent for revalidation, one that could break a header is not")
  func tag() throws {
    let configuration = try configuration()
    let request = ProviderMetadata.request(ProviderMetadata.urls(of: configuration)[0], knownTag: "\"v1\"")
    expect(request.headers.last, is: HTTPHeader("If-None-Match", "\"v1\""))
    let bad = ProviderMetadata.request(ProviderMetadata.urls(of: configuration)[0], knownTag: "a\r\nX: y")
    expect(bad.headers.count, is: 1)
  }

  @Test("endpoints and abilities are read")
  func facts() throws {
    let texts = JSON.array([.string("S256"), .string("plain")])
    let metadata = try ProviderMetadata(
      processing: document([
        ("userinfo_endpoint", .string("https://id.example.com/u")),
        ("revocation_endpoint", .string("https://id.example.com/r")),
        ("end_session_endpoint", .string("https://id.example.com/e?x=1")),
        ("introspection_endpoint", .null), ("code_challenge_methods_supported", texts),
        ("authorization_response_iss_parameter_supported", .bool(true)),
        ("prompt_values_supported", .array([.string("create")])),
        ("dpop_signing_alg_values_supported", .array([.string("ES256")])),
        ("pushed_authorization_request_endpoint", .string("https://id.example.com/p")),
        ("unknown", .object([("a", .null)])),
      ]), configuration: try configuration())
    expect(metadata.authorizationEndpoint, is: "https://id.example.com/a")
    expect(metadata.tokenEndpoint, is: "https://id.example.com/t")
    expect(metadata.jwksURI, is: "https://keys.example.com/j")
    expect(metadata.userinfoEndpoint, is: "https://id.example.com/u")
    expect(metadata.revocationEndpoint, is: "https://id.example.com/r")
    expect(metadata.endSessionEndpoint, is: "https://id.example.com/e?x=1")
    expect(metadata.introspectionEndpoint, is: nil)
    expect(metadata.pushedAuthorizationRequestEndpoint, is: "https://id.example.com/p")
    #expect(metadata.announcesIssuerInRedirect)
    #expect(!metadata.requiresPushedRequests)
    expect(metadata.dpopAlgorithms, is: ["ES256"])
    expect(metadata.promptValues, is: ["create"])
  }

  @Test(
    "an issuer that is not the configured one, byte for byte, is refused (R18)",
    arguments: [
      "https://id.example.com/", "https://ID.example.com", "https://id.example.com:443",
      "http://id.example.com",
      "https://id.example.co", "",
    ])
  func issuer(text: String) throws {
    let configuration = try configuration()
    let error = refusal {
      try ProviderMetadata(processing: document([("issuer", .string(text))]), configuration: configuration)
    }
    expect(error?.code, is: .issuerMismatch)
  }

  @Test("canonically equal text is another issuer (R18)")
  func canonicalEquivalence() throws {
    // "é" as one scalar and as two scalars. Swift considers the two strings equal.
    let configuration = try configuration("https://id.example.com/%C3%A9")
    let error = refusal {
      try ProviderMetadata(
        processing: document([("issuer", .string("https://id.example.com/e\u{301}"))]),
        configuration: configuration)
    }
    expect(error?.code, is: .issuerMismatch)
  }

  static let refused: [(String, JSON?, EnrollError.Code)] = [
    ("token_endpoint", nil, .responseInvalid), ("authorization_endpoint", nil, .responseInvalid),
    ("jwks_uri", nil, .responseInvalid), ("jwks_uri", .integer(1), .responseInvalid),
    ("token_endpoint", .string("http://id.example.com/t"), .responseInvalid),
    ("token_endpoint", .string("http://127.0.0.1/t"), .responseInvalid),
    ("token_endpoint", .string("https://id.example.com/t#"), .responseInvalid),
    ("token_endpoint", .string("https://u@id.example.com/t"), .responseInvalid),
    ("token_endpoint", .string("com.example.app:/t"), .responseInvalid),
    ("authorization_response_iss_parameter_supported", .string("true"), .responseInvalid),
    ("code_challenge_methods_supported", .array([.string("plain")]), .unsupported),
    ("code_challenge_methods_supported", .array([]), .unsupported),
  ]

  @Test("what is missing, malformed or not https is refused by name (R13, R19)", arguments: refused)
  func members(name: String, value: JSON?, code: EnrollError.Code) throws {
    let configuration = try configuration()
    let error = refusal {
      try ProviderMetadata(processing: document([(name, value)]), configuration: configuration)
    }
    expect(error?.code, is: code)
    expect(error?.field, is: name)
  }

  @Test(
    "an endpoint that is not https is told so, and nothing about the schemes of apps",
    arguments: ["id.example.com/t", "/t", "ftp://id.example.com/t", "com.example.app:/t", "app:/t"])
  func endpointWords(text: String) throws {
    let configuration = try configuration()
    let error = refusal {
      try ProviderMetadata(
        processing: document([("token_endpoint", .string(text))]), configuration: configuration)
    }
    let message = error?.message ?? ""
    #expect(message.contains("expected") && message.contains("https"), "\(message)")
    #expect(!message.contains("private"), "\(message)")
  }

  @Test(
    "an optional member that cannot be used counts as not announced",
    arguments: [
      ("userinfo_endpoint", .string("/u")), ("revocation_endpoint", .bool(true)),
      ("end_session_endpoint", .string("http://id.example.com/out")),
      ("prompt_values_supported", .string("create")),
      ("prompt_values_supported", .array([.null])), ("dpop_signing_alg_values_supported", .integer(1)),
    ] as [(String, JSON)])
  func unusable(name: String, value: JSON) throws {
    let metadata = try ProviderMetadata(
      processing: document([(name, value)]), configuration: try configuration())
    expect(metadata.unusable.map(\.field), is: [name])
    #expect(metadata.userinfoEndpoint == nil || name != "userinfo_endpoint")
    #expect(metadata.revocationEndpoint == nil || name != "revocation_endpoint")
    #expect(metadata.endSessionEndpoint == nil || name != "end_session_endpoint")
    #expect(metadata.promptValues == nil || name != "prompt_values_supported")
    #expect(metadata.dpopAlgorithms.isEmpty)
  }

  @Test("loopback endpoints need the switch (R19)")
  func loopback() throws {
    let local = [("token_endpoint", JSON?.some(.string("http://localhost:4593/t")))]
    let strict = try configuration()
    expect(refusal { try ProviderMetadata(processing: document(local), configuration: strict) }, isNot: nil)
    let open = try configuration(loopback: true)
    expect(refusal { try ProviderMetadata(processing: document(local), configuration: open) }, is: nil)
  }

  @Test("no document, no metadata: the status decides whose fault it is")
  func statuses() throws {
    let configuration = try configuration()
    func error(_ response: HTTPResponse) -> EnrollError? {
      refusal { try ProviderMetadata(processing: response, configuration: configuration) }
    }
    let absent = error(HTTPResponse(status: 404))
    expect(absent?.code, is: .responseInvalid)
    expect(absent?.field, is: "issuer")
    #expect(absent?.message.contains(configuration.issuer.text) ?? false)
    expect(error(HTTPResponse(status: 302))?.code, is: .responseInvalid)
    let busy = error(HTTPResponse(status: 503, headers: [HTTPHeader("Retry-After", "7")]))
    expect(busy?.code, is: .server)
    expect(busy?.retryAfterSeconds, is: 7)
    expect(error(Fixture.json("[]"))?.code, is: .responseInvalid)
    let page = error(Fixture.json("<html>"))
    #expect(page?.code == .responseInvalid && page?.field == "issuer")
    #expect(page?.message.contains(configuration.issuer.text) ?? false)
    #expect(page?.message.contains("check the issuer") ?? false)
    expect(error(Fixture.json(#"{"issuer":"a","issuer":"b"}"#))?.code, is: .responseInvalid)
  }
}
