// A JWT that a client sent.

import EnrollRules
import EnrollCrypto
import EnrollJSON

/// A JWT of a client. Only ``isSigned(by:_:)`` verifies its signature.
struct ReceivedJWT {
  let header: JSON
  let claims: JSON
  private let message: [UInt8]
  private let signature: [UInt8]

  /// Parses a JWT; nil unless the text has three parts, of which the first two are JSON and the third is a signature.
  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, let header = Self.json(parts[0]), let claims = Self.json(parts[1]),
      let signature = Base64URL.decode(parts[2])
    else { return nil }
    self.header = header
    self.claims = claims
    self.signature = signature
    message = Array("\(parts[0]).\(parts[1])".utf8)
  }

  /// Whether the header names this algorithm, and whether the key signed the JWT with this algorithm.
  func isSigned(by key: PublicKey, _ algorithm: SignatureAlgorithm) -> Bool {
    header["alg"]?.string == algorithm.rawValue
      && (try? key.verify(signature: signature, message: message, algorithm: algorithm)) == true
  }

  private static func json(_ part: String) -> JSON? {
    Base64URL.decode(part).flatMap { try? JSON.parse($0) }
  }
}
