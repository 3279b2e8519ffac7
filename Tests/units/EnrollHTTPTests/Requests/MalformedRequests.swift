// Requests that violate HTTP or a limit, each with the status of its refusal. The table shows how strict the server is.

import Testing

/// One request that must not reach the application.
struct MalformedRequest: CustomTestStringConvertible, Sendable {
  var name: String
  var bytes: [UInt8]
  var status: Int

  init(_ name: String, _ status: Int, _ text: String) {
    self.name = name
    self.status = status
    // Each scalar below 256 becomes one byte, so that the table can be text.
    bytes = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
  }

  var testDescription: String { name }

  /// Whether the request has no end, so that it must exceed a limit before its head ends.
  var neverEnds: Bool { name.hasSuffix("never ends") || name.hasSuffix("never end") }

  private static let host = "Host: gateway.test\r\n"

  private static func first(_ name: String, _ status: Int, _ line: String) -> Self {
    Self(name, status, "\(line)\r\n\(host)\r\n")
  }

  private static func header(_ name: String, _ status: Int, _ lines: String) -> Self {
    Self(name, status, "GET / HTTP/1.1\r\n\(host)\(lines)\r\n")
  }

  private static func post(_ name: String, _ status: Int, _ lines: String, _ body: String = "abcde") -> Self {
    Self(name, status, "POST / HTTP/1.1\r\n\(host)\(lines)\r\n\(body)")
  }

  private static func chunks(_ name: String, _ status: Int, _ body: String) -> Self {
    post(name, status, "Transfer-Encoding: chunked\r\n", body)
  }

  static let all = firstLines + targets + hosts + headers + framing + hidden + chunked + limits

  private static let firstLines = [
    first("two blanks before the target", 400, "GET  / HTTP/1.1"),
    first("two blanks before the version", 400, "GET /  HTTP/1.1"),
    first("a blank behind the version", 400, "GET / HTTP/1.1 "),
    first("a blank before the method", 400, " GET / HTTP/1.1"),
    first("a tab behind the method", 400, "GET\t/ HTTP/1.1"),
    first("an empty line before the request", 400, "\r\nGET / HTTP/1.1"),
    first("no version", 400, "GET /"),
    first("no target", 400, "GET HTTP/1.1"),
    first("a version in small letters", 400, "GET / http/1.1"),
    first("a version with three digits", 400, "GET / HTTP/1.10"),
    first("another protocol", 400, "GET / HTTQ/1.1"),
    first("HTTP/0.9", 505, "GET / HTTP/0.9"),
    first("HTTP/1.2", 505, "GET / HTTP/1.2"),
    first("HTTP/2.0", 505, "GET / HTTP/2.0"),
    first("the preface of HTTP/2", 505, "PRI * HTTP/2.0"),
    first("a method in small letters", 501, "get / HTTP/1.1"),
    first("OPTIONS", 405, "OPTIONS * HTTP/1.1"),
    first("CONNECT", 501, "CONNECT gateway.test:80 HTTP/1.1"),
    first("PUT", 405, "PUT / HTTP/1.1"),
    first("TRACE", 501, "TRACE / HTTP/1.1"),
    first("a method that nobody knows", 501, "GETS / HTTP/1.1"),
    first("a method that is no token", 400, "G(T / HTTP/1.1"),
    first("a control character in the method", 400, "G\u{1}T / HTTP/1.1"),
    Self("LF alone behind the first line", 400, "GET / HTTP/1.1\n\(host)\r\n"),
    Self("CR alone behind the first line", 400, "GET / HTTP/1.1\r\(host)\r\n"),
    Self("the first bytes of TLS", 400, "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\u{FC}\u{3}\u{3}"),
  ]

  private static let targets = [
    first("a target without a slash", 400, "GET page HTTP/1.1"),
    first("the target of a proxy", 400, "GET gateway.test:80 HTTP/1.1"),
    first("an asterisk", 400, "GET * HTTP/1.1"),
    first("another origin", 400, "GET http://other.test/ HTTP/1.1"),
    first("another scheme", 400, "GET https://gateway.test/ HTTP/1.1"),
    first("an origin that begins as ours", 400, "GET http://gateway.test.other.test/ HTTP/1.1"),
    first("our origin as user name", 400, "GET http://gateway.test@other.test/ HTTP/1.1"),
    first("a fragment", 400, "GET /page#part HTTP/1.1"),
    first("a byte beyond ASCII in the target", 400, "GET /caf\u{E9} HTTP/1.1"),
    first("a quotation mark in the target", 400, "GET /a\"b HTTP/1.1"),
    first("angle brackets in the target", 400, "GET /page?<b> HTTP/1.1"),
    first("NUL in the target", 400, "GET /\u{0} HTTP/1.1"),
    first("DEL in the target", 400, "GET /\u{7F} HTTP/1.1"),
    first("a target of more than 8 KiB", 414, "GET /" + String(repeating: "a", count: 8_192) + " HTTP/1.1"),
    Self("a target that never ends", 414, "GET /" + String(repeating: "a", count: 9_000)),
  ]

  private static let hosts = [
    Self("no host", 400, "GET / HTTP/1.1\r\n\r\n"),
    Self("no host in HTTP/1.0", 400, "GET / HTTP/1.0\r\n\r\n"),
    header("two hosts", 400, "Host: gateway.test\r\n"),
    Self("another host", 421, "GET / HTTP/1.1\r\nHost: other.test\r\n\r\n"),
    Self("another port", 421, "GET / HTTP/1.1\r\nHost: gateway.test:81\r\n\r\n"),
    Self("an empty host", 421, "GET / HTTP/1.1\r\nHost:\r\n\r\n"),
    Self("two hosts in one line", 421, "GET / HTTP/1.1\r\nHost: gateway.test, other.test\r\n\r\n"),
    Self("a host with a user", 421, "GET / HTTP/1.1\r\nHost: user@gateway.test\r\n\r\n"),
  ]

  private static let headers = [
    header("LF alone behind a header", 400, "A: b\n"),
    header("CR alone in a value", 400, "A: b\rc\r\n"),
    header("LF alone in the empty line", 400, "A: b\r\n\n"),
    header("NUL in a value", 400, "A: b\u{0}c\r\n"),
    header("NUL in a name", 400, "A\u{0}: b\r\n"),
    header("a control character in a value", 400, "A: b\u{1}c\r\n"),
    header("DEL in a value", 400, "A: b\u{7F}c\r\n"),
    header("a folded line", 400, "A: b\r\n c\r\n"),
    header("a line folded by a tab", 400, "A: b\r\n\tc\r\n"),
    Self("a first header that is folded", 400, "GET / HTTP/1.1\r\n Host: gateway.test\r\n\r\n"),
    header("a blank before the colon", 400, "A : b\r\n"),
    header("a tab before the colon", 400, "A\t: b\r\n"),
    header("a blank in a name", 400, "A b: c\r\n"),
    header("no name", 400, ": b\r\n"),
    header("no colon", 400, "A\r\n"),
    header("a name that is no token", 400, "A(b): c\r\n"),
    header("a byte beyond ASCII in a name", 400, "A\u{E9}: c\r\n"),
    header("another expectation", 417, "Expect: 200-ok\r\n"),
    header("two expectations", 417, "Expect: 100-continue\r\nExpect: 100-continue\r\n"),
  ]

  private static let framing = [
    post("a length and chunks", 400, "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
    post("chunks and a length", 400, "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"),
    post("two equal lengths", 400, "Content-Length: 5\r\nContent-Length: 5\r\n"),
    post("two lengths", 400, "Content-Length: 5\r\nContent-Length: 6\r\n"),
    post("two lengths in one line", 400, "Content-Length: 5, 5\r\n"),
    post("a length with a sign", 400, "Content-Length: +5\r\n"),
    post("a negative length", 400, "Content-Length: -5\r\n"),
    post("a hexadecimal length", 400, "Content-Length: 0x5\r\n"),
    post("a length with a blank in it", 400, "Content-Length: 5 5\r\n"),
    post("an empty length", 400, "Content-Length:\r\n"),
    post("a length of 20 digits", 400, "Content-Length: 00000000000000000005\r\n"),
    post("a length beyond 64 bits", 400, "Content-Length: 18446744073709551621\r\n"),
    post("a blank before the colon of the length", 400, "Content-Length : 5\r\n"),
    post("a vertical tab in the length", 400, "Content-Length: \u{B}5\r\n"),
    post("a tab before the length", 400, "Content-Length:\t5\r\n"),
    post("two blanks before the length", 400, "Content-Length:  5\r\n"),
    post("a blank behind the length", 400, "Content-Length: 5 \r\n"),
    post("a tab before the coding", 400, "Transfer-Encoding:\tchunked\r\n", "0\r\n\r\n"),
    post("a blank behind the coding", 400, "transfer-encoding:chunked \r\n", "0\r\n\r\n"),
    post("another coding", 400, "Transfer-Encoding: gzip\r\n"),
    post("two codings", 400, "Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"),
    post("chunked twice", 400, "Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n"),
    post(
      "two lines of codings", 400, "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"
    ),
    post("chunked in large letters", 400, "Transfer-Encoding: CHUNKED\r\n", "0\r\n\r\n"),
    post("a coding that ends as chunked", 400, "Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"),
    post("a coding with a parameter", 400, "Transfer-Encoding: chunked;q=1\r\n", "0\r\n\r\n"),
    post("an empty coding", 400, "Transfer-Encoding:\r\n", "0\r\n\r\n"),
    Self(
      "chunks in HTTP/1.0", 400,
      "POST / HTTP/1.0\r\n\(host)Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    header("a GET with a body", 400, "Content-Length: 5\r\n"),
    header("a GET with chunks", 400, "Transfer-Encoding: chunked\r\n"),
  ]

  /// Requests for which a lenient parser finds another framing or other headers than a strict parser does.
  private static let hidden = [
    post("NUL behind chunked", 400, "Transfer-Encoding: chunked\u{0}\r\n", "0\r\n\r\n"),
    post("NUL in the length", 400, "Content-Length: 5\u{0}\r\n"),
    post("a folded coding", 400, "Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"),
    post("a folded length", 400, "Content-Length:\r\n 5\r\n"),
    post("a bare LF that hides a header", 400, "A: b\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
    post("a bare CR that hides a header", 400, "A: b\rTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
    header("a header line of blanks", 400, "A: b\r\n  \r\n"),
    post("a form feed before chunked", 400, "Transfer-Encoding: \u{C}chunked\r\n", "0\r\n\r\n"),
    chunks("a size of nine digits", 400, "000000005\r\nabcde\r\n0\r\n\r\n"),
    chunks("CR alone behind a size", 400, "5\rabcde\r\n0\r\n\r\n"),
    chunks("one CRLF missing behind the last chunk", 400, "5\r\nabcde\r\n0\r\n"),
  ]

  private static let chunked = [
    chunks("chunks of one byte each", 413, String(repeating: "1\r\na\r\n", count: 2_000) + "0\r\n\r\n"),
    chunks("a size that is no number", 400, "g\r\n"),
    chunks("an empty size", 400, "\r\n\r\n"),
    chunks("a size with a blank", 400, "5 \r\nabcde\r\n0\r\n\r\n"),
    chunks("a size with a sign", 400, "-5\r\nabcde\r\n0\r\n\r\n"),
    chunks("a size with 0x", 400, "0x5\r\nabcde\r\n0\r\n\r\n"),
    chunks("a size that overflows", 400, "10000000000000005\r\nabcde\r\n0\r\n\r\n"),
    chunks("a chunk extension", 400, "5;a=b\r\nabcde\r\n0\r\n\r\n"),
    chunks("LF alone behind a size", 400, "5\nabcde\r\n0\r\n\r\n"),
    chunks("a chunk longer than its size", 400, "5\r\nabcdef\r\n0\r\n\r\n"),
    chunks("LF alone behind a chunk", 400, "5\r\nabcde\n0\r\n\r\n"),
    chunks("a folded trailer", 400, "0\r\nA: b\r\n c\r\n\r\n"),
    chunks("a control character in a trailer", 400, "0\r\nA: b\u{1}\r\n\r\n"),
    chunks("a trailer that is no header", 400, "0\r\nA b: c\r\n\r\n"),
    chunks(
      "trailers of more than 4 KiB", 431, "0\r\nA: " + String(repeating: "a", count: 5_000) + "\r\n\r\n"),
  ]

  private static let limits = [
    header(
      "101 headers", 431,
      String(repeating: "A: b\r\n", count: 100)),
    header("headers of more than 16 KiB", 431, "A: " + String(repeating: "a", count: 16_384) + "\r\n"),
    Self(
      "a header that never ends", 431,
      "GET / HTTP/1.1\r\n\(host)A: " + String(repeating: "a", count: 17_000)),
    Self(
      "blanks that never end", 431,
      "GET / HTTP/1.1\r\n\(host)A:" + String(repeating: " ", count: 17_000)),
    post("a length of more than 64 KiB", 413, "Content-Length: 65537\r\n"),
    chunks("chunks of more than 64 KiB", 413, "10001\r\n"),
    chunks(
      "many chunks of more than 64 KiB", 413,
      String(repeating: "4000\r\n" + String(repeating: "a", count: 0x4000) + "\r\n", count: 5)),
  ]
}
