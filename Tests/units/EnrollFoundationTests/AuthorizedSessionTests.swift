@testable import EnrollFoundation
import EnrollTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("URLSession with a token")
struct AuthorizedSessionTests {
  private let provider: FakeProvider
  private let client: EnrollClient

  init() throws {
    let clock = FakeClock()
    provider = try FakeProvider(clock: clock)
    provider.change { $0.dpopAlgorithms = ["ES256"] }
    client = try EnrollClient(
      configuration: Configuration(
        issuer: provider.issuer, clientID: "native", redirectURI: "com.example.app:/callback"),
      store: .memory, transport: provider, clock: clock)
  }

  private func signIn(_ client: EnrollClient) async throws {
    _ = try await client.signIn(using: FakeUserAgent(signingInAt: provider))
    try await client.confirm()
    provider.forgetRequests()
  }

  private func request(_ url: URL, body: String? = nil) -> URLRequest {
    var request = URLRequest(url: url)
    request.timeoutInterval = 60
    request.httpMethod = body == nil ? "GET" : "POST"
    request.httpBody = body.map { Data($0.utf8) }
    return request
  }

  @Test("a refused token is renewed once, and the body is sent again")
  func renewed() async throws {
    let server = try PickyServer()
    try await signIn(client)
    let first = try await client.accessToken().value.reveal()
    let session = AuthorizedSession(client)
    #expect(try await session.data(for: request(server.url("/"), body: "body")).1.statusCode == 200)
    #expect(try await session.data(from: server.url("/")).1.statusCode == 200)
    let second = try await client.accessToken().value.reveal()
    #expect(server.tokens == [first, second, second] && first != second)
    #expect(server.seen.map(\.body) == ["body", "body", ""])
    #expect(provider.count(.token) == 1)
    server.stop()
  }

  @Test("a second 401 is the caller's, after one renewal")
  func twice() async throws {
    let server = try PickyServer()
    try await signIn(client)
    #expect(try await AuthorizedSession(client).data(from: server.url("/never")).1.statusCode == 401)
    #expect(server.tokens.count == 2 && provider.count(.token) == 1)
    server.stop()
  }

  @Test("a body stream is not sent twice")
  func streamed() async throws {
    let server = try PickyServer()
    try await signIn(client)
    var request = request(try server.url("/"))
    request.httpMethod = "POST"
    request.httpBodyStream = InputStream(data: Data("once".utf8))
    #expect(try await AuthorizedSession(client).data(for: request).1.statusCode == 401)
    #expect(server.tokens.count == 1 && provider.count(.token) == 0)
    server.stop()
  }

  @Test("no token follows a redirect to another origin, or back from it")
  func redirected() async throws {
    let (server, elsewhere) = (try PickyServer(), try PickyServer())
    try await signIn(client)
    let token = try await client.accessToken().value.reveal()
    server.redirect("/go", to: "\(elsewhere.origin)/on")
    server.redirect("/away", to: "\(elsewhere.origin)/back")
    elsewhere.redirect("/back", to: "\(server.origin)/never")
    let session = AuthorizedSession(client)
    #expect(try await session.data(from: server.url("/go")).1.statusCode == 401)
    #expect(try await session.data(from: server.url("/away")).1.statusCode == 401)
    #expect(server.tokens == [token, token, ""])
    #expect(elsewhere.tokens == ["", ""] && provider.count(.token) == 0)
    server.stop()
    elsewhere.stop()
  }

  @Test("fifty requests at once share one renewal")
  func crowd() async throws {
    let server = try PickyServer()
    try await signIn(client)
    server.gather(50)
    let configuration = URLSessionConfiguration.default
    configuration.httpMaximumConnectionsPerHost = 50
    let session = AuthorizedSession(client, configuration: configuration)
    let url = try server.url("/")
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 1...50 { group.addTask { try await session.data(from: url).1.statusCode } }
      for try await status in group { #expect(status == 200) }
    }
    #expect(server.tokens.count == 100 && provider.count(.token) == 1)
    server.stop()
  }

  @Test(
    "no token is sent unencrypted",
    arguments: [
      "http://api.example/?hidden", "http://127.0.0.1.example/", "http://localhost.example/",
      "ftp://127.0.0.1/hidden", "hidden:x",
    ])
  func unencrypted(text: String) async throws {
    try await signIn(client)
    let url = try #require(URL(string: text))
    let error = await #expect(throws: EnrollError.self) {
      try await AuthorizedSession(client).data(from: url)
    }
    #expect(error?.code == .invalidArgument && error?.field == "url")
    #expect(error?.message.contains("a token is not sent there") == true)
    #expect(error?.message.contains("hidden") == false)
  }

  @Test(
    "a URL with a user name or an odd host gets no token",
    arguments: [
      "https://hidden:x@api.example/", "https://hidden@api.example/", "https://hid%64en.example/", "/hidden",
    ])
  func odd(text: String) async throws {
    try await signIn(client)
    let url = try #require(URL(string: text))
    let error = await #expect(throws: EnrollError.self) {
      try await AuthorizedSession(client).data(from: url)
    }
    #expect(error?.code == .invalidArgument && error?.field == "url")
    #expect(error?.message.contains("hid") == false)
  }

  @Test(
    "a proxy of the environment sees no token of a loopback address",
    arguments: [
      (["http_proxy": "http://proxy:3128"], false), (["all_proxy": "socks5://proxy"], false),
      (["http_proxy": "http://proxy", "no_proxy": "intranet,.example"], false),
      (["http_proxy": "http://proxy", "no_proxy": "localhost, 127.0.0.1"], true),
      (["ALL_PROXY": "http://proxy", "NO_PROXY": "*"], true), (["http_proxy": ""], true), ([:], true),
      (["https_proxy": "http://proxy"], true),
    ] as [([String: String], Bool)])
  func proxies(environment: [String: String], isDirect: Bool) throws {
    let origin = try TokenOrigin(URL(string: "http://127.0.0.1:8080/?hidden"))
    do {
      try origin.refuseProxy(in: environment)
      #expect(isDirect)
    } catch {
      #expect(!isDirect && error.code == .invalidArgument)
      #expect(error.message.contains("add 127.0.0.1 to NO_PROXY"))
    }
    let encrypted = try TokenOrigin(URL(string: "https://api.example/"))
    try encrypted.refuseProxy(in: environment)
  }

  @Test("a bound token has a proof for each URL, and the nonce that the server requires")
  func proofs() async throws {
    let bound = try await bound()
    let server = try PickyServer()
    server.challenge("/there", ["WWW-Authenticate": #"DPoP error="use_dpop_nonce""#, "DPoP-Nonce": "n-1"])
    server.redirect("/go", to: "/there")
    #expect(try await AuthorizedSession(bound).data(from: server.url("/go")).1.statusCode == 200)
    let proofs = try server.seen.compactMap(\.proof).map(claims)
    #expect(proofs.first?["htu"] as? String == "\(server.origin)/go")
    #expect(proofs.last?["htu"] as? String == "\(server.origin)/there")
    #expect(proofs.contains { $0["nonce"] as? String == "n-1" })
    #expect(server.seen.allSatisfy { $0.authorization.hasPrefix("DPoP ") })
    server.stop()
  }

  /// A client whose token is bound to a key.
  private func bound() async throws -> EnrollClient {
    let bound = try EnrollClient(
      configuration: Configuration(
        issuer: provider.issuer, clientID: "native", redirectURI: "com.example.app:/callback"
      ) {
        $0.dpop = .auto
      },
      store: .memory, transport: provider, clock: FakeClock())
    try await signIn(bound)
    return bound
  }

  @Test("no proof follows a redirect to another origin, however it is written")
  func proofStays() async throws {
    let bound = try await bound()
    let (server, elsewhere) = (try PickyServer(), try PickyServer())
    let (host, port) = (server.origin.dropFirst(7), elsewhere.origin.split(separator: ":")[2])
    let addresses = [
      "//127.0.0.1:\(port)/", "HTTP://LOCALHOST:\(port)/", "http://\(host)@localhost:\(port)/",
      "http://\(host)\\@localhost:\(port)/", "http:\\\\localhost:\(port)/", "http://u:p@\(host)/own",
    ]
    for (index, address) in addresses.enumerated() {
      server.redirect("/\(index)", to: address)
      _ = try? await AuthorizedSession(bound).data(from: server.url("/\(index)"))
    }
    #expect(elsewhere.seen.count >= 3)
    #expect(elsewhere.seen.allSatisfy { !$0.authorization.hasPrefix("DPoP") && $0.proof == nil })
    #expect(server.seen.filter { $0.path == "/own" }.allSatisfy { !$0.authorization.hasPrefix("DPoP") })
    server.stop()
    elsewhere.stop()
  }

  @Test("a proof is for the URL that is sent, without query and fragment")
  func proofOfTarget() async throws {
    let bound = try await bound()
    let server = try PickyServer()
    let paths = ["/a%2Fb", "//x//y", "/a/../b", "/x?q=\(String(repeating: "y", count: 9000))", "/x#part", ""]
    for path in paths {
      _ = try await AuthorizedSession(bound).data(from: server.url(path))
      let last = try #require(server.seen.last)
      let target = try claims(#require(last.proof))["htu"] as? String
      #expect(target == server.origin + last.rawPath, "\(path)")
    }
    let shouted = server.origin.replacing("http://127.0.0.1", with: "http://LOCALHOST")
    _ = try await AuthorizedSession(bound).data(from: #require(URL(string: "\(shouted)/x")))
    let target = try claims(#require(server.seen.last?.proof))["htu"] as? String
    #expect(target == server.origin.replacing("127.0.0.1", with: "localhost") + "/x")
    server.stop()
  }

  @Test("a server that redirects in a loop gets twenty proofs, and then the 401 is the caller's")
  func loop() async throws {
    let bound = try await bound()
    let server = try PickyServer()
    server.spin()
    #expect(try await AuthorizedSession(bound).data(from: server.url("/")).1.statusCode == 401)
    #expect(server.seen.count { $0.proof != nil } == 20)
    server.stop()
  }

  @Test("a POST behind a redirect is not sent again: the request that was refused is")
  func seeOther() async throws {
    try await signIn(client)
    for client in [client, try await bound()] {
      let server = try PickyServer()
      server.redirect("/pay", to: "/done", isSeeOther: true)
      _ = try await AuthorizedSession(client).data(for: request(server.url("/pay"), body: "money"))
      #expect(server.seen.map { "\($0.method) \($0.path)" }.filter { $0 != "GET /done" } == ["POST /pay"])
      #expect(server.seen.last?.path == "/done" && server.seen.last?.authorization != "")
      server.stop()
    }
  }

  private func claims(_ proof: String) throws -> [String: Any] {
    var part = String(proof.split(separator: ".")[1])
      .replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    while part.utf8.count % 4 != 0 { part += "=" }
    let data = try #require(Data(base64Encoded: part))
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  @Test("a request of one's own session is signed, and nothing is sent")
  func signed() async throws {
    try await signIn(client)
    let url = try #require(URL(string: "https://api.example/things"))
    let request = try await client.authorized(URLRequest(url: url))
    let token = try await client.accessToken().value.reveal()
    #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer \(token)")
  }

  @Test("without a session the request is not sent")
  func signedOut() async throws {
    let server = try PickyServer()
    let error = await #expect(throws: EnrollError.self) {
      try await AuthorizedSession(client).data(from: server.url("/"))
    }
    #expect(error?.code == .reauthenticate && server.seen.isEmpty)
    server.stop()
  }
}
