// HKDF (RFC 5869) with SHA-256, which derives further keys from one key.

import COpenSSL

/// Derives keys from a key that is already random. Use ``Scrypt`` for passwords.
public enum HKDF {
  private static let handle = Fetched { KDFHandle("HKDF") }

  /// Derives `count` bytes from a key.
  /// - Parameters:
  ///   - key: the input key, not empty.
  ///   - salt: the salt, which may be empty.
  ///   - info: the purpose of the derived key, at most 1,024 bytes.
  ///   - count: how many bytes to derive, 1 to 8,160 (RFC 5869 §2.3).
  /// - Throws: `.argument` if a length is outside these limits.
  public static func sha256(
    key: Secret, salt: [UInt8], info: [UInt8], count: Int
  ) throws(CryptoError) -> Secret {
    guard count >= 1, count <= 255 * Digest.sha256.byteCount else {
      throw CryptoError(.argument, "HKDF derives 1 to 8160 bytes, not \(count)")
    }
    guard !key.isEmpty else { throw CryptoError(.argument, "HKDF needs a key that is not empty") }
    guard info.count <= 1024 else {
      throw CryptoError(.argument, "HKDF takes up to 1024 bytes of info, not \(info.count)")
    }
    let libcrypto = try OpenSSL.functions()
    let context = try KDFContext(require(handle.value, "HKDF"))
    let parameters = OpenSSLParameters()
    parameters.add("digest", text: Digest.sha256.name)
    parameters.add("key", octets: key)
    parameters.add("salt", octets: salt)
    parameters.add("info", octets: info)
    return try Secret(count: count) { (output) throws(CryptoError) in
      let status = parameters.withList {
        libcrypto.pointee.EVP_KDF_derive(
          context.pointer, output.baseAddress?.assumingMemoryBound(to: UInt8.self), output.count, $0)
      }
      try require(status, "HKDF")
    }
  }
}
