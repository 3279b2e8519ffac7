// The page that the browser shows after the redirect. It holds nothing from the request, has no script, loads nothing
// and keeps nothing (RFC 8252 §8.10 leaves the page to the app).

import EnrollCore
import EnrollCrypto

/// The reply to a URL that the listener received.
public enum LoopbackReply: Equatable, Sendable {
  /// Not a redirect of ours (R6): the browser is told so, and the wait goes on.
  case declined
  /// Ours, and not to be settled now: the browser shows the page, the wait goes on, and the URL is handed over again after
  /// so many seconds.
  case postponed(LoopbackPage, seconds: Int64)
  /// Ours, and the sign-in goes on: the browser is sent to that URL, and the wait goes on.
  case redirected(String)
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

  /// The sign-in is done.
  public static let signedIn = signedIn(.english)
  /// It is over, without a session.
  public static let failed = failed(.english)
}

/// A whole response of the listener, ready to send.
enum LoopbackResponse {
  /// - Parameter look: the app's own part of the page.
  static func bytes(_ status: Int, _ page: LoopbackPage, _ look: ReturnPage = ReturnPage()) -> [UInt8] {
    let style = LoopbackStyle.text(look)
    let body = LoopbackHTML.bytes(page, look, style: style)
    var source = LoopbackStyle.source(of: style).map { "; style-src \($0)" } ?? ""
    if look.logo != nil { source += "; img-src data:" }
    var text = "HTTP/1.1 \(status) \(reason(status))\r\n"
    text += "Content-Type: text/html; charset=utf-8\r\n"
    text += "Content-Length: \(body.count)\r\n"
    text +=
      "Content-Security-Policy: default-src 'none'\(source); base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    if status == 405 { text += "Allow: GET, OPTIONS\r\n" }
    return Array((text + always).utf8) + body
  }

  /// To the path alone, or to where a sign-in goes on.
  static func redirect(to address: String) -> [UInt8] {
    let text = "HTTP/1.1 303 \(reason(303))\r\nLocation: \(address)\r\nContent-Length: 0\r\n"
    return Array((text + always).utf8)
  }

  private static let always =
    "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
    + "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"

  /// A request that never reaches the host.
  static func refusal(_ status: Int, _ look: ReturnPage = ReturnPage()) -> [UInt8] {
    if status == 204 { return preflight }
    return bytes(status, status == 431 ? .tooManyCookies(look.language) : .declined(look.language), look)
  }

  /// Browsers ask before they follow a page of the Internet to this machine (Private Network Access §3.3).
  private static var preflight: [UInt8] {
    let text =
      "HTTP/1.1 204 \(reason(204))\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Allow-Private-Network: true\r\n"
    return Array((text + always).utf8)
  }

  private static func reason(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 204: "No Content"
    case 303: "See Other"
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
}
