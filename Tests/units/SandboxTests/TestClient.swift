// A client for tests, written only from the specifications: it shares no code with the library.

import EnrollCrypto
import EnrollJSON
import EnrollSandbox
import Foundation

/// Runs a sandbox while `body` runs. Its clock stands still unless the test moves it.
func withSandbox(
  _ change: (inout SandboxOptions) -> Void = { _ in },
  _ body: (TestClient) async throws -> Void
) async throws {
  var options = SandboxOptions()
  // An ES256 key is fast to make. The tests of algorithms set more algorithms.
  options.algorithms = [.ES256]
  options.clock = { 1_800_000_000 }
  change(&options)
  let sandbox = try Sandbox(options)
  let client = TestClient(sandbox, browser: TestBrowser(try await sandbox.start()))
  do {
    try await body(client)
  } catch {
    await sandbox.stop()
    throw error
  }
  await sandbox.stop()
}

final class TestClient {
  let sandbox: Sandbox
  let browser: TestBrowser
  // RFC 7636, appendix B.
  static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
  static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
  static let redirectURI = "com.example.app:/callback"

  var provider: Provider { sandbox.provider }

  init(_ sandbox: Sandbox, browser: TestBrowser) {
    self.sandbox = sandbox
    self.browser = browser
  }

  /// The path of an authorize request; a nil value removes that parameter.
  func authorize(_ changes: [String: String?] = [:], appending: String = "") -> String {
    var parameters: [String: String?] = [
      "client_id": "sample-app", "redirect_uri": Self.redirectURI, "response_type": "code",
      "scope": "openid profile email offline_access", "state": "state-1", "nonce": "nonce-1",
      "code_challenge": Self.challenge, "code_challenge_method": "S256",
    ]
    for (name, value) in changes { parameters[name] = .some(value) }
    var components = URLComponents()
    components.queryItems = parameters.sorted { $0.key < $1.key }.compactMap { name, value in
      value.map { URLQueryItem(name: name, value: $0) }
    }
    return "/authorize?" + (components.percentEncodedQuery ?? "") + appending
  }

  /// Gets an authorization code without showing a page.
  func code(_ changes: [String: String?] = [:], user: String = "alice") async throws -> String {
    let url = browser.issuer + authorize(changes)
    let redirect = try await provider.settle(authorizeURL: url, user: user)
    return URLComponents(string: redirect)?.queryItems?.first { $0.name == "code" }?.value ?? ""
  }

  func redeem(_ code: String, _ changes: [String: String?] = [:], headers: [String: String] = [:])
    async throws
    -> Reply
  {
    try await token(
      [
        "grant_type": "authorization_code", "code": code, "redirect_uri": Self.redirectURI,
        "client_id": "sample-app", "code_verifier": Self.verifier,
      ], changes, headers)
  }

  func refresh(_ refreshToken: String, _ changes: [String: String?] = [:]) async throws -> Reply {
    try await token(
      ["grant_type": "refresh_token", "refresh_token": refreshToken, "client_id": "sample-app"], changes)
  }

  private func token(
    _ parameters: [String: String], _ changes: [String: String?], _ headers: [String: String] = [:]
  ) async throws -> Reply {
    var all: [String: String?] = parameters
    for (name, value) in changes { all[name] = .some(value) }
    return try await browser.post(
      "/token", all.compactMap { name, value in value.map { (name, $0) } }, headers: headers)
  }

  /// The tokens of a new sign-in.
  func tokens(_ changes: [String: String?] = [:]) async throws -> JSON {
    try await redeem(code(changes)).json
  }

  func userinfo(_ accessToken: String) async throws -> Reply {
    try await browser.get("/userinfo", headers: ["Authorization": "Bearer \(accessToken)"])
  }

  func control(_ text: String, type: String = "application/json") async throws -> Reply {
    try await browser.send(
      "POST", "/_control", headers: ["Content-Type": type], body: Data(text.utf8))
  }
}

/// A decoded id_token, which can be checked with a set of keys.
struct TestIDToken {
  var header: JSON
  var claims: JSON
  private var input: [UInt8]
  private var signature: [UInt8]

  init?(_ text: String?) {
    guard let parts = text?.components(separatedBy: "."), parts.count == 3 else { return nil }
    guard let header = Self.bytes(parts[0]), let claims = Self.bytes(parts[1]),
      let signature = Self.bytes(parts[2])
    else { return nil }
    self.header = (try? JSON.parse(header)) ?? .null
    self.claims = (try? JSON.parse(claims)) ?? .null
    self.signature = signature
    input = Array("\(parts[0]).\(parts[1])".utf8)
  }

  /// Whether the signature is valid for the header's `alg`, with the key of `keySet` that has the header's
  /// `kid`.
  func isSigned(by keySet: JSON) throws -> Bool {
    let found = keySet["keys"]?.array?.first { $0["kid"] == header["kid"] }
    guard let found, let algorithm = header["alg"]?.string.flatMap(SignatureAlgorithm.init(rawValue:))
    else { return false }
    return try Self.key(found).verify(signature: signature, message: input, algorithm: algorithm)
  }

  private static func key(_ jwk: JSON) throws -> PublicKey {
    func number(_ name: String) -> [UInt8] { jwk[name]?.string.flatMap(bytes) ?? [] }
    switch jwk["crv"]?.string {
    case nil: return try .rsa(modulus: number("n"), exponent: number("e"))
    case "Ed25519": return try .ed25519(number("x"))
    case let name?:
      guard let curve = Curve(rawValue: name) else { throw CryptoError(.key, "unknown curve") }
      return try .ec(curve: curve, x: number("x"), y: number("y"))
    }
  }

  private static func bytes(_ text: String) -> [UInt8]? {
    let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    let padding = String(repeating: "=", count: (4 - standard.count % 4) % 4)
    return Data(base64Encoded: standard + padding).map(Array.init)
  }
}
