// Signatures, algorithms and keys of id_tokens: R21, R22, R23.

import EnrollCrypto
import EnrollJSON
import Expectations
import TestVectors
import Testing

@testable import EnrollRules

@Suite("Signatures of id_tokens")
struct JWSTests {
  @Test("every algorithm of R21 is accepted with its kind of key", arguments: SignatureAlgorithm.allCases)
  func accepted(algorithm: SignatureAlgorithm) throws {
    try expect(refusal(TokenMaker(algorithm)), is: nil)
    var withoutKeyID = TokenMaker(algorithm)
    withoutKeyID.header["kid"] = nil
    try expect(refusal(withoutKeyID), is: nil)
  }

  @Test(
    "a changed byte of header, claims or signature is refused (R21)", arguments: SignatureAlgorithm.allCases)
  func tampered(algorithm: SignatureAlgorithm) throws {
    let text = try TokenMaker(algorithm).text()
    let parts = text.split(separator: ".").compactMap { Base64URL.decode(String($0)) }
    expect(parts.count, is: 3)
    for part in 0..<3 {
      for at in [0, parts[part].count / 2, parts[part].count - 1] {
        var changed = parts
        changed[part][at] ^= 1
        let token = changed.map { Base64URL.encode($0) }.joined(separator: ".")
        try expect(refusal(token)?.code, is: .idTokenInvalid)
      }
    }
    var evil = TokenMaker(algorithm)
    evil.claims["sub"] = .string("mallory")
    let grafted = evil.signedPart + "." + Base64URL.encode(parts[2])
    #expect(isRefused(try refusal(grafted), "the signature is not the issuer's"))
  }

  @Test(
    "none and HS* are refused in every spelling, with and without a signature (R21)",
    arguments: [
      "none", "None", "NONE", "nOnE", "HS256", "HS384", "HS512", "hs256", "", "RS256 ", "rs256", "ES256K",
      "ES521", "RS1", "ED25519", "Ed448", "A256GCM", "dir",
    ])
  func otherAlgorithms(name: String) throws {
    var maker = TokenMaker()
    maker.header["alg"] = .string(name)
    #expect(isRefused(try refusal(maker), "alg"))
    #expect(isRefused(try refusal(maker.signedPart + "."), "alg"))
  }

  @Test("alg is a text, and the signature is not empty (R21)")
  func missingParts() throws {
    for value: JSON? in [nil, .null, .integer(256), .array([.string("RS256")])] {
      var maker = TokenMaker()
      maker.header["alg"] = value
      #expect(isRefused(try refusal(maker), "alg is missing"))
    }
    #expect(isRefused(try refusal(TokenMaker().signedPart + "."), "signature is missing"))
  }

  @Test("the public key as an HMAC secret signs nothing (R21)")
  func confusion() throws {
    var maker = TokenMaker()
    guard case .rsa(let modulus, _) = try Provider.key(.rsa).publicKey.components else { return }
    maker.header["alg"] = .string("HS256")
    for secret in [modulus, try Provider.jwk(.rsa).serialized()] {
      let tag = try HMAC.sha256(key: Secret(secret), Array(maker.signedPart.utf8))
      let token = maker.signedPart + "." + Base64URL.encode(tag)
      #expect(isRefused(try refusal(token), "alg HS256"))
    }
  }

  @Test("an algorithm that is not configured is refused (R21)")
  func configured() throws {
    #expect(isRefused(try refusal(TokenMaker(.ES256)) { $0.algorithms = [.RS256] }, "ES256"))
    #expect(isRefused(try refusal(TokenMaker(.RS256)) { $0.algorithms = [] }, "RS256"))
    try expect(refusal(TokenMaker(.ES256)) { $0.algorithms = [.RS256, .ES256] }, is: nil)
  }

  @Test("any crit is refused, for none is known (R21)")
  func crit() throws {
    for value: JSON in [
      .array([.string("b64")]), .array([.string("exp")]), .array([]), .string("b64"), .null,
    ] {
      var maker = TokenMaker()
      maker.header["crit"] = value
      maker.header["b64"] = .bool(false)
      #expect(isRefused(try refusal(maker), "crit"))
    }
  }

  @Test("a key that the token brings along is not used (R21)", arguments: ["jwk", "jku", "x5u", "x5c"])
  func ownKey(member: String) throws {
    var maker = TokenMaker()
    maker.key = .otherRSA
    maker.header["kid"] = .string("otherRSA")
    maker.header[member] =
      member == "jwk" ? try Provider.jwk(.otherRSA) : .string("https://evil.example/otherRSA")
    try expect(refusal(maker)?.code, is: .keysUnavailable)
    maker.header["kid"] = nil
    #expect(isRefused(try refusal(maker), "signature"))
    maker.header["kid"] = .string("rsa")
    #expect(isRefused(try refusal(maker), "signature"))
    // A token with a good signature is still accepted.
    maker.key = .rsa
    try expect(refusal(maker), is: nil)
  }

  @Test("an unknown kid means that the keys are not at hand, a malformed one is refused (R21, R23)")
  func unknownKeyID() throws {
    for kid in ["new", "RSA", "rsa ", "", "../rsa"] {
      var maker = TokenMaker()
      maker.header["kid"] = .string(kid)
      try expect(refusal(maker)?.code, is: .keysUnavailable)
    }
    var maker = TokenMaker()
    maker.header["kid"] = nil
    try expect(refusal(maker, keys: Provider.keySet([.p256]))?.code, is: .keysUnavailable)
    try expect(refusal(maker, keys: Provider.keySet([JSON]()))?.code, is: .keysUnavailable)
    maker.header["kid"] = .null
    try expect(refusal(maker), is: nil, "null is absence")
    for kid: JSON in [.integer(1), .string(String(repeating: "k", count: 513))] {
      maker.header["kid"] = kid
      #expect(isRefused(try refusal(maker), "kid"))
    }
  }

  @Test("the key of the token's kid is the only one tried (R22)")
  func keyIDGames() throws {
    // The token is signed by otherRSA, a key of the issuer, but has the kid of the key rsa.
    var maker = TokenMaker()
    maker.key = .otherRSA
    let keys = try Provider.keySet([.rsa, .otherRSA])
    #expect(isRefused(try refusal(maker, keys: keys), "signature"))
    maker.header["kid"] = .string("otherRSA")
    try expect(refusal(maker, keys: keys), is: nil)
    // Without a kid, any key of the issuer may have signed.
    maker.header["kid"] = nil
    try expect(refusal(maker, keys: keys), is: nil)
    #expect(isRefused(try refusal(maker, keys: Provider.keySet([.rsa])), "signature"))
  }

  @Test("a key of another kind or curve than the algorithm's is refused (R22)")
  func wrongKey() throws {
    for (algorithm, key) in [
      (SignatureAlgorithm.ES256, "rsa"), (.ES256, "p384"), (.ES384, "p256"), (.RS256, "p256"),
      (.EdDSA, "p256"),
      (.ES256, "ed25519"),
    ] {
      var maker = TokenMaker(algorithm)
      maker.header["kid"] = .string(key)
      #expect(isRefused(try refusal(maker), "is not for \(algorithm.rawValue)"))
    }
  }

  @Test("a key that names its algorithm is for no other (R22)")
  func boundKey() throws {
    let keys = try Provider.keySet([Provider.jwk(.rsa, [("alg", .string("RS256"))])])
    try expect(refusal(TokenMaker(.RS256), keys: keys), is: nil)
    for algorithm: SignatureAlgorithm in [.RS384, .RS512, .PS256] {
      #expect(isRefused(try refusal(TokenMaker(algorithm), keys: keys), "is not for"))
    }
  }

  @Test("a token whose key is unusable is refused with the reason (R22)")
  func unusableKey() throws {
    let keys = try Provider.keySet([Provider.jwk(.rsa, [("use", .string("enc"))])])
    #expect(isRefused(try refusal(TokenMaker(), keys: keys), "use is not sig"))
  }

  @Test("a key of a kind that this OpenSSL has not is nobody's fault, and no word against the token")
  func keyWithoutAlgorithm() throws {
    let key = JWK.Unusable(keyID: "rsa", cause: CryptoError(.library, "key context failed: unsupported"))
    let keys = JWKSet(keys: [], unusable: [key])
    for keyID in [JSON.string("rsa"), nil] {
      var maker = TokenMaker()
      maker.header["kid"] = keyID
      let error = try #require(try refusal(maker, keys: keys))
      #expect(error.code == .internal && error.blame == .internal && error.message.contains("unsupported"))
    }
  }

  @Test("three parts of strict base64url make a token (R21)")
  func form() throws {
    let text = try TokenMaker().text()
    let parts = text.split(separator: ".").map(String.init)
    let bad = [
      "", ".", "..", "...", "a.b.c", parts[0], parts[0] + "." + parts[1], text + ".", "." + text,
      text + ".x.y",
      text + "=", parts[0] + "=." + parts[1] + "." + parts[2], " " + text, text + " ", text + "\n",
      parts[0] + "?." + parts[1] + "." + parts[2], text.dropLast() + "+",
      parts[0] + ".." + parts[2], "." + parts[1] + "." + parts[2],
    ]
    for token in bad {
      let error = try refusal(token)
      expect(error?.code, is: .idTokenInvalid, "\(token.count)")
    }
    for header in ["[]", "null", "{", #"{"alg":"RS256","alg":"none"}"#, "{\"alg\":\"RS256\"} x"] {
      let token = Base64URL.encode(Array(header.utf8)) + "." + parts[1] + "." + parts[2]
      #expect(isRefused(try refusal(token), "header"))
    }
  }

  @Test("an encrypted token is called that, with what helps (RFC 7516 §3.1)")
  func encrypted() throws {
    let error = try refusal("eyJhbGciOiJSU0EtT0FFUCJ9.a2V5.aXY.Y2lwaGVy.dGFn")
    expect(error?.code, is: .idTokenInvalid)
    #expect(error?.message.contains("encrypted") ?? false, "\(error.debugDescription)")
    #expect(error?.message.contains("id_token_encrypted_response_alg") ?? false)
  }

  @Test("a token over 64 KiB is refused before it is read")
  func length() throws {
    let maker = TokenMaker.with("padding", .string(String(repeating: "x", count: 40_000)))
    try expect(refusal(maker), is: nil)
    let long = TokenMaker.with("padding", .string(String(repeating: "x", count: 50_000)))
    #expect(isRefused(try refusal(long), "bytes"))
  }

  @Test("what is refused is told without control characters, and cut short")
  func printable() throws {
    var maker = TokenMaker()
    maker.header["alg"] = .string("no\n\u{1B}[31mne" + String(repeating: "x", count: 1000))
    let message = try #require(try refusal(maker)).message
    #expect(message.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F })
    #expect(message.utf8.count < 200)
  }

  // MARK: Vectors

  /// Whether the token's signature is accepted with these keys.
  private func accepts(_ token: String, _ keys: JSON?) -> Bool {
    do throws(EnrollError) {
      let keys = keys?["keys"] ?? keys.map { .array([$0]) } ?? .array([])
      let set = try JWKSet.parse(JSON.object([("keys", keys)]).serialized())
      let token = try JWS(parsing: Secret(token))
      let verdict = try SignatureRule.verdict(on: token, keys: set, algorithms: SignatureAlgorithm.allCases)
      if case .proven = verdict { return true }
      return false
    } catch {
      return false
    }
  }

  @Test(
    "JSON web signatures are judged as the vectors say, but for the stated overrides",
    arguments: ["json_web_signature_test.json", "json_web_key_test.json", "json_web_crypto_test.json"],
    Vectors.atHand)
  func wycheproof(file: String, vectors: Vectors) throws {
    let overrides = try vectors.json("wycheproof/OVERRIDES.json")[file]
    var accepted = 0
    for group in try vectors.json("wycheproof/" + file).elements("testGroups") {
      for test in group.elements("tests") {
        let id = "\(test["tcId"]?.integer ?? 0)"
        var result = overrides?[id]?["use"]?.string ?? test["result"]?.string ?? ""
        // A group without a public key has a shared key. HS* is always refused, even with a valid MAC (R21).
        if group["public"] == nil || group["public"]?.isNull == true { result = "invalid" }
        let valid = accepts(test["jws"]?.string ?? test["jwe"]?.string ?? "", group["public"])
        if valid { accepted += 1 }
        if result == "valid" || result == "invalid" {
          expect(valid, is: result == "valid", "\(file) \(id) \(test["comment"]?.string ?? "")")
        }
      }
    }
    #expect(accepted > 0)
  }

  @Test(
    "signatures like those of RFC 7520 and RFC 8037 are accepted, but for HMAC", arguments: Vectors.atHand)
  func cookbook(vectors: Vectors) throws {
    for (file, valid) in [
      ("jws/4_1.rsa_v15_signature.json", true), ("jws/4_2.rsa-pss_signature.json", true),
      ("jws/4_3.ecdsa_signature.json", true), ("jws/4_4.hmac-sha2_integrity_protection.json", false),
      ("curve25519/jws.json", true),
    ] {
      let example = try vectors.json("jose-cookbook/" + file)
      // The examples have private keys, which no provider may publish.
      var key = try #require(example["input"]?["key"]?.object)
      for name in ["d", "p", "q", "dp", "dq", "qi"] { key[name] = nil }
      let token = try #require(example["output"]?["compact"]?.string)
      expect(accepts(token, .object(key)), is: valid, "\(file)")
      #expect(!accepts(token, example["input"]?["key"]), "\(file)")
      if valid {
        let payload = try JWS(parsing: Secret(token)).payload
        expect(example["input"]?["payload"]?.string.map { Array($0.utf8) }, is: payload)
      }
    }
  }

  @Test("signatures like those of RFC 7515 are accepted, but for HMAC and none", arguments: Vectors.atHand)
  func rfc7515(vectors: Vectors) throws {
    for test in try vectors.json("rfc-kat/rfc-kat.json").array ?? []
    where test["kind"]?.string == "jws-compact" {
      var key = test["key"]?.object ?? JSONObject()
      key["d"] = nil
      let isAsymmetric = ["RSA", "EC", "OKP"].contains(key["kty"]?.string ?? "")
      expect(accepts(test["jws"]?.string ?? "", .object(key)), is: isAsymmetric, "\(test["id"] ?? .null)")
    }
  }

  @Test("at_hash and c_hash of the specifications are computed", arguments: Vectors.atHand)
  func hashes(vectors: Vectors) throws {
    for test in try vectors.json("rfc-kat/rfc-kat.json").array ?? [] {
      guard let kind = test["kind"]?.string, kind == "at_hash" || kind == "c_hash" else { continue }
      let token = test["code"]?.string ?? test["access_token"]?.string ?? ""
      let algorithm = try #require(SignatureAlgorithm(name: test["alg"]?.string ?? "RS256"))
      var maker = TokenMaker(algorithm)
      maker.claims["at_hash"] = test[kind]
      try expect(refusal(maker) { $0.accessToken = Secret(token) }, is: nil)
    }
  }
}
