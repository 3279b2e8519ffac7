// Key sets: keys that are left out, faults that make the whole set unusable, and the meaning of a kid (R20,
// R22).

import EnrollRules
import EnrollCrypto
import EnrollJSON
import Expectations
import Testing

private func reason(_ key: JSON) throws -> String? {
  let set = try Provider.keySet([key])
  expect(set.keys.count + set.unusable.count, is: 1)
  return set.unusable.first?.reason
}

private func refusal(_ body: String) -> EnrollError? {
  do throws(EnrollError) {
    _ = try JWKSet.parse(Array(body.utf8))
    return nil
  } catch {
    return error
  }
}

@Suite("Key sets")
struct JWKSetTests {
  @Test("every kind of key is read, and finds its algorithms")
  func kinds() throws {
    let set = try Provider.keySet()
    #expect(set.unusable.isEmpty)
    expect(set.keys.map(\.keyID), is: ["rsa", "p256", "p384", "p521", "ed25519"])
    for algorithm in SignatureAlgorithm.allCases {
      let candidates = set.candidates(keyID: nil, algorithm: algorithm)
      expect(candidates.count, is: 1)
      #expect(algorithm.fits(candidates[0].key.kind))
      expect(set.candidates(keyID: candidates[0].keyID, algorithm: algorithm).count, is: 1)
      #expect(set.candidates(keyID: "other", algorithm: algorithm).isEmpty)
    }
  }

  @Test("a member of a key that is null is absent")
  func nulls() throws {
    let members = ["kid", "use", "alg", "key_ops", "x5c", "d", "k"].map { ($0, JSON?.some(.null)) }
    try expect(reason(Provider.jwk(.rsa, members)), is: nil)
    try expect(reason(Provider.jwk(.rsa, [("kty", .null)])), is: "kty is missing")
  }

  @Test("a key that cannot check signatures is left out with its reason (R22)")
  func unusable() throws {
    let text = { (value: String) in JSON.string(value) }
    for (members, expected) in [
      ([("use", text("enc"))], "use is not sig"), ([("use", text("SIG"))], "use is not sig"),
      ([("key_ops", .array([text("encrypt")]))], "key_ops"),
      ([("key_ops", .array([]))], "key_ops"), ([("key_ops", text("verify"))], "key_ops"),
      ([("alg", text("RSA-OAEP"))], "alg is not"), ([("alg", text("none"))], "alg is not"),
      ([("alg", text("HS256"))], "alg is not"), ([("alg", .integer(1))], "alg is not"),
      ([("alg", text("ES256"))], "alg ES256 is for another kind"), ([("kty", text("rsa"))], "kty"),
      ([("kty", text("oct"))], "kty"), ([("kty", nil)], "kty is missing"), ([("kid", .integer(1))], "kid"),
      ([("kid", text(String(repeating: "k", count: 513)))], "kid"), ([("d", text("AQAB"))], "private key"),
      ([("n", nil)], "n is not base64url"), ([("n", text("AQAB=="))], "n is not base64url"),
      ([("n", text("AQAB"))], "an RSA key has 2048 to 8192 bits"), ([("e", text("AQ"))], "exponent"),
      ([("e", text("Ag"))], "exponent"), ([("e", .integer(65537))], "e is not base64url"),
    ] as [([(String, JSON?)], String)] {
      let reason = try reason(Provider.jwk(.rsa, members))
      expect(reason?.contains(expected), is: true, "\(members): \(reason ?? "accepted")")
    }
    for (members, expected) in [
      ([("crv", text("P-384"))], "a coordinate on P-384"), ([("crv", text("p-256"))], "kty or crv"),
      ([("crv", text("secp256k1"))], "kty or crv"), ([("crv", nil)], "kty or crv"),
      ([("alg", text("ES384"))], "alg ES384 is for another kind"),
      ([("x", text(Base64URL.encode([UInt8](repeating: 1, count: 32))))], "not on P-256"),
      ([("y", nil)], "y is not base64url"), ([("kty", text("OKP"))], "kty or crv"),
    ] as [([(String, JSON?)], String)] {
      let reason = try reason(Provider.jwk(.p256, members))
      expect(reason?.contains(expected), is: true, "\(members): \(reason ?? "accepted")")
    }
    for (members, expected) in [
      ([("crv", text("Ed448"))], "kty or crv"), ([("crv", text("X25519"))], "kty or crv"),
      ([("x", text("AQAB"))], "32 bytes"), ([("alg", text("ES256"))], "alg ES256 is for another kind"),
    ] as [([(String, JSON?)], String)] {
      let reason = try reason(Provider.jwk(.ed25519, members))
      expect(reason?.contains(expected), is: true, "\(members): \(reason ?? "accepted")")
    }
    try expect(reason(.string("key")), is: "not an object")
    try expect(reason(.null), is: "not an object")
  }

  @Test("a key for signatures is used, whatever else it says")
  func usable() throws {
    for members in [
      [], [("use", .string("sig"))], [("alg", .string("PS512"))], [("kid", nil)], [("x5c", .array([]))],
      [("key_ops", .array([.string("sign"), .string("verify")]))],
    ] as [[(String, JSON?)]] {
      try expect(reason(Provider.jwk(.rsa, members)), is: nil)
    }
  }

  @Test("an unusable key does not harm the others")
  func mixed() throws {
    let set = try Provider.keySet([
      .null, Provider.jwk(.otherRSA, [("use", .string("enc"))]), Provider.jwk(.rsa),
      .object([("kty", .string("oct")), ("k", .string("AQAB")), ("kid", .string("mac"))]),
    ])
    expect(set.keys.map(\.keyID), is: ["rsa"])
    expect(set.unusable.map(\.keyID), is: [nil, "otherRSA", "mac"])
  }

  @Test("two different keys that fit one kid and algorithm make that kid unusable, and no other (R22)")
  func twins() throws {
    let twin = try Provider.jwk(.otherRSA, [("kid", .string("rsa"))])
    let keys = try Provider.keySet([Provider.jwk(.rsa), twin, Provider.jwk(.p256)])
    for algorithm: SignatureAlgorithm in [.RS256, .PS512] {
      let error = try refusal(TokenMaker(algorithm), keys: keys)
      #expect(isRefused(error, "2 different keys have the kid rsa"), "\(algorithm)")
    }
    try expect(refusal(TokenMaker(.ES256), keys: keys), is: nil)
  }

  @Test("a key that is published twice, or one kid for several algorithms or uses, harms nothing (R22)")
  func sameKeyID() throws {
    let twice = try Provider.keySet([
      Provider.jwk(.rsa), Provider.jwk(.rsa, [("use", .string("sig")), ("x5c", .array([]))]),
    ])
    expect(twice.keys.count, is: 2)
    try expect(refusal(TokenMaker(), keys: twice), is: nil)

    let one = JSON.string("rsa")
    var elliptic = TokenMaker(.ES256)
    elliptic.header["kid"] = one
    for other in try [
      Provider.jwk(.otherRSA, [("kid", one), ("use", .string("enc"))]),
      Provider.jwk(.otherRSA, [("kid", one), ("alg", .string("RS512"))]),
      Provider.jwk(.otherRSA, [("kid", one), ("alg", .string("RSA-OAEP"))]),
      Provider.jwk(.p256, [("kid", one)]),
    ] {
      for order in try [[Provider.jwk(.rsa), other], [other, Provider.jwk(.rsa)]] {
        try expect(refusal(TokenMaker(), keys: Provider.keySet(order)), is: nil)
      }
    }
    let mixed = try Provider.keySet([Provider.jwk(.rsa), Provider.jwk(.p256, [("kid", one)])])
    try expect(refusal(elliptic, keys: mixed), is: nil)
    // Two keys without a kid are not duplicates.
    let nameless = try [Provider.KeyID.rsa, .otherRSA].map { try Provider.jwk($0, [("kid", nil)]) }
    try expect(Provider.keySet(nameless).candidates(keyID: nil, algorithm: .RS256).count, is: 2)
  }

  @Test("the only key of a set, if it has no kid, is tried for any (R22)")
  func onlyKey() throws {
    let nameless = try Provider.jwk(.rsa, [("kid", nil)])
    try expect(refusal(TokenMaker(), keys: Provider.keySet([nameless])), is: nil)
    let other = try Provider.jwk(.otherRSA, [("kid", nil)])
    #expect(isRefused(try refusal(TokenMaker(), keys: Provider.keySet([other])), "signature"))
    let two = try refusal(TokenMaker(), keys: Provider.keySet([nameless, other]))
    expect(two?.code, is: .keysUnavailable)
    let named = try Provider.jwk(.rsa, [("kid", .string("another"))])
    try expect(refusal(TokenMaker(), keys: Provider.keySet([named]))?.code, is: .keysUnavailable)
  }

  @Test("EdDSA and Ed25519 are two names of one algorithm (RFC 9864)")
  func bothNamesOfEdDSA() throws {
    let names: [SignatureAlgorithm] = [.EdDSA, .Ed25519]
    for published in names {
      let keys = try Provider.keySet([
        Provider.jwk(.ed25519, [("alg", .string(published.rawValue))]), Provider.jwk(.rsa),
      ])
      for signed in names {
        for configured in names {
          let error = try refusal(TokenMaker(signed), keys: keys) { $0.algorithms = [configured] }
          expect(error, is: nil, "\(published) \(signed) \(configured)")
        }
        #expect(isRefused(try refusal(TokenMaker(signed), keys: keys) { $0.algorithms = [.RS256] }, "alg"))
      }
    }
  }

  @Test("a set has 100 keys at most, in 512 KiB (R20)")
  func limits() throws {
    let nulls = { (count: Int) in
      "{\"keys\":[" + [String](repeating: "null", count: count).joined(separator: ",") + "]}"
    }
    expect(refusal(nulls(100)), is: nil)
    expect(refusal(nulls(101))?.message.contains("101 keys"), is: true)
    let spaces = { (count: Int) in "{\"keys\":[]}" + String(repeating: " ", count: count - 11) }
    expect(refusal(spaces(512 << 10)), is: nil)
    expect(refusal(spaces(512 << 10 + 1))?.code, is: .keysUnavailable)
    expect(JWKSet.request("https://idp.example/jwks").responseLimit, is: 512 << 10)
  }

  @Test(
    "what is no key set is refused",
    arguments: ["", "[]", "{}", "null", #"{"keys":{}}"#, #"{"keys":[],"keys":[]}"#])
  func noSet(body: String) {
    expect(refusal(body)?.code, is: .keysUnavailable)
  }

  @Test("only status 200 brings keys")
  func status() throws {
    let body = JSON.object([("keys", .array([try Provider.jwk(.rsa)]))]).serialized()
    try expect(JWKSet.accept(HTTPResponse(status: 200, body: body)).keys.count, is: 1)
    for status in [201, 204, 302, 404, 500] {
      do throws(EnrollError) {
        _ = try JWKSet.accept(HTTPResponse(status: status, body: body))
        Issue.record("accepted")
      } catch {
        expect(error.code, is: .keysUnavailable)
        expect(error.httpStatus, is: status)
      }
    }
  }
}
