// Classes that own objects of OpenSSL. Swift imports every such object as an OpaquePointer, so each kind of object has
// its own class, which frees the object. Objects of the Sendable classes never change after their creation.

import COpenSSL

/// An `EVP_PKEY`: a public key or a key pair.
final class KeyHandle: @unchecked Sendable {
  let pointer: OpaquePointer
  init(owning pointer: OpaquePointer) { self.pointer = pointer }
  deinit { OpenSSL.opened?.pointee.EVP_PKEY_free(pointer) }
}

/// An `EVP_PKEY_CTX`: one operation with a key, or the generation of a key.
final class KeyContext {
  let pointer: OpaquePointer
  init(owning pointer: OpaquePointer) { self.pointer = pointer }
  deinit { OpenSSL.opened?.pointee.EVP_PKEY_CTX_free(pointer) }
}

/// An `EVP_MD`: a digest, fetched once.
final class DigestHandle: @unchecked Sendable {
  let pointer: OpaquePointer
  private init(owning pointer: OpaquePointer) { self.pointer = pointer }
  convenience init?(_ name: StaticString) {
    guard let libcrypto = OpenSSL.opened,
      let pointer = name.withCString({ libcrypto.pointee.EVP_MD_fetch(nil, $0, nil) })
    else { return nil }
    self.init(owning: pointer)
  }
  deinit { OpenSSL.opened?.pointee.EVP_MD_free(pointer) }
}

/// An `EVP_MD_CTX`: one hash, or one signature that is made or checked.
final class DigestContext {
  let pointer: OpaquePointer
  private init(owning pointer: OpaquePointer) { self.pointer = pointer }
  convenience init() throws(CryptoError) {
    self.init(owning: try require(OpenSSL.functions().pointee.EVP_MD_CTX_new(), "digest context"))
  }
  deinit { OpenSSL.opened?.pointee.EVP_MD_CTX_free(pointer) }
}

/// An `EVP_CIPHER`, fetched once.
final class CipherHandle: @unchecked Sendable {
  let pointer: OpaquePointer
  private init(owning pointer: OpaquePointer) { self.pointer = pointer }
  convenience init?(_ name: StaticString) {
    guard let libcrypto = OpenSSL.opened,
      let pointer = name.withCString({ libcrypto.pointee.EVP_CIPHER_fetch(nil, $0, nil) })
    else { return nil }
    self.init(owning: pointer)
  }
  deinit { OpenSSL.opened?.pointee.EVP_CIPHER_free(pointer) }
}

/// An `EVP_CIPHER_CTX`: one encryption or decryption.
final class CipherContext {
  let pointer: OpaquePointer
  private init(owning pointer: OpaquePointer) { self.pointer = pointer }
  convenience init() throws(CryptoError) {
    self.init(owning: try require(OpenSSL.functions().pointee.EVP_CIPHER_CTX_new(), "cipher context"))
  }
  deinit { OpenSSL.opened?.pointee.EVP_CIPHER_CTX_free(pointer) }
}

/// An `EVP_MAC`, fetched once.
final class MACHandle: @unchecked Sendable {
  let pointer: OpaquePointer
  private init(owning pointer: OpaquePointer) { self.pointer = pointer }
  convenience init?(_ name: StaticString) {
    guard let libcrypto = OpenSSL.opened,
      let pointer = name.withCString({ libcrypto.pointee.EVP_MAC_fetch(nil, $0, nil) })
    else { return nil }
    self.init(owning: pointer)
  }
  deinit { OpenSSL.opened?.pointee.EVP_MAC_free(pointer) }
}

/// An `EVP_MAC_CTX`: the authentication of one message.
final class MACContext {
  let pointer: OpaquePointer
  private init(owning pointer: OpaquePointer) { self.pointer = pointer }
  convenience init(_ algorithm: MACHandle) throws(CryptoError) {
    self.init(
      owning: try require(OpenSSL.functions().pointee.EVP_MAC_CTX_new(algorithm.pointer), "MAC context"))
  }
  deinit { OpenSSL.opened?.pointee.EVP_MAC_CTX_free(pointer) }
}

/// An `EVP_KDF`, fetched once.
final class KDFHandle: @unchecked Sendable {
  let pointer: OpaquePointer
  private init(owning pointer: OpaquePointer) { self.pointer = pointer }
  convenience init?(_ name: StaticString) {
    guard let libcrypto = OpenSSL.opened,
      let pointer = name.withCString({ libcrypto.pointee.EVP_KDF_fetch(nil, $0, nil) })
    else { return nil }
    self.init(owning: pointer)
  }
  deinit { OpenSSL.opened?.pointee.EVP_KDF_free(pointer) }
}

/// An `EVP_KDF_CTX`: one derivation.
final class KDFContext {
  let pointer: OpaquePointer
  private init(owning pointer: OpaquePointer) { self.pointer = pointer }
  convenience init(_ algorithm: KDFHandle) throws(CryptoError) {
    self.init(
      owning: try require(OpenSSL.functions().pointee.EVP_KDF_CTX_new(algorithm.pointer), "KDF context"))
  }
  deinit { OpenSSL.opened?.pointee.EVP_KDF_CTX_free(pointer) }
}

/// An `ECDSA_SIG`: a signature as two numbers.
final class ECDSASignature {
  let pointer: OpaquePointer
  init(owning pointer: OpaquePointer) { self.pointer = pointer }
  deinit { OpenSSL.opened?.pointee.ECDSA_SIG_free(pointer) }
}

/// A `BIGNUM`.
final class BigNumber {
  let pointer: OpaquePointer
  init(owning pointer: OpaquePointer) { self.pointer = pointer }
  deinit { OpenSSL.opened?.pointee.BN_free(pointer) }
}

extension StaticString {
  /// Passes the text to `body` as a C string, without a copy: a `StaticString` ends with NUL.
  func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    withUTF8Buffer { buffer in
      buffer.withMemoryRebound(to: CChar.self) { characters in
        guard let start = characters.baseAddress else { return "".withCString(body) }
        return body(start)
      }
    }
  }
}

/// An algorithm of OpenSSL, fetched at first use and kept: all threads share the handle. If the algorithm could not be
/// fetched, the next use tries again, because the cause may have been a lack of memory. Objects of this class are never
/// freed.
final class Fetched<Handle: AnyObject & Sendable>: @unchecked Sendable {
  // Unchecked: only the two atomic operations touch the cell, and its content never changes once it is set.
  private let cell: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  private let fetch: @Sendable () -> Handle?

  init(_ fetch: @escaping @Sendable () -> Handle?) {
    cell = .allocate(capacity: 1)
    cell.initialize(to: nil)
    self.fetch = fetch
  }

  var value: Handle? {
    if let kept = enroll_atomic_read(cell) { return Unmanaged<Handle>.fromOpaque(kept).takeUnretainedValue() }
    guard let handle = fetch() else { return nil }
    let owned = Unmanaged.passRetained(handle)
    // If another thread stored its handle first, that handle is kept, and this handle is freed after its last use.
    if enroll_atomic_fill(cell, owned.toOpaque()) == 0 { owned.release() }
    return handle
  }
}

/// Keeps at most one object for its next use. Only one thread at a time uses the object. This is a class, because all
/// threads share it.
final class Spare<Object: AnyObject>: @unchecked Sendable {
  // Unchecked: only the atomic operations touch the cell, and only the thread that takes the object out uses it.
  private let cell: UnsafeMutablePointer<UnsafeMutableRawPointer?>

  init() {
    cell = .allocate(capacity: 1)
    cell.initialize(to: nil)
  }

  deinit {
    _ = take()
    cell.deallocate()
  }

  func take() -> Object? {
    enroll_atomic_take(cell).map { Unmanaged<Object>.fromOpaque($0).takeRetainedValue() }
  }

  /// Keeps `object` for the next use, or frees it if another object is kept already.
  func put(_ object: Object) {
    let owned = Unmanaged.passRetained(object)
    if enroll_atomic_fill(cell, owned.toOpaque()) == 0 { owned.release() }
  }
}
