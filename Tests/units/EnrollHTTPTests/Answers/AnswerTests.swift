// Headers that every response has, and headers that no response may have.

import EnrollRules
import EnrollHTTP
import Testing

@Suite struct AnswerTests {
  private static let request = "GET / HTTP/1.1\r\nHost: gateway.test\r\n\r\n"

  private static func answer(_ response: WebResponse, origin: String = "http://gateway.test") throws
    -> Answer
  {
    var answer: Answer?
    try withServer(TestApplication { _ in response }, { $0 = ServerSettings(publicOrigin: origin) }) {
      server in
      let wire = try #require(Wire(server.port))
      wire.send(request)
      answer = wire.readAnswer()
    }
    return try #require(answer)
  }

  @Test("every answer has a date, a length and the headers of a careful server")
  func usual() throws {
    let answer = try Self.answer(WebResponse(200, body: [0x61]), origin: "https://gateway.test")
    #expect(answer.header("date")?.hasSuffix(" GMT") == true)
    #expect(answer.header("content-length") == "1")
    #expect(answer.header("x-content-type-options") == "nosniff")
    #expect(answer.header("referrer-policy") == "no-referrer")
    #expect(answer.header("cache-control") == "no-store")
    #expect(answer.header("strict-transport-security") == "max-age=31536000")
    #expect(answer.header("server") == nil)
    #expect(try Self.answer(WebResponse(200)).header("strict-transport-security") == nil)
  }

  @Test("the application's own choice of an added header counts, and comes once")
  func own() throws {
    let own = [("referrer-policy", "same-origin"), ("cache-control", "max-age=60"), ("x-own", "1")]
    let answer = try Self.answer(WebResponse(200, headers: own.map { HTTPHeader($0.0, $0.1) }))
    for (name, value) in own {
      #expect(answer.headers.filter { $0.name == name }.map(\.value) == [value])
    }
  }

  @Test("framing and connection are the server's business")
  func framing() throws {
    let names = ["Content-Length", "transfer-encoding", "Connection", "Server", "Date"]
    let answer = try Self.answer(
      WebResponse(200, headers: names.map { HTTPHeader($0, "9") }, body: Array("abc".utf8)))
    #expect(answer.headers.filter { $0.value == "9" }.isEmpty)
    #expect(answer.header("content-length") == "3")
    #expect(answer.body == "abc")
  }

  @Test("an answer of 204 or 304 has no body and no length", arguments: [204, 304])
  func bodiless(_ status: Int) throws {
    let answer = try Self.answer(WebResponse(status, body: Array("abc".utf8)))
    #expect(answer.status == status)
    #expect(answer.header("content-length") == nil)
    #expect(answer.body.isEmpty)
  }

  @Test(
    "an answer that could break its frame is not written",
    arguments: [
      WebResponse(200, headers: [HTTPHeader("Location", "/a\r\nSet-Cookie: b")]),
      WebResponse(200, headers: [HTTPHeader("Location", "/a\nb")]),
      WebResponse(200, headers: [HTTPHeader("Location", "/a\rb")]),
      WebResponse(200, headers: [HTTPHeader("Location", "/a\0b")]),
      WebResponse(200, headers: [HTTPHeader("A\r\nB", "c")]),
      WebResponse(200, headers: [HTTPHeader("A: b", "c")]),
      WebResponse(200, headers: [HTTPHeader("", "c")]),
      WebResponse(100), WebResponse(600), WebResponse(-1),
    ])
  func unwritable(_ response: WebResponse) throws {
    let answer = try Self.answer(response)
    #expect(answer.status == 500)
    #expect(answer.header("location") == nil && answer.header("set-cookie") == nil)
  }

  @Test("answers are counted by the hundreds of their status, refusals among them")
  func counted() throws {
    let application = TestApplication { WebResponse(Int($0.path.dropFirst()) ?? 0) }
    try withServer(application) { server in
      let wire = try #require(Wire(server.port))
      for status in [200, 201, 302, 404, 503, 0] {
        wire.send("GET /\(status) HTTP/1.1\r\nHost: gateway.test\r\n\r\n")
        #expect(wire.readAnswer() != nil)
      }
      wire.send("GET\r\n")
      #expect(wire.readAnswer()?.status == 400)
      #expect(server.metrics.answers == [0, 0, 2, 1, 2, 2])
      #expect(server.metrics.refusals == [.malformed: 1, .badAnswer: 1])
    }
  }
}
