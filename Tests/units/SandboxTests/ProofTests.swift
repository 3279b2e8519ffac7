import EnrollCrypto
import EnrollJSON
import EnrollSandbox
import Foundation
import Testing

@Suite struct ProofTests {
  @Test("off, it is not announced, and a proof changes nothing")
  func off() async throws {
    try await withSandbox { client async throws in
      let metadata = try await client.browser.get("/.well-known/openid-configuration").json
      #expect(metadata["dpop_signing_alg_values_supported"] == nil)
      let holder = try KeyHolder()
      let reply = try await client.redeem(client.code(), proof: holder.proof(client, "/token"))
      #expect(reply.json["token_type"] == .string("Bearer"))
    }
  }

  @Test("who proves a key gets tokens that work with it alone (RFC 9449 §5, §7)")
  func bound() async throws {
    try await withSandbox {
      $0.dpop = .offered
    } _: { client async throws in
      let (holder, thief) = (try KeyHolder(), try KeyHolder())
      let tokens = try await client.redeem(client.code(), proof: holder.proof(client, "/token")).json
      #expect(tokens["token_type"] == .string("DPoP"))
      let access = tokens["access_token"]?.string ?? ""
      let path = "/userinfo"
      func show(_ scheme: String, _ proof: String?) async throws -> Int {
        var headers = ["Authorization": "\(scheme) \(access)"]
        headers["DPoP"] = proof
        return try await client.browser.get(path, headers: headers).status
      }
      #expect(try await show("DPoP", holder.proof(client, path, "GET", token: access)) == 200)
      #expect(try await show("Bearer", nil) == 401)
      #expect(try await show("DPoP", nil) == 401)
      #expect(try await show("Bearer", holder.proof(client, path, "GET", token: access)) == 401)
      #expect(try await show("DPoP", thief.proof(client, path, "GET", token: access)) == 401)
      #expect(try await show("DPoP", holder.proof(client, path, "GET", token: "another")) == 401)
      #expect(try await show("DPoP", holder.proof(client, path, "GET")) == 401)

      let refresh = tokens["refresh_token"]?.string ?? ""
      #expect(try await client.refresh(refresh, proof: nil).status == 400)
      #expect(try await client.refresh(refresh, proof: thief.proof(client, "/token")).status == 400)
      let renewed = try await client.refresh(refresh, proof: holder.proof(client, "/token"))
      #expect(renewed.json["token_type"] == .string("DPoP"))
    }
  }

  @Test("a code that was asked for with dpop_jkt is that key's alone (RFC 9449 §10)")
  func code() async throws {
    try await withSandbox {
      $0.dpop = .offered
    } _: { client async throws in
      let (holder, thief) = (try KeyHolder(), try KeyHolder())
      let mine = ["dpop_jkt": holder.thumbprint]
      let stolen = try await client.redeem(client.code(mine), proof: thief.proof(client, "/token"))
      #expect(stolen.json["error"] == .string("invalid_dpop_proof"))
      #expect(try await client.redeem(client.code(mine), proof: nil).status == 400)
      #expect(
        try await client.redeem(client.code(mine), proof: holder.proof(client, "/token")).status == 200)
      let short = try await client.browser.get(client.authorize(["dpop_jkt": "short"]))
      #expect(short.parameters["error"] == "invalid_request")
    }
  }

  static let bad: [@Sendable (inout JSONObject, inout JSONObject) -> Void] = [
    { header, _ in header["typ"] = .string("JWT") }, { header, _ in header["alg"] = .string("none") },
    { header, _ in header["jwk"] = nil }, { _, claims in claims["htm"] = .string("GET") },
    { _, claims in claims["htu"] = .string("http://127.0.0.1/token") },
    { _, claims in claims["jti"] = nil },
    { _, claims in claims["iat"] = .integer(1_800_000_061) },
    { _, claims in claims["iat"] = .integer(1_799_999_939) }, { _, claims in claims["iat"] = nil },
  ]

  @Test(
    "a proof that is not for this request, or not now, is refused (RFC 9449 §4.3)", arguments: bad.indices)
  func badProof(index: Int) async throws {
    try await withSandbox {
      $0.dpop = .offered
    } _: { client async throws in
      let proof = try KeyHolder().proof(client, "/token", change: Self.bad[index])
      let reply = try await client.redeem(client.code(), proof: proof)
      #expect(reply.json["error"] == .string("invalid_dpop_proof"))
    }
  }

  @Test("a proof works once; required, nothing works without one")
  func once() async throws {
    try await withSandbox {
      $0.dpop = .required
    } _: { client async throws in
      let proof = try KeyHolder().proof(client, "/token")
      #expect(try await client.redeem(client.code(), proof: proof).status == 200)
      let again = try await client.redeem(client.code(), proof: proof)
      #expect(again.json["error"] == .string("invalid_dpop_proof"))
      #expect(try await client.redeem(client.code(), proof: nil).status == 400)
    }
  }

  @Test("nonces: demanded, then accepted, another with each answer (RFC 9449 §8)")
  func nonces() async throws {
    try await withSandbox {
      $0.dpop = .offered
      $0.demandsNonces = true
    } _: { client async throws in
      let holder = try KeyHolder()
      let code = try await client.code()
      let first = try await client.redeem(code, proof: holder.proof(client, "/token"))
      #expect(first.json["error"] == .string("use_dpop_nonce"))
      let nonce = try #require(first.headers["dpop-nonce"])
      let second = try await client.redeem(code, proof: holder.proof(client, "/token", nonce: nonce))
      #expect(second.status == 200)
      #expect(second.headers["dpop-nonce"] != nonce)
      let wrong = try await client.refresh(
        second.json["refresh_token"]?.string ?? "", proof: holder.proof(client, "/token", nonce: "other"))
      #expect(wrong.json["error"] == .string("use_dpop_nonce"))
    }
  }

  @Test("the faults: a nonce demanded whatever comes, a Bearer token for a proven key")
  func faults() async throws {
    try await withSandbox {
      $0.dpop = .offered
    } _: { client async throws in
      let holder = try KeyHolder()
      _ = try await client.control(#"{"do":"fault","fault":"demandNonce","times":1}"#)
      let code = try await client.code()
      let demand = try await client.redeem(code, proof: holder.proof(client, "/token"))
      #expect(demand.json["error"] == .string("use_dpop_nonce"))
      #expect(demand.headers["dpop-nonce"] != nil)
      _ = try await client.control(#"{"do":"fault","fault":"unbound","times":1}"#)
      let reply = try await client.redeem(code, proof: holder.proof(client, "/token"))
      #expect(reply.json["token_type"] == .string("Bearer"))
      #expect(try await client.userinfo(reply.json["access_token"]?.string ?? "").status == 200)
    }
  }

  @Test("a pushed request's proof does what dpop_jkt does, and must agree with it (RFC 9449 §10.1)")
  func pushed() async throws {
    try await withSandbox {
      $0.dpop = .offered
      $0.pushedRequests = .offered
    } _: { client async throws in
      let (holder, thief) = (try KeyHolder(), try KeyHolder())
      let pushed = try await client.push(proof: holder.proof(client, "/par"))
      let redirect = try await client.provider.settle(authorizeURL: client.naming(pushed))
      let code = URLComponents(string: redirect)?.queryItems?.first { $0.name == "code" }?.value ?? ""
      #expect(try await client.redeem(code, proof: thief.proof(client, "/token")).status == 400)
      let torn = try await client.push(
        ["dpop_jkt": thief.thumbprint], proof: holder.proof(client, "/par"))
      #expect(torn.json["error"] == .string("invalid_dpop_proof"))
    }
  }
}

/// A key, and proofs made with it according to the specification.
struct KeyHolder {
  private let key: PrivateKey
  private let x: String
  private let y: String

  init() throws {
    key = try PrivateKey.generate(.ec(.p256))
    guard case .ec(_, let x, let y) = key.publicKey.components else {
      throw CryptoError(.key, "no P-256 key")
    }
    self.x = Self.text(x)
    self.y = Self.text(y)
  }

  var thumbprint: String {
    let members = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
    return Self.text((try? Digest.sha256.hash(Array(members.utf8))) ?? [])
  }

  func proof(
    _ client: TestClient, _ path: String, _ method: String = "POST", token: String? = nil,
    nonce: String? = nil, change: (inout JSONObject, inout JSONObject) -> Void = { _, _ in }
  ) throws -> String {
    var header = JSONObject([
      ("typ", .string("dpop+jwt")), ("alg", .string("ES256")),
      (
        "jwk",
        .object([("kty", .string("EC")), ("crv", .string("P-256")), ("x", .string(x)), ("y", .string(y))])
      ),
    ])
    let hash = try token.map { try Digest.sha256.hash(Array($0.utf8)) }
    var claims = JSONObject([
      ("jti", .string(UUID().uuidString)), ("htm", .string(method)),
      ("htu", .string(client.browser.issuer + path)), ("iat", .integer(1_800_000_000)),
      ("ath", hash.map { .string(Self.text($0)) }), ("nonce", nonce.map { .string($0) }),
    ])
    change(&header, &claims)
    let input =
      Self.text(JSON.object(header).serialized()) + "." + Self.text(JSON.object(claims).serialized())
    return input + "." + Self.text(try key.sign(Array(input.utf8), algorithm: .ES256))
  }

  private static func text(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
  }
}

extension TestClient {
  func redeem(_ code: String, proof: String?) async throws -> Reply {
    try await browser.post(
      "/token",
      [
        ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", Self.redirectURI),
        ("client_id", "sample-app"), ("code_verifier", Self.verifier),
      ], headers: proof.map { ["DPoP": $0] } ?? [:])
  }

  func refresh(_ token: String, proof: String?) async throws -> Reply {
    try await browser.post(
      "/token",
      [("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", "sample-app")],
      headers: proof.map { ["DPoP": $0] } ?? [:])
  }

  func push(_ changes: [String: String?] = [:], proof: String) async throws -> Reply {
    let items = URLComponents(string: authorize(changes))?.queryItems ?? []
    return try await browser.post("/par", items.map { ($0.name, $0.value ?? "") }, headers: ["DPoP": proof])
  }
}
