// How the gateway authenticates itself at a token endpoint: client_secret_basic, client_secret_post,
// private_key_jwt.

import EnrollRules
import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@testable import EnrollGateway
import EnrollHTTP

@Suite("the gateway proves itself to a provider")
struct ClientAuthenticationTests {
  static let secret = "s/e+c r%et:&="

  private func world(_ more: [(String, JSON)]) throws -> TestGateway {
    let keys: [(String, JSON)] =
      [("issuer", .string("https://id.example")), ("clientId", .string("native"))] + more
    return try TestGateway([("providers", .object([("fake", .object(keys))]))])
  }

  @Test(
    "with its secret in the header or in the body, whichever the provider takes", arguments: [true, false])
  func secret(isBasic: Bool) throws {
    let world = try world([("clientSecret", .string(Self.secret))])
    world.provider.change {
      $0.clientSecret = Self.secret
      $0.secretMethods = [isBasic ? .basic : .post]
    }
    let browser = TestBrowser(world.gateway)
    expect(browser.comeBack(from: browser.get("/v1/auth/fake"), by: world.provider).status, is: 303)
    let request = try #require(world.provider.requests(.token).first)
    expect(request.headers.contains { $0.name == "Authorization" }, is: isBasic)
  }

  @Test("a wrong secret signs nobody in")
  func wrong() throws {
    let world = try world([("clientSecret", .string("another"))])
    world.provider.change { $0.clientSecret = Self.secret }
    let browser = TestBrowser(world.gateway)
    expect(browser.comeBack(from: browser.get("/v1/auth/fake"), by: world.provider).status, is: 400)
  }

  private static let kinds: [KeyKind] = [.ec(.p256), .ec(.p384), .ec(.p521), .rsa(bits: 2048), .ed25519]

  private func assertionWorld(
    _ key: PrivateKey, known: PrivateKey? = nil, audience: String? = nil
  ) throws -> ServerWorld {
    try ServerWorld(
      "work", imitating: "keycloak",
      proof: .assertion(
        keyID: "2026", key: (known ?? key).publicKey,
        audience: audience ?? "https://login.example.org/realms/acme"),
      [
        ("issuer", .string("https://login.example.org/realms/acme")), ("clientKey", .string(try pem(key))),
        ("clientKeyId", .string("2026")),
      ] + (audience.map { [("clientAssertionAudience", .string($0))] } ?? []))
  }

  @Test("with an assertion by a key of any usual kind, a new one for each request", arguments: kinds)
  func assertion(kind: KeyKind) throws {
    let world = try assertionWorld(try PrivateKey.generate(kind))
    try expect(world.signIn().status, is: 303)
    try expect(world.signIn().status, is: 303)
    #expect(world.server.refusals.isEmpty)
    expect(world.tokenRequests, is: 2)
    expect(Set(world.server.sentSecrets).count, is: world.server.sentSecrets.count)
  }

  @Test("for the audience that is configured")
  func audience() throws {
    let key = try PrivateKey.generate(.ec(.p256))
    let world = try assertionWorld(key, audience: "https://login.example.org/token")
    try expect(world.signIn().status, is: 303)
  }

  @Test("with another key nobody is sent to the provider: it refuses the pushed request")
  func otherKey() throws {
    let world = try assertionWorld(
      try PrivateKey.generate(.ec(.p256)), known: try PrivateKey.generate(.ec(.p256)))
    expect(world.browser.get("/v1/auth/work").status, is: 400)
    expect(Set(world.server.refusals), is: ["the assertion is not signed by the client's key"])
  }

  // MARK: Configurations that are refused

  private static func key(_ kind: KeyKind) throws -> JSON {
    .string(try pem(try PrivateKey.generate(kind)))
  }

  private func refusal(_ provider: [(String, JSON)]) -> EnrollError? {
    do {
      _ = try TestGateway.settings([
        ("providers", .object([("p", .object([("clientId", .string("c"))] + provider))]))
      ])
      return nil
    } catch { return error as? EnrollError }
  }

  @Test("keys of the wrong provider, halves of a proof and two proofs are refused by their key")
  func configuration() throws {
    let (ec, rsa) = (try Self.key(.ec(.p256)), try Self.key(.rsa(bits: 2048)))
    let apple: [(String, JSON)] = [
      ("provider", .string("apple")), ("appleTeamId", .string("T")), ("appleKeyId", .string("K")),
    ]
    let issuer = ("issuer", JSON.string("https://id.example"))
    let cases: [(field: String, [(String, JSON)])] = [
      ("appleTeamId", [("provider", .string("apple"))]), ("applePrivateKeyFile", apple),
      ("applePrivateKeyFile", apple + [("applePrivateKey", rsa)]),
      ("applePrivateKeyFile", apple + [("applePrivateKey", .string("no key"))]),
      ("clientSecret", apple + [("applePrivateKey", ec), ("clientSecret", .string("s"))]),
      ("appleTeamId", [issuer, ("appleTeamId", .string("T"))]),
      ("appleTeamId", [issuer, ("appleTeamId", .integer(1))]),
      ("hostedDomain", [issuer, ("hostedDomain", .string("example.com"))]),
      (
        "hostedDomain",
        [("provider", .string("google")), ("clientSecret", .string("s")), ("hostedDomain", .string("x y"))]
      ),
      ("graphVersion", [issuer, ("graphVersion", .string("v22.0"))]),
      ("clientSecret", [("provider", .string("facebook"))]),
      (
        "graphVersion",
        [
          ("provider", .string("facebook")), ("clientSecret", .string("s")),
          ("graphVersion", .string("22")),
        ]
      ),
      ("clientSecret", [issuer, ("clientSecret", .string("s")), ("clientKey", ec)]),
      ("clientKeyId", [issuer, ("clientKeyId", .string("k"))]),
      ("clientAssertionAudience", [issuer, ("clientAssertionAudience", .string("k"))]),
      (
        "clientKeyFile",
        [issuer, ("clientKey", .string("-----BEGIN PRIVATE KEY-----\n!\n-----END PRIVATE KEY-----"))]
      ),
      (
        "clientKeyFile",
        [
          issuer,
          ("clientKey", .string("-----BEGIN EC PRIVATE KEY-----\nAA\n-----END EC PRIVATE KEY-----")),
        ]
      ),
    ]
    for (field, keys) in cases {
      let error = refusal(keys)
      expect(error?.field, is: "providers.p.\(field)", "\(keys.map { $0.0 }): \(error?.message ?? "none")")
      expect(error?.code, is: .configuration)
    }
    expect(refusal(apple + [("applePrivateKey", ec)]), is: nil)
  }

  @Test("a provider that serves no app serves the gateway", arguments: ["linkedin", "slack"])
  func serversAlone(name: String) {
    expect(refusal([("provider", .string(name)), ("clientSecret", .string("s"))]), is: nil)
  }

  @Test("a key is read from PEM with any line end, and with blanks around it")
  func pemForms() throws {
    let text = try pem(try PrivateKey.generate(.ec(.p256)))
    for one in [text, text.replacing("\n", with: "\r\n"), "\n \(text)\n\n", String(text.dropLast())] {
      #expect(throws: Never.self) { try PEMKey.read(one, field: "k") }
    }
    for bad in [
      text + text, text.replacing("PRIVATE", with: "ENCRYPTED PRIVATE"), String(text.dropFirst(40)),
    ] {
      #expect(throws: EnrollError.self) { try PEMKey.read(bad, field: "k") }
    }
  }
}
