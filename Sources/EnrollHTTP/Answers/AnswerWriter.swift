// The bytes of an answer (RFC 9112 §4, RFC 9110 §8.6): the headers that every answer has, and the gateway's own. A header that
// could end its line is never written. Framing and the connection are the host's business alone.

import EnrollCore
import EnrollGateway
import EnrollPosix
import NIOCore

/// Writes answers; the same for all connections.
struct AnswerWriter: Sendable {
  /// How the request was made, as far as the answer depends on it.
  struct Manner: Sendable {
    /// Without the body (RFC 9110 §9.3.2).
    var isHead: Bool
    /// Whether the connection stays open.
    var persists: Bool
  }

  private static let hsts = "Strict-Transport-Security: max-age=31536000\r\n"
  private static let continues = "HTTP/1.1 100 Continue\r\n\r\n"

  /// Whether the public origin is https.
  let isSecure: Bool

  /// - Returns: nil when the answer has a status or a header that cannot be written.
  func bytes(_ answer: WebResponse, _ manner: Manner) -> ByteBuffer? {
    guard (200...599).contains(answer.status) else { return nil }
    var usual = Usual(isSecure: isSecure)
    var headerCount = 320
    for header in answer.headers {
      guard HeaderGrammar.isName(header.name), HeaderGrammar.isValue(header.value) else { return nil }
      usual.note(header.name)
      headerCount += header.name.utf8.count + header.value.utf8.count + 4
    }
    let hasBody = answer.status != 204 && answer.status != 304
    var buffer = ByteBufferAllocator().buffer(capacity: headerCount + (hasBody ? answer.body.count : 0))
    buffer.writeString(Self.statusLine(answer.status))
    buffer.writeString(HTTPDateText.write(SystemClock.realTime() / 1_000_000_000))
    buffer.writeStaticString("\r\n")
    if hasBody {
      buffer.writeStaticString("Content-Length: ")
      buffer.writeString(String(answer.body.count))
      buffer.writeStaticString("\r\n")
    }
    for header in answer.headers where !Self.isOurs(header.name) {
      buffer.writeString(header.name)
      buffer.writeStaticString(": ")
      buffer.writeString(header.value)
      buffer.writeStaticString("\r\n")
    }
    usual.write(to: &buffer)
    if !manner.persists { buffer.writeStaticString("Connection: close\r\n") }
    buffer.writeStaticString("\r\n")
    if hasBody && !manner.isHead { buffer.writeBytes(answer.body) }
    return buffer
  }

  /// What the host says by itself.
  func bytes(_ refusal: Refusal, _ manner: Manner) -> ByteBuffer? {
    guard let status = refusal.status else { return nil }
    var answer = WebResponse(status, body: Array(refusal.sentence.utf8) + [0x0A])
    answer.headers.append(HTTPHeader("Content-Type", "text/plain; charset=utf-8"))
    if refusal == .method { answer.headers.append(HTTPHeader("Allow", "GET, HEAD, POST")) }
    if refusal == .overloaded { answer.headers.append(HTTPHeader("Retry-After", "1")) }
    return bytes(answer, manner)
  }

  /// RFC 9110 §10.1.1.
  static func continueBytes() -> ByteBuffer { ByteBuffer(string: continues) }

  /// The headers that an answer gets unless it has them.
  private struct Usual {
    var needsType = true
    var needsReferrer = true
    var needsTransport: Bool
    var needsCache = true

    init(isSecure: Bool) { needsTransport = isSecure }

    mutating func note(_ name: String) {
      switch name.utf8.count {
      case 13 where ASCII.equalsIgnoringCase(name, "Cache-Control"): needsCache = false
      case 15 where ASCII.equalsIgnoringCase(name, "Referrer-Policy"): needsReferrer = false
      case 22 where ASCII.equalsIgnoringCase(name, "X-Content-Type-Options"): needsType = false
      case 25 where ASCII.equalsIgnoringCase(name, "Strict-Transport-Security"): needsTransport = false
      default: break
      }
    }

    func write(to buffer: inout ByteBuffer) {
      if needsType { buffer.writeStaticString("X-Content-Type-Options: nosniff\r\n") }
      if needsReferrer { buffer.writeStaticString("Referrer-Policy: no-referrer\r\n") }
      if needsCache { buffer.writeStaticString("Cache-Control: no-store\r\n") }
      if needsTransport { buffer.writeString(AnswerWriter.hsts) }
    }
  }

  /// Headers of the connection and its framing, and `Server`, which tells attackers what to try.
  private static func isOurs(_ name: String) -> Bool {
    switch name.utf8.count {
    case 4: ASCII.equalsIgnoringCase(name, "Date")
    case 6: ASCII.equalsIgnoringCase(name, "Server")
    case 10: ASCII.equalsIgnoringCase(name, "Connection")
    case 14: ASCII.equalsIgnoringCase(name, "Content-Length")
    case 17: ASCII.equalsIgnoringCase(name, "Transfer-Encoding")
    default: false
    }
  }

  /// With the beginning of the `Date` line. Clients go by the number; the words are RFC 9110's.
  private static func statusLine(_ status: Int) -> String {
    switch status {
    case 200: "HTTP/1.1 200 OK\r\nDate: "
    case 302: "HTTP/1.1 302 Found\r\nDate: "
    case 303: "HTTP/1.1 303 See Other\r\nDate: "
    case 400: "HTTP/1.1 400 Bad Request\r\nDate: "
    case 401: "HTTP/1.1 401 Unauthorized\r\nDate: "
    case 403: "HTTP/1.1 403 Forbidden\r\nDate: "
    case 404: "HTTP/1.1 404 Not Found\r\nDate: "
    case 405: "HTTP/1.1 405 Method Not Allowed\r\nDate: "
    case 429: "HTTP/1.1 429 Too Many Requests\r\nDate: "
    case 500: "HTTP/1.1 500 Internal Server Error\r\nDate: "
    case 503: "HTTP/1.1 503 Service Unavailable\r\nDate: "
    // A reason phrase may be empty (RFC 9112 §4); its blank may not be left out.
    default: "HTTP/1.1 \(status) \r\nDate: "
    }
  }
}
