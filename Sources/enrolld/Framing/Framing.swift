// How messages are separated on a stream: one message per line, or each message after Content-Length headers as in
// the Language Server Protocol. The first byte decides, because no JSON text begins with a C.

import EnrollRules

enum Framing {
  case lines, headers

  /// The framing that the host uses.
  /// - Parameter first: the first byte that is not white space.
  init(first: UInt8) {
    self = first == UInt8(ascii: "C") || first == UInt8(ascii: "c") ? .headers : .lines
  }

  /// The bytes of a message for the stream. The daemon's JSON has no line breaks.
  func framed(_ message: consuming [UInt8]) -> [UInt8] {
    switch self {
    case .lines:
      message.append(UInt8(ascii: "\n"))
      return message
    case .headers: return Array("Content-Length: \(message.count)\r\n\r\n".utf8) + message
    }
  }
}

/// The headers of one message. Content-Length must occur once. Other headers are ignored.
enum MessageHeaders {
  struct Problem: Error {
    var text: String
  }

  /// The length of the message, from its headers.
  /// - Parameter block: header lines, each with a line break at its end; the last line is empty.
  static func length(in block: [UInt8]) -> Result<Int, Problem> {
    var length: Int?
    for line in block.split(separator: UInt8(ascii: "\n")) {
      let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      if line.isEmpty { continue }
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
        return .failure(Problem(text: "expected a Content-Length header, got a line without a colon"))
      }
      let name = String(decoding: line[..<colon], as: UTF8.self)
      guard ASCII.equalsIgnoringCase(name, "Content-Length") else { continue }
      guard length == nil else { return .failure(Problem(text: "Content-Length appears twice")) }
      guard let number = number(line[(colon + 1)...]) else {
        return .failure(Problem(text: "Content-Length must be a number of bytes"))
      }
      length = number
    }
    guard let length else { return .failure(Problem(text: "Content-Length is missing")) }
    return .success(length)
  }

  /// A number of at most 15 digits, which spaces may surround.
  private static func number(_ text: ArraySlice<UInt8>) -> Int? {
    var text = text
    while let first = text.first, MessageReader.isSpace(first) { text.removeFirst() }
    while let last = text.last, MessageReader.isSpace(last) { text.removeLast() }
    guard (1...15).contains(text.count), text.allSatisfy(ASCII.isDigit) else { return nil }
    return text.reduce(0) { $0 * 10 + Int($1 & 0xF) }
  }
}
