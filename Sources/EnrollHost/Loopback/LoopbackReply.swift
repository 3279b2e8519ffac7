// What the browser shows after it came back: a plain page that any reader can read, with nothing in it that came with
// the request. No script, no style, nothing loaded, nothing kept (RFC 8252 §8.10 leaves the page to the app).

import EnrollCore

/// What is to become of one URL that the listener received.
public enum LoopbackReply: Equatable, Sendable {
  /// Not a redirect of ours (R6): the browser is told so, and the wait goes on.
  case declined
  /// Ours: the browser shows the page, and the listener closes.
  case accepted(LoopbackPage)
}

/// Words for the user. Never put a secret, or anything that came with the URL, into them.
public struct LoopbackPage: Equatable, Sendable {
  public var title: String
  public var message: String
  /// A language tag (RFC 5646) for screen readers.
  public var language: String

  /// Texts longer than that are cut, each in bytes.
  public static let longestText = 2_000

  public init(title: String, message: String, language: String = "en") {
    self.title = title
    self.message = message
    self.language = language
  }

  public static let signedIn = LoopbackPage(
    title: "You are signed in", message: "You can close this tab and go back to the application.")
  public static let failed = LoopbackPage(
    title: "Signing in did not work",
    message: "You can close this tab. The application tells you what to do next.")
  static let declined = LoopbackPage(
    title: "This is not the page that was expected",
    message: "The application is still waiting for the tab in which you are signing in.")
}

/// A whole response of the listener, ready to send.
enum LoopbackResponse {
  static func bytes(_ status: Int, _ page: LoopbackPage) -> [UInt8] {
    let body = html(page)
    var text = "HTTP/1.1 \(status) \(reason(status))\r\n"
    text += "Content-Type: text/html; charset=utf-8\r\n"
    text += "Content-Length: \(body.count)\r\n"
    text += "Cache-Control: no-store\r\n"
    text +=
      "Content-Security-Policy: default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    text += "Referrer-Policy: no-referrer\r\n"
    text += "X-Content-Type-Options: nosniff\r\n"
    if status == 405 { text += "Allow: GET\r\n" }
    text += "Connection: close\r\n\r\n"
    return Array(text.utf8) + body
  }

  /// A request that never reaches the host.
  static func refusal(_ status: Int) -> [UInt8] { bytes(status, .declined) }

  private static func reason(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 400: "Bad Request"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 414: "URI Too Long"
    case 421: "Misdirected Request"
    case 431: "Request Header Fields Too Large"
    case 505: "HTTP Version Not Supported"
    default: "Error"
    }
  }

  private static func html(_ page: LoopbackPage) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes += "<!DOCTYPE html>\n<html lang=\"".utf8
    append(page.language, to: &bytes)
    bytes += "\">\n<head>\n<meta charset=\"utf-8\">\n".utf8
    bytes += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n".utf8
    bytes += "<meta name=\"color-scheme\" content=\"light dark\">\n<title>".utf8
    append(page.title, to: &bytes)
    bytes += "</title>\n</head>\n<body>\n<main>\n<h1>".utf8
    append(page.title, to: &bytes)
    bytes += "</h1>\n<p role=\"status\">".utf8
    append(page.message, to: &bytes)
    bytes += "</p>\n</main>\n</body>\n</html>\n".utf8
    return bytes
  }

  /// Escaped for text and attributes.
  private static func append(_ text: String, to bytes: inout [UInt8]) {
    for byte in text.utf8.prefix(LoopbackPage.longestText) {
      switch byte {
      case UInt8(ascii: "&"): bytes += "&amp;".utf8
      case UInt8(ascii: "<"): bytes += "&lt;".utf8
      case UInt8(ascii: ">"): bytes += "&gt;".utf8
      case UInt8(ascii: "\""): bytes += "&quot;".utf8
      case UInt8(ascii: "'"): bytes += "&#39;".utf8
      default: bytes.append(byte)
      }
    }
  }
}
