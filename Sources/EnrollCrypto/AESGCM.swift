// AES-256-GCM (NIST SP 800-38D): authenticated encryption. The key, the nonce and the tag each have one fixed size.

import COpenSSL

/// Authenticated encryption. A nonce must never be used twice with one key.
public enum AESGCM {
  /// The number of bytes of a key.
  public static let keyCount = 32
  /// The number of bytes of a nonce.
  public static let nonceCount = 12
  /// The number of bytes that sealing adds.
  public static let tagCount = 16
  /// The maximum number of bytes of plaintext, and of associated data, in one call.
  public static let lengthLimit = 1 << 30

  private static let handle = Fetched { CipherHandle("AES-256-GCM") }

  /// - Returns: the ciphertext, followed by the tag.
  /// - Throws: `.argument` for a key, nonce or text of the wrong length.
  public static func seal(
    _ plaintext: Secret, key: Secret, nonce: [UInt8], associatedData: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    let libcrypto = try OpenSSL.functions()
    let context = try start(
      key: key, nonce: nonce, associatedData: associatedData, count: plaintext.count, seals: true)
    var sealed = [UInt8](repeating: 0, count: plaintext.count + tagCount)
    let done = plaintext.withBytes { plain in
      sealed.withUnsafeMutableBufferPointer { output in
        var written: Int32 = 0
        let body = libcrypto.pointee.EVP_EncryptUpdate(
          context.pointer, output.baseAddress, &written,
          plain.baseAddress?.assumingMemoryBound(to: UInt8.self),
          Int32(plain.count))
        guard body == 1 else { return body }
        let tag = output.baseAddress?.advanced(by: plain.count)
        guard libcrypto.pointee.EVP_EncryptFinal_ex(context.pointer, tag, &written) == 1 else { return 0 }
        return libcrypto.pointee.EVP_CIPHER_CTX_ctrl(
          context.pointer, EVP_CTRL_AEAD_GET_TAG, Int32(tagCount), tag)
      }
    }
    try require(done, "AES-GCM")
    return sealed
  }

  /// - Throws: `.authentication` if the text was not sealed with exactly this key, nonce and associated data;
  ///   `.argument` for a key, nonce or text of the wrong length.
  public static func open(
    _ sealed: [UInt8], key: Secret, nonce: [UInt8], associatedData: [UInt8]
  ) throws(CryptoError) -> Secret {
    guard sealed.count >= tagCount else {
      throw CryptoError(.authentication, "sealed text is shorter than its tag")
    }
    let libcrypto = try OpenSSL.functions()
    let count = sealed.count - tagCount
    let context = try start(
      key: key, nonce: nonce, associatedData: associatedData, count: count, seals: false)
    var tag = [UInt8](sealed[count...])
    let tagged = tag.withUnsafeMutableBytes {
      libcrypto.pointee.EVP_CIPHER_CTX_ctrl(
        context.pointer, EVP_CTRL_AEAD_SET_TAG, Int32(tagCount), $0.baseAddress)
    }
    try require(tagged, "AES-GCM")
    return try Secret(count: count) { (output) throws(CryptoError) in
      let plain = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
      var written: Int32 = 0
      try require(
        libcrypto.pointee.EVP_DecryptUpdate(context.pointer, plain, &written, sealed, Int32(count)), "AES-GCM"
      )
      // With GCM this last call writes no further bytes. Its result says whether the tag is right.
      guard libcrypto.pointee.EVP_DecryptFinal_ex(context.pointer, plain, &written) == 1 else {
        libcrypto.pointee.ERR_clear_error()
        throw CryptoError(.authentication, "sealed text does not authenticate")
      }
    }
  }

  private static func start(
    key: Secret, nonce: [UInt8], associatedData: [UInt8], count: Int, seals: Bool
  ) throws(CryptoError) -> CipherContext {
    guard key.count == keyCount else {
      throw CryptoError(.argument, "the key has \(key.count) bytes, not \(keyCount)")
    }
    guard nonce.count == nonceCount else {
      throw CryptoError(.argument, "the nonce has \(nonce.count) bytes, not \(nonceCount)")
    }
    guard count <= lengthLimit, associatedData.count <= lengthLimit else {
      throw CryptoError(.argument, "more than \(lengthLimit) bytes at once")
    }
    let libcrypto = try OpenSSL.functions()
    let context = try CipherContext()
    let cipher = try require(handle.value, "AES-GCM")
    let started = key.withBytes {
      libcrypto.pointee.EVP_CipherInit_ex2(
        context.pointer, cipher.pointer, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), nonce,
        seals ? 1 : 0, nil)
    }
    try require(started, "AES-GCM")
    var written: Int32 = 0
    if !associatedData.isEmpty {
      try require(
        libcrypto.pointee.EVP_CipherUpdate(
          context.pointer, nil, &written, associatedData, Int32(associatedData.count)),
        "AES-GCM")
    }
    return context
  }
}
