import EnrollRules
import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

/// The examples of RFC 9449.
enum RFC9449 {
  /// §4.1, figure 2.
  static let proof =
    "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0Rs"
    + "cEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2"
    + "In19.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2Vu"
    + "IiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZ"
    + "T3Lg"
  static let x = "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs"
  static let y = "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA"
  /// §6.1: its thumbprint.
  static let thumbprint = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"
  /// The token of RFC 9449 §7.1, and its hash.
  static let token = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"
  static let tokenHash = "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"
}

/// A proof, decoded.
struct ReadProof {
  var header: JSON
  var claims: JSON
  var input: [UInt8]
  var signature: [UInt8]

  init(_ text: String) throws {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    try #require(parts.count == 3)
    header = try JSON.parse(try #require(Base64URL.decode(parts[0])))
    claims = try JSON.parse(try #require(Base64URL.decode(parts[1])))
    input = Array("\(parts[0]).\(parts[1])".utf8)
    signature = try #require(Base64URL.decode(parts[2]))
  }

  var isSignedByItsKey: Bool {
    get throws {
      let jwk = try #require(header["jwk"])
      let key = try PublicKey.ec(
        curve: .p256, x: try #require(Base64URL.decode(jwk["x"]?.string ?? "")),
        y: try #require(Base64URL.decode(jwk["y"]?.string ?? "")))
      return try key.verify(signature: signature, message: input, algorithm: .ES256)
    }
  }
}

@Suite("DPoP proofs (RFC 9449)")
struct DPoPProofTests {
  static let random = (0..<UInt8(DPoPProof.randomByteCount)).map { $0 }

  @Test("the example's signature verifies, and its key has the example's thumbprint (§4.1, §6.1, RFC 7638)")
  func example() throws {
    let proof = try ReadProof(RFC9449.proof)
    #expect(try proof.isSignedByItsKey)
    expect(proof.header["jwk"]?["x"]?.string, is: RFC9449.x)
    let key = JSON.object([
      ("crv", .string("P-256")), ("kty", .string("EC")), ("x", .string(RFC9449.x)), ("y", .string(RFC9449.y)),
    ])
    expect(Base64URL.encode(try Digest.sha256.hash(key.serialized())), is: RFC9449.thumbprint)
  }

  @Test("a proof has the members of §4.2 and no others, signed by the key in its header")
  func members() throws {
    let signer = try DPoPKey.make().signer()
    let request = try DPoPRequest(method: "GET", url: "https://api.example:8443/a%20b?x=1")
    let text = try DPoPProof.make(
      signer, for: request, at: UnixTime(seconds: 1_562_262_618), nonce: "n-1",
      accessToken: Secret(RFC9449.token), random: Self.random)
    let proof = try ReadProof(text)
    #expect(try proof.isSignedByItsKey)
    expect(proof.signature.count, is: 64)
    expect(proof.header["typ"], is: .string("dpop+jwt"))
    expect(proof.header["alg"], is: .string("ES256"))
    expect(proof.header["jwk"]?.object?.members.map(\.key), is: ["crv", "kty", "x", "y"])
    expect(proof.header.object?.members.count, is: 3)
    expect(
      proof.claims,
      is: .object([
        ("jti", .string(Base64URL.encode(Self.random))), ("htm", .string("GET")),
        ("htu", .string("https://api.example:8443/a%20b")), ("iat", .integer(1_562_262_618)),
        ("ath", .string(RFC9449.tokenHash)), ("nonce", .string("n-1")),
      ]))
    let bare = try ReadProof(
      DPoPProof.make(signer, for: request, at: UnixTime(seconds: 1), random: Self.random))
    expect(bare.claims.object?.members.map(\.key), is: ["jti", "htm", "htu", "iat"])
  }

  @Test("a key survives being kept, and its thumbprint is its public half's alone (RFC 7638 §3)")
  func kept() throws {
    let key = try DPoPKey.make()
    let signer = try DPoPKey(der: key.der).signer()
    expect(signer.thumbprint, is: (try key.signer()).thumbprint)
    expect(signer.thumbprint.utf8.count, is: 43)
    try expect(DPoPKey.make().signer().thumbprint, isNot: signer.thumbprint)
    let members = JSON.object(signer.publicKey)
    expect(Base64URL.encode(try Digest.sha256.hash(members.serialized())), is: signer.thumbprint)
  }

  static let wrongKinds: [KeyKind] = [.ec(.p384), .ec(.p521), .rsa(bits: 2048), .ed25519]

  @Test("a kept key of another kind is damage, never used (ES256 only)", arguments: wrongKinds.indices)
  func wrongKind(index: Int) throws {
    let key = DPoPKey(der: try PrivateKey.generate(Self.wrongKinds[index]).exported())
    expect(refusal { try key.signer() }?.code, is: .storeCorrupt)
  }

  @Test("what is no key at all is damage", arguments: [[], [0x30, 0x82], [UInt8](repeating: 0, count: 138)])
  func noKey(bytes: [UInt8]) {
    expect(refusal { try DPoPKey(der: Secret(bytes)).signer() }?.code, is: .storeCorrupt)
  }

  @Test(
    "htu is the URL without its query and fragment, and with its path as it is sent (§4.2)",
    arguments: [
      ("https://api.example/a?b=c", "https://api.example/a"), ("https://api.example", "https://api.example/"),
      ("https://api.example?x", "https://api.example/"), ("https://api.example:1/", "https://api.example:1/"),
      ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080/x"),
      ("https://api.example/a#b?c", "https://api.example/a"),
      ("https://api.example#a/b", "https://api.example/"),
      ("https://api.example/../a%2Fb//%2e/%zz%00", "https://api.example/../a%2Fb//%2e/%zz%00"),
      ("https://api.example//a?b//c", "https://api.example//a"),
      ("https://api.example/a\\b[c]|\"d\"", "https://api.example/a\\b[c]|\"d\""),
      ("https://[::1]/a?b=\u{e4} c", "https://[::1]/a"),
    ])
  func target(url: String, expected: String) throws {
    try expect(DPoPRequest(method: "POST", url: url).target, is: expected)
  }

  @Test(
    "a URL that no request can have, or that a token must not go to, is refused (R9, R19)",
    arguments: [
      "https://user@api.example/",
      "https://user:pw@api.example/", "http://api.example/", "com.example.app:/a", "ftp://api.example/",
      "/a", "", "https://api.example/\u{0}", "https://api.example/a b", "https://api.example/\u{e4}",
      "https://ex\u{e4}mple/", "https://api.example\\@evil.example/", "https:/api.example/a/b",
      "//api.example/a",
      "https:///a", "https://api.example:/a", "?https://api.example/", "HTTPS://api.example/",
    ])
  func badURL(url: String) {
    let error = refusal { try DPoPRequest(method: "GET", url: url) }
    expect(error?.code, is: .invalidArgument)
    expect(error?.field, is: "url")
  }

  @Test(
    "a method that is none is refused",
    arguments: ["", "GET /", "G\r\nX: y", String(repeating: "A", count: 33)])
  func badMethod(method: String) {
    let error = refusal { try DPoPRequest(method: method, url: "https://api.example/") }
    expect(error?.field, is: "method")
  }

  /// The binding of the request, `token_type`, and whether the answer is accepted.
  static let types: [(DPoPBinding, String, Bool)] = [
    (.none, "Bearer", true), (.none, "bearer", true), (.none, "DPoP", false), (.none, "mac", false),
    (.offered, "DPoP", true), (.offered, "dpop", true), (.offered, "Bearer", true), (.offered, "mac", false),
    (.offered, "", false), (.required, "DPoP", true), (.required, "Bearer", false), (.required, "mac", false),
  ]

  @Test("a token's type must be one that was asked for (§5, RFC 6749 §7.1)", arguments: types)
  func typeTaken(binding: DPoPBinding, type: String, isTaken: Bool) {
    let response = Fixture.json(#"{"access_token":"a","token_type":"\#(type)"}"#)
    let error = refusal { try TokenResponse(processing: response, binding: binding) }
    expect((error == nil), is: isTaken)
    if case .tokens = RefreshAnswer(processing: response, binding: binding) {
      #expect(isTaken)
    } else {
      #expect(!isTaken)
    }
  }

  @Test("a renewal whose tokens are of the wrong type still brings its new refresh token (R30)")
  func rotatedOnly() {
    let response = Fixture.json(#"{"access_token":"a","token_type":"Bearer","refresh_token":"r"}"#)
    guard case .rotatedOnly(let token, let error) = RefreshAnswer(processing: response, binding: .required)
    else {
      Issue.record("it was taken")
      return
    }
    expect(token, is: Secret("r"))
    expect(error.code, is: .responseInvalid)
  }

  @Test("a nonce that is demanded again says nothing about the refresh token")
  func demandedAgain() {
    let response = Fixture.json(#"{"error":"use_dpop_nonce"}"#, status: 400)
    guard case .refused(let error, .unclear) = RefreshAnswer(processing: response, binding: .offered) else {
      Issue.record("it was taken for a refusal")
      return
    }
    expect(error.oauthError, is: "use_dpop_nonce")
  }
}
