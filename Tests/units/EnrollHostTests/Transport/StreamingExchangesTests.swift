import EnrollHost
import EnrollPosix
import EnrollRules
import EnrollSteps
import Expectations
import Foundation
import Testing

/// Responses that are read while they arrive, from a server that sends raw bytes.
@Suite struct StreamingExchangesTests {
  private let exchanges: StreamingExchanges

  init() throws { exchanges = try StreamingExchanges(CurlTransport.Options(allowsLoopbackHTTP: true)) }

  private func start(
    _ server: RawServer, _ receiver: Receiver, _ method: HTTPRequest.Method = .post, _ path: String = "/",
    body: [UInt8] = [0x7B, 0x7D]
  ) throws -> StreamedExchange {
    try exchanges.start(server, receiver, method, path, body: body)
  }

  private func run(until isDone: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    exchanges.run(until: isDone, sourceLocation: sourceLocation)
  }

  private static let eventStream = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

  @Test("a piece is there before the rest of the response was sent")
  func pieces() throws {
    let gate = DispatchSemaphore(value: 0)
    let server = try RawServer {
      $0.readRequest()
      $0.send(Self.eventStream + "data: 1\n\n")
      gate.wait()
      $0.send("data: 2\n\n")
    }
    let receiver = Receiver()
    _ = try start(server, receiver)
    run { receiver.text == "data: 1\n\n" }
    expect(receiver.status, is: 200)
    #expect(!receiver.isOver)
    gate.signal()
    run { receiver.isOver }
    expect(receiver.text, is: "data: 1\n\ndata: 2\n\n")
    expect(receiver.failure, is: nil)
  }

  @Test("a response that does not come delays no other")
  func sideBySide() throws {
    let gate = DispatchSemaphore(value: 0)
    let server = try RawServer {
      guard let request = $0.readRequest() else { return }
      if request.head.hasPrefix("POST /slow") { gate.wait() }
      $0.answer(String(request.head.prefix(10)))
    }
    let slow = Receiver()
    let others = (0..<20).map { _ in Receiver() }
    _ = try start(server, slow, .post, "/slow")
    for receiver in others { _ = try start(server, receiver) }
    run { others.allSatisfy { $0.isOver } }
    #expect(others.allSatisfy { $0.text == "POST / HTT" } && !slow.isOver)
    gate.signal()
    run { slow.isOver }
    expect(slow.text, is: "POST /slow")
  }

  @Test("a piece that was postponed comes again, and no byte is lost")
  func postponed() throws {
    let body = (0..<400_000).map { "\($0 % 10)" }.joined()
    let server = try RawServer {
      $0.readRequest()
      $0.answer(body)
    }
    let receiver = Receiver()
    receiver.receipt = { $0.pieces % 2 == 1 ? .postponed : .taken }
    _ = try start(server, receiver)
    run {
      exchanges.resume()
      return receiver.isOver
    }
    expect(receiver.failure, is: nil)
    #expect(receiver.text == body)
    #expect(receiver.pieces > 4)
  }

  @Test("without a resume, a postponed response is not read on")
  func notResumed() throws {
    let (isSent, isClosed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let server = try RawServer {
      $0.readRequest()
      $0.answer(String(repeating: "x", count: 16 << 20))
      isSent.signal()
      isClosed.wait()
    }
    let receiver = Receiver()
    receiver.receipt = { _ in .postponed }
    let exchange = try start(server, receiver)
    run { receiver.pieces > 0 }
    for _ in 0..<5 {
      exchanges.wait(for: [], milliseconds: 50)
      exchanges.advance()
    }
    expect(isSent.wait(timeout: .now()), is: .timedOut)
    expect(receiver.body, is: [])
    exchanges.stop(exchange)
    isClosed.signal()
  }

  @Test("a refused piece ends the exchange with an error, and the connection")
  func refusedPiece() throws {
    let isClosed = DispatchSemaphore(value: 0)
    let server = try RawServer {
      $0.readRequest()
      $0.send(Self.eventStream + "data: 1\n\n")
      if $0.waitForClose() { isClosed.signal() }
    }
    let receiver = Receiver()
    receiver.receipt = { _ in .refused }
    _ = try start(server, receiver)
    run { receiver.isOver }
    #expect(receiver.failure != nil)
    expect(isClosed.wait(timeout: .now() + 30), is: .success)
  }

  @Test("a stopped exchange closes its connection, and its receiver hears no more")
  func stopped() throws {
    let isClosed = DispatchSemaphore(value: 0)
    let server = try RawServer {
      $0.readRequest()
      $0.send(Self.eventStream + "data: 1\n\n")
      if $0.waitForClose() { isClosed.signal() }
    }
    let receiver = Receiver()
    let exchange = try start(server, receiver)
    run { !receiver.body.isEmpty }
    exchanges.stop(exchange)
    expect(isClosed.wait(timeout: .now() + 30), is: .success)
    exchanges.advance()
    exchanges.stop(exchange)
    #expect(!receiver.isOver)
  }

  @Test("a large body arrives as it is")
  func largeBody() throws {
    let server = try RawServer {
      $0.readRequest()
      $0.answer()
    }
    let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let receiver = Receiver()
    _ = try start(server, receiver, body: body)
    run { receiver.isOver }
    #expect(server.requests.first?.body == body)
    expect(receiver.failure, is: nil)
  }

  @Test("GET and DELETE have no body")
  func methods() throws {
    let server = try RawServer {
      $0.readRequest()
      $0.answer()
    }
    for method in [HTTPRequest.Method.get, .delete] {
      let receiver = Receiver()
      _ = try start(server, receiver, method, body: [])
      run { receiver.isOver }
      let request = try #require(server.requests.last)
      #expect(
        request.head.hasPrefix("\(method.rawValue) / HTTP/1.1\r\n") && !request.hasHeader("Content-Length"))
    }
  }

  @Test("only a request of which nothing was sent is called unsent")
  func unsent() throws {
    let refused = Receiver()
    _ = try start(try RawServer(listens: false) { _ in }, refused)
    run { refused.isOver }
    expect(refused.failure?.isUnsent, is: true)
    let server = try RawServer { $0.readRequest() }
    let dropped = Receiver()
    _ = try start(server, dropped)
    run { dropped.isOver }
    expect(dropped.failure?.isUnsent, is: false)
  }

  @Test("a cut body is an error, after the pieces that came")
  func cut() throws {
    let server = try RawServer {
      $0.readRequest()
      $0.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
    }
    let receiver = Receiver()
    _ = try start(server, receiver)
    run { receiver.isOver }
    expect(receiver.text, is: "half")
    expect(receiver.failure?.code, is: .network)
  }

  @Test("no redirect is followed, and a refusal is a response")
  func statuses() throws {
    for status in ["307 Moved", "401 Unauthorized", "500 Broken"] {
      let server = try RawServer {
        $0.readRequest()
        $0.answer(status: status, headers: "Location: /other\r\nWWW-Authenticate: Bearer\r\n")
      }
      let receiver = Receiver()
      _ = try start(server, receiver)
      run { receiver.isOver }
      expect(receiver.failure, is: nil)
      expect("\(receiver.status)", is: String(status.prefix(3)))
      expect(server.requests.count, is: 1)
      #expect(receiver.headers.contains(HTTPHeader("WWW-Authenticate", "Bearer")))
    }
  }

  @Test("a kept connection that the server closes does not send the request again (R15)")
  func notRepeated() throws {
    let server = try RawServer {
      $0.readRequest()
      if $0.number == 1 {
        $0.answer()
        $0.readRequest()
      }
    }
    let (first, second) = (Receiver(), Receiver())
    _ = try start(server, first)
    run { first.isOver }
    _ = try start(server, second)
    run { second.isOver }
    #expect(second.failure != nil)
    expect(second.failure?.isUnsent, is: false)
    expect(server.requests.count, is: 2)
  }

  @Test("a descriptor ends the wait")
  func otherDescriptor() throws {
    let event = try EventDescriptor()
    let receiver = Receiver()
    let gate = DispatchSemaphore(value: 0)
    let server = try RawServer {
      $0.readRequest()
      gate.wait()
    }
    let exchange = try start(server, receiver)
    run { server.requests.count == 1 }
    event.wake()
    // Without the event, this would wait without a limit.
    exchanges.wait(for: [StreamingExchanges.Wait(event.descriptor, forInput: true)], milliseconds: -1)
    exchanges.stop(exchange)
    gate.signal()
  }

  @Test("a header that would change the request is refused before anything is sent")
  func headers() throws {
    let server = try RawServer { $0.readRequest() }
    for header in [HTTPHeader("A\r\nB", "x"), HTTPHeader("A", "x\r\nB: y"), HTTPHeader("Host", "other")] {
      #expect(throws: EnrollError.self) {
        try exchanges.start(.post, server.url(), headers: [header], body: [], receiver: Receiver())
      }
    }
    expect(server.accepted, is: 0)
  }

  @Test("time in which the process was stopped does not count for the connection")
  func stoppedWhileConnecting() throws {
    let listener = try FullListener()
    let exchanges = try StreamingExchanges(
      CurlTransport.Options(allowsLoopbackHTTP: true, connectTimeout: CurlTransport.Milliseconds(1_100)))
    let receiver = Receiver()
    _ = try exchanges.start(
      .get, "http://127.0.0.1:\(listener.port)/", headers: [], body: [], receiver: receiver)
    exchanges.advance()
    // The exchanges do not read the clock during this pause, like a stopped process.
    Pause.nanoseconds(1_200_000_000)
    listener.accept()
    exchanges.run { receiver.isOver }
    expect(receiver.failure, is: nil)
    expect(receiver.text, is: "ok")
  }
}
