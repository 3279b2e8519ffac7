// Connections over real sockets: order, persistence, bodies, limits, addresses.

import EnrollSteps
import EnrollHTTP
import EnrollPosix
import Foundation
import Testing

@Suite struct ConnectionTests {
  private static func get(_ path: String, _ lines: String = "") -> String {
    "GET \(path) HTTP/1.1\r\nHost: gateway.test\r\n\(lines)\r\n"
  }

  private static func bodies(_ text: String) -> [String] {
    text.components(separatedBy: "HTTP/1.1 200 OK").dropFirst().map { part in
      part.components(separatedBy: "\r\n\r\n").last ?? ""
    }
  }

  @Test("a request that comes byte by byte is read as one that comes at once")
  func byteByByte() throws {
    let application = TestApplication()
    try withServer(application) { server in
      let length =
        "POST /a?b=c HTTP/1.1\r\nHost: gateway.test\r\nX-Y: z\r\nUpgrade: h2c\r\nContent-Length: 5\r\n\r\nabcde"
      let chunks =
        "POST /a?b=c HTTP/1.1\r\nHost: gateway.test\r\nX-Y: z\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "2\r\nab\r\n03\r\ncde\r\n0\r\nT: u\r\n\r\n"
      for text in [length, chunks] {
        let wire = try #require(Wire(server.port))
        for byte in text.utf8 { wire.send([byte]) }
        #expect(wire.readAnswer()?.body == "/a")
        wire.send(text)
        #expect(wire.readAnswer()?.body == "/a")
      }
      #expect(application.seen.count == 4)
      for request in application.seen {
        #expect(request.method == .post)
        #expect(request.query == "b=c")
        #expect(request.value(of: "x-y") == "z")
        #expect(request.body == Array("abcde".utf8))
        #expect(request.client == "127.0.0.1")
      }
    }
  }

  @Test("pipelined requests are answered in order, one at a time, whatever their lanes")
  func pipelining() throws {
    let together = Guarded((now: 0, most: 0), by: Mutex())
    let application = TestApplication(
      lane: { $0.path.hasPrefix("/here") ? .here : $0.path.hasPrefix("/data") ? .database : .provider },
      { request in
        together.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
        defer { together.withLock { $0.now -= 1 } }
        return WebResponse(200, body: Array(request.path.utf8))
      })
    try withServer(application) { server in
      let wire = try #require(Wire(server.port))
      let paths = (0..<60).map { ["/here", "/data", "/far"][$0 % 3] + "\($0)" }
      wire.send(paths.map { Self.get($0) }.joined() + Self.get("/here-last", "Connection: close\r\n"))
      let text = try #require(wire.readAll())
      #expect(Self.bodies(text) == paths + ["/here-last"])
      #expect(together.withLock { $0.most } == 1)
    }
  }

  @Test("a client that sends more requests at once than the limit gets that many answers")
  func tooManyPipelined() throws {
    let application = TestApplication()
    try withServer(application, { $0.limits.pipelined = 5 }) { server in
      let wire = try #require(Wire(server.port))
      // For the first three requests, the client waits for each answer before it sends the next request. These three
      // requests do not count as pipelined.
      for _ in 0..<3 {
        wire.send(Self.get("/alone"))
        #expect(wire.readAnswer()?.status == 200)
      }
      application.forget()
      wire.send((0..<9).map { Self.get("/\($0)") }.joined())
      let text = try #require(wire.readAll())
      #expect(Self.bodies(text) == ["/0", "/1", "/2", "/3", "/4"])
      #expect(application.seen.count == 5)
      #expect(server.metrics.refusals[.tooManyPipelined] == 1)
    }
  }

  @Test("a client that sends on while a request is in work is not read on, and loses nothing")
  func backpressure() throws {
    let entered = Event()
    let gate = Event()
    let application = TestApplication(lane: { _ in .database }) { request in
      if request.path == "/first" {
        entered.set()
        gate.wait()
      }
      return WebResponse(200, body: Array(request.path.utf8))
    }
    try withServer(application) { server in
      defer { gate.set() }
      let wire = try #require(Wire(server.port))
      wire.send(Self.get("/first"))
      entered.wait()
      // The client sends far more bytes than the server may hold. If the server read all of them, it would
      // close the connection.
      let large = "A: \(String(repeating: "a", count: 10_000))\r\n"
      for index in 0..<60 { wire.send(Self.get("/\(index)", large)) }
      wire.send(Self.get("/last", "Connection: close\r\n"))
      #expect(application.seen.map(\.path) == ["/first"])
      gate.set()
      let text = try #require(wire.readAll())
      #expect(Self.bodies(text) == ["/first"] + (0..<60).map { "/\($0)" } + ["/last"])
    }
  }

  @Test("a client that is refused and sends on is not listened to for ever")
  func sendsOn() throws {
    try withServer(TestApplication(), { $0.limits.lingerMilliseconds = 600_000 }) { server in
      let wire = try #require(Wire(server.port))
      wire.send("GET\r\n")
      let part = [UInt8](repeating: 0x61, count: 65_536)
      #expect((0..<10_000).contains { _ in !wire.send(part) })
      #expect(eventually { server.metrics.connectionsOpen == 0 })
    }
  }

  @Test("a connection stays open in HTTP/1.1 unless the client closes it, and closes in HTTP/1.0")
  func persistence() throws {
    try withServer { server in
      let wire = try #require(Wire(server.port))
      for _ in 0..<5 {
        wire.send(Self.get("/"))
        let answer = try #require(wire.readAnswer())
        #expect(answer.header("connection") == nil)
      }
      wire.send(Self.get("/", "Connection: Close\r\n"))
      #expect(try #require(wire.readAll()).contains("Connection: close\r\n"))
      let old = try #require(Wire(server.port))
      old.send("GET / HTTP/1.0\r\nHost: gateway.test\r\nConnection: keep-alive\r\n\r\n")
      #expect(try #require(old.readAll()).contains("Connection: close\r\n"))
      #expect(server.metrics.connectionsAccepted == 2)
      #expect(server.metrics.answers[2] == 7)
    }
  }

  @Test("HEAD is answered as GET, without the body, and the application knows")
  func head() throws {
    let application = TestApplication()
    try withServer(application) { server in
      let wire = try #require(Wire(server.port))
      wire.send("HEAD /page HTTP/1.1\r\nHost: gateway.test\r\n\r\n")
      let answer = try #require(wire.readAnswer(isHead: true))
      #expect(answer.header("content-length") == "5")
      #expect(answer.body.isEmpty)
      wire.send(Self.get("/next"))
      #expect(wire.readAnswer()?.body == "/next")
      #expect(application.seen.map(\.method) == [.get, .get])
      #expect(application.seen.map(\.isHead) == [true, false])
    }
  }

  @Test("a client that waits to be told so is told to send its body")
  func continues() throws {
    try withServer { server in
      let wire = try #require(Wire(server.port))
      wire.send(
        "POST /page HTTP/1.1\r\nHost: gateway.test\r\nExpect: 100-Continue\r\nContent-Length: 3\r\n\r\n")
      #expect(wire.receive().map { String(decoding: $0, as: UTF8.self) } == "HTTP/1.1 100 Continue\r\n\r\n")
      wire.send("abc")
      #expect(wire.readAnswer()?.body == "/page")
      let other = try #require(Wire(server.port))
      other.send(
        "POST /page HTTP/1.1\r\nHost: gateway.test\r\nExpect: 100-continue\r\nContent-Length: 99999\r\n\r\n"
      )
      #expect(other.readAnswer()?.status == 413)
    }
  }

  @Test("a client that has sent much when it is refused still gets the answer, and no reset")
  func lingers() throws {
    try withServer { server in
      for _ in 0..<5 {
        let wire = try #require(Wire(server.port))
        wire.send("GET\r\n" + String(repeating: "a", count: 300_000))
        wire.finish()
        #expect(wire.readAll()?.hasPrefix("HTTP/1.1 400 ") == true)
      }
    }
  }

  @Test("connections of a trusted proxy count only in all")
  func proxyConnections() throws {
    let change: (inout ServerSettings) -> Void = {
      $0.trustedProxies = ["127.0.0.1"]
      $0.limits.connectionsPerAddress = 1
    }
    try withServer(TestApplication(), change) { server in
      let wires = try (0..<3).map { _ in try #require(Wire(server.port)) }
      for wire in wires {
        wire.send(Self.get("/"))
        #expect(wire.readAnswer()?.status == 200)
      }
    }
  }

  @Test("there are no more connections than the limits allow, and a closed one makes room")
  func limits() throws {
    try withServer(TestApplication(), { $0.limits.connectionsPerAddress = 3 }) { server in
      var wires = try (0..<3).map { _ in try #require(Wire(server.port)) }
      for wire in wires {
        wire.send(Self.get("/"))
        #expect(wire.readAnswer()?.status == 200)
      }
      #expect(try #require(Wire(server.port)).readAll() == "")
      #expect(server.metrics.refusals[.tooManyFromAddress] == 1)
      wires.removeFirst()
      #expect(eventually { server.metrics.connectionsOpen == 2 })
      let next = try #require(Wire(server.port))
      next.send(Self.get("/"))
      #expect(next.readAnswer()?.status == 200)
    }
    try withServer(TestApplication(), { $0.limits.connections = 1 }) { server in
      let first = try #require(Wire(server.port))
      first.send(Self.get("/"))
      #expect(first.readAnswer()?.status == 200)
      #expect(try #require(Wire(server.port)).readAll() == "")
      #expect(server.metrics.refusals[.tooManyConnections] == 1)
    }
  }

  @Test("where the newest wins, the connection that was idle longest gives way, never one with work")
  func newest() throws {
    let entered = Event()
    let gate = Event()
    let application = TestApplication(
      lane: { $0.path == "/slow" ? .database : .here },
      { request in
        if request.path == "/slow" {
          entered.set()
          gate.wait()
        }
        return WebResponse(200, body: Array(request.path.utf8))
      })
    func change(_ options: inout ServerSettings) {
      options.limits.connections = 4
      options.limits.evictsIdle = true
    }
    try withServer(application, change) { server in
      let working = try #require(Wire(server.port))
      working.send(Self.get("/slow"))
      entered.wait()
      // One connection has sent nothing, one has begun a request, one has got its response.
      let silent = try #require(Wire(server.port))
      #expect(eventually { server.metrics.connectionsOpen == 2 })
      let begun = try #require(Wire(server.port))
      begun.send("GET / HT")
      #expect(eventually { server.metrics.connectionsOpen == 3 })
      let answered = try #require(Wire(server.port))
      answered.send(Self.get("/"))
      #expect(answered.readAnswer()?.status == 200)
      var kept: [Wire] = []
      for old in [silent, begun, answered] {
        let new = try #require(Wire(server.port))
        new.send(Self.get("/new"))
        #expect(new.readAnswer()?.body == "/new")
        #expect(old.receive()?.isEmpty ?? true)
        kept.append(new)
      }
      #expect(eventually { server.metrics.connectionsOpen == 4 })
      gate.set()
      #expect(working.readAnswer()?.body == "/slow")
      for wire in kept {
        wire.send(Self.get("/kept"))
        #expect(wire.readAnswer()?.body == "/kept")
      }
      #expect(server.metrics.refusals[.tooManyConnections] == nil)
    }
  }

  @Test("a client that leaves frees its connection, in any state")
  func disconnect() throws {
    let entered = Event()
    let gate = Event()
    let application = TestApplication(lane: { _ in .database }) { _ in
      entered.set()
      gate.wait()
      return WebResponse(200)
    }
    try withServer(application, { $0.database = .init(threads: 1, queue: 10) }) { server in
      for text in ["", "GET / HT", "POST / HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: 5\r\n\r\na"] {
        var wire = Wire(server.port)
        wire?.send(text)
        #expect(eventually { server.metrics.connectionsOpen == 1 })
        wire = nil
        #expect(eventually { server.metrics.connectionsOpen == 0 })
      }
      var working = Wire(server.port)
      working?.send(Self.get("/working"))
      entered.wait()
      var waiting = Wire(server.port)
      waiting?.send(Self.get("/waiting"))
      #expect(eventually { server.metrics.requestsInWork == 2 })
      working = nil
      waiting = nil
      #expect(eventually { server.metrics.connectionsOpen == 0 })
      gate.set()
      #expect(eventually { server.metrics.requestsInWork == 0 })
      // The request that still waited for the worker was dropped.
      #expect(application.seen.map(\.path) == ["/working"])
    }
  }

  @Test("IPv4 and IPv6 are listened on at one port")
  func families() throws {
    let application = TestApplication()
    try withServer(application, { $0.addresses = ["127.0.0.1", "::1"] }) { server in
      for isIPv6 in [false, true] {
        let wire = try #require(Wire(server.port, isIPv6: isIPv6))
        wire.send(Self.get("/"))
        #expect(wire.readAnswer()?.status == 200)
      }
      #expect(application.seen.map(\.client) == ["127.0.0.1", "::1"])
    }
  }

  @Test("X-Forwarded-For counts only when a trusted proxy sent it")
  func proxies() throws {
    let forwarded = "X-Forwarded-For: 198.51.100.9, 192.0.2.1\r\n"
    for (trusted, client) in [
      (["127.0.0.0/8"], "192.0.2.1"), (["10.0.0.1"], "127.0.0.1"), ([], "127.0.0.1"),
    ] {
      let application = TestApplication()
      try withServer(application, { $0.trustedProxies = trusted }) { server in
        let wire = try #require(Wire(server.port))
        wire.send(Self.get("/", forwarded))
        #expect(wire.readAnswer()?.status == 200)
        #expect(application.seen.map(\.client) == [client])
      }
    }
  }

  @Test("options that are not proper are refused")
  func options() {
    for origin in [
      "", "gateway.test", "ftp://gateway.test", "https://", "https://gateway.test/", "https://a b",
    ] {
      #expect(throws: ServerError.self) {
        try HTTPServer.start(ServerSettings(publicOrigin: origin), TestApplication())
      }
    }
    var options = ServerSettings(publicOrigin: "http://gateway.test")
    options.trustedProxies = ["proxy.test"]
    #expect(throws: ServerError.self) { try HTTPServer.start(options, TestApplication()) }
    options.trustedProxies = []
    options.addresses = ["gateway.test"]
    #expect(throws: ServerError.self) { try HTTPServer.start(options, TestApplication()) }
  }

  @Test("a port that is taken is an error in words")
  func taken() throws {
    try withServer { server in
      let options = ServerSettings(port: server.port, publicOrigin: "http://gateway.test")
      let error = #expect(throws: ServerError.self) { try HTTPServer.start(options, TestApplication()) }
      #expect(error?.description.contains("cannot listen on 127.0.0.1") == true)
    }
  }
}
