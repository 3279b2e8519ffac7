// The header lines of one request in libcurl's form. Refuses characters that would end a line, and headers that belong
// to the transport: those that frame the body, name the host or allow a compressed answer (R20).

import EnrollRules

enum RequestHeaders {
  private static let reserved = [
    "Host", "Content-Length", "Transfer-Encoding", "Connection", "Expect", "Accept-Encoding", "TE", "Upgrade",
    "Proxy-Authorization",
  ]
  /// The maximum number of bytes of all headers together.
  static let longestHead = 64 * 1024

  /// The headers as lines `Name: value`, and lines that switch off libcurl's own `Expect` and its guess of a content
  /// type.
  /// - Throws: `.invalidArgument` with the header's name, but not its value.
  static func lines(_ headers: [HTTPHeader]) throws(EnrollError) -> [String] {
    var lines = ["Expect:"]
    var length = 0
    var hasContentType = false
    for header in headers {
      guard (1...256).contains(header.name.utf8.count), header.name.utf8.allSatisfy(HTTPToken.contains) else {
        throw EnrollError(.invalidArgument, "a request header's name is not a token (RFC 9110 §5.1)")
      }
      for name in reserved where ASCII.equalsIgnoringCase(name, header.name) {
        throw EnrollError(.invalidArgument, "the header \(name) belongs to the transport")
      }
      guard header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
        throw EnrollError(
          .invalidArgument, "the value of the header \(header.name) holds a control character")
      }
      length += header.name.utf8.count + header.value.utf8.count
      guard length <= longestHead else {
        throw EnrollError(.invalidArgument, "the request's headers are over \(longestHead) bytes")
      }
      hasContentType = hasContentType || ASCII.equalsIgnoringCase(header.name, "Content-Type")
      // libcurl reads "Name:" as a request to leave the header out, and "Name;" as a header with an empty value.
      lines.append(header.value.isEmpty ? header.name + ";" : header.name + ": " + header.value)
    }
    if !hasContentType { lines.append("Content-Type:") }
    return lines
  }
}

/// The characters of header names (RFC 9110 §5.6.2), for requests that EnrollKit sends and for those that it receives.
enum HTTPToken {
  static func contains(_ byte: UInt8) -> Bool {
    if ASCII.isLetter(byte) || ASCII.isDigit(byte) { return true }
    switch byte {
    case 0x21, 0x23, 0x24, 0x25, 0x26, 0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: return true
    default: return false
    }
  }
}
