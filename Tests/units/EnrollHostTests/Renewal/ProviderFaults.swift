// The observed faults of token endpoints, and of servers in front of them: one row each.

@testable import EnrollPosix

extension ProviderFault {
  static let all = connections + heads + bodies + encodings + statuses + contents + members

  /// The request is read but not carried out; the server sends these bytes and closes the connection.
  private static func bytes(_ name: String, _ text: String) -> ProviderFault {
    ProviderFault(name: name, outcome: .trouble) {
      $0.connection.readRequest()
      $0.connection.send(text)
    }
  }

  /// A response with this status, and nothing usable in it.
  private static func status(
    _ line: String, _ outcome: Outcome = .trouble, body: String = "", headers: String = ""
  ) -> ProviderFault {
    let about = [body, headers].filter { !$0.isEmpty }.joined(separator: " ")
    return ProviderFault(name: "\(line) \(about)", outcome: outcome) {
      $0.connection.readRequest()
      $0.answer(body, status: line, headers: headers)
    }
  }

  /// A 200 with this body; the request was not carried out.
  private static func content(_ name: String, _ body: String) -> ProviderFault {
    ProviderFault(name: name, outcome: .trouble) {
      $0.connection.readRequest()
      $0.answer(body)
    }
  }

  /// The request is carried out, and its correct answer is changed.
  private static func altered(
    _ name: String, _ outcome: Outcome, _ alter: @escaping @Sendable (TokenMembers) -> TokenMembers
  ) -> ProviderFault {
    ProviderFault(name: name, outcome: outcome) { $0.answer(alter($0.process()).text) }
  }

  /// The request is carried out, and its answer is changed so that only the refresh token is usable (R30).
  private static func rescued(
    _ name: String, _ alter: @escaping @Sendable (TokenMembers) -> TokenMembers
  ) -> ProviderFault {
    var fault = altered(name, .trouble, alter)
    fault.bringsRefreshToken = true
    return fault
  }

  /// The request is carried out, and its answer is written by hand.
  private static func written(
    _ name: String, _ outcome: Outcome, isSlow: Bool = false,
    _ write: @escaping @Sendable (Visit, _ body: String) -> Void
  ) -> ProviderFault {
    ProviderFault(name: name, outcome: outcome, isSlow: isSlow) { write($0, $0.process().text) }
  }

  private static func head(_ body: String) -> String {
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
  }

  private static let connections: [ProviderFault] = [
    ProviderFault(name: "closed as soon as it was accepted", outcome: .trouble) { _ in },
    ProviderFault(name: "reset as soon as it was accepted", outcome: .trouble) { $0.connection.reset() },
    bytes("closed after the request", ""),
    ProviderFault(name: "reset after the request", outcome: .trouble) {
      $0.connection.readRequest()
      $0.connection.reset()
    },
    written("closed after the rotation", .trouble) { _, _ in },
    written("reset after the rotation", .trouble) { visit, _ in visit.connection.reset() },
    ProviderFault(name: "answered before the request was read, and closed", outcome: .trouble) {
      $0.answer("", status: "503 Service Unavailable")
    },
    ProviderFault(name: "never answered", outcome: .trouble, isSlow: true) {
      $0.connection.readRequest()
      $0.connection.waitForClose()
    },
    written("rotated and never answered", .trouble, isSlow: true) { visit, _ in
      visit.connection.waitForClose()
    },
    written("answered after the client had gone", .trouble, isSlow: true) { visit, body in
      visit.connection.waitForClose()
      visit.answer(body)
    },
    written("the head drips", .trouble, isSlow: true) { visit, _ in
      visit.connection.send("HTTP/1.1 200 OK\r\n")
      while !visit.connection.waitForClose(milliseconds: 10), visit.connection.send("X: y\r\n") {}
    },
    written("the body drips", .trouble, isSlow: true) { visit, body in
      visit.connection.send(head(body) + "\r\n{")
      while !visit.connection.waitForClose(milliseconds: 10), visit.connection.send(" ") {}
    },
    written("one byte at a time", .taken) { visit, body in
      for byte in Array((head(body) + "\r\n" + body).utf8) { visit.connection.send([byte]) }
    },
    written("answered twice", .taken) { visit, body in
      visit.connection.send(head(body) + "\r\n" + body + head(body) + "\r\n" + body)
    },
    written("bytes after the answer", .taken) { visit, body in
      visit.connection.send(head(body) + "\r\n" + body + "and more")
    },
  ]

  private static let heads: [ProviderFault] = [
    bytes("half a status line", "HTTP/1.1 20"),
    bytes("half a head", "HTTP/1.1 200 OK\r\nContent-Type: appli"),
    bytes("a head without its end", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"),
    written("a body without a head (HTTP/0.9)", .trouble) { $0.connection.send($1) },
    bytes("another protocol", "SSH-2.0-OpenSSH_9.2\r\n"),
    bytes("HTTP/2 unasked", "\u{0}\u{0}\u{12}\u{4}\u{0}\u{0}\u{0}\u{0}\u{0}"),
    bytes("NULs", String(repeating: "\u{0}", count: 4096)),
    bytes("a status that is no number", "HTTP/1.1 abc OK\r\n\r\n"),
    bytes("a status of two digits", "HTTP/1.1 20 OK\r\n\r\n"),
    bytes("a status over 599", "HTTP/1.1 799 What\r\nContent-Length: 0\r\n\r\n"),
    bytes("a switch of protocols", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n"),
    written("interim answers first", .taken) { visit, body in
      visit.connection.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
      visit.connection.send(head(body) + "\r\n" + body)
    },
    written("interim answers without end", .trouble) { visit, _ in
      let flood = String(repeating: "HTTP/1.1 102 Processing\r\nX: y\r\n\r\n", count: 100)
      while visit.connection.send(flood) {}
    },
    written("headers without end", .trouble) { visit, _ in
      visit.connection.send("HTTP/1.1 200 OK\r\n")
      let flood = String(repeating: "X-Many: 0123456789\r\n", count: 100)
      while visit.connection.send(flood) {}
    },
    written("a header line without end", .trouble) { visit, _ in
      visit.connection.send("HTTP/1.1 200 OK\r\nX-Long: ")
      let flood = String(repeating: "x", count: 4096)
      while visit.connection.send(flood) {}
    },
    written("a head of 60 KiB", .taken) { visit, body in
      let long = String(repeating: "X-Many: 0123456789\r\n", count: 3000)
      visit.connection.send(head(body) + long + "\r\n" + body)
    },
    written("a NUL in a header", .trouble) { visit, body in
      visit.connection.send(head(body) + "X-Nul: a\u{0}b\r\n\r\n" + body)
    },
    written("a header without a colon", .trouble) { visit, body in
      visit.connection.send(head(body) + "nonsense\r\n\r\n" + body)
    },
    written("a folded header", .taken) { visit, body in
      visit.connection.send(head(body) + "X-Folded: a\r\n b\r\n\r\n" + body)
    },
  ]

  private static let bodies: [ProviderFault] = [
    bytes(
      "a 400 that is cut off after its head", "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n\r\n"),
    written("half a body", .trouble) { visit, body in
      visit.connection.send(head(body) + "\r\n" + body.prefix(body.count / 2))
    },
    written("half a chunk", .taken) { visit, body in
      visit.connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n\(body)")
    },
    written("chunks without the last one", .taken) { visit, body in
      let size = String(body.utf8.count, radix: 16)
      visit.connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(size)\r\n\(body)\r\n")
    },
    bytes(
      "a chunk's size that is no number", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n"),
    bytes(
      "a chunk's size beyond 64 bits",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffffffff\r\n{}\r\n"),
    written("a length that is too short", .trouble) { visit, body in
      visit.connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count - 4)\r\n\r\n\(body)")
    },
    written("a length that is too long", .taken) { visit, body in
      visit.connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count + 4)\r\n\r\n\(body)")
    },
    written("no length: the end of the connection ends it", .taken) { visit, body in
      visit.connection.send("HTTP/1.1 200 OK\r\n\r\n\(body)")
    },
    bytes("a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
    bytes("a length beyond 64 bits", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n{"),
    bytes("a length over the limit", "HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n{"),
    written("a body without end", .trouble) { visit, _ in
      visit.connection.send("HTTP/1.1 200 OK\r\n\r\n{\"a\":\"")
      let flood = String(repeating: "x", count: 65_536)
      while visit.connection.send(flood) {}
    },
    written("a body of a mebibyte and one byte", .trouble) { visit, body in
      visit.answer(body + String(repeating: " ", count: (1 << 20) + 1 - body.utf8.count))
    },
  ]

  private static let encodings: [ProviderFault] = [
    written("gzip that is none", .taken) { $0.answer($1, headers: "Content-Encoding: gzip\r\n") },
    written("gzip that is cut off", .trouble) { visit, _ in
      visit.answer("\u{1f}", headers: "Content-Encoding: gzip\r\n")
    },
    written("an encoding nobody knows", .taken) { $0.answer($1, headers: "Content-Encoding: rot13\r\n") },
    written("a transfer encoding other than chunked", .trouble) { visit, body in
      visit.connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n\(body)")
    },
    written("another content type", .taken) { visit, body in
      visit.connection.answer(body, headers: "Content-Type: text/html; charset=utf-16\r\n")
    },
  ]

  private static let invalidGrant = "{\"error\":\"invalid_grant\"}"

  private static let statuses: [ProviderFault] =
    [
      "408 Request Timeout", "429 Too Many Requests", "500 Internal Server Error", "501 Not Implemented",
      "502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout", "511 Login Required", "599 What",
    ].map { status($0) } + [
      status("500 Internal Server Error", body: invalidGrant), status("503 Busy", body: invalidGrant),
      status("429 Too Many Requests", body: invalidGrant), status("200 OK", body: invalidGrant),
      status("204 No Content"), status("205 Reset Content"), status("206 Partial Content", body: "{\"acc"),
    ]
    + ["300 Choose", "301 Moved", "302 Found", "303 See Other", "304 Same", "307 Temporary", "308 For Good"]
    .map {
      status($0, headers: "Location: https://evil.example/token\r\n")
    } + [
      status("302 Found", body: invalidGrant, headers: "Location: /token\r\n"),
      status("400 Bad Request", body: "{\"error\":\"temporarily_unavailable\"}"),
      status("400 Bad Request", body: "{\"error\":\"server_error\"}"),
      status("400 Bad Request", body: "{\"error\":\"use_dpop_nonce\"}"),
      status("400 Bad Request", .refused), status("401 Unauthorized", .refused),
      status("403 Forbidden"), status("403 Forbidden", body: "<html>"),
      status("404 Not Found", body: "<html>"), status("404 Not Found"),
      status("407 Proxy Authentication Required"), status("418 Teapot"),
      status("400 Bad Request", body: "Bad Request"),
      status("451 Unavailable", body: "{\"error\":7}"),
      status("400 Bad Request", .refused, body: "{\"error\":\"invalid_request\"}"),
      status("401 Unauthorized", .refused, body: "{\"error\":\"invalid_client\"}"),
      status("400 Bad Request", .refused, body: "{\"error\":\"INVALID_GRANT\"}"),
      status("400 Bad Request", body: "{\"error\":\"invalid_grant\",\"error\":\"invalid_scope\"}"),
    ]

  private static let contents: [ProviderFault] = [
    content("an empty body", ""),
    content("a page of a captive portal", "<html><body>Log in to our network</body></html>"),
    content("an array", "[1,2,3]"), content("a number", "7"), content("null", "null"),
    content("an empty object", "{}"), content("not UTF-8", "{\"access_token\":\"\u{fffd}\"}\u{0}"),
    content("JSON nested 100,000 deep", String(repeating: "[", count: 100_000)),
    content("an object nested 100,000 deep", String(repeating: "{\"a\":", count: 100_000)),
    written("JSON that is cut off, whole by its length", .trouble) { $0.answer(String($1.dropLast(9))) },
    written("something after the JSON", .taken) { $0.answer($1 + "<!-- served by -->") },
    written("a byte order mark before the JSON", .taken) { $0.answer("\u{feff}" + $1) },
    altered("access_token twice", .trouble) { $0.repeating("access_token", "\"other\"") },
    altered("refresh_token twice", .trouble) { $0.repeating("refresh_token", "\"refresh-1\"") },
    altered("an unknown member nested deep", .taken) {
      $0.with("more", String(repeating: "[", count: 200) + String(repeating: "]", count: 200))
    },
    altered("an unknown member", .taken) { $0.with("more", "{\"a\":[1,null]}") },
  ]

  private static let members: [ProviderFault] = [
    rescued("no access_token") { $0.without("access_token") },
    rescued("an empty access_token") { $0.with("access_token", "\"\"") },
    rescued("an access_token that is a number") { $0.with("access_token", "7") },
    rescued("an access_token with a line break") { $0.with("access_token", "\"a\\r\\nX: y\"") },
    altered("an access_token with a NUL", .trouble) { $0.with("access_token", "\"a\\u0000b\"") },
    rescued("an access_token of 500 KB") {
      $0.with("access_token", "\"" + String(repeating: "a", count: 500_000) + "\"")
    },
    altered("no token_type", .taken) { $0.without("token_type") },
    rescued("token_type mac") { $0.with("token_type", "\"mac\"") },
    altered("token_type in other letters", .taken) { $0.with("token_type", "\"bEARER\"") },
    rescued("a token_type that is a number") { $0.with("token_type", "1") },
    altered("no expires_in", .taken) { $0.without("expires_in") },
    altered("expires_in -1", .taken) { $0.with("expires_in", "-1") },
    altered("expires_in 0", .taken) { $0.with("expires_in", "0") },
    altered("expires_in null", .taken) { $0.with("expires_in", "null") },
    altered("expires_in as text", .taken) { $0.with("expires_in", "\"3600\"") },
    altered("expires_in as words", .taken) { $0.with("expires_in", "\"an hour\"") },
    altered("expires_in with a fraction", .taken) { $0.with("expires_in", "3600.5") },
    altered("expires_in of 64 bits", .taken) { $0.with("expires_in", "9223372036854775807") },
    altered("expires_in 1e300", .taken) { $0.with("expires_in", "1e300") },
    altered("expires_in a list", .taken) { $0.with("expires_in", "[3600]") },
    altered("no refresh_token", .taken) { $0.without("refresh_token") },
    altered("an empty refresh_token", .taken) { $0.with("refresh_token", "\"\"") },
    altered("refresh_token null", .taken) { $0.with("refresh_token", "null") },
    altered("a refresh_token that is a number", .taken) { $0.with("refresh_token", "7") },
    altered("a refresh_token with a blank", .taken) { $0.with("refresh_token", "\"a b-2\"") },
    altered("a scope that is a list", .taken) { $0.with("scope", "[\"openid\"]") },
    altered("an id_token that is a number", .taken) { $0.with("id_token", "7") },
  ]
}
