// HMAC (RFC 2104) with SHA-256.

import COpenSSL

/// Message authentication with a shared key.
public enum HMAC {
  private static let handle = Fetched { MACHandle("HMAC") }

  /// The HMAC of `bytes` with SHA-256.
  /// - Returns: 32 bytes. Compare them with ``ConstantTime/equal(_:_:)``.
  /// - Throws: `.library` if OpenSSL fails.
  public static func sha256(key: Secret, _ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
    let libcrypto = try OpenSSL.functions()
    let context = try MACContext(require(handle.value, "HMAC"))
    let parameters = OpenSSLParameters()
    parameters.add("digest", text: Digest.sha256.name)
    var result = [UInt8](repeating: 0, count: Digest.sha256.byteCount)
    let started = key.withBytes { keyBytes in
      parameters.withList {
        libcrypto.pointee.EVP_MAC_init(
          context.pointer, keyBytes.baseAddress?.assumingMemoryBound(to: UInt8.self), key.count, $0)
      }
    }
    try require(started, "HMAC")
    try require(libcrypto.pointee.EVP_MAC_update(context.pointer, bytes, bytes.count), "HMAC")
    var written = 0
    let ended = result.withUnsafeMutableBufferPointer {
      libcrypto.pointee.EVP_MAC_final(context.pointer, $0.baseAddress, &written, $0.count)
    }
    try require(ended, "HMAC")
    return result
  }
}
