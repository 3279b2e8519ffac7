// Key pairs: generation, storage and signing. The library signs DPoP proofs and client assertions; the sandbox signs
// tokens.

import COpenSSL

/// A key that makes signatures. A class, because it owns OpenSSL's object, which never changes. The private half stays
/// inside OpenSSL, which wipes it.
public final class PrivateKey: Sendable {
  /// The public half, with which others check the signatures of this key.
  public let publicKey: PublicKey
  private let handle: KeyHandle

  /// The algorithm family of the key, and its size or curve.
  public var kind: KeyKind { publicKey.kind }

  private init(_ handle: KeyHandle, _ publicKey: PublicKey) {
    self.handle = handle
    self.publicKey = publicKey
  }

  convenience init(_ handle: KeyHandle) throws(CryptoError) {
    self.init(handle, try Self.publicKey(of: handle))
  }

  /// Generates a key.
  /// - Throws: `.key` for an RSA size outside 2,048 to 8,192 bits.
  public static func generate(_ kind: KeyKind) throws(CryptoError) -> PrivateKey {
    let libcrypto = try OpenSSL.functions()
    let type: StaticString =
      switch kind {
      case .rsa: "RSA"
      case .ec: "EC"
      case .ed25519: "ED25519"
      }
    let made = type.withCString { libcrypto.pointee.EVP_PKEY_CTX_new_from_name(nil, $0, nil) }
    let context = KeyContext(owning: try require(made, "key context"))
    try require(libcrypto.pointee.EVP_PKEY_keygen_init(context.pointer), "key generation")
    switch kind {
    case .rsa(let bits):
      guard RSAStrength.modulusBits.contains(bits) else {
        throw CryptoError(.key, "an RSA key of \(bits) bits is not made")
      }
      try require(
        libcrypto.pointee.EVP_PKEY_CTX_set_rsa_keygen_bits(context.pointer, Int32(bits)), "key generation")
    case .ec(let curve):
      let status = curve.name.withCString {
        libcrypto.pointee.EVP_PKEY_CTX_set_group_name(context.pointer, $0)
      }
      try require(status, "key generation")
    case .ed25519: break
    }
    var key: OpaquePointer?
    try require(libcrypto.pointee.EVP_PKEY_generate(context.pointer, &key), "key generation")
    return try PrivateKey(KeyHandle(owning: require(key, "key generation")))
  }

  /// Reads the output of ``exported()``: PKCS #8 in DER (RFC 5958).
  /// - Throws: `.key` for anything else, and for keys that ``PublicKey`` refuses.
  public convenience init(der: Secret) throws(CryptoError) {
    try self.init(confirmed { () throws(CryptoError) in try Self.read(der) })
  }

  private static func read(_ der: Secret) throws(CryptoError) -> KeyHandle {
    let libcrypto = try OpenSSL.functions()
    let key = der.withBytes { bytes -> OpaquePointer? in
      guard let first = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return nil }
      var start: UnsafePointer<UInt8>? = first
      guard let parsed = libcrypto.pointee.d2i_PKCS8_PRIV_KEY_INFO(nil, &start, bytes.count) else {
        return nil
      }
      defer { libcrypto.pointee.PKCS8_PRIV_KEY_INFO_free(parsed) }
      guard start == first + bytes.count else { return nil }
      return libcrypto.pointee.EVP_PKCS82PKEY(parsed)
    }
    guard let key else {
      let isMemory = CryptoError.takeReasons(libcrypto).isMemory
      throw CryptoError(isMemory ? .memory : .key, "not a private key in PKCS #8")
    }
    return KeyHandle(owning: key)
  }

  /// The key as PKCS #8 in DER, not encrypted.
  public func exported() throws(CryptoError) -> Secret {
    let libcrypto = try OpenSSL.functions()
    let info = try require(libcrypto.pointee.EVP_PKEY2PKCS8(handle.pointer), "key export")
    defer { libcrypto.pointee.PKCS8_PRIV_KEY_INFO_free(info) }
    let count = libcrypto.pointee.i2d_PKCS8_PRIV_KEY_INFO(info, nil)
    guard count > 0 else { throw .library("key export") }
    return try Secret(count: Int(count)) { (output) throws(CryptoError) in
      var start = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
      guard libcrypto.pointee.i2d_PKCS8_PRIV_KEY_INFO(info, &start) == count else {
        throw .library("key export")
      }
    }
  }

  /// Signs a message.
  /// - Returns: the signature in JOSE's form (for the ES family: r and s, each as long as a coordinate).
  /// - Throws: `.key` if the algorithm needs another kind of key or another curve.
  public func sign(_ message: [UInt8], algorithm: SignatureAlgorithm) throws(CryptoError) -> [UInt8] {
    try algorithm.requireFit(kind)
    let libcrypto = try OpenSSL.functions()
    let context = try DigestContext()
    var keyContext: OpaquePointer?
    try require(
      libcrypto.pointee.EVP_DigestSignInit(
        context.pointer, &keyContext, algorithm.externalDigest(), nil, handle.pointer),
      "signature")
    try algorithm.configure(keyContext)
    var count = 0
    try require(
      libcrypto.pointee.EVP_DigestSign(context.pointer, nil, &count, message, message.count), "signature")
    var signature = [UInt8](repeating: 0, count: count)
    let status = signature.withUnsafeMutableBufferPointer {
      libcrypto.pointee.EVP_DigestSign(context.pointer, $0.baseAddress, &count, message, message.count)
    }
    // If OpenSSL has no memory for the DER form, it reports success with a length of -1.
    guard status == 1, (1...signature.count).contains(count) else { throw .library("signature") }
    // Removes the unused bytes: DER signatures vary in length, and the size of `signature` was an upper bound.
    signature.removeLast(signature.count - count)
    guard case .ec(let curve) = kind else { return signature }
    return try ECDSASignature.joined(der: signature, curve: curve)
  }

  private static func publicKey(of handle: KeyHandle) throws(CryptoError) -> PublicKey {
    let libcrypto = try OpenSSL.functions()
    if enroll_openssl_is_a(libcrypto, handle.pointer, "RSA") == 1 {
      return try .rsa(modulus: number("n", of: handle), exponent: number("e", of: handle))
    }
    if enroll_openssl_is_a(libcrypto, handle.pointer, "ED25519") == 1 {
      var bytes = [UInt8](repeating: 0, count: 32)
      var count = bytes.count
      try require(libcrypto.pointee.EVP_PKEY_get_raw_public_key(handle.pointer, &bytes, &count), "public key")
      return try .ed25519(bytes)
    }
    let bits = libcrypto.pointee.EVP_PKEY_get_bits(handle.pointer)
    // A size of 0 means that OpenSSL had no memory to store the size when it made the key.
    guard bits > 0 else { throw .library("public key") }
    for curve in Curve.allCases where bits == curve.bitCount {
      guard enroll_openssl_is_a(libcrypto, handle.pointer, "EC") == 1 else { break }
      let count = curve.coordinateCount
      // The public key is made again on the NIST curve of that size. This fails if the point is on another curve.
      return try .ec(
        curve: curve, x: number("qx", of: handle, count: count), y: number("qy", of: handle, count: count))
    }
    throw CryptoError(.key, "a private key of a kind that is not used here")
  }

  /// A number of the key in big-endian bytes: exactly `count` bytes, or without `count` as few bytes as possible.
  private static func number(
    _ name: StaticString, of handle: KeyHandle, count: Int? = nil
  ) throws(CryptoError) -> [UInt8] {
    let libcrypto = try OpenSSL.functions()
    var pointer: OpaquePointer?
    let status = name.withCString { libcrypto.pointee.EVP_PKEY_get_bn_param(handle.pointer, $0, &pointer) }
    try require(status, "public key")
    let number = BigNumber(owning: try require(pointer, "public key"))
    let count = count ?? (Int(libcrypto.pointee.BN_num_bits(number.pointer)) + 7) / 8
    var bytes = [UInt8](repeating: 0, count: count)
    let written = bytes.withUnsafeMutableBufferPointer {
      libcrypto.pointee.BN_bn2binpad(number.pointer, $0.baseAddress, Int32(clamping: $0.count))
    }
    guard written == Int32(clamping: count) else { throw .library("public key") }
    return bytes
  }
}
