// Requests that the server refuses, over real sockets.

import EnrollHTTP
import Foundation
import Testing

@Suite struct StrictnessTests {
  @Test(
    "a request that breaks HTTP is refused, reaches nobody, and ends its connection",
    arguments: MalformedRequest.all)
  func malformed(_ request: MalformedRequest) throws {
    let application = TestApplication()
    try withServer(application) { server in
      let wire = try #require(Wire(server.port))
      wire.send(request.bytes)
      // The server must never answer a second request that follows the refused one.
      if !request.neverEnds { wire.send("GET /second HTTP/1.1\r\nHost: gateway.test\r\n\r\n") }
      let text = try #require(wire.readAll(), "the connection is not closed")
      let answer = try #require(Answer(Array(text.utf8)))
      #expect(answer.status == request.status)
      #expect(text.components(separatedBy: "HTTP/1.1 ").count == 2)
      #expect(answer.header("connection") == "close")
      #expect(application.seen.isEmpty)
      #expect(server.metrics.refusals.values.reduce(0, +) == 1)
    }
  }

  @Test("the table has every kind of refusal that a request alone can cause")
  func complete() {
    #expect(MalformedRequest.all.count >= 128)
    #expect(Set(MalformedRequest.all.map(\.status)) == [400, 405, 413, 414, 417, 421, 431, 501, 505])
    #expect(Set(MalformedRequest.all.map(\.name)).count == MalformedRequest.all.count)
  }

  @Test("a method that the server does not know is not implemented (RFC 9110 §9.1), and no path allows it")
  func unknownMethod() throws {
    try withServer(TestApplication(), { $0.methods = Set(WebRequest.Method.allCases) }) { server in
      let wire = try #require(Wire(server.port))
      wire.send("TRACE / HTTP/1.1\r\nHost: gateway.test\r\n\r\n")
      let answer = try #require(wire.readAnswer())
      #expect(answer.status == 501)
      #expect(answer.header("allow") == nil)
    }
  }

  @Test("405 names the methods that are answered")
  func allow() throws {
    try withServer { server in
      let wire = try #require(Wire(server.port))
      wire.send("DELETE / HTTP/1.1\r\nHost: gateway.test\r\n\r\n")
      #expect(wire.readAnswer()?.header("allow") == "GET, HEAD, POST")
    }
  }

  @Test(
    "a request that is unusual and proper is answered",
    arguments: [
      "GET http://gateway.test/page HTTP/1.1\r\nHost: gateway.test\r\n\r\n",
      "GET HTTP://GATEWAY.TEST/page HTTP/1.1\r\nHost: gateway.test\r\n\r\n",
      "GET /page HTTP/1.1\r\nhOST:\tGateway.Test \t\r\n\r\n",
      "GET /page HTTP/1.1\r\nHost: gateway.test:80\r\nA:\r\nB: \t\r\nC: caf\u{E9}\r\n\r\n",
      "GET /page HTTP/1.0\r\nHost: gateway.test\r\n\r\n",
      "GET /page HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: 0\r\n\r\n",
      "GET /page HTTP/1.1\r\nHost: gateway.test\r\nExpect: 100-continue\r\n\r\n",
      "POST /page HTTP/1.1\r\nHost: gateway.test\r\n\r\n",
      "POST /page HTTP/1.0\r\nHost: gateway.test\r\nExpect: 200-ok\r\nContent-Length: 1\r\n\r\na",
      "POST /page HTTP/1.1\r\nHost: gateway.test\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "1\r\na\r\n0\r\nTrailer: one\r\n\r\n",
      "POST /page HTTP/1.1\r\nHost: gateway.test\r\nTransfer-Encoding: chunked\r\n\r\n"
        + String(repeating: "5\r\nabcde\r\n", count: 2_000) + "0\r\n\r\n",
    ])
  func proper(_ request: String) throws {
    let application = TestApplication()
    try withServer(application) { server in
      let wire = try #require(Wire(server.port))
      wire.send(request)
      let answer = try #require(wire.readAnswer())
      #expect(answer.status == 200)
      #expect(application.seen.map(\.path) == ["/page"])
    }
  }

  @Test(
    "a probe is answered whatever host it names, and in HTTP/1.0 without one; no other path is",
    arguments: [
      ("GET /livez HTTP/1.1\r\nHost: 10.0.0.7:8080\r\n\r\n", 200),
      ("GET /livez HTTP/1.1\r\nHost:\r\n\r\n", 200),
      ("HEAD /livez?a HTTP/1.1\r\nHost: other.test\r\n\r\n", 200), ("GET /livez HTTP/1.0\r\n\r\n", 200),
      ("GET /livez HTTP/1.1\r\n\r\n", 400), ("GET /livez/ HTTP/1.1\r\nHost: other.test\r\n\r\n", 421),
      ("GET /page HTTP/1.1\r\nHost: other.test\r\n\r\n", 421), ("GET /page HTTP/1.0\r\n\r\n", 400),
      ("GET /page?/livez HTTP/1.1\r\nHost: other.test\r\n\r\n", 421),
      ("GET /livez HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", 200),
      ("GET /livez HTTP/1.1\r\nHost: gateway.test, other.test\r\n\r\n", 400),
      ("GET /livez HTTP/1.1\r\nHost: user@gateway.test\r\n\r\n", 400),
      ("GET /livez HTTP/1.1\r\nHost: gateway.test/a\r\n\r\n", 400),
      ("GET /livez HTTP/1.1\r\nHost: a b\r\n\r\n", 400), ("GET /livez HTTP/1.1\r\nHost: [::1\r\n\r\n", 400),
      ("GET /livez HTTP/1.1\r\nHost: a:b\r\n\r\n", 400),
      ("GET /livez HTTP/1.1\r\nHost: caf\u{E9}\r\n\r\n", 400),
    ])
  func probes(request: String, status: Int) throws {
    try withServer(TestApplication(), { $0.probes = ["/livez"] }) { server in
      let wire = try #require(Wire(server.port))
      wire.send(request)
      #expect(wire.readAnswer(isHead: request.hasPrefix("HEAD"))?.status == status)
    }
  }

  @Test(
    "an answer to HEAD has no body, also where its first line is refused",
    arguments: [
      ("HEAD /\(String(repeating: "a", count: 8_192)) HTTP/1.1", 414), ("HEAD / HTTP/2.0", 505),
      ("HEAD /caf\u{E9} HTTP/1.1", 400), ("HEAD * HTTP/1.1", 400),
    ])
  func headRefused(line: String, status: Int) throws {
    try withServer(TestApplication()) { server in
      let wire = try #require(Wire(server.port))
      wire.send("\(line)\r\nHost: gateway.test\r\n\r\n")
      let text = try #require(wire.readAll())
      #expect(text.hasPrefix("HTTP/1.1 \(status) "))
      #expect(text.hasSuffix("\r\n\r\n"))
    }
  }

  @Test(
    "a host with the scheme's own port is the host without one",
    arguments: [
      ("http://gateway.test", "gateway.test:80", 200), ("http://gateway.test", "gateway.test:443", 421),
      ("https://gateway.test", "gateway.test:443", 200), ("https://gateway.test", "gateway.test:80", 421),
      ("https://[::1]", "[::1]:443", 200), ("http://gateway.test:8080", "gateway.test:8080", 200),
      ("http://gateway.test:8080", "gateway.test:8080:80", 421),
      ("http://gateway.test:8080", "gateway.test", 421),
    ])
  func defaultPort(origin: String, name: String, status: Int) throws {
    try withServer(TestApplication(), { $0.publicOrigin = origin }) { server in
      let wire = try #require(Wire(server.port))
      wire.send("GET / HTTP/1.1\r\nHost: \(name)\r\n\r\n")
      #expect(wire.readAnswer()?.status == status)
    }
  }

  @Test(
    "a server for this machine takes its loopback names with any port, and no name that only begins so",
    arguments: [
      ("localhost", 200), ("LocalHost:1", 200), ("localhost:65535", 200), ("127.0.0.1", 200),
      ("127.0.0.1:9464", 200), ("127.9.9.9:1", 200), ("[::1]", 200), ("[::1]:9464", 200),
      ("gateway.test", 200), ("gateway.test:9464", 421), ("evil.example", 421), ("evil.example:9464", 421),
      ("localhost.evil.example", 421), ("127.0.0.1.evil.example:9464", 421), ("localhost:65536", 421),
      ("localhost:", 421), ("localhost:x", 421), ("192.0.2.1", 421), ("0.0.0.0", 421), ("[::]", 421),
      ("::1", 421), ("[::1", 421), ("127.1", 421), ("2130706433", 421),
    ])
  func loopbackNames(name: String, status: Int) throws {
    let head = "GET / HTTP/1.1\r\nHost: \(name)\r\nConnection: close\r\n\r\n"
    try withServer(TestApplication(), { $0.hosts = .loopback }) { server in
      let wire = try #require(Wire(server.port))
      wire.send(head)
      #expect(wire.readAnswer()?.status == status)
    }
  }

  @Test("as much as the limits allow is answered")
  func limits() throws {
    let application = TestApplication()
    try withServer(application) { server in
      let target = "/" + String(repeating: "a", count: 8_191)
      // 97 lines of 6 bytes, one of 15,000, the host's line and the length's line.
      let lines =
        String(repeating: "A: b\r\n", count: 97) + "B: \(String(repeating: "b", count: 15_000))\r\n"
      let body = String(repeating: "c", count: 65_536)
      let wire = try #require(Wire(server.port))
      wire.send(
        "POST \(target) HTTP/1.1\r\nHost: gateway.test\r\n\(lines)Content-Length: 65536\r\n\r\n\(body)")
      #expect(wire.readAnswer()?.status == 200)
      let request = try #require(application.seen.first)
      #expect(request.path == target)
      #expect(request.headers.count == 100)
      #expect(request.body == Array(body.utf8))
    }
  }

  @Test("an upgrade is ignored, and the connection goes on")
  func upgrade() throws {
    let application = TestApplication()
    try withServer(application) { server in
      let wire = try #require(Wire(server.port))
      for path in ["/one", "/two"] {
        wire.send(
          "POST \(path) HTTP/1.1\r\nHost: gateway.test\r\nConnection: Upgrade, HTTP2-Settings\r\n"
            + "UPGRADE: h2c\r\nupgrade: websocket\r\nHTTP2-Settings: AAA\r\nContent-Length: 3\r\n\r\nabc")
        #expect(wire.readAnswer()?.body == path)
      }
      #expect(application.seen.map(\.path) == ["/one", "/two"])
      #expect(application.seen.map { $0.value(of: "Upgrade") } == [nil, nil])
      #expect(application.seen.map { $0.value(of: "HTTP2-Settings") } == ["AAA", "AAA"])
    }
  }
}
