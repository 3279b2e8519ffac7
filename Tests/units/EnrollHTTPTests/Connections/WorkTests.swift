// Tests of the worker threads, and of the end of a server.

import EnrollHTTP
import EnrollPosix
import Foundation
import Testing

@Suite struct WorkTests {
  private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: gateway.test\r\n\r\n" }

  /// An application that holds every request of a lane, except `/here`, until the gate opens.
  private static func held(_ entered: Event, _ gate: Event) -> TestApplication {
    TestApplication(
      lane: { $0.path == "/here" ? .here : $0.path == "/data" ? .database : .provider },
      { request in
        if request.path == "/far" {
          entered.set()
          gate.wait()
        }
        return WebResponse(200, body: Array(request.path.utf8))
      })
  }

  @Test("when a pool is full its requests get 503 and the other lanes go on")
  func overload() throws {
    let entered = Event()
    let gate = Event()
    let application = Self.held(entered, gate)
    try withServer(application, { $0.provider = .init(threads: 1, queue: 1) }) { server in
      defer { gate.set() }
      let first = try #require(Wire(server.port))
      first.send(Self.get("/far"))
      entered.wait()
      let others = try (0..<6).map { _ in try #require(Wire(server.port)) }
      for wire in others { wire.send(Self.get("/far")) }
      #expect(eventually { server.metrics.refusals[.overloaded] == 5 })
      var waiting: [Wire] = []
      for wire in others {
        guard wire.isReadable(withinMilliseconds: 0) else {
          waiting.append(wire)
          continue
        }
        let answer = try #require(wire.readAnswer())
        #expect(answer.status == 503)
        #expect(answer.header("retry-after") == "1")
        #expect(answer.header("connection") == nil)
        // The same connection still works for other lanes.
        for path in ["/here", "/data"] {
          wire.send(Self.get(path))
          #expect(wire.readAnswer()?.body == path)
        }
      }
      #expect(waiting.count == 1)
      gate.set()
      for wire in [first] + waiting { #expect(wire.readAnswer()?.status == 200) }
    }
    #expect(application.seen.filter { $0.path == "/far" }.count == 2)
  }

  @Test("a server that stops closes idle connections, accepts none, and ends what is in work")
  func drain() throws {
    let entered = Event()
    let gate = Event()
    let server = try HTTPServer.start(
      ServerSettings(publicOrigin: "http://gateway.test"), Self.held(entered, gate))
    let idle = try #require(Wire(server.port))
    idle.send(Self.get("/here"))
    #expect(idle.readAnswer()?.status == 200)
    let working = try #require(Wire(server.port))
    working.send(Self.get("/far") + Self.get("/here"))
    entered.wait()
    let stopped = Event()
    let hasEnded = Ended()
    Thread.detachNewThread {
      hasEnded.set(server.stop(withinSeconds: 60))
      stopped.set()
    }
    #expect(idle.readAll() == "")
    #expect(Wire(server.port) == nil)
    #expect(!stopped.isSet)
    gate.set()
    let text = try #require(working.readAll())
    #expect(text.contains("Connection: close\r\n") && text.hasSuffix("/far"))
    stopped.wait()
    #expect(hasEnded.value == true)
    #expect(server.metrics.connectionsOpen == 0)
    #expect(server.stop())
  }

  @Test("a client that is still taking its answers gets the last of them whole when the server stops")
  func drainsTaken() throws {
    let count = 99
    let body = [UInt8](repeating: UInt8(ascii: "x"), count: 4_000)
    let application = TestApplication { _ in WebResponse(200, body: body) }
    let server = try HTTPServer.start(ServerSettings(publicOrigin: "http://gateway.test"), application)
    let wire = try #require(Wire(server.port))
    wire.takeLittle()
    wire.send(String(repeating: Self.get("/large"), count: count))
    // Reads only the first responses until the application has received all requests.
    var taken: [UInt8] = []
    while application.seen.count < count { taken += try #require(wire.receive(1_024)) }
    let stopped = Event()
    Thread.detachNewThread {
      server.stop(withinSeconds: 60)
      stopped.set()
    }
    #expect(eventually { Wire(server.port) == nil })
    let rest = try #require(wire.readAll())
    let text = String(decoding: taken, as: UTF8.self) + rest
    #expect(text.components(separatedBy: "HTTP/1.1 200").count == count + 1)
    #expect(text.utf8.filter { $0 == UInt8(ascii: "x") }.count >= count * body.count)
    stopped.wait()
  }

  @Test("a request that is half sent when the server stops may end")
  func drainsHalf() throws {
    let server = try HTTPServer.start(ServerSettings(publicOrigin: "http://gateway.test"), TestApplication())
    let wire = try #require(Wire(server.port))
    wire.send(
      "POST /half HTTP/1.1\r\nHost: gateway.test\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
    // The server asks for the body, so it has read the head.
    #expect(wire.receive()?.isEmpty == false)
    let stopped = Event()
    Thread.detachNewThread {
      server.stop(withinSeconds: 60)
      stopped.set()
    }
    #expect(eventually { Wire(server.port) == nil })
    wire.send("abc")
    #expect(wire.readAll()?.hasSuffix("/half") == true)
    stopped.wait()
  }

  @Test(
    "a request that stays half sent does not hold the end of the server",
    arguments: ["Content-Length: 3\r\n\r\na", ""])
  func halfSent(rest: String) throws {
    var options = ServerSettings(publicOrigin: "http://gateway.test")
    options.limits.headerTimeoutMilliseconds = 600_000
    options.limits.bodyTimeoutMilliseconds = 600_000
    options.limits.drainTimeoutMilliseconds = 20
    options.limits.lingerMilliseconds = 20
    let server = try HTTPServer.start(options, TestApplication())
    let wire = try #require(Wire(server.port))
    wire.send("POST /half HTTP/1.1\r\nHost: gateway.test\r\nExpect: 100-continue\r\n\(rest)")
    if rest.isEmpty {
      // The server does not answer these bytes, so the test can only wait until the server has accepted the connection.
      #expect(eventually { server.metrics.connectionsOpen == 1 })
    } else {
      #expect(wire.receive()?.isEmpty == false)
    }
    let stopped = Event()
    Thread.detachNewThread {
      server.stop(withinSeconds: 600)
      stopped.set()
    }
    let answer = try #require(wire.readAll())
    if !rest.isEmpty { #expect(answer.hasPrefix("HTTP/1.1 408")) }
    stopped.wait()
  }

  @Test("a server whose time to stop is over closes what is left, and says so")
  func deadline() throws {
    let entered = Event()
    let gate = Event()
    let server = try HTTPServer.start(
      ServerSettings(publicOrigin: "http://gateway.test"), Self.held(entered, gate))
    let working = try #require(Wire(server.port))
    working.send(Self.get("/far"))
    entered.wait()
    #expect(!server.stop(withinSeconds: 0))
    #expect(working.readAll() == "")
    gate.set()
  }
}

private final class Ended: @unchecked Sendable {
  // Unchecked: the writer sets `value` before it sets the event that the reader waits for.
  private(set) var value: Bool?
  func set(_ value: Bool) { self.value = value }
}
