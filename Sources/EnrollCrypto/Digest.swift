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

  /// The number of bytes of a hash.
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

  /// OpenSSL's name of the hash function.
  var name: StaticString {
    switch self {
    case .sha256: "SHA2-256"
    case .sha384: "SHA2-384"
    case .sha512: "SHA2-512"
    }
  }

  /// - Throws: `.library` if OpenSSL fails, `.missing` if OpenSSL is absent.
  public func hash(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: byteCount)
    let status = bytes.withUnsafeBytes { input in
      result.withUnsafeMutableBytes { compute(input, into: $0) }
    }
    try require(status, "digest")
    return result
  }

  /// Like ``hash(_:)``, for a secret.
  public func hash(_ secret: Secret) throws(CryptoError) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: byteCount)
    let status = secret.withBytes { input in
      result.withUnsafeMutableBytes { compute(input, into: $0) }
    }
    try require(status, "digest")
    return result
  }

  /// - Parameter output: at least ``byteCount`` bytes; further bytes are not changed.
  /// - Throws: `.argument` if `output` is too small.
  public func hash(
    _ bytes: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(CryptoError) {
    guard output.count >= byteCount else {
      throw CryptoError(.argument, "a hash takes \(byteCount) bytes, not \(output.count)")
    }
    try require(compute(bytes, into: output), "digest")
  }

  /// The hash of `bytes`, without allocating memory.
  /// - Throws: `.argument` for a hash function whose hash does not have 32 bytes.
  public func hash(
    _ bytes: UnsafeRawBufferPointer, into output: inout InlineArray<32, UInt8>
  ) throws(CryptoError) {
    guard byteCount == 32 else { throw CryptoError(.argument, "a hash takes \(byteCount) bytes, not 32") }
    var span = output.mutableSpan
    try require(span.withUnsafeMutableBytes { compute(bytes, into: $0) }, "digest")
  }

  private func compute(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int32 {
    guard let handle, let libcrypto = OpenSSL.opened else { return 0 }
    guard self == .sha256 else {
      return libcrypto.pointee.EVP_Digest(
        input.baseAddress, input.count, output.baseAddress?.assumingMemoryBound(to: UInt8.self), nil,
        handle.pointer, nil)
    }
    // SHA-256 is used very often, so its context is kept for the next use. The context keeps no part of the data.
    guard let context = Self.spare.take() ?? Self.context(handle) else { return 0 }
    let start = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    guard libcrypto.pointee.EVP_DigestUpdate(context.pointer, input.baseAddress, input.count) == 1,
      libcrypto.pointee.EVP_DigestFinal_ex(context.pointer, start, nil) == 1
    else { return 0 }
    if libcrypto.pointee.EVP_DigestInit_ex2(context.pointer, handle.pointer, nil) == 1 {
      Self.spare.put(context)
    }
    return 1
  }

  /// An initialised context for SHA-256, kept for the next use.
  private static let spare = Spare<DigestContext>()

  private static func context(_ handle: DigestHandle) -> DigestContext? {
    guard let context = try? DigestContext(), let libcrypto = OpenSSL.opened,
      libcrypto.pointee.EVP_DigestInit_ex2(context.pointer, handle.pointer, nil) == 1
    else { return nil }
    return context
  }
}
