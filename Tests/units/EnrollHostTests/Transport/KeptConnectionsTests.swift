import Dispatch
import EnrollHost
import EnrollPosix
import EnrollRules
import EnrollSteps
import Expectations
import Testing

/// Tests of servers that send something on an idle connection.
@Suite struct KeptConnectionsTests {
  private static let timeout =
    "HTTP/1.1 408 Request Time-out\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
  private static let unasked = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nunasked"

  /// A server whose connections can be written to at any time. It answers each request with the request's path, and
  /// leaves a request for /stream without an end.
  private final class Server: Sendable {
    let raw: RawServer
    private let connections: Guarded<[Int: RawConnection]>
    let isClosed = DispatchSemaphore(value: 0)

    init() throws {
      let (connections, isClosed) = (Guarded([Int: RawConnection](), by: Mutex()), isClosed)
      self.connections = connections
      raw = try RawServer { connection in
        connections.withLock { $0[connection.number] = connection }
        while let request = connection.readRequest() {
          let path = String(request.head.split(separator: " ")[1])
          if path == "/stream" {
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
          } else {
            connection.answer(path)
          }
        }
        isClosed.signal()
      }
    }

    /// Sends a text on a connection, which may be idle.
    func send(_ text: String, on number: Int) { connections.withLock { _ = $0[number]?.send(text) } }
  }

  @Test(
    "what a server sends on an idle connection is not the answer to the next request",
    arguments: [Self.timeout, Self.unasked])
  func stream(_ text: String) throws {
    let server = try Server()
    let exchanges = try StreamingExchanges(CurlTransport.Options(allowsLoopbackHTTP: true))
    let receivers = (1...3).map { _ in Receiver() }
    for (number, receiver) in receivers.enumerated() {
      _ = try exchanges.start(server.raw, receiver, .post, "/\(number)")
      exchanges.run { receiver.isOver }
      expect(receiver.text, is: "/\(number)")
      if number == 0 { server.send(text, on: 1) }
    }
    expect(server.raw.requests.map(\.connection), is: [1, 2, 2])
    // The connection with the unread bytes does not stay open.
    expect(server.isClosed.wait(timeout: .now() + 30), is: .success)
  }

  @Test("a stream on a kept connection stays as it is if another idle connection is not clean")
  func otherStream() throws {
    let server = try Server()
    let exchanges = try StreamingExchanges(CurlTransport.Options(allowsLoopbackHTTP: true))
    let first = (1...2).map { _ in Receiver() }
    for receiver in first { _ = try exchanges.start(server.raw, receiver, .post, "/first") }
    exchanges.run { first.allSatisfy { $0.isOver } }
    let (stream, last) = (Receiver(), Receiver())
    _ = try exchanges.start(server.raw, stream, .post, "/stream")
    exchanges.run { stream.status == 200 }
    let taken = try #require(server.raw.requests.last?.connection)
    // Both connections have unread bytes now, but only the stream waits for its own.
    server.send("3\r\none\r\n", on: taken)
    server.send(Self.unasked, on: 3 - taken)
    _ = try exchanges.start(server.raw, last, .post, "/last")
    exchanges.run { last.isOver }
    expect(last.text, is: "/last")
    expect(server.raw.requests.last?.connection, is: 3)
    server.send("3\r\ntwo\r\n0\r\n\r\n", on: taken)
    exchanges.run { stream.isOver }
    expect(stream.text, is: "onetwo")
    expect(stream.failure, is: nil)
  }

  @Test(
    "a request for a token takes no answer that was there before it", arguments: [Self.timeout, Self.unasked])
  func whole(_ text: String) throws {
    let server = try Server()
    let transport = CurlTransport(.init(allowsLoopbackHTTP: true))
    for number in 0...2 {
      let response = try transport.send(HTTPRequest(.get, server.raw.url("/\(number)")), cancellation: nil)
      expect(String(decoding: response.body, as: UTF8.self), is: "/\(number)")
      if number == 0 { server.send(text, on: 1) }
    }
    expect(server.raw.requests.map(\.connection), is: [1, 2, 2])
    expect(server.isClosed.wait(timeout: .now() + 30), is: .success)
  }
}
