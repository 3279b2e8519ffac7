// Tests of HMAC, HKDF, scrypt, AES-GCM and digests: first with published test vectors, then with inputs that are
// refused.

import EnrollCrypto
import EnrollJSON
import Expectations
import TestVectors
import Testing

private func reason<Value>(_ body: () throws(CryptoError) -> Value) -> CryptoError.Reason? {
  do throws(CryptoError) {
    _ = try body()
    return nil
  } catch {
    return error.reason
  }
}

@Suite struct SymmetricTests {
  private func tests(_ file: String, _ vectors: Vectors) throws -> [(group: JSON, test: JSON)] {
    try vectors.json("wycheproof/" + file).elements("testGroups").flatMap { group in
      group.elements("tests").map { (group, $0) }
    }
  }

  @Test("HMAC-SHA-256 gives the vectors' tags", arguments: Vectors.atHand)
  func hmac(vectors: Vectors) throws {
    let tests = try tests("hmac_sha256_test.json", vectors)
    #expect(tests.count >= vectors.least(own: 40, published: 100))
    for (group, test) in tests {
      let count = Int((group["tagSize"]?.integer ?? 0) / 8)
      let tag = try HMAC.sha256(key: Secret(test.hex("key")), test.hex("msg"))
      let matches = ConstantTime.equal(Array(tag.prefix(count)), test.hex("tag"))
      expect(matches, is: test["result"]?.string == "valid", "\(test["tcId"] ?? .null)")
    }
  }

  @Test("HKDF-SHA-256 gives the vectors' keys, and no more than 8160 bytes", arguments: Vectors.atHand)
  func hkdf(vectors: Vectors) throws {
    let tests = try tests("hkdf_sha256_test.json", vectors)
    #expect(tests.count >= vectors.least(own: 20, published: 40))
    for (_, test) in tests {
      let count = Int(test["size"]?.integer ?? 0)
      do throws(CryptoError) {
        let key = try HKDF.sha256(
          key: Secret(test.hex("ikm")), salt: test.hex("salt"), info: test.hex("info"), count: count)
        expect(test["result"]?.string, is: "valid")
        expect(key.revealBytes(), is: test.hex("okm"))
      } catch {
        expect(test["result"]?.string, is: "invalid")
        expect(error.reason, is: .argument)
      }
    }
  }

  @Test(
    "AES-256-GCM seals and opens the vectors' texts, and no other sizes", arguments: Vectors.atHand)
  func aesGCM(vectors: Vectors) throws {
    var opened = 0
    for (group, test) in try tests("aes_gcm_test.json", vectors) {
      let key = Secret(test.hex("key"))
      let sealed = test.hex("ct") + test.hex("tag")
      let open = { () throws(CryptoError) in
        try AESGCM.open(sealed, key: key, nonce: test.hex("iv"), associatedData: test.hex("aad"))
      }
      guard group["keySize"]?.integer == 256, group["ivSize"]?.integer == 96 else {
        expect(reason(open), is: .argument)
        continue
      }
      guard test["result"]?.string == "valid" else {
        expect(reason(open), is: .authentication)
        continue
      }
      opened += 1
      try expect(open().revealBytes(), is: test.hex("msg"))
      let again = try AESGCM.seal(
        Secret(test.hex("msg")), key: key, nonce: test.hex("iv"), associatedData: test.hex("aad"))
      expect(again, is: sealed)
    }
    #expect(opened >= vectors.least(own: 5, published: 20))
  }

  @Test("a sealed text that differs in any byte, or in its context, does not open")
  func tampering() throws {
    let key = Secret([UInt8](repeating: 7, count: 32))
    let nonce = [UInt8](0..<12)
    let sealed = try AESGCM.seal(Secret("refresh"), key: key, nonce: nonce, associatedData: [1, 2])
    try expect(AESGCM.open(sealed, key: key, nonce: nonce, associatedData: [1, 2]), is: Secret("refresh"))
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 1
      expect(
        reason { () throws(CryptoError) in
          try AESGCM.open(changed, key: key, nonce: nonce, associatedData: [1, 2])
        }, is: .authentication)
    }
    expect(
      reason { () throws(CryptoError) in
        try AESGCM.open(sealed, key: key, nonce: nonce, associatedData: [1])
      }, is: .authentication)
    for count in 0..<16 {
      expect(
        reason { () throws(CryptoError) in
          try AESGCM.open([UInt8](repeating: 0, count: count), key: key, nonce: nonce, associatedData: [])
        }, is: .authentication)
    }
    let empty = try AESGCM.seal(Secret(""), key: key, nonce: nonce, associatedData: [])
    expect(empty.count, is: 16)
    #expect(try AESGCM.open(empty, key: key, nonce: nonce, associatedData: []).isEmpty)
  }

  @Test("scrypt gives the keys of RFC 7914 and of Python", arguments: Vectors.atHand)
  func scrypt(vectors: Vectors) throws {
    let cases = (try vectors.json("rfc-kat/rfc-kat.json").array ?? []).filter {
      $0["kind"]?.string == "scrypt"
    }
    #expect(cases.count >= 3)
    for test in cases {
      let key = try Scrypt.derive(
        password: Secret(test["password"]?.string ?? ""), salt: Array((test["salt"]?.string ?? "").utf8),
        n: UInt64(test["N"]?.integer ?? 0), r: UInt32(test["r"]?.integer ?? 0),
        p: UInt32(test["p"]?.integer ?? 0), count: Int(test["dklen"]?.integer ?? 0))
      expect(key.revealBytes(), is: test.hex("out_hex"), "\(test["id"]?.string ?? "")")
    }
  }

  @Test(
    "scrypt refuses parameters without sense, and more than 256 MiB",
    arguments: [
      (0, 8, 1, 32), (1, 8, 1, 32), (1000, 8, 1, 32), (1 << 18, 8, 1, 32), (1 << 63, 8, 1, 32),
      (16, 0, 1, 32),
      (16, 1, 0, 32), (16, 1025, 1, 32), (16, 1, 1025, 32), (16, 1, 1, 0), (16, 1, 1, -1), (16, 1, 1, 1025),
    ] as [(UInt64, UInt32, UInt32, Int)])
  func scryptLimits(n: UInt64, r: UInt32, p: UInt32, count: Int) {
    expect(
      reason { () throws(CryptoError) in
        try Scrypt.derive(password: Secret("1234"), salt: [1], n: n, r: r, p: p, count: count)
      }, is: .argument)
  }

  @Test("scrypt with the cost of a PIN (2^17, 8, 1) fits its memory limit")
  func scryptStrong() throws {
    try expect(
      Scrypt.derive(password: Secret("1234"), salt: [1], n: 1 << 17, r: 8, p: 1, count: 32).count, is: 32)
  }

  @Test("digests give the values of FIPS 180-4")
  func digests() throws {
    let abc = Array("abc".utf8)
    let sha256 = Vectors.bytes(hex: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    try expect(Digest.sha256.hash(abc), is: sha256)
    try expect(Digest.sha256.hash(Secret("abc")), is: sha256)
    try expect(Digest.sha384.hash(abc).prefix(8), is: Vectors.bytes(hex: "cb00753f45a35e8b")[...])
    try expect(Digest.sha512.hash(abc).suffix(8), is: Vectors.bytes(hex: "2a9ac94fa54ca49f")[...])
    try expect(Digest.sha256.hash([]).prefix(4), is: Vectors.bytes(hex: "e3b0c442")[...])
    for digest in Digest.allCases { try expect(digest.hash(abc).count, is: digest.byteCount) }
  }

  @Test("a hash into a buffer too small is refused and writes nothing")
  func smallBuffer() throws {
    var buffer = [UInt8](repeating: 9, count: 33)
    let refusal = buffer.withUnsafeMutableBytes { output in
      reason { () throws(CryptoError) in
        try Digest.sha256.hash(
          UnsafeRawBufferPointer(start: nil, count: 0),
          into: UnsafeMutableRawBufferPointer(rebasing: output[..<31]))
      }
    }
    expect(refusal, is: .argument)
    expect(buffer, is: [UInt8](repeating: 9, count: 33))
  }

  @Test("random bytes are as many as asked, differ, and their count is bounded")
  func random() throws {
    #expect(try SystemRandom.bytes(0).isEmpty)
    try expect(SystemRandom.bytes(32).count, is: 32)
    try expect(SystemRandom.bytes(32), isNot: SystemRandom.bytes(32))
    try expect(SystemRandom.secret(32), isNot: SystemRandom.secret(32))
    for count in [-1, SystemRandom.countLimit + 1, .max, .min] {
      expect(reason { () throws(CryptoError) in try SystemRandom.bytes(count) }, is: .argument)
      expect(reason { () throws(CryptoError) in try SystemRandom.secret(count) }, is: .argument)
    }
  }

  @Test("a text or key of a length that AES-GCM or HKDF does not take is refused")
  func lengths() throws {
    let key = Secret([UInt8](repeating: 1, count: 32))
    for count in [0, 16, 24, 31, 33] {
      expect(
        reason { () throws(CryptoError) in
          try AESGCM.seal(
            Secret("x"), key: Secret([UInt8](repeating: 1, count: count)), nonce: [UInt8](0..<12),
            associatedData: [])
        }, is: .argument)
    }
    for count in [0, 8, 11, 13, 16] {
      expect(
        reason { () throws(CryptoError) in
          try AESGCM.seal(
            Secret("x"), key: key, nonce: [UInt8](repeating: 0, count: count), associatedData: [])
        }, is: .argument)
    }
    for count in [-1, 0, 8161, .max] {
      expect(
        reason { () throws(CryptoError) in try HKDF.sha256(key: key, salt: [], info: [], count: count) },
        is: .argument)
    }
    expect(
      reason { () throws(CryptoError) in try HKDF.sha256(key: Secret(""), salt: [], info: [], count: 32) },
      is: .argument)
  }

  @Test("comparison in constant time compares")
  func constantTime() {
    #expect(ConstantTime.equal([], []))
    #expect(ConstantTime.equal([1, 2], [1, 2]))
    #expect(!ConstantTime.equal([1, 2], [1, 3]))
    #expect(!ConstantTime.equal([1, 2], [1, 2, 0]))
  }
}
