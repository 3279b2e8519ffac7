// How messages follow one another on a stream: one per line, or each behind Content-Length headers as language servers
// do it. The first byte tells: no JSON text begins with a C.

enum Framing {
  case lines, headers

  /// - Parameter first: the first byte that is not white space.
  init(first: UInt8) {
    self = first == UInt8(ascii: "C") || first == UInt8(ascii: "c") ? .headers : .lines
  }

  /// A message as it goes out. JSON that we write holds no line break.
  func framed(_ message: consuming [UInt8]) -> [UInt8] {
    switch self {
    case .lines:
      message.append(UInt8(ascii: "\n"))
      return message
    case .headers: return Array("Content-Length: \(message.count)\r\n\r\n".utf8) + message
    }
  }
}
