// Writes a value as text, without jansson.

extension JSON {
  /// Compact UTF-8 text: no white space, members in their order, control characters escaped. A number that JSON cannot
  /// express (infinity, NaN) is written as null.
  public func serialized() -> [UInt8] {
    var out: [UInt8] = []
    // Reserves enough for a response of typical size, so that the array need not grow.
    out.reserveCapacity(256)
    write(to: &out)
    return out
  }

  private func write(to out: inout [UInt8]) {
    switch self {
    case .null: out += "null".utf8
    case .bool(let value): out += (value ? "true" : "false").utf8
    case .integer(let value): out += value.description.utf8
    case .number(let value): out += (value.isFinite ? value.description : "null").utf8
    case .string(let value): Self.write(value, to: &out)
    case .array(let elements):
      out.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { out.append(UInt8(ascii: ",")) }
        element.write(to: &out)
      }
      out.append(UInt8(ascii: "]"))
    case .object(let object):
      out.append(UInt8(ascii: "{"))
      for (index, member) in object.members.enumerated() {
        if index > 0 { out.append(UInt8(ascii: ",")) }
        Self.write(member.key, to: &out)
        out.append(UInt8(ascii: ":"))
        member.value.write(to: &out)
      }
      out.append(UInt8(ascii: "}"))
    }
  }

  private static func write(_ text: String, to out: inout [UInt8]) {
    out.append(UInt8(ascii: "\""))
    let bytes = text.utf8.span
    if isPlain(bytes) {
      // Appends the text at once: in Embedded Swift a view of a String is appended byte by byte.
      bytes.withUnsafeBufferPointer { out.append(contentsOf: $0) }
    } else {
      writeEscaped(text, to: &out)
    }
    out.append(UInt8(ascii: "\""))
  }

  /// Whether no character has to be escaped.
  @_optimize(speed)
  private static func isPlain(_ bytes: Span<UInt8>) -> Bool {
    for index in bytes.indices {
      let byte = bytes[index]
      if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return false }
    }
    return true
  }

  private static func writeEscaped(_ text: String, to out: inout [UInt8]) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): out += [UInt8(ascii: "\\"), byte]
      case UInt8(ascii: "\n"): out += "\\n".utf8
      case UInt8(ascii: "\r"): out += "\\r".utf8
      case UInt8(ascii: "\t"): out += "\\t".utf8
      case 0..<0x20: out += "\\u00".utf8 + [hexDigit(byte >> 4), hexDigit(byte & 0xF)]
      default: out.append(byte)
      }
    }
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}
