import Dispatch
import EnrollHost
import EnrollRules
import EnrollSteps
import Expectations
import Testing

/// Tests of responses whose head says enough, and whose body does not end.
@Suite struct BodyNeedTests {
  private let exchanges: StreamingExchanges

  init() throws {
    exchanges = try StreamingExchanges(
      CurlTransport.Options(allowsLoopbackHTTP: true), bodyTimeout: CurlTransport.Milliseconds(50))
  }

  @Test(
    "a body that is not needed and does not end ends the exchange with what came, and the connection",
    arguments: [
      "401 Unauthorized\r\nContent-Length: 10\r\n\r\n", "500 Broken\r\n\r\n<h1>", "302 Found\r\n\r\n",
      "202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n<h1>\r\n",
    ])
  func endless(_ response: String) throws {
    let isClosed = DispatchSemaphore(value: 0)
    let server = try RawServer {
      $0.readRequest()
      $0.send("HTTP/1.1 \(response)")
      if $0.waitForClose() { isClosed.signal() }
    }
    let receiver = Receiver()
    receiver.need = .beginning
    _ = try exchanges.start(server, receiver)
    exchanges.run { receiver.isOver }
    expect(receiver.failure, is: nil)
    expect("\(receiver.status)", is: String(response.prefix(3)))
    expect(receiver.text, is: response.contains("<h1>") ? "<h1>" : "")
    expect(receiver.endings.count, is: 1)
    expect(isClosed.wait(timeout: .now() + 30), is: .success)
  }

  @Test("a body that is needed has no such limit")
  func needed() throws {
    let gate = DispatchSemaphore(value: 0)
    let server = try RawServer {
      guard let request = $0.readRequest() else { return }
      $0.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
      if request.head.hasPrefix("POST /needed") {
        gate.wait()
        $0.send("body")
      } else {
        $0.waitForClose()
      }
    }
    let (needed, other) = (Receiver(), Receiver())
    other.need = .beginning
    _ = try exchanges.start(server, needed, .post, "/needed")
    exchanges.run { needed.status == 200 }
    // The limit of the other exchange begins later, and passes.
    _ = try exchanges.start(server, other)
    exchanges.run { other.isOver }
    #expect(!needed.isOver)
    gate.signal()
    exchanges.run { needed.isOver }
    expect(needed.text, is: "body")
    expect(needed.failure, is: nil)
  }

  @Test("a receiver that has enough of a body ends the exchange without an error")
  func enough() throws {
    let server = try RawServer {
      $0.readRequest()
      $0.send("HTTP/1.1 401 Unauthorized\r\n\r\n")
      while $0.send("endless") {}
    }
    let receiver = Receiver()
    receiver.receipt = { $0.pieces < 3 ? .taken : .enough }
    _ = try exchanges.start(server, receiver)
    exchanges.run { receiver.isOver }
    expect(receiver.status, is: 401)
    expect(receiver.failure, is: nil)
  }

  @Test("a change of the protocol is refused at once")
  func otherProtocol() throws {
    let server = try RawServer {
      $0.readRequest()
      $0.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")
      $0.waitForClose()
    }
    let receiver = Receiver()
    _ = try exchanges.start(server, receiver)
    exchanges.run { receiver.isOver }
    expect(receiver.failure?.code, is: .responseInvalid)
    #expect(receiver.failure?.message.contains("status 101") ?? false)
  }
}
