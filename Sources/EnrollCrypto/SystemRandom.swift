// Random bytes from OpenSSL's generator, which the kernel seeds, and which is seeded again after a fork.

import COpenSSL

public enum SystemRandom {
  /// The maximum number of bytes in one call.
  public static let countLimit = 1 << 20

  /// Returns `count` random bytes.
  /// - Throws: `.library` if the system has no entropy, because weaker bytes are never returned; `.argument` for a
  ///   negative `count` or a `count` over ``countLimit``.
  public static func bytes(_ count: Int) throws(CryptoError) -> [UInt8] {
    try check(count)
    let libcrypto = try OpenSSL.functions()
    var bytes = [UInt8](repeating: 0, count: count)
    let status = bytes.withUnsafeMutableBufferPointer {
      libcrypto.pointee.RAND_bytes($0.baseAddress, Int32($0.count))
    }
    try require(status, "random bytes")
    return bytes
  }

  /// Returns `count` random bytes for a key, from OpenSSL's separate generator for private values.
  /// - Throws: as ``bytes(_:)``.
  public static func secret(_ count: Int) throws(CryptoError) -> Secret {
    try check(count)
    let libcrypto = try OpenSSL.functions()
    return try Secret(count: count) { (output) throws(CryptoError) in
      let start = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
      try require(libcrypto.pointee.RAND_priv_bytes(start, Int32(output.count)), "random bytes")
    }
  }

  private static func check(_ count: Int) throws(CryptoError) {
    guard (0...countLimit).contains(count) else {
      throw CryptoError(.argument, "expected 0 to \(countLimit) random bytes, got \(count)")
    }
  }
}
