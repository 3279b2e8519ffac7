// The timeouts of a client's connection.

import EnrollHTTP
import EnrollPosix
import Testing

@Suite struct TimeoutTests {
  private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: gateway.test\r\n\r\n" }

  @Test("a head that does not come in time is refused, however steadily its bytes come")
  func slowHead() throws {
    let application = TestApplication()
    try withServer(application, { $0.limits.headerTimeoutMilliseconds = 100 }) { server in
      let wire = try #require(Wire(server.port))
      wire.send("GET / HTTP/1.1\r\nHost: gateway.test\r\n")
      #expect(wire.sendUntilReadable("A: b\r\n"))
      #expect(wire.readAnswer()?.status == 408)
      #expect(server.metrics.refusals[.headerTimeout] == 1)
      #expect(application.seen.isEmpty)
    }
  }

  @Test("time in which the server did not run counts against no client")
  func stopped() throws {
    let limit: (inout ServerSettings) -> Void = { $0.limits.headerTimeoutMilliseconds = 1_000 }
    // A second server with the same limit shows when the timeout of a head has passed.
    try withServer(TestApplication(), limit) { other in
      let (isHeld, port) = (Event(), other.port)
      let application = TestApplication { request in
        if request.path == "/hold" {
          isHeld.set()
          for _ in 1...2 { _ = Wire(port)?.readAll() }
        }
        return WebResponse(200)
      }
      try withServer(application, limit) { server in
        let wire = try #require(Wire(server.port))
        wire.send("GET / HTTP/1.1\r\n")
        let holder = try #require(Wire(server.port))
        holder.send(Self.get("/hold"))
        isHeld.wait()
        #expect(holder.readAnswer()?.status == 200)
        wire.send("Host: gateway.test\r\n\r\n")
        #expect(wire.readAnswer()?.status == 200)
      }
    }
  }

  @Test("a connection on which nothing comes is closed without an answer")
  func silent() throws {
    try withServer(TestApplication(), { $0.limits.headerTimeoutMilliseconds = 50 }) { server in
      let wire = try #require(Wire(server.port))
      #expect(wire.readAll() == "")
    }
  }

  @Test("the head of a later request has as much time as that of the first")
  func laterHead() throws {
    try withServer(TestApplication(), { $0.limits.headerTimeoutMilliseconds = 100 }) { server in
      let wire = try #require(Wire(server.port))
      wire.send(Self.get("/"))
      #expect(wire.readAnswer()?.status == 200)
      wire.send("G")
      #expect(wire.readAnswer()?.status == 408)
    }
  }

  @Test("an idle connection is closed without an answer")
  func idle() throws {
    try withServer(TestApplication(), { $0.limits.idleTimeoutMilliseconds = 100 }) { server in
      let wire = try #require(Wire(server.port))
      wire.send(Self.get("/"))
      #expect(wire.readAnswer()?.status == 200)
      #expect(wire.readAll() == "")
    }
  }

  @Test("a body that does not come in time is refused")
  func slowBody() throws {
    let application = TestApplication()
    let change: (inout ServerSettings) -> Void = {
      $0.limits.headerTimeoutMilliseconds = 600_000
      $0.limits.bodyTimeoutMilliseconds = 100
    }
    try withServer(application, change) { server in
      for framing in ["Content-Length: 9999\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n"] {
        let wire = try #require(Wire(server.port))
        wire.send("POST / HTTP/1.1\r\nHost: gateway.test\r\n\(framing)")
        while !wire.isReadable(withinMilliseconds: 10) {
          wire.send(framing.hasPrefix("C") ? "a" : "1\r\na\r\n")
        }
        #expect(wire.readAnswer()?.status == 408)
      }
      #expect(server.metrics.refusals[.bodyTimeout] == 2)
      #expect(application.seen.isEmpty)
    }
  }

  @Test("a client that does not take its answers is closed, and is not answered on")
  func slowReader() throws {
    let application = TestApplication { _ in WebResponse(200, body: Array(repeating: 0x61, count: 4 << 20))
    }
    try withServer(application, { $0.limits.idleTimeoutMilliseconds = 200 }) { server in
      let wire = try #require(Wire(server.port))
      wire.takeLittle()
      wire.send((0..<50).map { Self.get("/\($0)") }.joined())
      #expect(eventually { server.metrics.refusals[.slowReader] == 1 })
      #expect(eventually { server.metrics.connectionsOpen == 0 })
      // The kernel's buffers hold a few megabytes of requests at most.
      #expect(application.seen.count < 10)
    }
  }

  @Test("a slow client gets the whole of the answer that closes its connection")
  func slowLast() throws {
    // The body has more bytes than the kernel buffers.
    let body = [UInt8](repeating: 0x61, count: 24 << 20)
    let change: (inout ServerSettings) -> Void = {
      $0.limits.lingerMilliseconds = 20
      $0.limits.headerTimeoutMilliseconds = 200
    }
    try withServer(TestApplication { _ in WebResponse(200, body: body) }, change) { server in
      let slow = try #require(Wire(server.port))
      slow.send("GET / HTTP/1.1\r\nHost: gateway.test\r\nConnection: close\r\n\r\n")
      #expect(slow.isReadable(withinMilliseconds: 20_000))
      // The server closes a silent connection after ten linger times. Once it has done so, ten linger times
      // have passed by the server's own clock.
      #expect(try #require(Wire(server.port)).readAll() == "")
      var count = 0
      while let part = slow.receive(), !part.isEmpty { count += part.count }
      #expect(count > body.count)
    }
  }
}
