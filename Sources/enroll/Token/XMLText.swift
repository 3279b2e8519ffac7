// The text of an element in XML 1.0, as far as the answers of AWS's query protocol need it: elements without attributes,
// whose content is text. Entities that a document declares itself are refused: they could name files.

enum XMLText {
  /// The text of the first element with this name; nil if there is no such element, or if its content has markup or an
  /// unknown reference.
  static func element(_ name: String, in text: String) -> String? {
    let bytes = Array(text.utf8)
    let (start, end) = (Array("<\(name)>".utf8), Array("</\(name)>".utf8))
    guard let begin = place(of: start, in: bytes, from: 0),
      let finish = place(of: end, in: bytes, from: begin + start.count)
    else { return nil }
    return unescaped(bytes[(begin + start.count)..<finish])
  }

  private static func place(of wanted: [UInt8], in bytes: [UInt8], from begin: Int) -> Int? {
    guard bytes.count >= begin + wanted.count else { return nil }
    return (begin...(bytes.count - wanted.count)).first {
      bytes[$0..<($0 + wanted.count)].elementsEqual(wanted)
    }
  }

  /// The predefined entities (XML 1.0 §4.6).
  private static let entities: [String: Unicode.Scalar] = [
    "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "amp": "&",
  ]

  /// The maximum number of bytes between the `&` and the `;` of a reference.
  private static let referenceBytes = 16

  /// The text with its references replaced; nil for markup, and for a reference that is unknown or not closed.
  private static func unescaped(_ content: ArraySlice<UInt8>) -> String? {
    guard !content.contains(UInt8(ascii: "<")) else { return nil }
    let parts = content.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
    var result = String(decoding: parts.first ?? [], as: UTF8.self)
    for part in parts.dropFirst() {
      guard let end = part.prefix(referenceBytes).firstIndex(of: UInt8(ascii: ";")),
        let scalar = scalar(String(decoding: part[..<end], as: UTF8.self))
      else { return nil }
      result.unicodeScalars.append(scalar)
      result += String(decoding: part[(end + 1)...], as: UTF8.self)
    }
    return result
  }

  /// The character of a reference: `lt`, `#84`, or `#x54`.
  private static func scalar(_ reference: String) -> Unicode.Scalar? {
    guard reference.hasPrefix("#") else { return entities[reference] }
    let isHexadecimal = reference.hasPrefix("#x")
    let number = UInt32(reference.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10)
    return number.flatMap { $0 == 0 ? nil : Unicode.Scalar($0) }
  }
}
