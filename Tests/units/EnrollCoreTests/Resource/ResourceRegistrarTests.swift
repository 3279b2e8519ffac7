@testable import EnrollRules
@testable import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollStore
import EnrollTesting
import Expectations
import Testing

@Suite("A client for a resource (RFC 7591)")
struct ResourceRegistrarTests {
  private let web = Published.web()
  private let clock = FakeClock()
  private let store: MemoryTokenStore

  init() { store = MemoryTokenStore(clock: clock) }

  private var request: ResourceRequest {
    ResourceRequest(
      resource: Published.resource, issuer: Published.issuer, redirectURI: Published.redirect)
  }

  private func register(
    _ edit: (inout ResourceRequest) -> Void = { _ in }
  ) throws -> ResourceClient {
    var request = request
    edit(&request)
    return try ResourceRegistrar(
      ResourceDirectory(transport: web, clock: clock, allowsLoopbackHTTP: false), store: store, clock: clock
    ).register(request)
  }

  private func failure(
    _ edit: (inout ResourceRequest) -> Void = { _ in }
  ) throws -> EnrollError {
    try #require(refusal { try register(edit) })
  }

  private var registrations: [HTTPRequest] { web.requests.filter { $0.method == .post } }

  private func answer(_ text: String, status: Int = 201) {
    web.publish(Published.registration, text, status: status)
  }

  @Test("the answer is a whole configuration")
  func configuration() throws {
    let client = try register()
    expect(client.origin, is: .registered)
    #expect(client.isNew)
    let configuration = try client.configuration(adding: JSONObject([("confirmation", .bool(false))]))
    expect(configuration.issuer, is: Issuer(Published.issuer))
    expect(configuration.clientID, is: ClientID("id-1"))
    expect(configuration.clientSecret, is: nil)
    expect(configuration.redirectURI, is: Published.redirect)
    expect(configuration.resource, is: Published.resource)
    expect(configuration.scopes, is: ["mcp:read"])
    #expect(!configuration.requiresConfirmation)
  }

  @Test("a native public client is asked for, on a connection of its own")
  func registration() throws {
    _ = try register { $0.clientName = "Notes reader" }
    let request = try #require(registrations.first)
    expect(request.url, is: Published.registration)
    #expect(request.freshConnection)
    #expect(!request.headers.contains { $0.name == "Authorization" })
    let expected = #"""
      {"redirect_uris":["http://127.0.0.1/callback"],"client_name":"Notes reader",\#
      "grant_types":["authorization_code","refresh_token"],"response_types":["code"],\#
      "token_endpoint_auth_method":"none","application_type":"native","scope":"mcp:read"}
      """#
    try expect(JSON.parse(request.body), is: JSON.parse(Array(expected.utf8)))
  }

  @Test("the device grant is asked for where the server announces it")
  func deviceGrant() throws {
    web.publish(
      Published.server,
      Published.serverMetadata(
        more: #","device_authorization_endpoint":"https://id.example/device","scopes_supported":["openid"]"#))
    _ = try register()
    let body = try JSON.parse(registrations[0].body)
    expect(
      body["grant_types"]?.array?.last, is: .string("urn:ietf:params:oauth:grant-type:device_code"))
    expect(body["scope"], is: .string("mcp:read openid"))
  }

  @Test(
    "a server that refuses to register the scopes is asked without them once",
    arguments: [(400, "invalid_client_metadata"), (400, "invalid_scope"), (403, "insufficient_scope")])
  func refusedScopes(status: Int, error: String) throws {
    web.publish(Published.registration, #"{"error":"\#(error)"}"#, status: status)
    try expect(failure().oauthError, is: error)
    let scopes = try registrations.map { try JSON.parse($0.body)["scope"] }
    expect(scopes, is: [.string("mcp:read"), nil])
  }

  @Test("a first sign-in sends two requests for metadata and one for the registration, and none again")
  func requests() throws {
    let found = try ResourceDirectory(transport: web, clock: clock, allowsLoopbackHTTP: false)
      .discover(Published.resource)
    web.answer(Published.server) { _ throws(EnrollError) in throw EnrollError(.network, "asked twice") }
    web.answer(Published.location) { _ throws(EnrollError) in throw EnrollError(.network, "asked twice") }
    _ = try register { $0.discovery = found }
    expect(web.urls, is: [Published.location, Published.server, Published.registration])
    let error = try failure {
      $0.discovery = found
      $0.again = true
      $0.issuer = "https://evil.example"
    }
    expect(error.code, is: .issuerMismatch)
  }

  @Test(
    "the client of a resource that its host describes is the host's, and is found again without a request")
  func hostsClient() throws {
    web.forget(Published.location)
    web.publish(
      "https://api.example/.well-known/oauth-protected-resource", Published.metadata("https://api.example/"))
    let first = try register()
    try expect(first.configuration().resource, is: "https://api.example/")
    let asked = web.requests.count
    try expect(register().keys, is: first.keys)
    expect(web.requests.count, is: asked)
    let other = try register { $0.resource = "https://api.example/other" }
    try expect(other.configuration().clientID, is: first.configuration().clientID)
    expect(registrations.count, is: 1)
  }

  @Test("after insufficient_scope the scopes are the earlier ones and those of the challenge, from then on")
  func moreScopes() throws {
    _ = try register()
    let more = try register { $0.challenge = #"Bearer error="insufficient_scope", scope="mcp:write""# }
    try expect(more.configuration().scopes, is: ["mcp:read", "mcp:write"])
    try expect(register().configuration().scopes, is: ["mcp:read", "mcp:write"])
    // This server grants a client only the scopes with which it was registered.
    let scopes = try registrations.map { try JSON.parse($0.body)["scope"] }
    expect(scopes, is: [.string("mcp:read"), .string("mcp:read mcp:write")])
  }

  @Test("scopes that the host names get those of insufficient_scope, and no others of a challenge")
  func namedScopes() throws {
    let named = ["mcp:read", "mcp:list"]
    func requested(after header: String, client: String? = nil) throws -> [String] {
      try register {
        $0.scopes = named
        $0.challenge = header
        $0.clientID = client
      }.configuration().scopes
    }
    try expect(requested(after: #"Bearer scope="mcp:write""#), is: named)
    let more = #"Bearer error="insufficient_scope", scope="mcp:write""#
    try expect(requested(after: more), is: named + ["mcp:write"])
    try expect(requested(after: more, client: "mine"), is: named + ["mcp:write"])
  }

  @Test("a challenge for a bound token makes the tokens of a registered client bound ones")
  func boundTokens() throws {
    try expect(register().configuration().dpop, is: .never)
    try expect(register { $0.challenge = #"DPoP algs="ES256""# }.configuration().dpop, is: .always)
    try expect(register().configuration().dpop, is: .always)
    expect(registrations.count, is: 1)
  }

  @Test("clients that gave way for further scopes stay known until another registration is asked for")
  func former() throws {
    let name = try name(of: Published.resource)
    for (id, scope) in [("id-1", nil), ("id-2", "mcp:write"), ("id-3", "mcp:admin")] {
      answer(#"{"client_id":"\#(id)","token_endpoint_auth_method":"none"}"#)
      _ = try register {
        $0.challenge = scope.map { #"Bearer error="insufficient_scope", scope="\#($0)""# }
      }
    }
    let kept = try #require(try store.registeredClient(name))
    expect(kept.former, is: [ClientID("id-1"), ClientID("id-2")])
    for (id, isKnown) in [("id-1", true), ("id-3", true), ("mine", false)] {
      expect(kept.isOrReplaced(ClientID(id)), is: isKnown)
    }
    answer(#"{"client_id":"id-4","token_endpoint_auth_method":"none"}"#)
    _ = try register { $0.again = true }
    try expect(store.registeredClient(name)?.former, is: [])
  }

  @Test("a server that is not the one before gets the client of that one deleted (RFC 7592)")
  func moved() throws {
    let manager = "https://id.example/register/id-1"
    answer(
      #"{"client_id":"id-1","token_endpoint_auth_method":"none","registration_client_uri":"\#(manager)","registration_access_token":"t"}"#
    )
    _ = try register()
    let other = "https://other.example"
    web.publish(Published.location, Published.metadata(servers: [other]))
    web.publish(other + "/.well-known/oauth-authorization-server", Published.serverMetadata(other))
    answer(#"{"client_id":"id-2","token_endpoint_auth_method":"none"}"#)
    _ = try register {
      $0.issuer = other
      $0.previousIssuer = Published.issuer
    }
    let deletion = try #require(web.requests.last)
    expect(deletion.method, is: .delete)
    expect(deletion.url, is: manager)
    #expect(deletion.headers.contains(HTTPHeader("Authorization", "Bearer t")))
    #expect(try store.registeredClient(name(of: Published.resource)) == nil)
  }

  @Test(
    "a client that another one replaces is deleted, at the server that registered it alone",
    arguments: [
      ("https://id.example/r/1", true), ("https://evil.example/r/1", false), ("http://id.example/r/1", false),
      ("r/1", false),
    ])
  func replaced(manager: String, isDeleted: Bool) throws {
    answer(
      #"{"client_id":"id-1","token_endpoint_auth_method":"none","registration_client_uri":"\#(manager)","registration_access_token":"t"}"#
    )
    _ = try register()
    answer(#"{"client_id":"id-2","token_endpoint_auth_method":"none"}"#)
    try expect(register { $0.again = true }.configuration().clientID, is: ClientID("id-2"))
    expect(web.requests.contains { $0.method == .delete && $0.url == manager }, is: isDeleted)
    #expect(isDeleted || !web.requests.contains { $0.method == .delete })
  }

  @Test("offline_access is added where the server lists it; a host's own scopes go as they are")
  func scopes() throws {
    web.publish(
      Published.server, Published.serverMetadata(more: #","scopes_supported":["offline_access"]"#))
    try expect(register().configuration().scopes, is: ["mcp:read", "offline_access"])
    try expect(register { $0.scopes = ["a"] }.configuration().scopes, is: ["a"])
  }

  @Test("openid is added where the server lists it: the question at the end names the user then")
  func namesUser() throws {
    web.publish(
      Published.server, Published.serverMetadata(more: #","scopes_supported":["openid","offline_access"]"#))
    try expect(register().configuration().scopes, is: ["mcp:read", "openid", "offline_access"])
    try expect(register { $0.scopes = ["a"] }.configuration().scopes, is: ["a"])
  }

  @Test("the sign-in reads the document that was shown, wherever that is")
  func place() throws {
    try expect(register().configuration().discoveryURI, is: Published.server)
    web.publish(Published.location, Published.metadata(servers: ["https://id.example/t"]))
    let place = "https://id.example/.well-known/openid-configuration/t"
    web.publish(place, Published.serverMetadata("https://id.example/t"))
    try expect(register { $0.issuer = "https://id.example/t" }.configuration().discoveryURI, is: place)
  }

  @Test("a server without OpenID Connect needs no keys")
  func oauthAlone() throws {
    web.publish(
      Published.server,
      Published.serverMetadata().replacing(#""jwks_uri":"https://id.example/keys","#, with: ""))
    #expect(try register().isNew)
  }

  // MARK: Which client

  @Test("a client id that the host has is used, and nothing is registered")
  func configured() throws {
    let client = try register {
      $0.clientID = "mine"
      $0.clientSecret = Secret("s3cret")
      $0.clientMetadataURI = "https://app.example/client.json"
    }
    expect(client.origin, is: .configured)
    try expect(client.configuration().clientID, is: ClientID("mine"))
    try expect(client.configuration().clientSecret, is: Secret("s3cret"))
    #expect(registrations.isEmpty)
  }

  @Test("a client id metadata document is used where the server takes those, else a registration")
  func metadataDocument() throws {
    let uri = "https://app.example/client.json"
    try expect(register { $0.clientMetadataURI = uri }.origin, is: .registered)
    web.publish(
      Published.server, Published.serverMetadata(more: #","client_id_metadata_document_supported":true"#))
    // A registered client must be kept, because another client id would mean another session.
    try expect(register { $0.clientMetadataURI = uri }.origin, is: .registered)
    let client = try register {
      $0.clientMetadataURI = uri
      $0.redirectURI = "com.example.app:/cb"
    }
    expect(client.origin, is: .metadataDocument)
    try expect(client.configuration().clientID, is: ClientID(uri))
    expect(registrations.count, is: 1)
    for wrong in [
      "http://app.example/c", "https://app.example", "https://app.example/", "https://app.example/c#f",
    ] {
      try expect(failure { $0.clientMetadataURI = wrong }.field, is: "clientMetadataUri")
    }
  }

  @Test("a server that registers nobody needs a client id")
  func closed() throws {
    web.publish(
      Published.server,
      Published.serverMetadata().replacing(
        #""registration_endpoint":"\#(Published.registration)","#, with: ""))
    let error = try failure()
    expect(error.code, is: .unsupported)
    expect(error.field, is: "clientId")
    try expect(register { $0.clientID = "mine" }.origin, is: .configured)
  }

  @Test("an unusable registration endpoint is named once")
  func unusableEndpoint() throws {
    web.publish(
      Published.server,
      Published.serverMetadata().replacing(Published.registration, with: "http://id.example/register"))
    let error = try failure()
    expect(error.field, is: "registration_endpoint")
    expect(error.message.ranges(of: "registration_endpoint").count, is: 1, "\(error.message)")
  }

  @Test(
    "the way of authentication is one that the server announces",
    arguments: [
      (#"["client_secret_basic","none"]"#, "none"),
      (#"["client_secret_basic","client_secret_post"]"#, "client_secret_basic"),
      (#"["client_secret_basic","private_key_jwt"]"#, "client_secret_basic"),
    ])
  func method(announced: String, expected: String) throws {
    web.publish(Published.server, Published.serverMetadata().replacing(#"["none"]"#, with: announced))
    answer(#"{"client_id":"id-1","client_secret":"s3cret-s3cret"}"#)
    let configuration = try register().configuration()
    try expect(JSON.parse(registrations[0].body)["token_endpoint_auth_method"], is: .string(expected))
    expect((configuration.clientSecret == nil), is: expected == "none")
    expect(configuration.tokenEndpointAuthMethod?.rawValue, is: expected == "none" ? nil : expected)
  }

  @Test("a server with neither is not registered at")
  func noMethod() throws {
    web.publish(
      Published.server, Published.serverMetadata().replacing(#"["none"]"#, with: #"["private_key_jwt"]"#))
    try expect(failure().code, is: .unsupported)
    #expect(registrations.isEmpty)
  }

  // MARK: Kept

  @Test("a client is registered once")
  func once() throws {
    _ = try register()
    let again = try register()
    #expect(!again.isNew)
    try expect(again.configuration().clientID, is: ClientID("id-1"))
    expect(registrations.count, is: 1)
  }

  @Test("many threads that ask at once register one client")
  func threads() throws {
    let clients = Guarded<[Bool]>([], by: Mutex())
    let pool = WorkerPool(threads: 8)
    for _ in 0..<8 {
      #expect(
        pool.submit { if let client = try? register() { clients.withLock { $0.append(client.isNew) } } })
    }
    pool.drain()
    expect(clients.withLock { $0 }.count, is: 8)
    expect(clients.withLock { $0 }.count { $0 }, is: 1)
    expect(registrations.count, is: 1)
  }

  @Test(
    "another resource, redirect or server, and scopes that it was not registered with, are another client")
  func others() throws {
    _ = try register()
    _ = try register { $0.redirectURI = "com.example.app:/cb" }
    try expect(register { $0.scopes = ["mcp:write"] }.configuration().scopes, is: ["mcp:write"])
    let other = "https://api.example/other"
    web.publish("https://api.example/.well-known/oauth-protected-resource/other", Published.metadata(other))
    _ = try register { $0.resource = other }
    expect(registrations.count, is: 4)
  }

  @Test(
    "a client whose secret has expired is registered anew, and one that the server has forgotten, on request")
  func anew() throws {
    web.publish(
      Published.server, Published.serverMetadata().replacing(#"["none"]"#, with: #"["client_secret_post"]"#))
    answer(#"{"client_id":"id-1","client_secret":"s3cret-1","client_secret_expires_at":\#(1_700_000_100)}"#)
    #expect(try register().isNew)
    #expect(try !register().isNew)
    clock.advance(seconds: 100)
    answer(#"{"client_id":"id-2","client_secret":"s3cret-2","client_secret_expires_at":0}"#)
    try expect(register().configuration().clientID, is: ClientID("id-2"))
    clock.advance(seconds: 1_000_000_000)
    #expect(try !register().isNew)
    answer(#"{"client_id":"id-3","client_secret":"s3cret-3"}"#)
    let again = try register { $0.again = true }
    #expect(again.isNew)
    try expect(again.configuration().clientID, is: ClientID("id-3"))
    try expect(register().configuration().clientID, is: ClientID("id-3"))
  }

  @Test("a secret that has expired already is no registration", arguments: [1_700_000_000, 1_699_999_999, 1])
  func overAlready(_ end: Int64) throws {
    web.publish(
      Published.server, Published.serverMetadata().replacing(#"["none"]"#, with: #"["client_secret_post"]"#))
    answer(#"{"client_id":"id-1","client_secret":"s3cret-1","client_secret_expires_at":\#(end)}"#)
    let error = #expect(throws: EnrollError.self) { try register() }
    expect(error?.code, is: .responseInvalid)
    #expect(error?.message.contains("client_secret_expires_at is over") == true)
  }

  @Test("a client's secret expires by the server's clock, where the answer tells it")
  func expiry() throws {
    web.publish(
      Published.server, Published.serverMetadata().replacing(#"["none"]"#, with: #"["client_secret_post"]"#))
    let isDated = Guarded(true, by: Mutex())
    let number = Guarded(0, by: Mutex())
    // The device is two days ahead: its clock shows 1_700_000_000, 14 Nov 2023 22:13:20.
    web.answer(Published.registration) { _ in
      let id = number.withLock { number in
        number += 1
        return number
      }
      let body =
        #"{"client_id":"id-\#(id)","client_secret":"s3cret-1","client_secret_expires_at":\#(1_699_830_800)}"#
      let date = HTTPHeader("Date", "Sun, 12 Nov 2023 22:13:20 GMT")
      return HTTPResponse(
        status: 201, headers: isDated.withLock { $0 } ? [date] : [], body: Array(body.utf8))
    }
    #expect(try register().isNew)
    clock.advance(seconds: 3599)
    #expect(try !register().isNew)
    clock.advance(seconds: 1)
    #expect(try register().isNew)
    // By the device's own clock the secret has expired.
    clock.advance(seconds: 3600)
    isDated.withLock { $0 = false }
    #expect(throws: EnrollError.self) { try register() }
  }

  @Test("whoever asks for a client anew while another one registers one takes that one")
  func againAtOnce() throws {
    _ = try register()
    let pool = WorkerPool(threads: 1)
    let late = Guarded<ResourceClient?>(nil, by: Mutex())
    let asked = Guarded(0, by: Mutex())
    let other = Condition()
    // A request for the server's metadata shows that the other call has begun.
    web.answer(Published.server) { _ in
      asked.withLock { $0 += 1 }
      other.locked { other.wakeAll() }
      return HTTPResponse(status: 200, body: Array(Published.serverMetadata().utf8))
    }
    web.answer(Published.registration) { _ in
      let isAccepted = pool.submit {
        let client = try? register { $0.again = true }
        late.withLock { $0 = client }
      }
      #expect(isAccepted)
      other.locked { while asked.withLock({ $0 }) < 2 { other.wait(atMost: 1_000_000_000) } }
      return HTTPResponse(
        status: 201, body: Array(#"{"client_id":"id-2","token_endpoint_auth_method":"none"}"#.utf8))
    }
    #expect(try register { $0.again = true }.isNew)
    pool.drain()
    expect(late.withLock { $0?.isNew }, is: false)
    try expect(late.withLock { $0 }?.configuration().clientID, is: ClientID("id-2"))
    expect(registrations.count, is: 2)
  }

  @Test(
    "a server that takes its time holds up neither a client that is kept nor the registration of another one")
  func slow() throws {
    let redirects = ["com.example.app:/kept", "com.example.app:/new"]
    _ = try register { $0.redirectURI = redirects[0] }
    let isFirst = Guarded(true, by: Mutex())
    web.answer(Published.registration) { _ in
      if isFirst.withLock({ first in
        defer { first = false }
        return first
      }) {
        for redirect in redirects { #expect((try? register { $0.redirectURI = redirect }) != nil) }
        let seen = try? store.registeredClient(name(of: Published.resource))
        #expect(seen == .some(nil))
      }
      return HTTPResponse(
        status: 201, body: Array(#"{"client_id":"id-2","token_endpoint_auth_method":"none"}"#.utf8))
    }
    #expect(try register().isNew)
    expect(registrations.count, is: 3)
  }

  private func name(of resource: String) throws(EnrollError) -> RegistrationName {
    RegistrationName(
      issuer: Issuer(Published.issuer), redirectURI: Published.redirect,
      resource: try ResourceIdentifier(resource, allowsLoopbackHTTP: false), trust: web.trust)
  }

  @Test("a registration that fails leaves the earlier client")
  func failed() throws {
    _ = try register()
    answer("", status: 503)
    try expect(failure { $0.again = true }.code, is: .server)
    try expect(register().configuration().clientID, is: ClientID("id-1"))
  }

  @Test("what is kept survives its way through the store's text")
  func coding() throws {
    let name = RegistrationName(
      issuer: Issuer(Published.issuer), redirectURI: Published.redirect,
      resource: try ResourceIdentifier(Published.resource, allowsLoopbackHTTP: false), trust: "system")
    var client = RegisteredClient(
      clientID: ClientID("id"), clientSecret: Secret("s"), secretMethod: .basic,
      secretExpiresAt: UnixTime(seconds: 5),
      management: ClientManagement(uri: "https://id.example/r/1", token: Secret("t")),
      registeredAt: UnixTime(seconds: 4))
    try expect(RegisteredClient.decode(RegisteredClient.encoded(client, of: name), of: name), is: client)
    client.former = [ClientID("a"), ClientID("b")]
    try expect(RegisteredClient.decode(RegisteredClient.encoded(client, of: name), of: name), is: client)
    client = RegisteredClient(clientID: ClientID("id"), registeredAt: UnixTime(seconds: 4))
    let text = RegisteredClient.encoded(client, of: name)
    try expect(RegisteredClient.decode(text, of: name), is: client)
    let other = RegistrationName(
      issuer: Issuer("https://evil.example"), redirectURI: Published.redirect,
      resource: try ResourceIdentifier(Published.resource, allowsLoopbackHTTP: false), trust: "system")
    expect(refusal { try RegisteredClient.decode(text, of: other) }?.code, is: .storeCorrupt)
  }

  @Test("a client that an earlier program kept is read")
  func earlier() throws {
    let name = try name(of: Published.resource)
    var client = RegisteredClient(clientID: ClientID("id"), registeredAt: UnixTime(seconds: 4))
    var object = try #require(try JSON.parse(RegisteredClient.encoded(client, of: name).revealBytes()).object)
    object["managementURI"] = .string("https://id.example/r/1")
    object["managementToken"] = .string("t")
    object["scopes"] = .array([.string("a")])
    client.management = ClientManagement(uri: "https://id.example/r/1", token: Secret("t"))
    client.registeredScopes = ["a"]
    let text = Secret(String(decoding: JSON.object(object).serialized(), as: UTF8.self))
    try expect(RegisteredClient.decode(text, of: name), is: client)
    object["other"] = .string("x")
    let unknown = Secret(String(decoding: JSON.object(object).serialized(), as: UTF8.self))
    expect(refusal { try RegisteredClient.decode(unknown, of: name) }?.code, is: .storeCorrupt)
  }

  // MARK: Hostile servers

  @Test(
    "a resource that names another server than the user was shown is refused, and nothing is registered there"
  )
  func changed() throws {
    web.publish(Published.location, Published.metadata(servers: ["https://evil.example"]))
    web.publish(
      "https://evil.example/.well-known/oauth-authorization-server",
      Published.serverMetadata("https://evil.example"))
    try expect(failure().code, is: .issuerMismatch)
    #expect(registrations.isEmpty)
    // The client at the server that the user has accepted must stay in use; otherwise the user would be asked again.
    web.publish(Published.location, Published.metadata())
    _ = try register()
    web.publish(Published.location, Published.metadata(servers: ["https://evil.example"]))
    try expect(register().configuration().issuer, is: Issuer(Published.issuer))
    try expect(failure { $0.again = true }.code, is: .issuerMismatch)
  }

  @Test("a kept client needs no request, and what the resource lists today makes no other client")
  func offline() throws {
    let first = try register()
    let asked = web.requests.count
    web.publish(Published.location, Published.metadata(more: #","scopes_supported":["mcp:read","c"]"#))
    let again = try register()
    #expect(again.keys == first.keys && !again.isNew && web.requests.count == asked)
    web.publish(Published.location, "", status: 503)
    try expect(register().keys, is: first.keys)
    try expect(failure { $0.again = true }.code, is: .server)
    try expect(register { $0.scopes = ["mcp:read"] }.configuration().scopes, is: ["mcp:read"])
  }

  @Test(
    "an answer that is no registration is refused, and nothing is kept",
    arguments: [
      (400, #"{"error":"invalid_redirect_uri"}"#, EnrollError.Code.oauth, "invalid_redirect_uri"),
      (400, "<p>Bad Request", .oauth, nil), (401, #"{"error":"invalid_token"}"#, .oauth, "invalid_token"),
      (403, "", .oauth, nil), (404, "", .responseInvalid, nil), (302, "", .responseInvalid, nil),
      (503, "", .server, nil), (429, "", .server, nil),
      (200, "{}", .responseInvalid, nil), (200, "<p>Welcome", .responseInvalid, nil),
      (201, #"{"client_id":""}"#, .responseInvalid, nil), (201, #"{"client_id":7}"#, .responseInvalid, nil),
      (201, "{\"client_id\":\"a\\u0001b\"}", .responseInvalid, nil),
      (201, #"{"client_id":"a","redirect_uris":["https://evil.example/"]}"#, .responseInvalid, nil),
      (
        201, #"{"client_id":"a","redirect_uris":["http://127.0.0.1/callback","https://evil.example/"]}"#,
        .responseInvalid, nil
      ),
      (201, #"{"client_id":"a","redirect_uris":"http://127.0.0.1/callback"}"#, .responseInvalid, nil),
      (201, #"{"client_id":"a","grant_types":["client_credentials"]}"#, .responseInvalid, nil),
      (201, #"{"client_id":"a","response_types":["token"]}"#, .responseInvalid, nil),
      (201, #"{"client_id":"a","token_endpoint_auth_method":"private_key_jwt"}"#, .responseInvalid, nil),
      (201, #"{"client_id":"a","token_endpoint_auth_method":"client_secret_post"}"#, .responseInvalid, nil),
    ] as [(Int, String, EnrollError.Code, String?)])
  func refused(status: Int, body: String, code: EnrollError.Code, oauthError: String?) throws {
    answer(body, status: status)
    let error = try failure()
    expect(error.code, is: code)
    expect(error.oauthError, is: oauthError)
    answer(#"{"client_id":"id-1","redirect_uris":["http://127.0.0.1/callback"]}"#)
    #expect(try register().isNew)
  }

  @Test("an error says what the server says, and what helps where it registers only those whom it knows")
  func initialToken() throws {
    answer("", status: 401)
    #expect(try failure().message.contains("pass its client id"))
    answer(
      #"{"error":"invalid_client_metadata","error_description":"Invalid claim: 'redirect_uris'\u001b"}"#,
      status: 400)
    let error = try failure()
    expect(error.oauthError, is: "invalid_client_metadata")
    #expect(error.message.contains("invalid_client_metadata: Invalid claim: 'redirect_uris'?"))
  }

  @Test("an argument that no configuration takes is refused before a server hears it")
  func arguments() throws {
    try expect(failure { $0.redirectURI = "https://app.example/#f" }.code, is: .configuration)
    try expect(failure { $0.scopes = ["a b"] }.code, is: .configuration)
    #expect(registrations.isEmpty)
  }

  @Test("a resource that needs bound tokens gets a configuration that refuses others (RFC 9449)")
  func bound() throws {
    web.publish(
      Published.location, Published.metadata(more: #","dpop_bound_access_tokens_required":true"#))
    try expect(register().configuration().dpop, is: .always)
    try expect(JSON.parse(registrations[0].body)["dpop_bound_access_tokens"], is: .bool(true))
  }
}
