@testable import EnrollRules
@testable import EnrollSteps
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@Suite("From a resource to its server (RFC 9728, RFC 8414)")
struct ResourceDiscoveryTests {
  private let web = Published.web()

  private func discover(
    _ resource: String = Published.resource, issuer: String? = nil, challenge: String? = nil,
    loopback: Bool = false
  ) throws -> ResourceDiscovery {
    try ResourceDirectory(transport: web, clock: FakeClock(), allowsLoopbackHTTP: loopback)
      .discover(resource, issuer: issuer, challenge: challenge)
  }

  private func code(_ resource: String = Published.resource) -> EnrollError.Code? {
    refusal { try discover(resource) }?.code
  }

  private func failure(_ resource: String = Published.resource, issuer: String? = nil) throws -> EnrollError {
    try #require(refusal { try discover(resource, issuer: issuer) })
  }

  @Test("the resource's metadata names the server, whose metadata says what it can do")
  func found() throws {
    let found = try discover()
    expect(found.resource, is: Published.resource)
    expect(found.metadataURI, is: Published.location)
    expect(found.issuer, is: Published.issuer)
    expect(found.authorizationServers, is: [Published.issuer])
    expect(found.authorizationEndpoint, is: "https://id.example/authorize")
    expect(found.scopes, is: ["mcp:read"])
    expect(found.name, is: "Notes")
    #expect(found.canRegister)
    #expect(!found.takesClientMetadataDocuments)
  }

  @Test("two public documents are asked for, and nothing is sent with the requests")
  func requests() throws {
    _ = try discover()
    expect(web.urls, is: [Published.location, Published.server])
    for request in web.requests {
      expect(request.method, is: .get)
      expect(
        request.headers,
        is: [HTTPHeader("Accept", "application/json"), HTTPHeader("User-Agent", "EnrollKit")])
      #expect(request.body.isEmpty)
    }
  }

  @Test(
    "the well-known name stands between host and path (RFC 9728 §3.1)",
    arguments: [
      ("https://a.example", "https://a.example/.well-known/oauth-protected-resource"),
      ("https://a.example/", "https://a.example/.well-known/oauth-protected-resource"),
      ("https://a.example:8443/x/y/", "https://a.example:8443/.well-known/oauth-protected-resource/x/y/"),
      ("https://a.example/x?y=z", "https://a.example/.well-known/oauth-protected-resource/x?y=z"),
      ("https://a.example?y=z", "https://a.example/.well-known/oauth-protected-resource?y=z"),
    ])
  func location(resource: String, location: String) throws {
    web.publish(location, Published.metadata(resource))
    try expect(discover(resource).metadataURI, is: location)
  }

  @Test(
    "a server's metadata is looked for in three places (RFC 8414 §3.1, §5)",
    arguments: [
      ("https://id.example", 0, Published.server),
      ("https://id.example", 1, "https://id.example/.well-known/openid-configuration"),
      ("https://id.example/t/", 0, "https://id.example/.well-known/oauth-authorization-server/t"),
      ("https://id.example/t", 0, "https://id.example/.well-known/oauth-authorization-server/t"),
      ("https://id.example/t", 1, "https://id.example/.well-known/openid-configuration/t"),
      ("https://id.example/t", 2, "https://id.example/t/.well-known/openid-configuration"),
    ])
  func server(issuer: String, place: Int, location: String) throws {
    web.forget(Published.server)
    web.publish(Published.location, Published.metadata(servers: [issuer]))
    web.publish(location, Published.serverMetadata(issuer))
    try expect(discover().issuer, is: issuer)
    expect(web.urls.count, is: place + 2)
    expect(web.urls.last, is: location)
  }

  // MARK: Other ways to the metadata

  private let hostsLocation = "https://api.example/.well-known/oauth-protected-resource"

  @Test("without metadata of its own the resource may be described by its host's, if that names it")
  func host() throws {
    web.forget(Published.location)
    web.publish(hostsLocation, Published.metadata())
    try expect(discover().metadataURI, is: hostsLocation)
    try expect(discover().resource, is: Published.resource)
    // A resource whose URL is a prefix of this URL is another resource.
    web.publish(hostsLocation, Published.metadata("https://api.example/m"))
    let error = try failure()
    expect(error.code, is: .responseInvalid)
    #expect(error.message.contains("https://api.example/m,"))
    #expect(error.message.contains(Published.resource))
  }

  @Test(
    "the host's own metadata may name the host, which is then what tokens are for (R42)",
    arguments: ["https://api.example", "https://api.example/", "https://API.example:443/"])
  func wholeHost(named: String) throws {
    web.forget(Published.location)
    web.publish(hostsLocation, Published.metadata(named))
    let found = try discover()
    expect(found.resource, is: named)
    expect(found.url, is: Published.resource)
    // Some servers publish the metadata at each of these URLs.
    web.publish(Published.location, Published.metadata(named))
    try expect(discover().metadataURI, is: hostsLocation)
  }

  @Test("only at the host's own place: elsewhere somebody else at the host could name it (R42)")
  func wholeHostElsewhere() throws {
    web.publish(Published.location, Published.metadata("https://api.example"))
    expect(code(), is: .responseInvalid)
    challenge(#"Bearer resource_metadata="https://api.example/tenant/meta""#)
    web.publish("https://api.example/tenant/meta", Published.metadata("https://api.example"))
    expect(code(), is: .responseInvalid)
    for other in [
      "https://api.example?a=b", "https://api.example#f", "https://evil.example", "http://api.example",
    ] {
      web.publish(hostsLocation, Published.metadata(other))
      expect(code(), is: .responseInvalid)
    }
  }

  // MARK: Challenges

  @Test("a challenge that the host met says where the metadata is, and nobody else is asked")
  func handedIn() throws {
    web.publish("https://api.example/odd", Published.metadata())
    let found = try discover(
      challenge: #"Basic realm="x", Bearer resource_metadata="https://api.example/odd""#)
    expect(found.metadataURI, is: "https://api.example/odd")
    expect(web.urls, is: ["https://api.example/odd", Published.server])
    try expect(
      #require(
        refusal { try discover(challenge: #"Bearer resource_metadata="https://evil.example/""#) }
      ).field, is: "resource_metadata")
    #expect(!web.urls.contains("https://evil.example/"))
  }

  @Test("a challenge without an address leaves the usual places, and one that is none is refused")
  func handedInAlone() throws {
    try expect(discover(challenge: "Bearer").metadataURI, is: Published.location)
    let error = try #require(refusal { try discover(challenge: #"Bearer realm="a"#) })
    expect(error.code, is: .invalidArgument)
    expect(error.field, is: "challenge")
  }

  @Test(
    "the scopes of a challenge win over those that the resource lists",
    arguments: [
      (#"Bearer scope="notes:read notes:write""#, ["notes:read", "notes:write"]),
      (#"Bearer scope="a b", DPoP scope="b c""#, ["a", "b", "c"]),
      (#"Bearer scope="""#, ["mcp:read"]), (#"Basic scope="a""#, ["mcp:read"]), ("Bearer", ["mcp:read"]),
    ])
  func challengedScopes(header: String, scopes: [String]) throws {
    try expect(discover(challenge: header).scopes, is: scopes)
  }

  @Test(
    "the scopes after a challenge are its own; after insufficient_scope they are added to the earlier ones",
    arguments: [
      (#"Bearer scope="b""#, ["b", "openid", "offline_access"]),
      (#"Bearer error="insufficient_scope", scope="b""#, ["a", "openid", "offline_access", "b"]),
      (#"Bearer error="insufficient_scope""#, ["a", "openid", "offline_access"]),
    ])
  func scopesAfter(header: String, scopes: [String]) throws {
    let challenge = try ResourceChallenge(header: header)
    expect(challenge.scopes(after: ["a", "openid", "offline_access"]), is: scopes)
  }

  @Test(
    "a resource that takes a token with a proof only wants tokens that are bound to a key",
    arguments: [
      (#"DPoP algs="ES256", scope="a""#, true), (#"dpop error="invalid_token""#, true),
      (#"Bearer scope="a", DPoP algs="ES256""#, false), ("Bearer", false), ("Basic", false),
    ])
  func boundTokens(header: String, isBound: Bool) throws {
    try expect(discover(challenge: header).requiresDPoP, is: isBound)
  }

  @Test(
    "a resource that answers 404 or 405 to a reader is asked as its clients ask", arguments: [404, 405, 401])
  func postOnly(status: Int) throws {
    web.forget(Published.location)
    web.answer(Published.resource) { request in
      guard request.method == .post else { return HTTPResponse(status: status) }
      let header = #"Bearer scope="w", resource_metadata="https://api.example/odd""#
      return HTTPResponse(status: 401, headers: [HTTPHeader("WWW-Authenticate", header)])
    }
    web.publish("https://api.example/odd", Published.metadata())
    let found = try discover()
    expect(found.metadataURI, is: "https://api.example/odd")
    expect(found.scopes, is: ["w"])
    let sent = try #require(web.requests.first { $0.method == .post })
    expect(String(decoding: sent.body, as: UTF8.self), is: #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
    #expect(!sent.headers.contains { $0.name == "Authorization" })
  }

  // MARK: Resources without metadata

  @Test("an issuer that the host names is enough for a resource without metadata")
  func namedIssuer() throws {
    web.forget(Published.location)
    let found = try discover(issuer: Published.issuer)
    expect(found.issuer, is: Published.issuer)
    expect(found.metadataURI, is: nil)
    expect(found.resource, is: Published.resource)
    expect(found.scopes, is: nil)
    // The issuer is compared exactly.
    expect(
      refusal { try discover(issuer: Published.issuer + "/") }?.code, is: .issuerMismatch)
    expect(refusal { try discover(issuer: "https://none.example") }?.code, is: .unsupported)
  }

  @Test("metadata of another resource is refused all the same (R42)")
  func namedIssuerElsewhere() throws {
    web.publish(Published.location, Published.metadata("https://victim.example/mcp"))
    try expect(failure(issuer: Published.issuer).code, is: .responseInvalid)
  }

  private func refusesStrangers() {
    web.forget(Published.location)
    web.answer(Published.resource) { _ in HTTPResponse(status: 401) }
  }

  @Test("the server of a resource that wants a token and has no metadata is its host (MCP 2025-03-26)")
  func legacy() throws {
    refusesStrangers()
    let place = "https://api.example/.well-known/oauth-authorization-server"
    web.publish(place, Published.serverMetadata("https://api.example/"))
    let found = try discover()
    expect(found.issuer, is: "https://api.example/")
    expect(found.authorizationEndpoint, is: "https://id.example/authorize")
    web.publish(place, Published.serverMetadata("https://evil.example"))
    expect(code(), is: .issuerMismatch)
  }

  @Test("without any metadata its endpoints are at the paths of MCP 2025-03-26")
  func legacyWithoutMetadata() throws {
    refusesStrangers()
    let found = try discover()
    expect(found.issuer, is: "https://api.example")
    expect(found.authorizationEndpoint, is: "https://api.example/authorize")
    expect(found.server.metadata.tokenEndpoint, is: "https://api.example/token")
    expect(found.server.registrationEndpoint, is: "https://api.example/register")
    try expect(discover(issuer: "https://api.example"), is: found)
    try expect(ResourceDiscovery(text: found.text, allowsLoopbackHTTP: false), is: found)
  }

  @Test("what was found survives its way through a host")
  func text() throws {
    let found = try discover()
    try expect(ResourceDiscovery(text: found.text, allowsLoopbackHTTP: false), is: found)
    for text in ["", "{}", found.text.replacing(#""issuer":"https://id"#, with: #""issuer":"https://evil"#)] {
      #expect(throws: EnrollError.self) { try ResourceDiscovery(text: text, allowsLoopbackHTTP: false) }
    }
  }

  private func challenge(_ value: String) {
    web.forget(Published.location)
    web.answer(Published.resource) { _ in
      HTTPResponse(
        status: 401,
        headers: [
          HTTPHeader("WWW-Authenticate", "Basic realm=\"a, b\""), HTTPHeader("WWW-Authenticate", value),
        ])
    }
  }

  @Test("a 401 says where the metadata is (RFC 9728 §5.1)", arguments: ["Bearer", "DPoP", "bearer"])
  func hint(scheme: String) throws {
    challenge(#"\#(scheme) error="invalid_token", resource_metadata="https://API.example:443/meta?a=b""#)
    web.publish("https://API.example:443/meta?a=b", Published.metadata())
    try expect(discover().metadataURI, is: "https://API.example:443/meta?a=b")
    web.publish("https://API.example:443/meta?a=b", Published.metadata("https://other.example/mcp"))
    expect(code(), is: .responseInvalid)
  }

  @Test(
    "a 401 that points to another origin is refused, and nobody is asked there",
    arguments: [
      "https://evil.example/meta", "http://api.example/meta", "https://api.example:8443/meta",
      "https://api.example.evil.example/meta", "//evil.example/meta", "/meta",
      "https://api.example@evil.example/",
      "http://127.0.0.1/meta",
    ])
  func foreignHint(location: String) throws {
    challenge(#"Bearer resource_metadata="\#(location)""#)
    web.publish(location, Published.metadata())
    let error = try failure()
    expect(error.code, is: .responseInvalid)
    expect(error.field, is: "resource_metadata")
    #expect(!web.urls.contains(location))
  }

  @Test("a 401 that names two addresses, or another scheme's, names none")
  func severalHints() throws {
    challenge(
      #"Bearer resource_metadata="https://api.example/a", DPoP resource_metadata="https://api.example/b""#)
    try expect(failure().field, is: "resource_metadata")
    challenge(#"Digest resource_metadata="https://api.example/a""#)
    web.publish("https://api.example/a", Published.metadata())
    try expect(discover().metadataURI, is: nil)
    #expect(!web.urls.contains("https://api.example/a"))
  }

  @Test("a resource that wants no token has no server; the error says what was asked")
  func absent() throws {
    web.forget(Published.location)
    web.publish(Published.resource, "{}")
    let error = try failure()
    expect(error.code, is: .unsupported)
    expect(error.field, is: "resource")
    #expect(error.message.contains("status 404"))
    #expect(error.message.contains("answered 200"))
  }

  // MARK: Hostile resources and servers

  @Test(
    "metadata of another resource is refused, byte for byte (RFC 9728 §3.3)",
    arguments: [
      "https://api.example/mcp/", "https://API.example/mcp", "https://api.example:443/mcp",
      "https://api.example/other",
      "https://victim.example/mcp",
    ])
  func otherResource(named: String) throws {
    web.publish(Published.location, Published.metadata(named))
    let error = try failure()
    expect(error.code, is: .responseInvalid)
    expect(error.field, is: "resource")
    #expect(error.message.contains(named))
    #expect(error.message.contains(Published.resource))
    expect(web.urls, is: [Published.location])
  }

  @Test(
    "a server that is not https, or no issuer, is refused (R19)",
    arguments: [
      "http://id.example", "http://127.0.0.1:8080", "com.example.app:/x", "https://id.example?a=b",
      "https://id.example#f", "https://user@id.example", "", "id.example",
      "https://id.example/{tenantid}/v2.0",
    ])
  func unusableServer(server: String) throws {
    web.publish(Published.location, Published.metadata(servers: ["https://id.example", server]))
    let error = try failure()
    expect(error.code, is: .responseInvalid)
    expect(error.field, is: "authorization_servers")
    expect(web.urls, is: [Published.location])
  }

  @Test("http on loopback is for development, on both sides")
  func loopback() throws {
    let resource = "http://127.0.0.1:8000/mcp"
    expect(refusal { try discover(resource) }?.code, is: .invalidArgument)
    web.publish(
      "http://127.0.0.1:8000/.well-known/oauth-protected-resource/mcp",
      Published.metadata(resource, servers: ["http://localhost:9000"]))
    web.publish(
      "http://localhost:9000/.well-known/oauth-authorization-server",
      Published.serverMetadata("http://localhost:9000"))
    try expect(discover(resource, loopback: true).issuer, is: "http://localhost:9000")
  }

  @Test(
    "a server that names itself otherwise is refused (R18)",
    arguments: ["https://id.example//", "https://evil.example", "https://ID.example", "https://id.example/?"])
  func otherIssuer(named: String) throws {
    web.publish(Published.server, Published.serverMetadata(named))
    try expect(failure().code, is: .issuerMismatch)
  }

  @Test(
    "a server that a resource names with the slash of an empty path, or without, is the same; its own spelling counts",
    arguments: [("https://id.example/", "https://id.example"), ("https://id.example", "https://id.example/")])
  func slash(named: String, own: String) throws {
    web.publish(Published.location, Published.metadata(servers: [named]))
    web.publish(Published.server, Published.serverMetadata(own))
    for issuer in [nil, named, own] { try expect(discover(issuer: issuer).issuer, is: own) }
    // An issuer with a path is not the same as an issuer with an empty path.
    web.publish(Published.location, Published.metadata(servers: ["https://id.example/t/"]))
    web.publish(Published.server + "/t", Published.serverMetadata("https://id.example/t"))
    expect(code(), is: .issuerMismatch)
  }

  @Test("only a server that the resource names can be chosen (R42)")
  func choice() throws {
    web.publish(Published.location, Published.metadata(servers: ["https://first.example", Published.issuer]))
    try expect(discover(issuer: Published.issuer).issuer, is: Published.issuer)
    let error = try failure(issuer: "https://evil.example")
    expect(error.code, is: .issuerMismatch)
    #expect(error.message.contains("https://first.example"))
    #expect(!web.urls.contains { $0.contains("evil") })
  }

  @Test("10 MB of metadata are refused", arguments: [Published.location, Published.server])
  func large(location: String) throws {
    let more = #","a":""# + String(repeating: "x", count: 10_000_000) + "\""
    web.publish(
      location,
      location == Published.server
        ? Published.serverMetadata(more: more) : Published.metadata(more: more))
    expect(code(), is: .responseInvalid)
    #expect(web.requests.allSatisfy { $0.responseLimit == 256 << 10 })
  }

  @Test(
    "redirects are not followed, wherever they lead (R42)", arguments: [Published.location, Published.server])
  func redirects(location: String) throws {
    web.answer(location) { _ in
      HTTPResponse(status: 302, headers: [HTTPHeader("Location", "https://evil.example/")])
    }
    web.publish("https://evil.example/", Published.metadata())
    let error = try failure()
    expect(error.code, is: .unsupported)
    #expect(error.message.contains("redirects are not followed"))
    #expect(!web.urls.contains { $0.contains("evil") })
  }

  @Test("a page in the metadata's place is no metadata, and an outage says nothing")
  func otherAnswers() throws {
    web.publish(Published.location, "<!doctype html><p>Hello")
    try expect(failure().code, is: .unsupported)
    web.publish(Published.location, "", status: 503)
    try expect(failure().code, is: .server)
    web.publish(Published.location, "[]")
    try expect(failure().code, is: .responseInvalid)
    web.answer(Published.location) { _ throws(EnrollError) in throw EnrollError(.network, "unreachable") }
    try expect(failure().code, is: .network)
  }

  @Test(
    "what the library could not keep to is refused",
    arguments: [
      (#","authorization_servers":[]"#, EnrollError.Code.unsupported, "authorization_servers"),
      (#","bearer_methods_supported":["query"]"#, .unsupported, "bearer_methods_supported"),
      (#","bearer_methods_supported":"header""#, .responseInvalid, "bearer_methods_supported"),
      (#","scopes_supported":["a b"]"#, .responseInvalid, "scopes_supported"),
      (#","authorization_servers":["https://id.example",1]"#, .responseInvalid, "authorization_servers"),
    ])
  func members(more: String, code: EnrollError.Code, field: String) throws {
    let isList = more.contains("authorization_servers")
    web.publish(
      Published.location,
      #"{"resource":"\#(Published.resource)"\#(isList ? "" : #","authorization_servers":["https://id.example"]"#)\#(more)}"#
    )
    let error = try failure()
    expect(error.code, is: code)
    expect(error.field, is: field)
  }

  @Test("a server without S256 is refused (R13)")
  func plain() throws {
    let metadata = Published.serverMetadata().replacing(#"["S256"]"#, with: #"["plain"]"#)
    web.publish(Published.server, metadata)
    try expect(failure().code, is: .unsupported)
  }

  @Test(
    "a resource is an https URL without a fragment",
    arguments: [
      "", "api.example", "http://api.example", "https://api.example/#a", "com.example.app:/x", "https://a@b/",
    ])
  func resource(text: String) throws {
    let error = try failure(text)
    expect(error.code, is: .invalidArgument)
    expect(error.field, is: "resource")
    #expect(web.requests.isEmpty)
  }
}
