// Tests which keys are accepted and which are refused (R22), and that the two keys of a new pair belong together.

import EnrollCrypto
import Expectations
import TestVectors
import Testing

private func refusal<Value>(_ body: () throws(CryptoError) -> Value) -> CryptoError? {
  do throws(CryptoError) {
    _ = try body()
    return nil
  } catch {
    return error
  }
}

/// An odd number with this many bits. It passes the checks of a modulus, but is not secure.
private func modulus(bits: Int) -> [UInt8] {
  var bytes = [UInt8](repeating: 0xA5, count: (bits + 7) / 8)
  let top = UInt8((bits - 1) % 8)
  bytes[0] = bytes[0] & ((1 << top) - 1) | 1 << top
  return bytes
}

@Suite struct KeyTests {
  static let kinds: [(KeyKind, [SignatureAlgorithm])] = [
    (.rsa(bits: 2048), [.RS256, .RS384, .RS512, .PS256, .PS384, .PS512]), (.ec(.p256), [.ES256]),
    (.ec(.p384), [.ES384]), (.ec(.p521), [.ES512]), (.ed25519, [.EdDSA, .Ed25519]),
  ]

  @Test("each check decides for itself, whatever the key checked before", arguments: kinds)
  func checksInARow(kind: KeyKind, algorithms: [SignatureAlgorithm]) throws {
    let key = try PrivateKey.generate(kind)
    let messages = ["first", "second"].map { Array($0.utf8) }
    for _ in 0..<2 {
      for algorithm in algorithms {
        let signatures = try messages.map { try key.sign($0, algorithm: algorithm) }
        for (signed, message) in [(0, 0), (0, 0), (1, 1), (0, 1), (1, 0), (1, 1), (0, 0)] {
          let isGood = try key.publicKey.verify(
            signature: signatures[signed], message: messages[message], algorithm: algorithm)
          expect(isGood, is: signed == message, "\(algorithm.rawValue)")
        }
      }
      for signer in algorithms {
        let signature = try key.sign(messages[0], algorithm: signer)
        for algorithm in algorithms {
          let isGood = try key.publicKey.verify(
            signature: signature, message: messages[0], algorithm: algorithm)
          expect(isGood, is: algorithm.isSame(as: signer), "\(signer.rawValue) as \(algorithm.rawValue)")
        }
      }
    }
  }

  @Test("a new pair signs, verifies, and survives export and import", arguments: kinds)
  func pair(kind: KeyKind, algorithms: [SignatureAlgorithm]) throws {
    let key = try PrivateKey.generate(kind)
    expect(key.kind, is: kind)
    let again = try PrivateKey(der: key.exported())
    expect(again.publicKey.components, is: key.publicKey.components)
    let rebuilt =
      switch key.publicKey.components {
      case .rsa(let n, let e): try PublicKey.rsa(modulus: n, exponent: e)
      case .ec(let curve, let x, let y): try PublicKey.ec(curve: curve, x: x, y: y)
      case .ed25519(let bytes): try PublicKey.ed25519(bytes)
      }
    let message = Array("header.payload".utf8)
    for algorithm in algorithms {
      let signature = try again.sign(message, algorithm: algorithm)
      #expect(try rebuilt.verify(signature: signature, message: message, algorithm: algorithm))
      #expect(try !rebuilt.verify(signature: signature, message: message + [0], algorithm: algorithm))
      #expect(try !rebuilt.verify(signature: [], message: message, algorithm: algorithm))
      #expect(try !rebuilt.verify(signature: signature + [0], message: message, algorithm: algorithm))
      #expect(try !rebuilt.verify(signature: [0] + signature, message: message, algorithm: algorithm))
      #expect(try !rebuilt.verify(signature: signature.dropLast(), message: message, algorithm: algorithm))
      for bit in [0, signature.count / 2, signature.count - 1] {
        var changed = signature
        changed[bit] ^= 1
        #expect(try !rebuilt.verify(signature: changed, message: message, algorithm: algorithm))
      }
    }
    for algorithm in SignatureAlgorithm.allCases where !algorithms.contains(algorithm) {
      expect(
        refusal { () throws(CryptoError) in
          try rebuilt.verify(signature: [1], message: message, algorithm: algorithm)
        }?.reason, is: .key)
      expect(
        refusal { () throws(CryptoError) in try key.sign(message, algorithm: algorithm) }?.reason, is: .key)
    }
  }

  @Test("a PKCS #1 signature is no PSS signature, and the hash matters")
  func algorithmsDiffer() throws {
    let key = try PrivateKey.generate(.rsa(bits: 2048))
    let algorithms: [SignatureAlgorithm] = [.RS256, .RS384, .RS512, .PS256, .PS384, .PS512]
    for signed in algorithms {
      let signature = try key.sign([1], algorithm: signed)
      for checked in algorithms {
        let valid = try key.publicKey.verify(signature: signature, message: [1], algorithm: checked)
        expect(valid, is: signed == checked, "\(signed) as \(checked)")
      }
    }
  }

  @Test("an RSA key of under 2048 or over 8192 bits, or even, is refused (R22)")
  func rsaModulus() throws {
    let exponent: [UInt8] = [1, 0, 1]
    for bits in [2048, 2049, 4096, 8192] {
      let key = try PublicKey.rsa(modulus: modulus(bits: bits), exponent: exponent)
      expect(key.kind, is: .rsa(bits: bits))
    }
    for bits in [8, 512, 1024, 2047, 8193, 16384, 100_000] {
      expect(
        refusal { () throws(CryptoError) in
          try PublicKey.rsa(modulus: modulus(bits: bits), exponent: exponent)
        }?.message, is: "an RSA key has 2048 to 8192 bits, not \(bits)")
    }
    // Leading zeros do not make a key longer.
    expect(
      refusal { () throws(CryptoError) in
        try PublicKey.rsa(
          modulus: [UInt8](repeating: 0, count: 128) + modulus(bits: 1024), exponent: exponent)
      }, isNot: nil)
    try expect(
      PublicKey.rsa(modulus: [0] + modulus(bits: 2048), exponent: [0] + exponent).components,
      is: .rsa(modulus: modulus(bits: 2048), exponent: exponent))
    var even = modulus(bits: 2048)
    even[even.count - 1] = 2
    for bad in [even, [], [0, 0, 0]] {
      expect(
        refusal { () throws(CryptoError) in try PublicKey.rsa(modulus: bad, exponent: exponent) }?.reason,
        is: .key)
    }
  }

  @Test("an RSA exponent of 0, 1, an even one, or one over 64 bits is refused (R22)")
  func rsaExponent() throws {
    let modulus = modulus(bits: 2048)
    for good: [UInt8] in [[3], [17], [1, 0, 1], [UInt8](repeating: 0xFF, count: 8)] {
      expect(
        refusal { () throws(CryptoError) in try PublicKey.rsa(modulus: modulus, exponent: good) }, is: nil)
    }
    for bad: [UInt8] in [[], [0], [1], [0, 1], [2], [1, 0], [UInt8](repeating: 0xFF, count: 9)] {
      expect(
        refusal { () throws(CryptoError) in try PublicKey.rsa(modulus: modulus, exponent: bad) }?.reason,
        is: .key)
    }
  }

  @Test("a point that is not on its curve, or of the wrong length, is refused (R22)")
  func points() throws {
    for curve in Curve.allCases {
      guard case .ec(_, let x, let y) = try PrivateKey.generate(.ec(curve)).publicKey.components else {
        Issue.record("not a point")
        return
      }
      expect(x.count, is: curve.coordinateCount)
      expect(y.count, is: curve.coordinateCount)
      var moved = y
      moved[moved.count - 1] ^= 1
      let zeros = [UInt8](repeating: 0, count: curve.coordinateCount)
      let ones = [UInt8](repeating: 0xFF, count: curve.coordinateCount)
      for (x, y) in [
        (x, moved), (y, x), (zeros, zeros), (ones, ones), (x + [0], y), ([0] + x, [0] + y), (x.dropLast(), y),
        (x, []), ([], []), (x + y.prefix(1), Array(y.dropFirst())),
      ] as [([UInt8], [UInt8])] {
        expect(
          refusal { () throws(CryptoError) in try PublicKey.ec(curve: curve, x: x, y: y) }?.reason, is: .key)
      }
      for other in Curve.allCases where other != curve {
        expect(
          refusal { () throws(CryptoError) in try PublicKey.ec(curve: other, x: x, y: y) }?.reason, is: .key)
      }
    }
  }

  @Test("an Ed25519 key of small order, not canonical, or of the wrong length is refused (R22)")
  func ed25519() throws {
    let smallOrder = [
      "0000000000000000000000000000000000000000000000000000000000000000",
      "0100000000000000000000000000000000000000000000000000000000000000",
      "0100000000000000000000000000000000000000000000000000000000000080",
      "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
      "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
      "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
      "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
      "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    ]
    for hex in smallOrder {
      expect(
        refusal { () throws(CryptoError) in try PublicKey.ed25519(Vectors.bytes(hex: hex)) }?.message,
        is: "the Ed25519 key is a point of small order", "\(hex)")
    }
    for hex in [
      "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
      "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ] {
      expect(
        refusal { () throws(CryptoError) in try PublicKey.ed25519(Vectors.bytes(hex: hex)) }?.message,
        is: "the Ed25519 key is not written canonically", "\(hex)")
    }
    for count in [0, 31, 33, 57] {
      expect(
        refusal { () throws(CryptoError) in
          try PublicKey.ed25519([UInt8](repeating: 5, count: count))
        }?.reason, is: .key)
    }
  }

  @Test("a DER text that is not exactly one private key is refused")
  func badDER() throws {
    let good = try PrivateKey.generate(.ec(.p256)).exported().revealBytes()
    for bad in [[], [0x30], good + [0], Array(good.dropLast()), [UInt8](repeating: 0x30, count: 100)] {
      expect(refusal { () throws(CryptoError) in try PrivateKey(der: Secret(bad)) }?.reason, is: .key)
    }
  }

  @Test("an RSA key of a size that would be refused is not made")
  func generateWeak() {
    for bits in [0, -1, 1024, 2047, 8193, .max] {
      expect(
        refusal { () throws(CryptoError) in try PrivateKey.generate(.rsa(bits: bits)) }?.reason, is: .key)
    }
  }

  @Test("algorithms are known by their exact names; none and HS* are not among them (R21)")
  func names() {
    expect(SignatureAlgorithm(name: "RS256"), is: .RS256)
    expect(SignatureAlgorithm(name: "EdDSA"), is: .EdDSA)
    for name in [
      "none", "None", "HS256", "HS512", "rs256", "RS256 ", "", "ES256K", "ES521", "EDDSA", "RS2\u{200B}56",
    ] {
      expect(SignatureAlgorithm(name: name), is: nil)
    }
  }
}
