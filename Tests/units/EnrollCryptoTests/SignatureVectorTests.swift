// Signatures against vectors in Wycheproof's form: RSA PKCS #1, PSS, ECDSA as r and s, Ed25519.

import EnrollCrypto
import EnrollJSON
import Expectations
import TestVectors
import Testing

@Suite struct SignatureVectorTests {
  @Test("the published vectors are at hand, too", Vectors.needPublished)
  func published() { expect(Vectors.atHand, is: Vectors.allCases) }

  static let files: [(String, SignatureAlgorithm)] = [
    ("rsa_signature_2048_sha256", .RS256), ("rsa_signature_2048_sha384", .RS384),
    ("rsa_signature_2048_sha512", .RS512), ("rsa_signature_3072_sha256", .RS256),
    ("rsa_signature_4096_sha256", .RS256), ("rsa_pss_2048_sha256_mgf1_32", .PS256),
    ("rsa_pss_2048_sha384_mgf1_48", .PS384), ("rsa_pss_4096_sha512_mgf1_64", .PS512),
    ("ecdsa_secp256r1_sha256_p1363", .ES256), ("ecdsa_secp384r1_sha384_p1363", .ES384),
    ("ecdsa_secp521r1_sha512_p1363", .ES512), ("ed25519", .EdDSA),
  ]

  @Test("a signature is accepted if and only if the vectors say so", arguments: files, Vectors.atHand)
  func wycheproof(named: (file: String, algorithm: SignatureAlgorithm), vectors: Vectors) throws {
    let (file, algorithm) = named
    var accepted = 0
    var refused = 0
    for group in try vectors.json("wycheproof/\(file)_test.json").elements("testGroups") {
      let key = try publicKey(of: group["publicKey"] ?? .null, for: algorithm)
      for test in group.elements("tests") {
        let valid = try key.verify(
          signature: test.hex("sig"), message: test.hex("msg"), algorithm: algorithm)
        let result = test["result"]?.string ?? ""
        if result != "acceptable" {
          expect(valid, is: result == "valid", "\(file) \(test["tcId"] ?? .null)")
        }
        if valid { accepted += 1 } else { refused += 1 }
      }
    }
    #expect(accepted >= 4)
    #expect(refused > 5)
  }

  private func publicKey(of key: JSON, for algorithm: SignatureAlgorithm) throws -> PublicKey {
    switch algorithm {
    case .EdDSA: return try .ed25519(key.hex("pk"))
    case .ES256: return try point(key, .p256)
    case .ES384: return try point(key, .p384)
    case .ES512: return try point(key, .p521)
    default: return try .rsa(modulus: key.hex("modulus"), exponent: key.hex("publicExponent"))
    }
  }

  private func point(_ key: JSON, _ curve: Curve) throws -> PublicKey {
    let point = key.hex("uncompressed")
    let count = curve.coordinateCount
    return try .ec(curve: curve, x: Array(point[1...count]), y: Array(point[(count + 1)...]))
  }
}
