@testable import EnrollPosix
@testable import EnrollStore
import EnrollRules
import EnrollSteps
import Expectations
import Foundation
import Testing

@testable import EnrollHost

/// Tests of the transport with threads, cancellations and fork.
@Suite struct TransportThreadTests {
  @Test("a request that waits for its answer ends as soon as it is cancelled", .timeLimit(.minutes(10)))
  func cancelledWhileWaiting() throws {
    let patient = CurlTransport(
      .init(allowsLoopbackHTTP: true, connectTimeout: .init(600_000), totalTimeout: .init(600_000)))
    let cancellation = CancellationFlag()
    let server = try RawServer {
      $0.readRequest()
      cancellation.cancel()
      $0.waitForClose()
    }
    let error = try #require(throws: EnrollError.self) {
      try patient.send(HTTPRequest(.get, server.url()), cancellation: cancellation)
    }
    expect(error.code, is: .cancelled)
  }

  @Test("a request that is cancelled beforehand is never sent")
  func cancelledBefore() throws {
    let transport = CurlTransport(.init(allowsLoopbackHTTP: true))
    let server = try RawServer { $0.readRequest() }
    let cancellation = CancellationFlag()
    cancellation.cancel()
    let error = try #require(throws: EnrollError.self) {
      try transport.send(HTTPRequest(.get, server.url()), cancellation: cancellation)
    }
    expect(error.code, is: .cancelled)
    expect(server.accepted, is: 0)
  }

  @Test("a request that could have been cancelled and was not is answered, and leaves no hook behind")
  func notCancelled() throws {
    let transport = CurlTransport(.init(allowsLoopbackHTTP: true))
    let server = try RawServer { while $0.readRequest() != nil, $0.answer() {} }
    let cancellation = CountingCancellation()
    for round in 1...3 {
      try expect(transport.send(HTTPRequest(.get, server.url()), cancellation: cancellation).status, is: 200)
      #expect(cancellation.counts.withLock { $0 } == (made: round, removed: round))
    }
    expect(server.accepted, is: 1)
  }

  @Test("sixteen threads at once get their own answers, on no more connections than threads")
  func manyThreads() throws {
    let transport = CurlTransport(.init(allowsLoopbackHTTP: true))
    let server = try RawServer { connection in
      while let request = connection.readRequest(),
        connection.answer(String(decoding: request.body, as: UTF8.self))
      {}
    }
    let wrong = Guarded(0, by: Mutex())
    DispatchQueue.concurrentPerform(iterations: 16) { thread in
      for round in 1...25 {
        let body = Array("\(thread)-\(round)".utf8)
        let response = try? transport.send(
          HTTPRequest(.post, server.url(), body: body, freshConnection: false),
          cancellation: CancellationFlag())
        if response?.body != body { wrong.withLock { $0 += 1 } }
      }
    }
    expect(wrong.withLock { $0 }, is: 0)
    expect(server.requests.count, is: 400)
    #expect(server.accepted <= 16)
  }

  @Test("a forked child is refused, and its parent's connection stays whole")
  func forkedChild() async {
    await #expect(processExitsWith: .success) {
      let server = try RawServer { while $0.readRequest() != nil, $0.answer() {} }
      let request = HTTPRequest(.get, server.url())
      var transport: CurlTransport? = CurlTransport(.init(allowsLoopbackHTTP: true))
      _ = try transport?.send(request, cancellation: nil)
      let child = Fork.call()
      if child == 0 {
        var code: EnrollError.Code?
        do throws(EnrollError) { _ = try transport?.send(request, cancellation: nil) } catch {
          code = error.code
        }
        transport = nil
        _exit(code == .forked ? 0 : 1)
      }
      var status: Int32 = -1
      waitpid(child, &status, 0)
      expect(status, is: 0)
      try expect(transport?.send(request, cancellation: nil).status, is: 200)
      expect(server.accepted, is: 1)
    }
  }

  @Test("where libcurl is not installed, the error names the package and says why")
  func noLibrary() throws {
    let transport = CurlTransport(.init(allowsLoopbackHTTP: true), libraryNames: ["libcurl-that-is-not.so.4"])
    let error = try #require(throws: EnrollError.self) {
      try transport.send(HTTPRequest(.get, "http://127.0.0.1:1/"), cancellation: nil)
    }
    expect(error.code, is: .unsupported)
    #expect(error.message.contains("libcurl4"))
    expect(error.field, is: "transport")
    #expect(error.message.contains("No such file or directory"))
  }

  @Test("a library without curl's functions is refused by name")
  func otherLibrary() throws {
    let error = try #require(throws: EnrollError.self) { try CurlLibrary.open(["libc.so.6"]) }
    expect(error.code, is: .unsupported)
    #expect(error.message.contains("curl_global_init"))
    expect(error.field, is: "transport")
  }

  @Test("libcurl built on GnuTLS does as well")
  func gnutls() throws {
    let transport = CurlTransport(.init(allowsLoopbackHTTP: true), libraryNames: ["libcurl-gnutls.so.4"])
    let server = try RawServer {
      $0.readRequest()
      $0.answer()
    }
    try expect(transport.send(HTTPRequest(.get, server.url()), cancellation: nil).status, is: 200)
  }
}

/// A cancellation that is never cancelled. It counts the hooks that are added and removed.
private final class CountingCancellation: Cancellation {
  let counts = Guarded((made: 0, removed: 0), by: Mutex())
  var isCancelled: Bool { false }

  func onCancel(_ hook: @escaping @Sendable () -> Void) -> Int {
    counts.withLock {
      $0.made += 1
      return $0.made
    }
  }

  func removeHook(_ ticket: Int) { counts.withLock { $0.removed += 1 } }
}

/// Calls fork(2). Swift's import of the C library hides this function for good reasons.
private enum Fork {
  static func call() -> pid_t {
    typealias Function = @convention(c) () -> pid_t
    guard let symbol = dlsym(nil, "fork") else { return -1 }
    return unsafeBitCast(symbol, to: Function.self)()
  }
}
