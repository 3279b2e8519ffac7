import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollPosix
import Expectations
import Testing

/// Tests of the transport with faults of a server that speaks plain http on a loopback address.
@Suite struct TransportFaultTests {
  private let transport = CurlTransport(.init(allowsLoopbackHTTP: true))
  private static let secret = "s3cr3t-in-the-path"

  /// The error that a request to a server gets if the server runs `script`.
  private func failure(
    _ transport: CurlTransport? = nil, limit: Int = HTTPRequest.defaultResponseLimit,
    _ script: @escaping @Sendable (RawConnection) -> Void
  ) throws -> EnrollError {
    let server = try RawServer(script)
    let request = HTTPRequest(
      .get, server.url("/\(Self.secret)?\(Self.secret)=1"),
      headers: [HTTPHeader("Authorization", "Bearer \(Self.secret)")], responseLimit: limit)
    let error = try #require(throws: EnrollError.self) {
      try (transport ?? self.transport).send(request, cancellation: nil)
    }
    #expect(!error.message.contains(Self.secret), "the text names scheme and host only (R40)")
    #expect(error.message.contains("http://127.0.0.1"))
    return error
  }

  @Test("a connection that is closed without an answer is the network's fault")
  func closedWithoutAnswer() throws {
    let error = try failure { $0.readRequest() }
    expect(error.code, is: .network)
    #expect(error.isRetryable)
  }

  @Test("a connection that is dropped as soon as it was accepted is the network's fault")
  func droppedAfterAccept() throws {
    try expect(failure { $0.reset() }.code, is: .network)
  }

  @Test("nobody listening is the network's fault")
  func refusedConnection() throws {
    let port = try RawServer { _ in }.port
    let error = try #require(throws: EnrollError.self) {
      try transport.send(HTTPRequest(.get, "http://127.0.0.1:\(port)/"), cancellation: nil)
    }
    expect(error.code, is: .network)
    #expect(error.message.contains("http://127.0.0.1:\(port)"), "\(error.message)")
  }

  @Test(
    "half a body is no body",
    arguments: ["Content-Length: 10\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"])
  func halfABody(_ answer: String) throws {
    let error = try failure {
      $0.readRequest()
      $0.send("HTTP/1.1 200 OK\r\n\(answer)")
    }
    expect(error.code, is: .network)
  }

  @Test(
    "an answer that comes once is handed on although its frame is broken, as one that is cut (R30)",
    arguments: [
      "Content-Length: 6\r\n\r\nwhole", "Content-Length: 2097152\r\n\r\nwhole",
      "Transfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n",
      "Transfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\nrubbish\r\n",
      "Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n5\r\nwhole\r\n0\r\n\r\n",
      "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nwhole",
      "Content-Encoding: UTF-8\r\nContent-Length: 5\r\n\r\nwhole",
    ])
  func brokenFrame(_ answer: String) throws {
    let script: @Sendable (RawConnection) -> Void = {
      $0.readRequest()
      $0.send("HTTP/1.1 200 OK\r\n\(answer)")
    }
    #expect(throws: EnrollError.self) { try failureOrAnswer(takesCut: false, script) }
    let response = try failureOrAnswer(takesCut: true, script)
    #expect(response.body == Array("whole".utf8) && response.status == 200)
    expect(response.cut, isNot: nil)
  }

  @Test("what is no answer, or too long, is none for a request that takes cut ones, either (R20)")
  func cutOfNoUse() throws {
    for answer in ["", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"] {
      #expect(throws: EnrollError.self) {
        try failureOrAnswer(takesCut: true) {
          $0.readRequest()
          $0.send(answer)
        }
      }
    }
    #expect(throws: EnrollError.self) {
      try failureOrAnswer(takesCut: true, limit: 4) {
        $0.readRequest()
        $0.send("HTTP/1.1 200 OK\r\n\r\nwhole")
      }
    }
  }

  private func failureOrAnswer(
    takesCut: Bool, limit: Int = HTTPRequest.defaultResponseLimit,
    _ script: @escaping @Sendable (RawConnection) -> Void
  ) throws -> HTTPResponse {
    let server = try RawServer(script)
    var request = HTTPRequest(.post, server.url(), responseLimit: limit, freshConnection: true)
    request.takesCutAnswer = takesCut
    return try transport.send(request, cancellation: nil)
  }

  @Test("a body that is announced longer than the limit is refused (R20)")
  func announcedTooLong() throws {
    let error = try failure(limit: 100) {
      $0.readRequest()
      $0.send("HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n")
      $0.waitForClose()
    }
    expect(error.code, is: .responseInvalid)
  }

  @Test("a body without end is cut off at the limit while it arrives (R20)")
  func endlessBody() throws {
    let error = try failure(limit: 100_000) {
      $0.readRequest()
      $0.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      let chunk = "3e8\r\n" + String(repeating: "x", count: 1_000) + "\r\n"
      while $0.send(chunk) {}
    }
    expect(error.code, is: .responseInvalid)
    expect(error.httpStatus, is: 200)
  }

  @Test("a body of exactly the limit is taken", arguments: [true, false])
  func exactlyTheLimit(_ isAnnounced: Bool) throws {
    let body = String(repeating: "x", count: 1_000)
    let server = try RawServer {
      $0.readRequest()
      if isAnnounced { $0.answer(body) } else { $0.send("HTTP/1.1 200 OK\r\n\r\n" + body) }
    }
    let response = try transport.send(
      HTTPRequest(.get, server.url(), responseLimit: 1_000), cancellation: nil)
    expect(response.body.count, is: 1_000)
  }

  @Test("a body of one byte more is refused, announced or not (R20)", arguments: [true, false])
  func oneByteMore(_ isAnnounced: Bool) throws {
    let body = String(repeating: "x", count: 1_001)
    let error = try failure(limit: 1_000) {
      $0.readRequest()
      if isAnnounced { $0.answer(body) } else { $0.send("HTTP/1.1 200 OK\r\n\r\n" + body) }
    }
    expect(error.code, is: .responseInvalid)
  }

  @Test("a limit of zero takes only an empty body")
  func limitOfZero() throws {
    try expect(
      failure(limit: 0) {
        $0.readRequest()
        $0.answer("x")
      }.code, is: .responseInvalid)
  }

  @Test("a server that never answers runs into the time limit (R20)")
  func neverAnswers() throws {
    let hasty = CurlTransport(.init(allowsLoopbackHTTP: true, totalTimeout: .init(100)))
    let error = try failure(hasty) {
      $0.readRequest()
      $0.waitForClose()
    }
    expect(error.code, is: .timeout)
  }

  @Test("a request may have a shorter limit of its own, and no longer one (R20)", arguments: [1, 30])
  func ownLimit(seconds: Int64) throws {
    let hasty = CurlTransport(
      .init(allowsLoopbackHTTP: true, totalTimeout: .init(seconds == 1 ? 600_000 : 100)))
    let server = try RawServer {
      $0.readRequest()
      $0.waitForClose()
    }
    var request = HTTPRequest(.get, server.url())
    request.timeoutSeconds = seconds
    let error = try #require(throws: EnrollError.self) { try hasty.send(request, cancellation: nil) }
    expect(error.code, is: .timeout)
  }

  @Test("a body that drips runs into the time limit for the whole request (R20)")
  func slowDrip() throws {
    let hasty = CurlTransport(.init(allowsLoopbackHTTP: true, totalTimeout: .init(200)))
    let error = try failure(hasty) {
      $0.readRequest()
      $0.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      while !$0.waitForClose(milliseconds: 20), $0.send("1\r\nx\r\n") {}
    }
    expect(error.code, is: .timeout)
  }

  @Test("an answer that came while the process was stopped is read, however long that took")
  func stoppedWhileWaiting() throws {
    let hasty = CurlTransport(.init(allowsLoopbackHTTP: true, totalTimeout: .init(200)))
    let silent = try RawServer {
      $0.readRequest()
      $0.waitForClose()
    }
    let (stop, isAnswered) = (Stop(), Event())
    let server = try RawServer {
      $0.readRequest()
      stop.begin {
        isAnswered.wait()
        // This request waits until its timeout.
        _ = try? hasty.send(HTTPRequest(.get, silent.url()), cancellation: nil)
      }
      $0.answer("late")
      isAnswered.set()
      $0.waitForClose()
    }
    let answer = try hasty.send(HTTPRequest(.get, server.url()), cancellation: stop)
    expect(String(decoding: answer.body, as: UTF8.self), is: "late")
  }

  @Test("the error of a request says whether anything of it was sent")
  func unsent() throws {
    let port = try RawServer { _ in }.port
    let refused = try #require(throws: EnrollError.self) {
      try transport.send(HTTPRequest(.get, "http://127.0.0.1:\(port)/"), cancellation: nil)
    }
    #expect(refused.isUnsent)
    #expect(try !failure { $0.readRequest() }.isUnsent)
  }

  @Test(
    "what is not HTTP is refused",
    arguments: [
      "SSH-2.0-OpenSSH_9.2\r\n\r\n", "\u{0}\u{1}\u{2}\u{3}", "<html></html>", "HTTP/3.7 abc\r\n\r\n",
      "HTTP/1.1 099 no\r\n\r\n", "HTTP/1.1 400x\r\n\r\n", "HTTP/1.1 400x Bad Request\r\n\r\n",
    ])
  func garbage(_ bytes: String) throws {
    let error = try failure {
      $0.readRequest()
      $0.send(bytes)
    }
    expect(error.code, is: .responseInvalid)
  }

  @Test("a head without end is refused (R20)", arguments: ["X-Many: 0123456789\r\n", "X-One-Line-"])
  func endlessHead(_ piece: String) throws {
    let error = try failure {
      $0.readRequest()
      $0.send("HTTP/1.1 200 OK\r\n")
      let pieces = String(repeating: piece, count: 500)
      while $0.send(pieces) {}
    }
    expect(error.code, is: .responseInvalid)
  }

  @Test("a head of a few kilobytes is taken")
  func largeHead() throws {
    let server = try RawServer {
      $0.readRequest()
      $0.answer(headers: String(repeating: "X-Many: 0123456789\r\n", count: 1_000))
    }
    try expect(transport.send(HTTPRequest(.get, server.url()), cancellation: nil).headers.count, is: 1_001)
  }

  @Test(
    "a compressed body is refused (R20)",
    arguments: [
      "Content-Encoding: gzip", "content-encoding: br", "Transfer-Encoding: gzip, chunked",
      "Content-Encoding: identity, gzip",
    ])
  func compressedBody(_ header: String) throws {
    let error = try failure {
      $0.readRequest()
      $0.answer(headers: "\(header)\r\n")
    }
    expect(error.code, is: .responseInvalid)
  }

  @Test("the content encoding identity is no encoding")
  func identityEncoding() throws {
    let server = try RawServer {
      $0.readRequest()
      $0.answer(headers: "Content-Encoding: Identity\r\n")
    }
    try expect(transport.send(HTTPRequest(.get, server.url()), cancellation: nil).status, is: 200)
  }
}

/// A cancellation that never cancels, but can hold the thread of a request once, as SIGSTOP would.
private final class Stop: Cancellation {
  private let flag = CancellationFlag()
  private let holds = Guarded<[@Sendable () -> Void]>([], by: Mutex())

  /// Wakes the request's thread, which then runs `hold`.
  func begin(_ hold: @escaping @Sendable () -> Void) {
    holds.withLock { $0 = [hold] }
    flag.cancel()
  }

  var isCancelled: Bool {
    holds.withLock { $0.popLast() }?()
    return false
  }

  func onCancel(_ hook: @escaping @Sendable () -> Void) -> Int { flag.onCancel(hook) }
  func removeHook(_ ticket: Int) { flag.removeHook(ticket) }
}
