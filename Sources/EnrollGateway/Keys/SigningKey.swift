// The signing key of one entry of the key file, for access tokens: P-256, for ES256 (RFC 7518 §3.4). It is derived
// from the entry's secret, so that every entry has a signing key, including older entries, and all replicas have the
// same signing keys. HKDF gives 32 bytes. If these bytes, read as a number, are below the order of the curve, they are
// the private key; otherwise the next 32 bytes are tried (FIPS 186-5, A.4.2). Keys for other purposes are different.

import EnrollRules
import EnrollCrypto
import EnrollJSON

struct SigningKey: Sendable {
  static let algorithm = SignatureAlgorithm.ES256

  let key: PrivateKey
  /// The thumbprint of the public key (RFC 7638), used as `kid`.
  let id: String
  private let publicKey: JSONObject

  /// The order of P-256 (SEC 2 §2.4.2), big-endian.
  private static let order: [UInt8] =
    [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8) + [
      0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]
  /// The bytes before the private key in a PKCS #8 file (RFC 5958) with an ECPrivateKey (RFC 5915) on P-256. OpenSSL
  /// computes the public key.
  private static let head: [UInt8] = [
    0x30, 0x41, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06,
    0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x04, 0x27, 0x30, 0x25, 0x02, 0x01, 0x01, 0x04,
    0x20,
  ]
  private static let purpose = "enroll-gateway access token 1"
  /// The maximum number of tries. A try fails with a probability of 2^-32.
  private static let mostTries = 4

  init(derivedFrom secret: Secret) throws(CryptoError) {
    for number in 0..<Self.mostTries {
      let info = Array("\(Self.purpose) \(number)".utf8)
      let bytes = try HKDF.sha256(key: secret, salt: [], info: info, count: Self.order.count).revealBytes()
      guard bytes.contains(where: { $0 != 0 }), bytes.lexicographicallyPrecedes(Self.order) else { continue }
      key = try PrivateKey(der: Secret(Self.head + bytes))
      let signer = try DPoPSigner(key)
      (id, publicKey) = (signer.thumbprint, signer.publicKey)
      return
    }
    throw CryptoError(.key, "no signing key could be derived")
  }

  /// The public key as a JWK (RFC 7517 §4).
  var published: JSON {
    .object(
      publicKey.members.map { ($0.key, $0.value) } + [
        ("kid", .string(id)), ("alg", .string(Self.algorithm.rawValue)), ("use", .string("sig")),
      ])
  }
}
