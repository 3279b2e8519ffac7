// Tests of responses that the application gives later, from any thread.

import EnrollSteps
import EnrollHTTP
import EnrollPosix
import Foundation
import Testing

/// An actor that answers one request after the other, on threads that are not the server's.
private actor Counter {
  private var count = 0

  func answer(_ request: WebRequest) -> WebResponse {
    count += 1
    return WebResponse(200, body: Array("\(request.path) \(count)".utf8))
  }
}

@Suite struct LaterTests {
  private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: gateway.test\r\n\r\n" }
  private static let settings = ServerSettings(publicOrigin: "http://gateway.test")

  /// The responders that the server has handed out, and that were not used yet.
  private final class Kept: Sendable {
    private let responders = Guarded<[Responder]>([], by: Mutex())
    func keep(_ responder: Responder) { responders.withLock { $0.append(responder) } }
    var count: Int { responders.withLock { $0.count } }
    func take() -> Responder? { responders.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
  }

  private static func server(_ kept: Kept) throws -> HTTPServer {
    try HTTPServer.start(settings, responding: { _, responder in kept.keep(responder) })
  }

  @Test("an actor answers, and pipelined requests stay in order")
  func actor() async {
    // The test runs in a separate process, because in this process other tests may occupy every thread on which tasks
    // run.
    await #expect(processExitsWith: .success) {
      let counter = Counter()
      let server = try HTTPServer.start(Self.settings, answering: { await counter.answer($0) })
      let bodies = await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          let wire = Wire(server.port)
          wire?.send((0..<20).map { Self.get("/\($0)") }.joined())
          continuation.resume(returning: (0..<20).map { _ in wire?.readAnswer(only: true)?.body })
        }
      }
      #expect(bodies == (0..<20).map { "/\($0) \($0 + 1)" })
      server.stop()
    }
  }

  @Test("an answer is taken from any thread, once")
  func once() throws {
    let kept = Kept()
    let server = try Self.server(kept)
    defer { server.stop() }
    let wire = try #require(Wire(server.port))
    wire.send(Self.get("/"))
    #expect(eventually { kept.count == 1 })
    #expect(server.metrics.requestsInWork == 1)
    let responder = try #require(kept.take())
    #expect(!responder.isAbandoned)
    responder.send(WebResponse(200, body: Array("first".utf8)))
    responder.send(WebResponse(200, body: Array("second".utf8)))
    #expect(wire.readAnswer()?.body == "first")
    #expect(!wire.isReadable(withinMilliseconds: 0))
    wire.send(Self.get("/"))
    #expect(eventually { kept.count == 1 })
    #expect(eventually { server.metrics.requestsInWork == 1 })
    kept.take()?.send(WebResponse(204))
    #expect(wire.readAnswer()?.status == 204)
    #expect(eventually { server.metrics.requestsInWork == 0 })
  }

  @Test("a responder that goes without an answer has the client answered by 500")
  func none() throws {
    let server = try HTTPServer.start(Self.settings, responding: { _, _ in })
    defer { server.stop() }
    let wire = try #require(Wire(server.port))
    wire.send(Self.get("/"))
    #expect(wire.readAnswer()?.status == 500)
    #expect(server.metrics.refusals == [.badAnswer: 1])
  }

  @Test("a responder knows that the client has left, and what it sends then goes nowhere")
  func abandoned() throws {
    let kept = Kept()
    let server = try Self.server(kept)
    defer { server.stop() }
    var wire = Wire(server.port)
    wire?.send(Self.get("/"))
    #expect(eventually { kept.count == 1 })
    let responder = try #require(kept.take())
    wire = nil
    #expect(eventually { responder.isAbandoned })
    responder.send(WebResponse(200))
    #expect(eventually { server.metrics.requestsInWork == 0 })
    #expect(server.metrics.answers == [0, 0, 0, 0, 0, 0])
  }

  @Test("a server that stops waits for answers, and drops those that come after its time")
  func stops() throws {
    for isInTime in [true, false] {
      let kept = Kept()
      let server = try Self.server(kept)
      let wire = try #require(Wire(server.port))
      wire.send(Self.get("/"))
      #expect(eventually { kept.count == 1 })
      let responder = try #require(kept.take())
      if isInTime {
        let stopped = Event()
        Thread.detachNewThread {
          #expect(server.stop(withinSeconds: 60))
          stopped.set()
        }
        #expect(eventually { Wire(server.port) == nil })
        responder.send(WebResponse(200, body: Array("last".utf8)))
        #expect(wire.readAll()?.hasSuffix("last") == true)
        stopped.wait()
      } else {
        #expect(!server.stop(withinSeconds: 0))
        #expect(wire.readAll() == "")
        #expect(responder.isAbandoned)
        responder.send(WebResponse(200))
      }
    }
  }
}
