// The page that the browser shows after the redirect. It has nothing from the request and no script, and it loads and
// stores nothing (RFC 8252 §8.10 leaves the page to the app).

import EnrollRules
import EnrollCrypto

/// The reply to a URL that the listener received.
public enum LoopbackReply: Equatable, Sendable {
  /// The redirect is not for this client (R6): the browser shows an error page, and the wait continues.
  case declined
  /// The redirect is for this client and cannot be processed now: the browser shows the page, the wait continues, and
  /// the URL is passed to the handler again after `seconds`.
  case postponed(LoopbackPage, seconds: Int64)
  /// The redirect is for this client and the sign-in continues: the browser is sent to this URL, and the wait
  /// continues.
  case redirected(String)
  /// The redirect is for this client: the browser shows the page, and the listener closes.
  case accepted(LoopbackPage)
}

/// Texts for the user. Do not put secrets, or anything from the URL, into them.
public struct LoopbackPage: Equatable, Sendable {
  public var title: String
  public var message: String
  /// A language tag (RFC 5646) for screen readers.
  public var language: String

  /// The maximum number of bytes of each text. Longer texts are cut.
  public static let longestText = 2_000

  public init(title: String, message: String, language: String = "en") {
    self.title = title
    self.message = message
    self.language = language
  }

  /// The user is signed in.
  public static let signedIn = signedIn(.english)
  /// The sign-in has failed.
  public static let failed = failed(.english)
}

/// A whole response of the listener, ready to send.
enum LoopbackResponse {
  /// - Parameter returnPage: the app's own part of the page.
  static func bytes(_ status: Int, _ page: LoopbackPage, _ returnPage: ReturnPage = ReturnPage()) -> [UInt8] {
    let style = LoopbackStyle.text(returnPage)
    let body = LoopbackHTML.bytes(page, returnPage, style: style)
    var source = LoopbackStyle.source(of: style).map { "; style-src \($0)" } ?? ""
    if returnPage.logo != nil { source += "; img-src data:" }
    var text = "HTTP/1.1 \(status) \(reason(status))\r\n"
    text += "Content-Type: text/html; charset=utf-8\r\n"
    text += "Content-Length: \(body.count)\r\n"
    text +=
      "Content-Security-Policy: default-src 'none'\(source); base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    if status == 405 { text += "Allow: GET, OPTIONS\r\n" }
    return Array((text + always).utf8) + body
  }

  /// A redirect to the path without the query, or to the URL at which a sign-in continues.
  static func redirect(to address: String) -> [UInt8] {
    let text = "HTTP/1.1 303 \(reason(303))\r\nLocation: \(address)\r\nContent-Length: 0\r\n"
    return Array((text + always).utf8)
  }

  static let always =
    "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
    + "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"

  /// The answer to a request that does not reach the handler.
  static func refusal(_ status: Int, _ returnPage: ReturnPage = ReturnPage()) -> [UInt8] {
    if status == 204 { return preflight }
    return bytes(
      status, status == 431 ? .tooManyCookies(returnPage.language) : .declined(returnPage.language),
      returnPage)
  }

  /// The answer to a preflight request, which a browser sends before it lets a web page from the Internet send the user
  /// to this machine (Private Network Access §3.3).
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
