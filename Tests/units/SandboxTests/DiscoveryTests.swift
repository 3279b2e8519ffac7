import EnrollCrypto
import EnrollJSON
import EnrollSandbox
import Testing

@Suite struct DiscoveryTests {
  @Test("the metadata's issuer is the address that was asked (RFC 8414 §3.3)")
  func issuer() async throws {
    try await withSandbox { client async throws in
      let metadata = try await client.browser.get("/.well-known/openid-configuration").json
      #expect(metadata["issuer"] == .string(client.browser.issuer))
      #expect(metadata["code_challenge_methods_supported"] == .array([.string("S256")]))
      #expect(metadata["authorization_response_iss_parameter_supported"] == .bool(true))
    }
  }

  @Test("every endpoint that the metadata names answers")
  func endpoints() async throws {
    try await withSandbox { client async throws in
      let metadata = try await client.browser.get("/.well-known/openid-configuration").json
      for member in metadata.object?.members ?? [] {
        guard member.key.hasSuffix("_endpoint") || member.key == "jwks_uri" else { continue }
        guard let url = member.value.string else { continue }
        let reply = try await client.browser.get(url)
        #expect([200, 400, 401, 405].contains(reply.status), "\(member.key)")
      }
    }
  }

  @Test(
    "an id_token of every algorithm verifies with the published keys",
    arguments: SignatureAlgorithm.allCases)
  func algorithms(_ algorithm: SignatureAlgorithm) async throws {
    try await withSandbox {
      $0.algorithms = [algorithm]
    } _: { client async throws in
      let tokens = try await client.tokens()
      let idToken = try #require(TestIDToken(tokens["id_token"]?.string))
      #expect(idToken.header["alg"] == .string(algorithm.rawValue))
      #expect(try idToken.isSigned(by: await client.browser.get("/jwks").json))
    }
  }

  @Test("the set shows one key of each kind, under names of their own")
  func keySet() async throws {
    try await withSandbox {
      $0.algorithms = SignatureAlgorithm.allCases
    } _: { client async throws in
      let keys = try await client.browser.get("/jwks").json["keys"]?.array ?? []
      #expect(keys.count == 5)
      #expect(Set(keys.compactMap { $0["kid"]?.string }).count == 5)
      #expect(keys.allSatisfy { $0["d"] == nil && $0["p"] == nil })
    }
  }

  @Test("after a rotation a new key signs, and old tokens still verify")
  func rotation() async throws {
    try await withSandbox { client async throws in
      let old = try #require(TestIDToken(try await client.tokens()["id_token"]?.string))
      try await client.provider.rotateKeys()
      let new = try #require(TestIDToken(try await client.tokens()["id_token"]?.string))
      let keys = try await client.browser.get("/jwks").json
      #expect(old.header["kid"] != new.header["kid"])
      #expect(try old.isSigned(by: keys) && new.isSigned(by: keys))
      try await client.provider.rotateKeys(keepsOld: false)
      #expect(try await client.browser.get("/jwks").json["keys"]?.array?.count == 1)
    }
  }

  @Test("a Host header of another name is refused")
  func foreignHost() async throws {
    try await withSandbox { client async throws in
      let reply = try await client.browser.get("/", headers: ["Host": "evil.example"])
      #expect(reply.status == 403)
    }
  }
}
