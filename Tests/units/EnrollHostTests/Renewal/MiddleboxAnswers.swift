// The answers that proxies, load balancers, captive portals, firewalls and caches give in a provider's place, and
// answers of a provider that these devices have changed. Each answer is one row.

@testable import EnrollPosix
import Foundation

/// An answer that does not come from the provider, or that was changed on its way.
struct MiddleboxAnswer: Sendable {
  enum Content: Sendable {
    /// The provider does not get the request.
    case instead(status: String, headers: String, body: [UInt8])
    /// The provider's own answer, changed.
    case altered(@Sendable (inout Answer) -> Void)
  }

  struct Answer {
    var status: Int
    /// The headers, each with its line break.
    var headers: String
    var body: [UInt8]
  }

  var name: String
  var content: Content
}

extension MiddleboxAnswer {
  static let all: [MiddleboxAnswer] =
    portals + refusals + proxies + limits + outages + contents + alterations + clocks

  private static func instead(
    _ status: String, _ type: String, _ body: String, headers: String = ""
  ) -> MiddleboxAnswer {
    let typed = type.isEmpty ? headers : "Content-Type: \(type)\r\n" + headers
    return MiddleboxAnswer(
      name: "\(status) \(headers.split(separator: "\r\n").first ?? "") \(body.prefix(40))",
      content: .instead(status: status, headers: typed, body: Array(body.utf8)))
  }

  private static func html(_ status: String, _ text: String, headers: String = "") -> MiddleboxAnswer {
    instead(
      status, "text/html; charset=utf-8", "<!DOCTYPE html><html><body>\(text)</body></html>", headers: headers
    )
  }

  private static func json(_ status: String, _ body: String, headers: String = "") -> MiddleboxAnswer {
    instead(status, "application/json", body, headers: headers)
  }

  private static func altered(
    _ name: String, _ alter: @escaping @Sendable (inout Answer) -> Void
  ) -> MiddleboxAnswer {
    MiddleboxAnswer(name: name, content: .altered(alter))
  }

  private static let portals: [MiddleboxAnswer] = [
    html("200 OK", "Log in to our network"),
    html("200 OK", "<meta http-equiv=refresh content='0;url=http://1.1.1.1/login'>"),
    html("302 Found", "Moved", headers: "Location: http://portal.example/login\r\n"),
    html("303 See Other", "", headers: "Location: https://portal.example/?origin=id.example\r\n"),
    html("307 Temporary Redirect", "", headers: "Location: https://portal.example/\r\n"),
    html("301 Moved Permanently", "", headers: "Location: https://www.id.example/\r\n"),
    html("308 Permanent Redirect", "", headers: "Location: /login\r\n"),
    html("511 Network Authentication Required", "Log in to our network"),
    html("200 OK", "Sign in", headers: "Set-Cookie: session=1\r\nX-Frame-Options: DENY\r\n"),
    instead("200 OK", "text/plain", "Microsoft Connect Test"), instead("204 No Content", "", ""),
  ]

  private static let refusals: [MiddleboxAnswer] = [
    html("403 Forbidden", "<h1>Access Denied</h1> Reference #18.2f1", headers: "Server: AkamaiGHost\r\n"),
    html("403 Forbidden", "Just a moment...", headers: "Server: cloudflare\r\nCF-Mitigated: challenge\r\n"),
    json("403 Forbidden", #"{"message":"Forbidden"}"#, headers: "x-amzn-ErrorType: ForbiddenException\r\n"),
    json("403 Forbidden", #"{"error":"forbidden"}"#), json("403 Forbidden", #"{"error":"Not Found"}"#),
    json("403 Forbidden", ""), json("404 Not Found", #"{"error":"Not Found"}"#),
    json("404 Not Found", #"{"timestamp":1,"status":404,"error":"Not Found","path":"/token"}"#),
    html("404 Not Found", "nginx"), instead("404 Not Found", "text/plain", "404 page not found\n"),
    instead("404 Not Found", "", ""), instead("401 Unauthorized", "", ""),
    html("401 Unauthorized", "401", headers: "WWW-Authenticate: Basic realm=\"proxy\"\r\n"),
    json("401 Unauthorized", #"{"error":"Unauthorized"}"#),
    json("401 Unauthorized", #"{"message":"Unauthorized"}"#),
    json("401 Unauthorized", #"{"error":{"code":401,"status":"UNAUTHENTICATED"}}"#),
    json("400 Bad Request", #"{"error":"Bad Request","message":"upstream"}"#),
    html("400 Bad Request", "The plain HTTP request was sent to HTTPS port"),
    html("451 Unavailable For Legal Reasons", "Blocked"),
    json("451 Unavailable For Legal Reasons", #"{"error":451}"#),
    json("410 Gone", #"{"error":"gone"}"#), html("418 I'm a teapot", "Blocked by policy"),
  ]

  private static let proxies: [MiddleboxAnswer] = [
    html("405 Not Allowed", "nginx", headers: "Allow: GET, HEAD\r\n"),
    json("405 Method Not Allowed", #"{"error":"Method Not Allowed"}"#),
    json("406 Not Acceptable", #"{"error":"Not Acceptable"}"#),
    html("407 Proxy Authentication Required", "", headers: "Proxy-Authenticate: Basic realm=\"squid\"\r\n"),
    html("411 Length Required", "nginx"), html("413 Request Entity Too Large", "nginx"),
    json("413 Payload Too Large", #"{"error":"payload_too_large"}"#), html("414 URI Too Long", "nginx"),
    json("415 Unsupported Media Type", #"{"error":"Unsupported Media Type"}"#),
    html("417 Expectation Failed", "lighttpd"), json("421 Misdirected Request", #"{"error":"misdirected"}"#),
    html("421 Misdirected Request", "Apache"), instead("425 Too Early", "", ""),
    instead("426 Upgrade Required", "text/plain", "Upgrade Required", headers: "Upgrade: TLS/1.2\r\n"),
    html("431 Request Header Fields Too Large", ""),
  ]

  private static let limits: [MiddleboxAnswer] = [
    html("429 Too Many Requests", "Error 1015", headers: "Retry-After: 30\r\n"),
    json("429 Too Many Requests", #"{"error":"rate_limited"}"#, headers: "X-RateLimit-Remaining: 0\r\n"),
    json("429 Too Many Requests", #"{"message":"API rate limit exceeded"}"#),
    html("408 Request Timeout", "<h1>408</h1> Your browser didn't send a complete request in time."),
  ]

  private static let outages: [MiddleboxAnswer] = [
    html("500 Internal Server Error", "Oops"),
    json("500 Internal Server Error", #"{"error":"invalid_grant"}"#),
    html("502 Bad Gateway", "nginx"), json("502 Bad Gateway", #"{"message":"Internal server error"}"#),
    instead(
      "503 Service Unavailable", "text/plain",
      "upstream connect error or disconnect/reset before headers. reset reason: connection failure"),
    instead("503 Service Unavailable", "text/plain", "no healthy upstream"),
    html("503 Service Unavailable", "Maintenance", headers: "Retry-After: Wed, 21 Oct 2099 07:28:00 GMT\r\n"),
    html("504 Gateway Time-out", "haproxy"), instead("520 Unknown", "text/plain", "error code: 520"),
    html("521 Web Server Is Down", "cloudflare"), html("522 Connection Timed Out", "cloudflare"),
    html("524 A Timeout Occurred", "cloudflare"), html("525 SSL Handshake Failed", "cloudflare"),
    html("530 Origin Error", "error code: 1033"),
  ]

  private static let contents: [MiddleboxAnswer] = [
    json("200 OK", ""), json("200 OK", "null"), json("200 OK", "[]"), json("200 OK", "true"),
    json("200 OK", "{}"),
    json("200 OK", #"{"status":"healthy"}"#), json("200 OK", #"{"error":"maintenance"}"#),
    json("200 OK", #"{"error":null,"data":{"access_token":"x"}}"#), json("200 OK", "<html>Log in</html>"),
    json("200 OK", #"{"a":1,"a":2}"#), json("202 Accepted", #"{"queued":true}"#),
    json("206 Partial Content", #"{"iss"#), instead("200 OK", "text/xml", "<soap:Fault/>"),
    instead("304 Not Modified", "", ""), instead("200 OK", "image/gif", "GIF89a\u{1}"),
  ]

  private static let alterations: [MiddleboxAnswer] = [
    altered("a byte order mark first") { $0.body = [0xEF, 0xBB, 0xBF] + $0.body },
    altered("a script of the hotspot's behind it") {
      $0.body += Array("<script src=//ad.example></script>".utf8)
    },
    altered("cut off, with a length that fits") { $0.body = Array($0.body.prefix($0.body.count / 2)) },
    altered("the same twice") { $0.body += $0.body },
    altered("a member twice") {
      $0.body = Array(#"{"issuer":"x","access_token":"x","#.utf8) + $0.body.dropFirst()
    },
    altered("said to be compressed") { $0.headers += "Content-Encoding: gzip\r\n" },
    altered("compressed, and not said to be") { $0.body = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + $0.body },
    altered("guarded against being a script") { $0.body = Array(")]}',\n".utf8) + $0.body },
    altered("in UTF-16") { $0.body = [0xFF, 0xFE] + $0.body.flatMap { [$0, 0] } },
    altered("with another status") { $0.status = 203 },
    altered("said to be a page") { $0.headers += "Content-Type: text/html\r\n" },
    altered("empty, with its status") { $0.body = [] },
  ]

  private static let clocks: [MiddleboxAnswer] =
    [
      ("three hours ahead", "Tue, 14 Nov 2023 01:13:20 GMT"),
      ("of another year", "Tue, 14 Nov 2017 22:13:20 GMT"),
      ("of 1970", "Thu, 01 Jan 1970 00:00:00 GMT"), ("of 2099", "Wed, 21 Oct 2099 07:28:00 GMT"),
      ("none", "soon"),
    ].map { name, date in
      altered("a date \(name)") { $0.headers = "Date: \(date)\r\n" }
    } + [
      altered("out of a cache, a day old") { $0.headers += "Age: 86400\r\nX-Cache: HIT\r\n" },
      MiddleboxAnswer(
        name: "403 with a date of 1970",
        content: .instead(
          status: "403 Forbidden", headers: "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n", body: Array("no".utf8))
      ),
    ]
}
