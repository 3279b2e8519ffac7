@testable import EnrollRules
@testable import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Expectations
import Foundation
import Testing

@Suite("A client with a key of its own (private_key_jwt: OpenID Connect Core §9, RFC 7523)")
struct ClientKeyTests {
  private static let kinds: [KeyKind] = [.ec(.p256), .ec(.p384), .ec(.p521), .rsa(bits: 2048), .ed25519]

  private static func pem(_ key: PrivateKey) throws -> String {
    let base64 = Data(try key.exported().revealBytes()).base64EncodedString(options: .lineLength64Characters)
    return "-----BEGIN PRIVATE KEY-----\n\(base64)\n-----END PRIVATE KEY-----\n"
  }

  private func key(
    _ text: String, id: String? = nil, algorithm: SignatureAlgorithm? = nil, audience: String? = nil
  ) throws -> ClientKey {
    try ClientKey(text, id: id, algorithm: algorithm, audience: audience)
  }

  /// Checks the assertions in the requests to these endpoints with the key; returns the header and the claims of each.
  private func assertions(
    _ provider: FakeProvider, _ endpoints: [FakeProvider.Endpoint], by key: PublicKey
  ) throws -> [(header: JSON, claims: JSON)] {
    try endpoints.flatMap { provider.requests($0) }.map { request in
      let form = Dictionary(
        uniqueKeysWithValues: try FormEncoding.decode(request.body).map { ($0.0, $0.1) })
      #expect(!request.headers.contains { $0.name == "Authorization" })
      expect(
        form["client_assertion_type"], is: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
      expect(form["client_id"], is: "native")
      let parts = try #require(form["client_assertion"]).split(separator: ".").map(String.init)
      let header = try JSON.parse(try #require(Base64URL.decode(parts[0])))
      let algorithm = try #require(header["alg"]?.string.flatMap { SignatureAlgorithm(name: $0) })
      try #expect(
        key.verify(
          signature: try #require(Base64URL.decode(parts[2])), message: Array("\(parts[0]).\(parts[1])".utf8),
          algorithm: algorithm))
      return (header, try JSON.parse(try #require(Base64URL.decode(parts[1]))))
    }
  }

  @Test(
    "every request of the client has an assertion of its own, by a key of any usual kind", arguments: kinds)
  func everywhere(kind: KeyKind) throws {
    let made = try PrivateKey.generate(kind)
    let bench = try Bench(pushedRequests: .auto, dpop: .never)
    bench.provider.change { $0.takesPushedRequests = true }
    let engine = bench.engine(clientKey: try key(try Self.pem(made), id: "2026"))
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    _ = try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil)
    bench.clock.advance(seconds: 4000)
    _ = try engine.token()
    // The provider refuses introspection to a client that it considers public.
    _ = try? engine.introspection.introspect(.accessToken, cancellation: nil)
    _ = try engine.logout.beginLogout(localOnly: false, cancellation: nil)
    _ = try engine.signIn.begin(SignInOptions(kind: .device), cancellation: nil)
    let found = try assertions(
      bench.provider, [.pushed, .token, .introspection, .revocation, .deviceAuthorization], by: made.publicKey
    )
    #expect(found.count >= 6)
    expect(Set(found.compactMap { $0.claims["jti"]?.string }).count, is: found.count)
    for (header, claims) in found {
      expect(header["kid"], is: .string("2026"))
      #expect(claims["iss"] == .string("native") && claims["sub"] == .string("native"))
      expect(claims["aud"], is: .string(bench.provider.issuer))
      let (issued, end) = (claims["iat"]?.integer ?? 0, claims["exp"]?.integer ?? 0)
      expect(end - issued, is: 300)
    }
  }

  @Test("the time of an assertion is the server's, whatever this machine's clock says")
  func time() throws {
    let made = try PrivateKey.generate(.ec(.p256))
    let bench = try Bench(pushedRequests: .auto, dpop: .never)
    bench.provider.change {
      $0.takesPushedRequests = true
      $0.clockOffsetSeconds = 7200
    }
    let engine = bench.engine(clientKey: try key(try Self.pem(made)))
    _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let issued = try assertions(bench.provider, [.pushed], by: made.publicKey)[0].claims["iat"]?.integer ?? 0
    #expect(issued - bench.clock.wallTime().seconds > 7000)
  }

  @Test(
    "a date that was changed costs one refused request, not the session (R15, R25)",
    arguments: [-3600, -120, 120, 3600, 31_536_000] as [Int64])
  func changedDate(difference: Int64) throws {
    let made = try PrivateKey.generate(.ec(.p256))
    let bench = try Bench(pushedRequests: .auto, dpop: .never)
    bench.provider.change { $0.takesPushedRequests = true }
    func process() throws -> Engine { bench.engine(clientKey: try key(try Self.pem(made))) }
    // The device's date is wrong during the sign-in, and correct later.
    bench.clock.setWall(bench.clock.wallTime().seconds + difference)
    bench.provider.change { $0.clockOffsetSeconds = -difference }
    _ = try process().failure(
      of: bench.provider.signIn(at: try process().signIn.begin(SignInOptions(), cancellation: nil).url))
    bench.clock.setWall(bench.clock.wallTime().seconds - difference)
    bench.provider.change { $0.clockOffsetSeconds = 0 }
    for process in [try process(), try process(), try process()] {
      bench.clock.advance(seconds: 4000)
      let before = bench.provider.count(.token)
      _ = try process.token()
      #expect(bench.provider.count(.token) - before <= 2)
    }
    // By now the new difference between the clocks is stored.
    bench.clock.advance(seconds: 4000)
    let before = bench.provider.count(.token)
    _ = try process().token()
    expect(bench.provider.count(.token) - before, is: 1)
    _ = try process().signIn.begin(SignInOptions(), cancellation: nil)
    _ = try process().logout.beginLogout(localOnly: false, cancellation: nil)
    #expect(!bench.provider.revoked.isEmpty)
  }

  @Test(
    "the algorithm is the configured one, else one that the provider announces",
    arguments: [
      (nil, nil, "RS256"), (nil, ["PS256", "ES256"], "PS256"), (nil, ["ES256"], "RS256"),
      (SignatureAlgorithm.PS512, ["PS256"], "PS512"),
    ] as [(SignatureAlgorithm?, [String]?, String)])
  func algorithm(configured: SignatureAlgorithm?, announced: [String]?, expected: String) throws {
    let made = try PrivateKey.generate(.rsa(bits: 2048))
    let bench = try Bench(pushedRequests: .auto, dpop: .never)
    bench.provider.change {
      $0.takesPushedRequests = true
      $0.metadata = { metadata in
        metadata["token_endpoint_auth_signing_alg_values_supported"] = announced.map {
          .array($0.map { .string($0) })
        }
      }
    }
    let engine = bench.engine(clientKey: try key(try Self.pem(made), algorithm: configured))
    _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    try expect(
      assertions(bench.provider, [.pushed], by: made.publicKey)[0].header["alg"], is: .string(expected))
  }

  @Test(
    "the audience is the configured one; token_endpoint stands for the URL",
    arguments: [("https://id.example/x", "https://id.example/x"), ("token_endpoint", nil)])
  func audience(configured: String, expected: String?) throws {
    let made = try PrivateKey.generate(.ed25519)
    let bench = try Bench(pushedRequests: .auto, dpop: .never)
    bench.provider.change { $0.takesPushedRequests = true }
    let engine = bench.engine(clientKey: try key(try Self.pem(made), audience: configured))
    _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let audience = try assertions(bench.provider, [.pushed], by: made.publicKey)[0].claims["aud"]
    expect(audience, is: .string(expected ?? bench.provider.issuer + "/token"))
  }

  // MARK: The file

  /// The keys of RFC 7515 §A.3 and RFC 8037 §A.1. The EC key also has an id and an algorithm, which the RFC's
  /// key does not have.
  private static let ec =
    #"{"kty":"EC","crv":"P-256","kid":"one","alg":"ES256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"}"#
  static let ed25519 =
    #"{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#

  @Test("a JWK is read, with its name and its algorithm", arguments: [ec, " \n" + ed25519])
  func jwk(text: String) throws {
    let bench = try Bench(pushedRequests: .auto, dpop: .never)
    bench.provider.change { $0.takesPushedRequests = true }
    let engine = bench.engine(clientKey: try key(text))
    _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let form = Dictionary(
      uniqueKeysWithValues: try FormEncoding.decode(bench.provider.requests(.pushed)[0].body).map {
        ($0.0, $0.1)
      })
    let assertion = try #require(form["client_assertion"])
    let head = try #require(Base64URL.decode(String(assertion.prefix { $0 != "." })))
    let header = try JSON.parse(head)
    let isEC = text == Self.ec
    #expect(header["kid"] == (isEC ? .string("one") : nil))
    expect(header["alg"], is: .string(isEC ? "ES256" : "EdDSA"))
  }

  @Test("an RSA key as a JWK needs its primes, and works with them")
  func rsa() throws {
    let members = ClientKeyVector.rsa.map { ($0, JSON.string($1)) } + [("kty", .string("RSA"))]
    func text(_ members: [(String, JSON)]) -> String {
      String(decoding: JSON.object(members).serialized(), as: UTF8.self)
    }
    #expect(throws: Never.self) { try key(text(members)) }
    for left in ["d", "p", "qi"] {
      #expect(throws: EnrollError.self) { try key(text(members.filter { $0.0 != left })) }
    }
  }

  @Test("a file that is no private key is refused with the reason, and without a word of it")
  func refused() throws {
    let public25519 = Self.ed25519.replacing(#""d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","#, with: "")
    let other = Self.ec.replacing("jpsQnnGQmL", with: "jpsQnnGQmM")
    let pem = try Self.pem(try PrivateKey.generate(.ec(.p256)))
    let cases: [(String, SignatureAlgorithm?, String)] = [
      ("", nil, "expected a key in PEM"), ("{}", nil, "kty is missing"), ("{", nil, "expected a JWK"),
      (#"{"keys":[\#(Self.ec)]}"#, nil, "a set of keys"), (public25519, nil, "no private key"),
      (other, nil, "does not belong"), (Self.ec.replacing("ES256", with: "HS256"), nil, "alg is not"),
      (pem, .RS256, "not of the kind that RS256 needs"), (Self.ec, .EdDSA, "not of the kind"),
      (pem.replacing("PRIVATE KEY", with: "EC PRIVATE KEY"), nil, "openssl pkcs8 -topk8 -nocrypt"),
    ]
    for (text, algorithm, words) in cases {
      do {
        _ = try key(text, algorithm: algorithm)
        Issue.record("accepted: \(words)")
      } catch let error as EnrollError {
        #expect(error.code == .configuration && error.field == "clientKeyFile")
        #expect(error.message.contains(words), "\(error.message)")
        #expect(!error.message.contains("jpsQ") && !error.message.contains("nWGx"))
      }
    }
  }

  @Test("its keys of the configuration need the file, and exclude a secret")
  func configuration() throws {
    let base: [(String, JSON?)] = [("clientKeyFile", .string("/k"))]
    let cases: [([(String, JSON?)], String)] = [
      ([("clientKeyId", .string("a"))], "clientKeyId"),
      ([("clientKeyAlgorithm", .string("ES256"))], "clientKeyAlgorithm"),
      ([("clientAssertionAudience", .string("a"))], "clientAssertionAudience"),
      (base + [("clientSecret", .string("s"))], "clientSecret"),
      (base + [("clientKeyAlgorithm", .string("HS256"))], "clientKeyAlgorithm"),
      (base + [("clientKeyId", .string("\u{7}"))], "clientKeyId"),
      ([("clientKeyFile", .string(""))], "clientKeyFile"),
    ]
    for (keys, field) in cases {
      do {
        _ = try Bench(keys)
        Issue.record("accepted: \(field)")
      } catch let error as EnrollError { expect(error.field, is: field) }
    }
    let read = try Bench(base + [("client_key_algorithm", .string("PS256"))]).configuration
    expect(read.clientKey, is: ClientKeySettings(file: "/k", algorithm: .PS256))
  }
}
