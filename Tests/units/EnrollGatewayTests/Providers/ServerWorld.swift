// A gateway whose only provider is a strict double of a real service, and a browser that returns from this provider in
// the way that the service chooses.

import EnrollCrypto
import EnrollGatewayStore
import EnrollJSON
import EnrollTesting
import Foundation
import Testing

@testable import EnrollGateway
import EnrollHTTP

/// The gateway with one provider.
final class ServerWorld {
  let world: TestGateway
  let server: ProviderForServers
  let browser: TestBrowser
  let name: String

  static let clientID = "service.example"
  static let secret = "what only the server knows"

  /// Makes a gateway whose only provider imitates a real service.
  /// - Parameters:
  ///   - name: the provider's name at the gateway.
  ///   - imitating: the provider's id among the known providers.
  ///   - keys: further keys of the provider's configuration, in addition to `clientId`.
  init(
    _ name: String, imitating id: String, proof: ProviderForServers.Proof = .secret, _ keys: [(String, JSON)]
  ) throws {
    self.name = name
    var server: ProviderForServers?
    let provider = JSON.object([("clientId", .string(Self.clientID))] + keys)
    world = try TestGateway([("providers", .object([(name, provider)]))]) { clock in
      let made = try ProviderForServers(
        FakeProvider(
          id,
          registration: .init(
            clientID: Self.clientID, secret: Self.secret,
            redirectURIs: ["\(TestGateway.origin)/v1/auth/\(name)/callback"]), clock: clock), proof: proof)
      server = made
      return made
    }
    self.server = try #require(server)
    browser = TestBrowser(world.gateway)
  }

  var callback: String { "/v1/auth/\(name)/callback" }

  /// The provider's answer to a new sign-in of this browser.
  func answer(
    as person: ProviderForServers.Person = .init(), error: String? = nil, at start: String = "",
    changing change: (String) -> String = { $0 }
  ) throws -> ProviderForServers.Answer {
    let sent = browser.get("/v1/auth/\(name)" + start)
    let url = try #require(sent.header("Location"), "\(sent.status)")
    return server.authorize(change(url), as: person, error: error)
  }

  /// Returns to the gateway with the answer. A form comes from the provider's page without a cookie, and the
  /// gateway's page sends it again.
  func comeBack(_ answer: ProviderForServers.Answer) throws -> WebResponse {
    switch answer {
    case .redirect(let url): return browser.get(String(url.dropFirst(TestGateway.origin.count)))
    case .form(_, let fields):
      let page = TestBrowser(world.gateway).post(callback, form: fields.map { ($0.key, $0.value) })
      guard page.status == 200 else { return page }
      return browser.post(callback, form: try Self.fields(of: page))
    case .stays(let text): throw Stays(text: text)
    }
  }

  struct Stays: Error { var text: String }

  func signIn(as person: ProviderForServers.Person = .init()) throws -> WebResponse {
    try comeBack(try answer(as: person))
  }

  /// The hidden fields of the page's form.
  static func fields(of page: WebResponse) throws -> [(String, String)] {
    try Markup(page: page.body).all("input").map { input in
      (try #require(input.attributes["name"]), try #require(input.attributes["value"]))
    }
  }

  /// The session of the browser's cookie.
  func session() throws -> LiveSession? {
    guard let cookie = browser.cookies.first(where: { $0.name == "__Host-enroll" }),
      let hash = RandomToken.hash(of: cookie.value)
    else { return nil }
    return try world.store.session(tokenHash: hash, at: world.clock.wallTime())
  }

  var tokenRequests: Int { server.fake.count(.token) }
}

/// A key in the form of a PEM file.
func pem(_ key: PrivateKey) throws -> String {
  let text = Data(try key.exported().revealBytes()).base64EncodedString(options: .lineLength64Characters)
  return "-----BEGIN PRIVATE KEY-----\n\(text)\n-----END PRIVATE KEY-----\n"
}
