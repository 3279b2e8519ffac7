// The head of an answer as bytes (RFC 9112 §4, RFC 9110 §8.6): the application's headers, and the headers that the server adds.
// A header with bytes that could end its line is never written. Only the server writes the headers for framing and for the
// connection.

import EnrollRules
import EnrollPosix

/// Writes one head after another into the same memory. Confined to its event loop.
struct AnswerWriter {
  /// The properties of a request on which the answer depends.
  struct Options {
    /// True for HEAD: the answer has no body (RFC 9110 §9.3.2).
    var isHead = false
    /// Whether the connection stays open after the answer.
    var persists = false
  }

  /// The interim answer to a request with `Expect: 100-continue` (RFC 9110 §10.1.1).
  static let continues = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

  /// The head that was written last.
  private(set) var bytes: [UInt8] = []

  /// The headers of the settings as lines. Each line is added to an answer unless the application sets the same header.
  private let added: [(name: String, line: [UInt8])]
  private let date: ServerSettings.DateHeader
  private let allow: String
  private var dateSecond: Int64 = -1
  private var dateLine: [UInt8] = []

  init(_ settings: ServerSettings) {
    added = settings.headers.compactMap { header in
      guard HeaderGrammar.isName(header.name), HeaderGrammar.isValue(header.value) else { return nil }
      return (header.name, Array("\(header.name): \(header.value)\r\n".utf8))
    }
    date = settings.date
    allow = WebRequest.Method.allCases.filter { settings.methods.contains($0) }
      .map { $0 == .get ? "GET, HEAD" : $0.rawValue }.joined(separator: ", ")
    bytes.reserveCapacity(1_024)
  }

  /// Whether an answer with this status has a body and a `Content-Length`.
  static func hasBody(_ status: Int) -> Bool { status != 204 && status != 304 }

  /// Writes the head into ``bytes``.
  /// - Returns: false when the answer has a status or a header that cannot be written.
  mutating func write(_ answer: WebResponse, persists: Bool) -> Bool {
    guard (200...599).contains(answer.status) else { return false }
    bytes.removeAll(keepingCapacity: true)
    writeStatus(answer.status)
    if date == .ofMachine { writeDate() }
    if Self.hasBody(answer.status) {
      append("Content-Length: ")
      append(number: answer.body.count)
      append("\r\n")
    }
    var missing = added.count < 64 ? (UInt64(1) << UInt64(added.count)) &- 1 : .max
    for header in answer.headers {
      guard HeaderGrammar.isName(header.name), HeaderGrammar.isValue(header.value) else { return false }
      guard !isOurs(header.name) else { continue }
      for (index, one) in added.enumerated()
      where one.name.utf8.count == header.name.utf8.count
        && ASCII.equalsIgnoringCase(one.name, header.name)
      {
        missing &= ~(UInt64(1) << UInt64(index))
      }
      bytes.append(contentsOf: header.name.utf8)
      append(": ")
      bytes.append(contentsOf: header.value.utf8)
      append("\r\n")
    }
    for (index, one) in added.enumerated() where missing & UInt64(1) << UInt64(index) != 0 {
      bytes.append(contentsOf: one.line)
    }
    append(persists ? "\r\n" : "Connection: close\r\n\r\n")
    return true
  }

  /// The answer to a refused request; nil if the server closes the connection without an answer.
  func answer(_ refusal: Refusal) -> WebResponse? {
    guard let status = refusal.status else { return nil }
    var answer = WebResponse(status, body: Array(refusal.sentence.utf8) + [0x0A])
    answer.headers.append(HTTPHeader("Content-Type", "text/plain; charset=utf-8"))
    if refusal == .method { answer.headers.append(HTTPHeader("Allow", allow)) }
    if refusal == .overloaded { answer.headers.append(HTTPHeader("Retry-After", "1")) }
    return answer
  }

  /// Whether only the server writes this header: the headers of the connection and of the framing, and `Server`, which
  /// would name the software to attackers.
  private func isOurs(_ name: String) -> Bool {
    switch name.utf8.count {
    case 4: date == .ofMachine && ASCII.equalsIgnoringCase(name, "Date")
    case 6: ASCII.equalsIgnoringCase(name, "Server")
    case 10: ASCII.equalsIgnoringCase(name, "Connection")
    case 14: ASCII.equalsIgnoringCase(name, "Content-Length")
    case 17: ASCII.equalsIgnoringCase(name, "Transfer-Encoding")
    default: false
    }
  }

  /// Writes `Date`. The text is updated once a second.
  private mutating func writeDate() {
    let second = SystemClock.realTime() / 1_000_000_000
    if second != dateSecond {
      dateLine = Array("Date: \(HTTPDateText.write(second))\r\n".utf8)
      dateSecond = second
    }
    bytes.append(contentsOf: dateLine)
  }

  /// Writes the status line. Clients read only the number in it; the words are from RFC 9110.
  private mutating func writeStatus(_ status: Int) {
    switch status {
    case 200: append("HTTP/1.1 200 OK\r\n")
    case 204: append("HTTP/1.1 204 No Content\r\n")
    case 302: append("HTTP/1.1 302 Found\r\n")
    case 303: append("HTTP/1.1 303 See Other\r\n")
    case 400: append("HTTP/1.1 400 Bad Request\r\n")
    case 401: append("HTTP/1.1 401 Unauthorized\r\n")
    case 403: append("HTTP/1.1 403 Forbidden\r\n")
    case 404: append("HTTP/1.1 404 Not Found\r\n")
    case 405: append("HTTP/1.1 405 Method Not Allowed\r\n")
    case 429: append("HTTP/1.1 429 Too Many Requests\r\n")
    case 500: append("HTTP/1.1 500 Internal Server Error\r\n")
    case 501: append("HTTP/1.1 501 Not Implemented\r\n")
    case 503: append("HTTP/1.1 503 Service Unavailable\r\n")
    default:
      // A reason phrase may be empty, but the space before it must not be missing (RFC 9112 §4).
      append("HTTP/1.1 ")
      append(number: status)
      append(" \r\n")
    }
  }

  private mutating func append(_ text: StaticString) {
    bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private mutating func append(number: Int) {
    var divisor = 1
    while number / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      bytes.append(0x30 + UInt8(truncatingIfNeeded: number / divisor % 10))
      divisor /= 10
    }
  }
}
