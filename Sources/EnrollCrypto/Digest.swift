// SHA-2 (FIPS 180-4).

import COpenSSL

/// A hash function.
public enum Digest: Sendable, CaseIterable {
  /// 32 bytes.
  case sha256
  /// 48 bytes.
  case sha384
  /// 64 bytes.
  case sha512

  private static let sha256Handle = Fetched { DigestHandle("SHA2-256") }
  private static let sha384Handle = Fetched { DigestHandle("SHA2-384") }
  private static let sha512Handle = Fetched { DigestHandle("SHA2-512") }

  /// Bytes of a hash.
  public var byteCount: Int {
    switch self {
    case .sha256: 32
    case .sha384: 48
    case .sha512: 64
    }
  }

  var handle: DigestHandle? {
    switch self {
    case .sha256: Self.sha256Handle.value
    case .sha384: Self.sha384Handle.value
    case .sha512: Self.sha512Handle.value
    }
  }

  /// OpenSSL's name for it.
  var name: StaticString {
    switch self {
    case .sha256: "SHA2-256"
    case .sha384: "SHA2-384"
    case .sha512: "SHA2-512"
    }
  }

  /// - Throws: `.library` when OpenSSL cannot, `.missing` if OpenSSL is absent.
  public func hash(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: byteCount)
    let status = bytes.withUnsafeBytes { input in
      result.withUnsafeMutableBytes { compute(input, into: $0) }
    }
    try require(status, "digest")
    return result
  }

  /// As ``hash(_:)``, of a secret.
  public func hash(_ secret: Secret) throws(CryptoError) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: byteCount)
    let status = secret.withBytes { input in
      result.withUnsafeMutableBytes { compute(input, into: $0) }
    }
    try require(status, "digest")
    return result
  }

  /// - Parameter output: ``byteCount`` bytes at least; more are left as they are.
  /// - Throws: `.argument` when `output` is too small.
  public func hash(
    _ bytes: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(CryptoError) {
    guard output.count >= byteCount else {
      throw CryptoError(.argument, "a hash takes \(byteCount) bytes, not \(output.count)")
    }
    try require(compute(bytes, into: output), "digest")
  }

  private func compute(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int32 {
    guard let handle, let libcrypto = OpenSSL.opened else { return 0 }
    return libcrypto.pointee.EVP_Digest(
      input.baseAddress, input.count, output.baseAddress?.assumingMemoryBound(to: UInt8.self), nil,
      handle.pointer, nil)
  }
}
