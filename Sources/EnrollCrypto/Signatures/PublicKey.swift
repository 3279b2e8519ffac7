// Public keys, and the verification of signatures in JOSE's form (RFC 7518 §3, RFC 8037). A malformed or weak key is
// refused when it is created (R22), so that every PublicKey is fit for use.

import COpenSSL

/// A key that verifies signatures. This type is a class, because it owns OpenSSL's object, which never changes.
public final class PublicKey: Sendable {
  /// The numbers of a key, as JSON Web Keys have them: big-endian bytes.
  public enum Components: Equatable, Sendable {
    /// Neither number has leading zeros.
    case rsa(modulus: [UInt8], exponent: [UInt8])
    /// Each coordinate has ``Curve/coordinateCount`` bytes.
    case ec(Curve, x: [UInt8], y: [UInt8])
    /// 32 bytes.
    case ed25519([UInt8])
  }

  /// The algorithm family, and the size or curve.
  public let kind: KeyKind
  /// The byte strings of ``components``, stored apart from the enum. An enum stores its case in spare bits of the first
  /// pointer; a leak checker would not recognise that pointer, and would report a key in use as lost.
  private let numbers: [[UInt8]]
  let handle: KeyHandle
  /// The context of the last successful verification, kept for the next verification, because making a new context
  /// takes a fifth as long as a whole verification.
  private let spare = Spare<VerificationContext>()

  /// The numbers of the key, as in a JWK (RFC 7518 §6).
  public var components: Components {
    switch kind {
    case .rsa: .rsa(modulus: numbers[0], exponent: numbers[1])
    case .ec(let curve): .ec(curve, x: numbers[0], y: numbers[1])
    case .ed25519: .ed25519(numbers[0])
    }
  }

  private init(_ kind: KeyKind, _ numbers: [[UInt8]], _ handle: KeyHandle) {
    self.kind = kind
    self.numbers = numbers
    self.handle = handle
  }

  /// Creates an RSA key.
  /// - Parameters: big-endian bytes; leading zeros are removed.
  /// - Throws: `.key` for a modulus that has less than 2,048 or more than 8,192 bits, is even, or was made by the
  ///   flawed generator of CVE-2017-15361; for an exponent that is even, 1, or longer than 64 bits.
  public static func rsa(modulus: [UInt8], exponent: [UInt8]) throws(CryptoError) -> PublicKey {
    let modulus = [UInt8](modulus.drop { $0 == 0 })
    let exponent = [UInt8](exponent.drop { $0 == 0 })
    try RSAStrength.check(modulus: modulus, exponent: exponent)
    let parameters = OpenSSLParameters()
    parameters.add("n", number: modulus)
    parameters.add("e", number: exponent)
    let bits = RSAStrength.bitCount(modulus[...])
    let key = try confirmed { () throws(CryptoError) in try parameters.key("RSA", enroll_evp_public_key()) }
    return PublicKey(.rsa(bits: bits), [modulus, exponent], key)
  }

  /// Creates a key of an elliptic curve.
  /// - Throws: `.key` for coordinates of the wrong length or a point that is not on the curve.
  public static func ec(curve: Curve, x: [UInt8], y: [UInt8]) throws(CryptoError) -> PublicKey {
    guard x.count == curve.coordinateCount, y.count == curve.coordinateCount else {
      throw CryptoError(
        .key,
        "a coordinate on \(curve.rawValue) has \(curve.coordinateCount) bytes, not \(x.count) or \(y.count)")
    }
    let parameters = OpenSSLParameters()
    parameters.add("group", text: curve.name)
    parameters.add("pub", octets: [4] + x + y)
    let libcrypto = try OpenSSL.functions()
    let key = try confirmed { () throws(CryptoError) in
      let notOnCurve = CryptoError(.key, "the point is not on \(curve.rawValue)")
      let key: KeyHandle
      do throws(CryptoError) { key = try parameters.key("EC", enroll_evp_public_key()) } catch {
        throw error.reason == .key ? notOnCurve : error
      }
      let context = KeyContext(
        owning: try require(
          libcrypto.pointee.EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil), "key check"))
      // The curves have a cofactor of 1, so a point on the curve other than the point at infinity has the right
      // order. OpenSSL's full check would verify that with a multiplication.
      do throws(CryptoError) {
        try require(libcrypto.pointee.EVP_PKEY_public_check_quick(context.pointer), "key check")
      } catch {
        throw error.reason == .library ? notOnCurve : error
      }
      return key
    }
    return PublicKey(.ec(curve), [x, y], key)
  }

  /// Creates an Ed25519 key.
  /// - Throws: `.key` for a length other than 32 bytes, and for a point that is not in canonical form or has small
  ///   order, because forged signatures verify with such a point.
  public static func ed25519(_ bytes: [UInt8]) throws(CryptoError) -> PublicKey {
    try Ed25519Strength.check(bytes)
    let libcrypto = try OpenSSL.functions()
    let key = try confirmed { () throws(CryptoError) in
      try require(
        libcrypto.pointee.EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, bytes, bytes.count),
        "Ed25519 key")
    }
    return PublicKey(.ed25519, [bytes], KeyHandle(owning: key))
  }

  /// Whether `signature` is a signature of `message` with this key.
  /// - Parameter signature: in JOSE's form. For the ES family, that is r and s, each as long as a coordinate. For any
  ///   other length the result is false.
  /// - Throws: `.key` if the algorithm needs another kind of key or another curve; `.memory`, which says nothing about
  ///   the signature.
  public func verify(
    signature: [UInt8], message: UnsafeRawBufferPointer, algorithm: SignatureAlgorithm
  ) throws(CryptoError) -> Bool {
    try algorithm.requireFit(kind)
    // Only a second refusal counts: the first may be a lack of memory that OpenSSL does not report (see `confirmed`).
    if try isVerified(signature, message, algorithm) { return true }
    return try isVerified(signature, message, algorithm)
  }

  /// Like ``verify(signature:message:algorithm:)-(_,UnsafeRawBufferPointer,_)``.
  public func verify(
    signature: [UInt8], message: [UInt8], algorithm: SignatureAlgorithm
  ) throws(CryptoError) -> Bool {
    try message.span.withUnsafeBytes { bytes throws(CryptoError) in
      try verify(signature: signature, message: bytes, algorithm: algorithm)
    }
  }

  private func isVerified(
    _ signature: [UInt8], _ message: UnsafeRawBufferPointer, _ algorithm: SignatureAlgorithm
  ) throws(CryptoError) -> Bool {
    let libcrypto = try OpenSSL.functions()
    var signature = signature
    if case .ec(let curve) = kind {
      guard signature.count == 2 * curve.coordinateCount else { return false }
      signature = ECDSASignature.der(joined: signature)
    }
    let context: VerificationContext
    if let spare = spare.take(), try spare.restarts(algorithm) {
      context = spare
    } else {
      context = try VerificationContext(handle, algorithm)
    }
    let verdict = libcrypto.pointee.EVP_DigestVerify(
      context.digest.pointer, signature, signature.count, message.baseAddress, message.count)
    // Every result except 1 is a refusal: for some values of r and s OpenSSL returns -1 instead of 0. In both cases
    // OpenSSL puts the reason into this thread's error queue.
    if verdict != 1, CryptoError.takeReasons(libcrypto).isMemory {
      throw CryptoError(.memory, "a signature could not be checked because memory ran out")
    }
    if verdict == 1 { spare.put(context) }
    return verdict == 1
  }
}

extension OpenSSLParameters {
  /// The key that has these numbers.
  /// - Parameter selection: OpenSSL's value for the parts of the key that are given, such as only the public part.
  func key(_ type: StaticString, _ selection: Int32) throws(CryptoError) -> KeyHandle {
    let libcrypto = try OpenSSL.functions()
    let made = type.withCString { libcrypto.pointee.EVP_PKEY_CTX_new_from_name(nil, $0, nil) }
    let context = KeyContext(owning: try require(made, "key context"))
    try require(libcrypto.pointee.EVP_PKEY_fromdata_init(context.pointer), "key context")
    var key: OpaquePointer?
    let status = withList { libcrypto.pointee.EVP_PKEY_fromdata(context.pointer, &key, selection, $0) }
    guard status == 1, let key else {
      let cause = CryptoError.library("key")
      guard cause.reason == .library else { throw cause }
      throw CryptoError(.key, cause.message)
    }
    return KeyHandle(owning: key)
  }
}

/// A prepared verification with one key and one algorithm.
private final class VerificationContext {
  let digest: DigestContext
  private let algorithm: SignatureAlgorithm

  private init(_ digest: DigestContext, for algorithm: SignatureAlgorithm) {
    self.digest = digest
    self.algorithm = algorithm
  }

  convenience init(_ key: KeyHandle, _ algorithm: SignatureAlgorithm) throws(CryptoError) {
    self.init(try DigestContext(), for: algorithm)
    var keyContext: OpaquePointer?
    try require(
      OpenSSL.functions().pointee.EVP_DigestVerifyInit(
        digest.pointer, &keyContext, algorithm.externalDigest(), nil, key.pointer),
      "signature check")
    try algorithm.configure(keyContext)
  }

  /// Prepares the context for another verification.
  /// - Returns: false if the context is for another algorithm, or OpenSSL cannot initialise the context again.
  func restarts(_ algorithm: SignatureAlgorithm) throws(CryptoError) -> Bool {
    guard algorithm == self.algorithm, !algorithm.isEdDSA else { return false }
    var keyContext: OpaquePointer?
    let libcrypto = try OpenSSL.functions()
    guard libcrypto.pointee.EVP_DigestVerifyInit(digest.pointer, &keyContext, nil, nil, nil) == 1 else {
      _ = CryptoError.takeReasons(libcrypto)
      return false
    }
    try algorithm.configure(keyContext)
    return true
  }
}

extension ECDSASignature {
  /// Converts a signature from JOSE's form (r and s side by side, RFC 7518 §3.4) to OpenSSL's form (DER).
  static func der(joined: [UInt8]) -> [UInt8] {
    let half = joined.count / 2
    let numbers = integer(joined[..<half]) + integer(joined[half...])
    return [0x30] + length(numbers.count) + numbers
  }

  /// The encoding of an integer in the fewest bytes whose highest bit is 0, because a 1 would be a minus sign (X.690
  /// §8.3).
  private static func integer(_ number: ArraySlice<UInt8>) -> [UInt8] {
    var digits = number.drop { $0 == 0 }
    if digits.isEmpty { digits = [0] }
    let sign: [UInt8] = (digits.first ?? 0) >= 0x80 ? [0] : []
    return [0x02] + length(sign.count + digits.count) + sign + digits
  }

  /// The encoding of a length of at most 255 bytes (X.690 §8.1.3).
  private static func length(_ count: Int) -> [UInt8] {
    count < 0x80 ? [UInt8(count)] : [0x81, UInt8(truncatingIfNeeded: count)]
  }

  /// Converts a signature from OpenSSL's form (DER) to JOSE's form (r and s side by side).
  static func joined(der: [UInt8], curve: Curve) throws(CryptoError) -> [UInt8] {
    let libcrypto = try OpenSSL.functions()
    let parsed = der.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      return libcrypto.pointee.d2i_ECDSA_SIG(nil, &start, bytes.count)
    }
    let signature = ECDSASignature(owning: try require(parsed, "ECDSA signature"))
    var joined = [UInt8](repeating: 0, count: 2 * curve.coordinateCount)
    let half = Int32(curve.coordinateCount)
    let written = joined.withUnsafeMutableBufferPointer { bytes in
      let start = bytes.baseAddress
      return libcrypto.pointee.BN_bn2binpad(
        libcrypto.pointee.ECDSA_SIG_get0_r(signature.pointer), start, half) == half
        && libcrypto.pointee.BN_bn2binpad(
          libcrypto.pointee.ECDSA_SIG_get0_s(signature.pointer), start?.advanced(by: Int(half)), half) == half
    }
    guard written else { throw .library("ECDSA signature") }
    return joined
  }
}
