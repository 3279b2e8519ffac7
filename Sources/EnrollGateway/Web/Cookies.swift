// Cookies (RFC 6265, draft-ietf-httpbis-rfc6265bis §4.1.3.2). The names of all the gateway's cookies begin with
// `__Host-`: a browser accepts such cookies only over a secure connection, only from this host, and only for every
// path. If two cookies in a request have the same name, both are refused, because the gateway cannot know which of them
// it has set.

import EnrollRules
import EnrollHTTP

/// The cookie that a request has under one name.
enum Cookie: Equatable {
  case absent
  case value(String)
  /// The name occurs twice.
  case ambiguous

  var value: String? { if case .value(let text) = self { text } else { nil } }
}

extension WebRequest {
  /// Every cookie, in order.
  var cookies: [(name: String, value: String)] {
    var found: [(name: String, value: String)] = []
    for header in values(of: "Cookie") {
      for pair in header.utf8.split(separator: 0x3B) {
        let trimmed = pair.drop { $0 == 0x20 || $0 == 0x09 }
        guard let equals = trimmed.firstIndex(of: 0x3D) else { continue }
        var value = trimmed[trimmed.index(after: equals)...]
        while let last = value.last, last == 0x20 || last == 0x09 { value.removeLast() }
        found.append((String(Substring(trimmed[..<equals])), String(Substring(value))))
      }
    }
    return found
  }

  func cookie(_ name: String) -> Cookie {
    let found = cookies.filter { ASCII.equals($0.name, name) }
    return found.isEmpty ? .absent : found.count == 1 ? .value(found[0].value) : .ambiguous
  }
}

extension HTTPHeader {
  /// - Parameter seconds: how long the browser keeps the cookie; 0 deletes it.
  static func cookie(_ name: String, _ value: String, seconds: Int64) -> HTTPHeader {
    HTTPHeader(
      "Set-Cookie", "\(name)=\(value); Path=/; Max-Age=\(seconds); Secure; HttpOnly; SameSite=Lax")
  }
}
