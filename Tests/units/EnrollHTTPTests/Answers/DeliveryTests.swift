// Tests of responses that are late, incomplete or never sent, as a server for tests gives them to its clients.

import EnrollHTTP
import EnrollPosix
import Testing

@Suite struct DeliveryTests {
  private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: gateway.test\r\n\r\n" }

  private static func response(
    _ delivery: WebResponse.Delivery = .whole, after milliseconds: Int64 = 0, _ body: String = "0123456789"
  ) -> WebResponse {
    var response = WebResponse(200, body: Array(body.utf8))
    response.delivery = delivery
    response.delayMilliseconds = milliseconds
    return response
  }

  @Test("an answer of nothing closes the connection without a byte and without a reset")
  func nothing() throws {
    try withServer(TestApplication { _ in Self.response(.nothing) }) { server in
      let wire = try #require(Wire(server.port))
      // The second request is not answered, either.
      wire.send(Self.get("/") + Self.get("/"))
      #expect(wire.readAll() == "")
    }
  }

  @Test(
    "an answer that breaks off has its whole length and a part of its body",
    arguments: [(-1, ""), (0, ""), (4, "0123"), (10, "0123456789"), (99, "0123456789")])
  func cut(count: Int, rest: String) throws {
    try withServer(TestApplication { _ in Self.response(.cut(bodyBytes: count)) }) { server in
      let wire = try #require(Wire(server.port))
      wire.send(Self.get("/") + Self.get("/"))
      let text = try #require(wire.readAll())
      #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.contains("Content-Length: 10\r\n"))
      #expect(text.hasSuffix("\r\n\r\n\(rest)"))
    }
  }

  @Test("an answer that is delayed holds neither a thread nor another connection")
  func delay() throws {
    let application = TestApplication { Self.response(after: $0.path == "/late" ? 3_600_000 : 0) }
    // The server has one loop and no worker, so a delay that blocked a thread would stop all connections.
    try withServer(application) { server in
      var late = Wire(server.port)
      late?.send(Self.get("/late"))
      #expect(eventually { application.seen.count == 1 })
      let other = try #require(Wire(server.port))
      for _ in 0..<3 {
        other.send(Self.get("/"))
        #expect(other.readAnswer()?.status == 200)
      }
      #expect(late?.isReadable(withinMilliseconds: 0) == false)
      #expect(server.metrics.requestsInWork == 0)
      // If a client disconnects, its connection does not stay open for the delay.
      late = nil
      #expect(eventually { server.metrics.connectionsOpen == 1 })
    }
  }

  @Test("a delayed answer comes whole, behind it the next one, and a delay below 0 is none")
  func delayed() throws {
    let application = TestApplication {
      Self.response(after: $0.path == "/late" ? 30 : -5, $0.path)
    }
    try withServer(application) { server in
      let wire = try #require(Wire(server.port))
      wire.send(Self.get("/late") + Self.get("/next"))
      for path in ["/late", "/next"] { #expect(wire.readAnswer(only: true)?.body == path) }
    }
  }

  @Test("a server that stops closes connections whose answer is delayed when its time is over")
  func delayedAtEnd() throws {
    let application = TestApplication { _ in Self.response(after: 3_600_000) }
    let server = try HTTPServer.start(ServerSettings(publicOrigin: "http://gateway.test"), application)
    let wire = try #require(Wire(server.port))
    wire.send(Self.get("/"))
    #expect(eventually { application.seen.count == 1 })
    #expect(server.stop(withinSeconds: 0))
    #expect(wire.readAll() == "")
  }

  @Test("slow readers, many at once, each get the whole of their answer")
  func slowReaders() throws {
    // The body has more bytes than the kernel buffers.
    let body = [UInt8](repeating: 0x62, count: 12 << 20)
    try withServer(TestApplication { _ in WebResponse(200, body: body) }) { server in
      let wires = try (0..<6).map { _ in try #require(Wire(server.port)) }
      for wire in wires { wire.send("GET / HTTP/1.1\r\nHost: gateway.test\r\nConnection: close\r\n\r\n") }
      var counts = [Int](repeating: 0, count: wires.count)
      var open = Set(wires.indices)
      // Reads the connections in a random order, some bytes each time.
      while let index = open.randomElement() {
        let part = try #require(wires[index].receive(100_000))
        counts[index] += part.count
        if part.isEmpty { open.remove(index) }
      }
      #expect(counts.allSatisfy { $0 > body.count && $0 < body.count + 1_000 })
    }
  }

  @Test("a client that sends no more while it takes a large answer still gets all of it")
  func halfClosed() throws {
    let body = [UInt8](repeating: 0x62, count: 24 << 20)
    try withServer(TestApplication { _ in WebResponse(200, body: body) }) { server in
      let wire = try #require(Wire(server.port))
      wire.send(Self.get("/"))
      #expect(wire.isReadable(withinMilliseconds: 20_000))
      wire.finish()
      var count = 0
      while let part = wire.receive(100_000), !part.isEmpty { count += part.count }
      #expect(count > body.count)
      #expect(eventually { server.metrics.connectionsOpen == 0 })
    }
  }
}
