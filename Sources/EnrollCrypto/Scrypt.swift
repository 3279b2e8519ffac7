// scrypt (RFC 7914), which derives keys from passwords and PINs.

import COpenSSL

public enum Scrypt {
  /// The maximum number of bytes of memory that one derivation may use.
  public static let memoryLimit = 256 << 20

  /// - Parameters:
  ///   - n: cost, a power of two above 1.
  ///   - r: block size.
  ///   - p: parallelism.
  ///   - count: bytes to derive, 1 to 1,024.
  /// - Throws: `.argument` if a parameter is out of range, or if the derivation would need more than ``memoryLimit``.
  public static func derive(
    password: Secret, salt: [UInt8], n: UInt64, r: UInt32, p: UInt32, count: Int
  ) throws(CryptoError) -> Secret {
    guard n > 1, n & (n - 1) == 0, n <= UInt64(memoryLimit), (1...1024).contains(r), (1...1024).contains(p),
      (1...1024).contains(count)
    else { throw CryptoError(.argument, "scrypt parameters are out of range") }
    // The bytes that OpenSSL counts: 128 r (N + p + 2). n, r and p are limited above, so nothing overflows.
    let needed = 128 * UInt64(r) * (n + UInt64(p) + 2)
    guard needed <= UInt64(memoryLimit) else {
      throw CryptoError(.argument, "scrypt would need \(needed) bytes, more than \(memoryLimit)")
    }
    let libcrypto = try OpenSSL.functions()
    return try Secret(count: count) { (output) throws(CryptoError) in
      let status = password.withBytes { password in
        libcrypto.pointee.EVP_PBE_scrypt(
          password.baseAddress?.assumingMemoryBound(to: CChar.self), password.count, salt, salt.count, n,
          UInt64(r), UInt64(p), needed, output.baseAddress?.assumingMemoryBound(to: UInt8.self), output.count)
      }
      try require(status, "scrypt")
    }
  }
}
