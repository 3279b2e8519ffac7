// A private key in the form in which providers issue it: PKCS #8 in PEM (RFC 7468 §10), such as Apple's `.p8` files. A
// key is refused if it is encrypted or in another form, if the text has two keys, or if ``PrivateKey`` refuses it.

package import EnrollCrypto

package enum PEMKey {
  private static let begin = "-----BEGIN PRIVATE KEY-----"
  private static let end = "-----END PRIVATE KEY-----"

  /// Reads a private key from PEM text.
  /// - Throws: `.configuration`; the error repeats no part of the text.
  package static func read(_ text: String, field: String) throws(EnrollError) -> PrivateKey {
    let lines = text.utf8.split { $0 == 0x0A || $0 == 0x0D }.map { Array(trimmed($0)) }.filter { !$0.isEmpty }
    guard lines.count >= 3, lines[0].elementsEqual(begin.utf8), lines[lines.count - 1].elementsEqual(end.utf8)
    else {
      let others: [StaticString] = [
        "BEGIN EC PRIVATE KEY", "BEGIN RSA PRIVATE KEY", "BEGIN ENCRYPTED PRIVATE KEY",
      ]
      let isOther = others.contains { ASCII.contains(Array(text.utf8), $0) }
      throw refusal(
        "expected a key in PEM, from \(begin) to \(end)"
          + (isOther ? "; openssl pkcs8 -topk8 -nocrypt -in OLD -out NEW writes one" : ""), field)
    }
    // The strict decoder reads base64url without padding, so the bytes are converted first.
    var base64: [UInt8] = []
    for byte in lines[1..<(lines.count - 1)].joined() {
      base64.append(byte == 0x2B ? 0x2D : byte == 0x2F ? 0x5F : byte)
    }
    while base64.last == 0x3D { base64.removeLast() }
    guard let der = Base64URL.decode(base64[...]) else { throw refusal("the key is not base64", field) }
    do throws(CryptoError) { return try PrivateKey(der: Secret(der)) } catch {
      throw refusal("the key cannot be read: \(error.message)", field)
    }
  }

  private static func trimmed(_ line: Substring.UTF8View) -> Substring.UTF8View {
    var line = line.drop { $0 == 0x20 || $0 == 0x09 }
    while let last = line.last, last == 0x20 || last == 0x09 { line.removeLast() }
    return line
  }

  private static func refusal(_ text: String, _ field: String) -> EnrollError {
    EnrollError(.configuration, "\(field): \(text)", field: field)
  }
}
