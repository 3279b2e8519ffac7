import EnrollRules
import EnrollHost
import Expectations
import Testing

/// Tests of the bytes of requests, and of the results of responses.
@Suite struct TransportRequestTests {
  private let transport = CurlTransport(.init(allowsLoopbackHTTP: true))

  private static func answering(_ body: String = "ok", status: String = "200 OK", headers: String = "") throws
    -> RawServer
  {
    try RawServer {
      while $0.readRequest() != nil, $0.answer(body, status: status, headers: headers) {}
    }
  }

  @Test("a POST carries its headers and its body, and nothing that was not asked for")
  func post() throws {
    let server = try Self.answering("{}", headers: "Content-Type: application/json\r\nX-Blank:\r\n")
    let body = Array("grant_type=refresh_token&refresh_token=abc".utf8)
    let response = try transport.send(
      HTTPRequest(
        .post, server.url("/a//b/token?x=%2F"),
        headers: [
          HTTPHeader("Content-Type", "application/x-www-form-urlencoded"), HTTPHeader("X-Empty", ""),
        ], body: body),
      cancellation: nil)
    expect(response.status, is: 200)
    expect(response.body, is: Array("{}".utf8))
    expect(response.header("content-type"), is: "application/json")
    expect(response.header("X-Blank"), is: "")
    let request = try #require(server.requests.first)
    #expect(request.head.hasPrefix("POST /a//b/token?x=%2F HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"))
    #expect(request.head.contains("\r\nContent-Type: application/x-www-form-urlencoded\r\n"))
    #expect(request.head.contains("\r\nX-Empty:\r\n"))
    expect(request.body, is: body)
    for name in ["Accept-Encoding", "Expect", "User-Agent", "Cookie", "TE", "Upgrade", "Authorization"] {
      #expect(!request.hasHeader(name), "\(name)")
    }
  }

  @Test("a large POST does not wait for 100 Continue")
  func noExpectation() throws {
    let server = try Self.answering()
    let body = [UInt8](repeating: 0x78, count: 3 << 20)
    try expect(
      transport.send(HTTPRequest(.post, server.url(), body: body), cancellation: nil).status, is: 200)
    let request = try #require(server.requests.first)
    #expect(!request.hasHeader("Expect"))
    #expect(!request.hasHeader("Content-Type"))
    expect(request.body.count, is: body.count)
  }

  @Test("an empty POST says that it is empty")
  func emptyPost() throws {
    let server = try Self.answering()
    try expect(transport.send(HTTPRequest(.post, server.url()), cancellation: nil).status, is: 200)
    expect(server.requests.first?.head.contains("\r\nContent-Length: 0\r\n"), is: true)
  }

  @Test("GET and DELETE go out under their own names")
  func otherMethods() throws {
    let server = try Self.answering()
    _ = try transport.send(HTTPRequest(.get, server.url("/a")), cancellation: nil)
    _ = try transport.send(HTTPRequest(.delete, server.url("/b")), cancellation: nil)
    _ = try transport.send(HTTPRequest(.delete, server.url("/c"), body: [0x78]), cancellation: nil)
    expect(server.requests.map { $0.head.prefix(6) }, is: ["GET /a", "DELETE", "DELETE"])
    expect(server.requests.map(\.body.count), is: [0, 0, 1])
  }

  @Test("a redirect is an answer, not an order (R20)", arguments: [HTTPRequest.Method.get, .post])
  func redirectIsNotFollowed(_ method: HTTPRequest.Method) throws {
    let target = try Self.answering()
    let server = try Self.answering(status: "302 Found", headers: "Location: \(target.url())\r\n")
    let response = try transport.send(HTTPRequest(method, server.url()), cancellation: nil)
    expect(response.status, is: 302)
    expect(response.header("Location"), is: target.url())
    expect(target.accepted, is: 0)
  }

  @Test("a response of any status is a response", arguments: [204, 400, 401, 429, 500, 503])
  func anyStatus(_ status: Int) throws {
    let server = try Self.answering(status == 204 ? "" : "no", status: "\(status) Whatever")
    let response = try transport.send(HTTPRequest(.get, server.url()), cancellation: nil)
    expect(response.status, is: status)
  }

  @Test("interim responses and trailers are read over, folded lines are joined")
  func interimAndTrailers() throws {
    let server = try RawServer {
      $0.readRequest()
      $0.send("HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n")
      $0.send("HTTP/1.1 200 OK\r\nX-Folded: one\r\n  two\r\nTransfer-Encoding: chunked\r\n\r\n")
      $0.send("2\r\nok\r\n0\r\nX-Trailer: 1\r\n\r\n")
    }
    let response = try transport.send(HTTPRequest(.get, server.url()), cancellation: nil)
    expect(response.status, is: 200)
    expect(response.body, is: Array("ok".utf8))
    expect(
      response.headers, is: [HTTPHeader("X-Folded", "one two"), HTTPHeader("Transfer-Encoding", "chunked")])
  }

  @Test("connections are kept: many requests, one connection")
  func connectionReuse() throws {
    let server = try Self.answering()
    for _ in 1...50 {
      _ = try transport.send(HTTPRequest(.post, server.url(), body: [0x78]), cancellation: nil)
    }
    expect(server.requests.count, is: 50)
    expect(server.accepted, is: 1)
  }

  @Test("a fresh connection is asked for and got, and not kept (R15)")
  func freshConnection() throws {
    let server = try Self.answering()
    _ = try transport.send(HTTPRequest(.get, server.url()), cancellation: nil)
    for _ in 1...3 {
      _ = try transport.send(
        HTTPRequest(.post, server.url(), body: [0x78], freshConnection: true), cancellation: nil)
    }
    _ = try transport.send(HTTPRequest(.get, server.url()), cancellation: nil)
    expect(server.requests.map(\.connection), is: [1, 2, 3, 4, 1])
  }

  /// A server that answers only the first request of the first connection. It reads every later request, and then
  /// closes the connection.
  private static func dying() throws -> RawServer {
    try RawServer {
      $0.readRequest()
      if $0.number == 1 {
        $0.answer()
        $0.readRequest()
      }
    }
  }

  @Test("on a kept connection that dies, libcurl sends a POST twice; on a fresh one it never does (R15)")
  func postIsNotRepeated() throws {
    let kept = try Self.dying()
    _ = try transport.send(HTTPRequest(.get, kept.url()), cancellation: nil)
    #expect(throws: EnrollError.self) {
      try transport.send(HTTPRequest(.post, kept.url(), body: Array("code".utf8)), cancellation: nil)
    }
    expect(kept.requests.filter { !$0.body.isEmpty }.count, is: 2, "this is what the rule is about")

    let fresh = try Self.dying()
    _ = try transport.send(HTTPRequest(.get, fresh.url()), cancellation: nil)
    let error = try #require(throws: EnrollError.self) {
      try transport.send(
        HTTPRequest(.post, fresh.url(), body: Array("code".utf8), freshConnection: true), cancellation: nil)
    }
    expect(error.code, is: .network)
    expect(fresh.requests.filter { !$0.body.isEmpty }.count, is: 1)
  }

  @Test("a transport goes on after failures")
  func goesOn() throws {
    let bad = try RawServer { $0.readRequest() }
    let good = try Self.answering()
    for _ in 1...3 {
      #expect(throws: EnrollError.self) {
        try transport.send(HTTPRequest(.get, bad.url()), cancellation: nil)
      }
      try expect(transport.send(HTTPRequest(.get, good.url()), cancellation: nil).status, is: 200)
    }
  }

  @Test(
    "a header that would end a line, or that belongs to the transport, is refused before anything is sent",
    arguments: [
      HTTPHeader("X-A", "1\r\nX-B: 2"), HTTPHeader("X-A", "\u{0}"), HTTPHeader("X A", "1"),
      HTTPHeader("", "1"),
      HTTPHeader("X-A\r\nX-B", "1"), HTTPHeader("accept-encoding", "gzip"),
      HTTPHeader("Host", "other.example"),
      HTTPHeader("Content-Length", "1"), HTTPHeader("Expect", "100-continue"),
      HTTPHeader("X-Long", String(repeating: "x", count: 70_000)),
    ])
  func badHeader(_ header: HTTPHeader) throws {
    let server = try Self.answering()
    let error = try #require(throws: EnrollError.self) {
      try transport.send(HTTPRequest(.get, server.url(), headers: [header]), cancellation: nil)
    }
    expect(error.code, is: .invalidArgument)
    expect(server.accepted, is: 0)
  }

  @Test("a GET with a body is refused")
  func getWithBody() throws {
    let server = try Self.answering()
    let error = try #require(throws: EnrollError.self) {
      try transport.send(HTTPRequest(.get, server.url(), body: [0x78]), cancellation: nil)
    }
    expect(error.code, is: .invalidArgument)
  }
}
