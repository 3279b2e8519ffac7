// Base64 with padding (RFC 4648 §4), which every language supports, for bodies that are not text. Decoding is strict,
// as in Base64URL.

import EnrollRules

enum Base64 {
  static func encode(_ bytes: [UInt8]) -> String {
    var text = Base64URL.encodedBytes(bytes)
    for index in text.indices {
      if text[index] == UInt8(ascii: "-") { text[index] = UInt8(ascii: "+") }
      if text[index] == UInt8(ascii: "_") { text[index] = UInt8(ascii: "/") }
    }
    while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of a Base64 text; nil if `text` is not exactly what ``encode(_:)`` returns for some bytes.
  static func decode(_ text: String) -> [UInt8]? {
    var text = Array(text.utf8)
    guard text.count % 4 == 0 else { return nil }
    for _ in 0..<2 where text.last == UInt8(ascii: "=") { text.removeLast() }
    for index in text.indices {
      switch text[index] {
      case UInt8(ascii: "+"): text[index] = UInt8(ascii: "-")
      case UInt8(ascii: "/"): text[index] = UInt8(ascii: "_")
      case UInt8(ascii: "-"), UInt8(ascii: "_"): return nil
      default: break
      }
    }
    return Base64URL.decode(text[...])
  }
}
