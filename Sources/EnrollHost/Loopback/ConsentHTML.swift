// The pages that ask the user whether to sign in at a server. The pages have no script and load nothing, and every text
// in them is escaped.

import EnrollCrypto
import EnrollRules

enum ConsentHTML {
  /// The page with the question.
  /// - Parameter form: the path to which the answers are posted.
  static func question(_ question: ConsentQuestion, form: String) -> [UInt8] {
    let (place, server) = (authority(of: question.resource), authority(of: question.issuer))
    let name =
      question.name.map { PrintableText.bounded($0, maximumBytes: 100) + " (not verified) at " } ?? ""
    var content: [UInt8] = []
    LoopbackHTML.element("h1", "h1", "Sign in at \(server)?", to: &content)
    LoopbackHTML.element(
      "p", "p", "\(name)\(place) wants you to sign in at \(server): \(question.issuer)", to: &content)
    if let before = question.issuerBefore {
      LoopbackHTML.element("p", "p", "You have signed in at another server before: \(before)", to: &content)
    }
    LoopbackHTML.element(
      "p", "p", "Continue only if you know both. Nothing about you was sent yet.", to: &content)
    for (path, text) in [("continue", "Continue"), ("decline", "Not me")] {
      content += "<form method=\"post\" action=\"".utf8
      LoopbackHTML.append("\(form)/\(path)", to: &content)
      content += "\"><button>\(text)</button></form>\n".utf8
    }
    return response("Sign in?", content, actions: "'self'")
  }

  /// The host with its port, as the address bar of a browser shows it.
  private static func authority(of address: String) -> String {
    guard let url = try? StrictURL(address), let host = url.hostText else { return address }
    return host + (url.port.map { ":\($0)" } ?? "")
  }

  static func page(_ title: String, _ message: String) -> [UInt8] {
    var content: [UInt8] = []
    LoopbackHTML.element("h1", "h1", title, to: &content)
    LoopbackHTML.element("p role=\"status\"", "p", message, to: &content)
    return response(title, content)
  }

  /// The page that sends the browser to the server. It is not an HTTP redirect, because browsers apply the question
  /// page's `form-action` to redirects.
  static func continued(to target: String) -> [UInt8] {
    var (head, content): ([UInt8], [UInt8]) = ([], [])
    head += "<meta http-equiv=\"refresh\" content=\"0; url=".utf8
    LoopbackHTML.append(target, to: &head, most: target.utf8.count)
    head += "\">\n".utf8
    content += "<p><a href=\"".utf8
    LoopbackHTML.append(target, to: &content, most: target.utf8.count)
    content += "\">Continue to sign in</a></p>\n".utf8
    return response("Continue to sign in", content, head: head)
  }

  private static func response(
    _ title: String, _ content: [UInt8], head: [UInt8] = [], actions: String = "'none'"
  ) -> [UInt8] {
    let style =
      LoopbackStyle.text(ReturnPage())
      + "form{display:inline}button{font:inherit;padding:.5rem 1rem;margin:0 .5rem 0 0}"
    var body: [UInt8] = []
    body += "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n".utf8
    body += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n".utf8
    body += "<meta name=\"color-scheme\" content=\"light dark\">\n".utf8
    LoopbackHTML.element("title", "title", title, to: &body)
    body += head
    body += "<style>\(style)</style>\n</head>\n<body>\n<main>\n".utf8
    body += content
    body += "</main>\n</body>\n</html>\n".utf8
    let source = LoopbackStyle.source(of: style).map { "; style-src \($0)" } ?? ""
    var text =
      "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: \(body.count)\r\n"
    text +=
      "Content-Security-Policy: default-src 'none'\(source); base-uri 'none'; form-action \(actions); frame-ancestors 'none'\r\n"
    return Array((text + LoopbackResponse.always).utf8) + body
  }
}
