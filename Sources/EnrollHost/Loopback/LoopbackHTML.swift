// The HTML and the style of the page that the browser shows after the redirect. All texts are escaped. Colours are
// already checked to be `#rrggbb`.

import EnrollRules
import EnrollCrypto

enum LoopbackHTML {
  static func bytes(_ page: LoopbackPage, _ returnPage: ReturnPage, style: String) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes += "<!DOCTYPE html>\n<html lang=\"".utf8
    append(page.language, to: &bytes)
    bytes += "\">\n<head>\n<meta charset=\"utf-8\">\n".utf8
    bytes += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n".utf8
    bytes += "<meta name=\"color-scheme\" content=\"light dark\">\n<title>".utf8
    append(page.title, to: &bytes)
    if let name = returnPage.appName {
      bytes += " · ".utf8
      append(name, to: &bytes)
    }
    bytes += "</title>\n<style>\(style)</style>\n</head>\n<body>\n<main>\n".utf8
    if let logo = returnPage.logo {
      // The app's name is in the next line, so the logo needs no alternative text. The logo's URL is already checked,
      // and has no character that needs escaping.
      bytes += "<img class=\"logo\" src=\"\(logo)\" alt=\"\">\n".utf8
    }
    if let name = returnPage.appName { element("p class=\"app\"", "p", name, to: &bytes) }
    element("h1", "h1", page.title, to: &bytes)
    element("p role=\"status\"", "p", page.message, to: &bytes)
    if let text = returnPage.text { element("p", "p", text, to: &bytes) }
    if let link = returnPage.link {
      bytes += "<p><a href=\"".utf8
      append(link, to: &bytes)
      bytes += "\">".utf8
      append(LoopbackPage.back(returnPage), to: &bytes)
      bytes += "</a></p>\n".utf8
    }
    bytes += "</main>\n</body>\n</html>\n".utf8
    return bytes
  }

  static func element(_ opening: String, _ name: String, _ text: String, to bytes: inout [UInt8]) {
    bytes += "<\(opening)>".utf8
    append(text, to: &bytes)
    bytes += "</\(name)>\n".utf8
  }

  /// Appends a text, escaped for text and attributes.
  static func append(_ text: String, to bytes: inout [UInt8], most: Int = LoopbackPage.longestText) {
    for byte in text.utf8.prefix(most) {
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

enum LoopbackStyle {
  /// The page's style. Only the line above the page has the app's colour, so this colour makes no text unreadable.
  static func text(_ returnPage: ReturnPage) -> String {
    var body = "margin:0;font:1.125rem/1.5 system-ui,sans-serif"
    if let background = returnPage.backgroundColor, let channels = ReturnPage.channels(of: background) {
      body += ";background:\(background);color:\(isLight(channels) ? "#000" : "#fff")"
    }
    return "body{\(body)}main{max-width:32rem;margin:12vh auto 0;padding:1.5rem;"
      + "border-top:.375rem solid \(returnPage.color ?? "currentColor");overflow-wrap:break-word}"
      + "h1{font-size:1.75rem;line-height:1.2;margin:0 0 1rem}.app{font-weight:600;margin:0 0 .5rem}"
      + ".logo{display:block;max-width:100%;max-height:4rem;margin:0 0 1rem}a{color:inherit}"
  }

  /// Whether black is easier to read on this colour than white, approximately by WCAG's relative luminance (gamma 2).
  private static func isLight(_ channels: [UInt8]) -> Bool {
    let squares = channels.map { Int($0) * Int($0) }
    return 2126 * squares[0] + 7152 * squares[1] + 722 * squares[2] > 10_000 * 255 * 255 * 18 / 100
  }

  /// The hash by which a Content-Security-Policy names this style (CSP 3 §2.3.1); nil if it cannot be computed. Then
  /// the page has no style.
  static func source(of style: String) -> String? {
    guard let hash = try? Digest.sha256.hash(Array(style.utf8)) else { return nil }
    let base64 = Base64URL.encode(hash).utf8.map { byte in
      byte == UInt8(ascii: "-") ? UInt8(ascii: "+") : byte == UInt8(ascii: "_") ? UInt8(ascii: "/") : byte
    }
    return "'sha256-\(String(decoding: base64, as: UTF8.self))='"
  }
}
