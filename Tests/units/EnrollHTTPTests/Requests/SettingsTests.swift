// Settings that differ between servers: methods, bodies, names, the date, headers.

import EnrollRules
import EnrollHTTP
import Testing

@Suite struct SettingsTests {
  private static func all(_ settings: inout ServerSettings) {
    settings.methods = Set(WebRequest.Method.allCases)
  }

  @Test("a method is answered where the settings have it", arguments: WebRequest.Method.allCases)
  func methods(_ method: WebRequest.Method) throws {
    let application = TestApplication()
    let request = "\(method.rawValue) /page HTTP/1.1\r\nHost: gateway.test\r\n\r\n"
    try withServer(application, Self.all) { server in
      let wire = try #require(Wire(server.port))
      wire.send(request)
      #expect(wire.readAnswer()?.body == "/page")
      #expect(application.seen.map(\.method) == [method])
    }
    let others = Set(WebRequest.Method.allCases).subtracting([method])
    try withServer(application, { $0.methods = others }) { server in
      let wire = try #require(Wire(server.port))
      wire.send(request)
      let answer = try #require(wire.readAnswer())
      #expect(answer.status == 405)
      let names = WebRequest.Method.allCases.filter { $0 != method }
        .map { $0 == .get ? "GET, HEAD" : $0.rawValue }
      #expect(answer.header("allow") == names.joined(separator: ", "))
      #expect(application.seen.count == 1)
    }
  }

  @Test("HEAD comes with GET, and goes with it")
  func head() throws {
    for (methods, status) in [([.get], 200), ([.post], 405)] as [(Set<WebRequest.Method>, Int)] {
      try withServer(TestApplication(), { $0.methods = methods }) { server in
        let wire = try #require(Wire(server.port))
        wire.send("HEAD / HTTP/1.1\r\nHost: gateway.test\r\n\r\n")
        #expect(wire.readAnswer(isHead: true)?.status == status)
      }
    }
  }

  @Test(
    "methods that change something may have a body, those that ask may not",
    arguments: [
      ("PUT", 200), ("PATCH", 200), ("DELETE", 200), ("POST", 200), ("GET", 400), ("HEAD", 400),
      ("OPTIONS", 400), ("TRACE", 501), ("CONNECT", 501), ("put", 501),
    ])
  func bodies(method: String, status: Int) throws {
    let application = TestApplication()
    try withServer(application, Self.all) { server in
      for framing in [
        "Content-Length: 3\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
      ] {
        let wire = try #require(Wire(server.port))
        wire.send("\(method) / HTTP/1.1\r\nHost: gateway.test\r\n\(framing)")
        #expect(wire.readAnswer(isHead: method == "HEAD")?.status == status)
      }
      #expect(
        application.seen.map { String(decoding: $0.body, as: UTF8.self) }
          == (status == 200 ? ["abc", "abc"] : []))
    }
  }

  @Test("a body may be as large as the settings say, however it is framed")
  func bodyLimit() throws {
    let application = TestApplication()
    let limit = 256 << 10
    try withServer(application, { $0.limits.bodyBytes = limit }) { server in
      for (count, status) in [(limit, 200), (limit + 1, 413)] {
        let body = String(repeating: "c", count: count)
        for framing in [
          "Content-Length: \(count)\r\n\r\n\(body)",
          "Transfer-Encoding: chunked\r\n\r\n\(String(count, radix: 16))\r\n\(body)\r\n0\r\n\r\n",
        ] {
          let wire = try #require(Wire(server.port))
          wire.send("POST / HTTP/1.1\r\nHost: gateway.test\r\n\(framing)")
          #expect(wire.readAnswer()?.status == status)
        }
      }
      #expect(application.seen.map(\.body.count) == [limit, limit])
    }
  }

  @Test("a server without a name answers what its settings say")
  func nameless() throws {
    for (hosts, answers) in [
      (.any, [200, 200, 200, 200, 400]), (.loopback, [200, 421, 400, 421, 400]),
      (.origin, [421, 421, 400, 421, 400]),
    ] as [(ServerSettings.Hosts, [Int])] {
      let server = try HTTPServer.start(ServerSettings(hosts: hosts), TestApplication())
      defer { server.stop() }
      for (head, status) in zip(
        [
          "GET / HTTP/1.1\r\nHost: localhost:1\r\n", "GET / HTTP/1.1\r\nHost: other.test\r\n",
          "GET / HTTP/1.0\r\n", "GET / HTTP/1.1\r\nHost:\r\n",
          "GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n",
        ], answers)
      {
        let wire = try #require(Wire(server.port))
        wire.send(head + "\r\n")
        #expect(wire.readAnswer()?.status == status, "\(hosts): \(head)")
      }
      let wire = try #require(Wire(server.port))
      wire.send("GET / HTTP/1.1\r\n\r\n")
      #expect(wire.readAnswer()?.status == 400)
    }
  }

  @Test("the date is the machine's, or the application's own, or none")
  func date() throws {
    let own = HTTPHeader("Date", "Thu, 01 Jan 1970 00:00:00 GMT")
    for (setting, headers, expected) in [
      (.ofApplication, [own], own.value), (.ofApplication, [], nil), (.ofMachine, [own], "other"),
    ] as [(ServerSettings.DateHeader, [HTTPHeader], String?)] {
      let application = TestApplication { _ in WebResponse(200, headers: headers) }
      try withServer(application, { $0.date = setting }) { server in
        let wire = try #require(Wire(server.port))
        wire.send("GET / HTTP/1.1\r\nHost: gateway.test\r\n\r\n")
        let answer = try #require(wire.readAnswer())
        let dates = answer.headers.filter { $0.name == "date" }.map(\.value)
        if expected == "other" {
          #expect(dates.count == 1 && dates != [own.value])
        } else {
          #expect(dates == [expected].compactMap { $0 })
        }
      }
    }
  }

  @Test("headers of the settings are added to answers and refusals, unless they have them; others are not")
  func headers() throws {
    let application = TestApplication {
      WebResponse(200, headers: $0.path == "/own" ? [HTTPHeader("X-SERVER", "mine")] : [])
    }
    let change: (inout ServerSettings) -> Void = {
      $0.headers = [HTTPHeader("X-Server", "ours"), HTTPHeader("Bad\r\nName", "a"), HTTPHeader("X", "a\nb")]
    }
    try withServer(application, change) { server in
      for (line, value) in [("GET /", "ours"), ("GET /own", "mine"), ("BREW /", "ours")] {
        let wire = try #require(Wire(server.port))
        wire.send("\(line) HTTP/1.1\r\nHost: gateway.test\r\n\r\n")
        let answer = try #require(wire.readAnswer())
        #expect(answer.headers.filter { $0.name == "x-server" }.map(\.value) == [value])
        #expect(answer.header("x-content-type-options") == nil && answer.header("x") == nil)
      }
    }
  }

  @Test("a request has its headers in order, as they came, each without the blanks around it")
  func requestHeaders() throws {
    let application = TestApplication()
    try withServer(application) { server in
      let wire = try #require(Wire(server.port))
      wire.send(
        "GET / HTTP/1.1\r\nHost: gateway.test\r\nA: b c \r\nUpgrade: x\r\na:\r\nB:\t \"d:e\"\r\nC: caf\u{E9}\r\n\r\n"
      )
      #expect(wire.readAnswer()?.status == 200)
      var request = try #require(application.seen.first)
      let wanted = [("Host", "gateway.test"), ("A", "b c"), ("a", ""), ("B", "\"d:e\""), ("C", "caf\u{E9}")]
      #expect(request.headers == wanted.map { HTTPHeader($0.0, $0.1) })
      #expect(request.values(of: "a") == ["b c", ""])
      #expect(request.value(of: "a") == nil && request.value(of: "b") == "\"d:e\"")
      request.headers.append(HTTPHeader("D", "f"))
      #expect(request.value(of: "d") == "f" && request.value(of: "host") == "gateway.test")
    }
  }
}
