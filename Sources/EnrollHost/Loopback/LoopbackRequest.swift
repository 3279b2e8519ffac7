// The head of one request to the loopback listener. It is parsed strictly (RFC 9112 §2-§3), because any program and any
// web page on the machine can send a request. The parser refuses line ends other than CRLF, control characters, folded
// lines, a target that is not a path, a missing or second Host, and any header that announces a body.

import EnrollRules

/// The parts of a request that the listener uses.
struct LoopbackRequest: Equatable {
  var method: String
  var path: ArraySlice<UInt8>
  /// The query without the question mark; nil if there is no question mark.
  var query: ArraySlice<UInt8>?
  var host: ArraySlice<UInt8>

  /// The HTTP status of the answer to a head that breaks a rule.
  struct Refusal: Error, Equatable {
    var status: Int
  }

  /// The maximum number of bytes of the request line, about the limit of a redirect URL.
  static let longestLine = 8 * 1024
  /// The maximum number of bytes of the whole head. The head includes cookies of other local servers, because cookies
  /// do not depend on the port.
  static let longestHead = 64 * 1024
  static let mostHeaders = 100

  /// The position after the head with which `bytes` begins, that is, after the head's empty line; nil if the head is
  /// not complete yet. The first `scanned` bytes were searched before.
  /// - Throws: if the bytes cannot become a head, or the head is too long.
  static func end(in bytes: [UInt8], scanned: Int) throws(Refusal) -> Int? {
    // TLS and other binary protocols do not begin with a letter.
    if let first = bytes.first, !ASCII.isLetter(first) { throw Refusal(status: 400) }
    var index = max(scanned - 3, 0)
    while index + 3 < bytes.count {
      if bytes[index] == 0x0D, bytes[index + 1] == 0x0A, bytes[index + 2] == 0x0D, bytes[index + 3] == 0x0A {
        guard index + 4 <= longestHead else { break }
        return index + 4
      }
      index += 1
    }
    guard bytes.count <= longestHead else { throw Refusal(status: 431) }
    return nil
  }

  /// - Parameter head: includes the empty line at its end.
  init(head: ArraySlice<UInt8>) throws(Refusal) {
    let lines = Self.lines(of: head)
    guard let first = lines.first else { throw Refusal(status: 400) }
    guard first.count <= Self.longestLine else { throw Refusal(status: 414) }
    let parts = first.split(separator: 0x20, omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, parts[0].allSatisfy(ASCII.isLetter) else {
      throw Refusal(status: 400)
    }
    guard parts[2].elementsEqual("HTTP/1.1".utf8) || parts[2].elementsEqual("HTTP/1.0".utf8) else {
      throw Refusal(status: 505)
    }
    method = String(decoding: parts[0], as: UTF8.self)
    let target = parts[1]
    guard target.first == 0x2F, target.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x23 }) else {
      throw Refusal(status: 400)
    }
    let mark = target.firstIndex(of: 0x3F)
    path = target[..<(mark ?? target.endIndex)]
    query = mark.map { target[($0 + 1)...] }
    guard lines.count - 1 <= Self.mostHeaders else { throw Refusal(status: 431) }
    host = try Self.host(in: lines.dropFirst())
  }

  /// The lines between CRLFs. A CR or LF alone does not end a line, and every rule for lines refuses it.
  private static func lines(of head: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    let text = head.dropLast(4)
    var start = text.startIndex
    var index = start
    while index + 1 < text.endIndex {
      if text[index] == 0x0D, text[index + 1] == 0x0A {
        lines.append(text[start..<index])
        start = index + 2
        index = start
      } else {
        index += 1
      }
    }
    lines.append(text[start...])
    return lines
  }

  /// Checks every header, and returns the value of the only Host header.
  private static func host(in lines: ArraySlice<ArraySlice<UInt8>>) throws(Refusal) -> ArraySlice<UInt8> {
    var host: ArraySlice<UInt8>?
    for line in lines {
      guard let colon = line.firstIndex(of: 0x3A), colon > line.startIndex,
        line[..<colon].allSatisfy(HTTPToken.contains),
        line[colon...].allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
      else { throw Refusal(status: 400) }
      let value = trimmed(line[(colon + 1)...])
      if equals(line[..<colon], "host") {
        guard host == nil else { throw Refusal(status: 400) }
        host = value
      } else if equals(line[..<colon], "transfer-encoding") {
        throw Refusal(status: 400)
      } else if equals(line[..<colon], "content-length"), !value.elementsEqual("0".utf8) {
        throw Refusal(status: 400)
      }
    }
    guard let host else { throw Refusal(status: 400) }
    return host
  }

  private static func equals(_ name: ArraySlice<UInt8>, _ lowercase: String) -> Bool {
    name.elementsEqual(lowercase.utf8) { ASCII.lowercased($0) == $1 }
  }

  private static func trimmed(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var value = value
    while let byte = value.first, byte == 0x20 || byte == 0x09 { value = value.dropFirst() }
    while let byte = value.last, byte == 0x20 || byte == 0x09 { value = value.dropLast() }
    return value
  }
}
