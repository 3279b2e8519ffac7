// What a client may take its time for, and for how long.

#if Gateway
  import EnrollGateway
  import EnrollGatewayHost
  import Testing

  @Suite struct TimeoutTests {
    private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: gateway.test\r\n\r\n" }

    @Test("a head that does not come in time is refused, however steadily its bytes come")
    func slowHead() throws {
      let application = TestApplication()
      try withHost(application, { $0.limits.headerTimeoutMilliseconds = 100 }) { host in
        let wire = try #require(Wire(host.port))
        wire.send("GET / HTTP/1.1\r\nHost: gateway.test\r\n")
        while !wire.isReadable(withinMilliseconds: 10) { wire.send("A: b\r\n") }
        #expect(wire.readAnswer()?.status == 408)
        #expect(host.metrics.refusals[.headerTimeout] == 1)
        #expect(application.seen.isEmpty)
      }
    }

    @Test("a connection on which nothing comes is closed without an answer")
    func silent() throws {
      try withHost(TestApplication(), { $0.limits.headerTimeoutMilliseconds = 50 }) { host in
        let wire = try #require(Wire(host.port))
        #expect(wire.readAll() == "")
      }
    }

    @Test("the head of a later request has its own time, and an idle connection another")
    func idle() throws {
      let change: (inout HostOptions) -> Void = {
        $0.limits.headerTimeoutMilliseconds = 100
        $0.limits.idleTimeoutMilliseconds = 400
      }
      try withHost(TestApplication(), change) { host in
        let slow = try #require(Wire(host.port))
        slow.send(Self.get("/"))
        #expect(slow.readAnswer()?.status == 200)
        slow.send("G")
        #expect(slow.readAnswer()?.status == 408)
        let idle = try #require(Wire(host.port))
        idle.send(Self.get("/"))
        #expect(idle.readAnswer()?.status == 200)
        #expect(idle.readAll() == "")
      }
    }

    @Test("a body that does not come in time is refused")
    func slowBody() throws {
      let application = TestApplication()
      try withHost(application, { $0.limits.bodyTimeoutMilliseconds = 100 }) { host in
        for framing in ["Content-Length: 9999\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n"] {
          let wire = try #require(Wire(host.port))
          wire.send("POST / HTTP/1.1\r\nHost: gateway.test\r\n\(framing)")
          while !wire.isReadable(withinMilliseconds: 10) {
            wire.send(framing.hasPrefix("C") ? "a" : "1\r\na\r\n")
          }
          #expect(wire.readAnswer()?.status == 408)
        }
        #expect(host.metrics.refusals[.bodyTimeout] == 2)
        #expect(application.seen.isEmpty)
      }
    }

    @Test("a client that does not take its answers is closed, and is not answered on")
    func slowReader() throws {
      let application = TestApplication { _ in WebResponse(200, body: Array(repeating: 0x61, count: 4 << 20))
      }
      try withHost(application, { $0.limits.idleTimeoutMilliseconds = 200 }) { host in
        let wire = try #require(Wire(host.port))
        wire.takeLittle()
        wire.send((0..<50).map { Self.get("/\($0)") }.joined())
        #expect(eventually { host.metrics.refusals[.slowReader] == 1 })
        #expect(eventually { host.metrics.connectionsOpen == 0 })
        // What the kernels hold is a few megabytes at most.
        #expect(application.seen.count < 10)
      }
    }
  }
#endif
