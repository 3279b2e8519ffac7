@testable import EnrollPosix
import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollTesting
import Expectations
import Foundation
import Testing

/// Tests of how a wait ends if the browser does not send the redirect.
@Suite(.timeLimit(.minutes(10))) struct LoopbackWaitTests {
  private let clock = FakeClock()

  private func listener() throws -> (LoopbackListener, UInt16) {
    let listener = try LoopbackListener(redirectURI: "http://127.0.0.1/cb")
    let port = try #require(URLComponents(string: listener.redirectURI)?.port.flatMap { UInt16(exactly: $0) })
    return (listener, port)
  }

  private func wait(_ listener: LoopbackListener, cancellation: CancellationFlag? = nil) -> EnrollError.Code?
  {
    do throws(EnrollError) {
      try listener.wait(
        deadline: clock.instant().advanced(bySeconds: 600), clock: clock, cancellation: cancellation
      ) { (url: String) throws(EnrollError) -> LoopbackReply in
        if url.hasSuffix("late") { clock.advance(seconds: 600) }
        return url.hasSuffix("good") ? .accepted(.signedIn) : .declined
      }
      return nil
    } catch {
      return error.code
    }
  }

  @Test("the deadline ends the wait and keeps the port, so that the wait can be taken up again")
  func deadline() throws {
    let (listener, port) = try listener()
    Thread.detachNewThread { _ = RawClient.get("/cb?late", port: port) }
    expect(wait(listener), is: .deadlineExceeded)
    Thread.detachNewThread { _ = RawClient.get("/cb?good", port: port) }
    expect(wait(listener), is: nil)
  }

  @Test("a deadline in the past is not waited for")
  func pastDeadline() throws {
    let (listener, _) = try listener()
    let error = #expect(throws: EnrollError.self) {
      try listener.wait(deadline: clock.instant(), clock: clock) { (_: String) throws(EnrollError) in
        .declined
      }
    }
    expect(error?.code, is: .deadlineExceeded)
  }

  @Test("a request that came in part before a cancellation is finished in the next wait")
  func requestAcrossWaits() throws {
    let (listener, port) = try listener()
    let slow = try #require(RawClient(port: port))
    slow.send("GET /cb?go")
    let cancellation = CancellationFlag()
    Thread.detachNewThread {
      _ = RawClient.get("/cb?x", port: port)
      cancellation.cancel()
    }
    expect(wait(listener, cancellation: cancellation), is: .cancelled)
    slow.send("od HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
    expect(wait(listener), is: nil)
    #expect(slow.readAll().hasPrefix("HTTP/1.1 303 See Other"))
  }

  @Test("a browser that comes after seconds of quiet has its answer: its time begins when it comes")
  func afterQuiet() throws {
    let (listener, port) = try listener()
    let clock = self.clock
    Thread.detachNewThread {
      for _ in 1...20 {
        clock.advance(seconds: 6)
        #expect(RawClient.get("/cb?x", port: port).hasPrefix("HTTP/1.1 404"))
      }
      _ = RawClient.get("/cb?good", port: port)
    }
    expect(wait(listener), is: nil)
  }

  @Test("a connection that sends nothing is closed when its seconds are over")
  func idleConnection() throws {
    let (listener, port) = try listener()
    let idle = try #require(RawClient(port: port))
    let clock = self.clock
    Thread.detachNewThread {
      _ = RawClient.get("/cb?x", port: port)
      clock.advance(seconds: 5)
      _ = RawClient.get("/cb?x", port: port)
      // `readAll` returns only once the listener has closed the connection.
      expect(idle.readAll(), is: "")
      _ = RawClient.get("/cb?good", port: port)
    }
    expect(wait(listener), is: nil)
  }

  @Test(
    "what is postponed shows its page, is handed over again when its time has come, and ends the wait then")
  func postponed() throws {
    let (listener, port) = try listener()
    let pages = Guarded([String](), by: Mutex())
    let clock = self.clock
    Thread.detachNewThread {
      for target in ["/cb?state=mine", "/cb"] {
        let page = RawClient.get(target, port: port)
        pages.withLock { $0.append(page) }
      }
      clock.advance(seconds: 5)
      _ = RawClient.get("/favicon.ico", port: port)
    }
    let handed = Guarded([String](), by: Mutex())
    try listener.wait(deadline: clock.instant().advanced(bySeconds: 600), clock: clock) {
      (url: String) throws(EnrollError) -> LoopbackReply in
      let count = handed.withLock {
        $0.append(url)
        return $0.count
      }
      return count == 1 ? .postponed(.postponed(.german), seconds: 5) : .accepted(.signedIn)
    }
    let urls = handed.withLock { $0 }
    #expect(urls.count == 2 && urls.allSatisfy { $0.hasSuffix("/cb?state=mine") })
    for page in pages.withLock({ $0 }) {
      #expect(page.hasPrefix("HTTP/1.1 200 OK"))
      #expect(page.contains("Die Anmeldung ist noch nicht abgeschlossen"))
    }
    expect(pages.withLock { $0.count }, is: 2)
  }

  @Test("a cancellation ends the wait at once, before it or during it")
  func cancelled() throws {
    let (listener, _) = try listener()
    let before = CancellationFlag()
    before.cancel()
    expect(wait(listener, cancellation: before), is: .cancelled)
    let during = CancellationFlag()
    Thread.detachNewThread { during.cancel() }
    expect(wait(listener, cancellation: during), is: .cancelled)
  }

  @Test("close ends a wait on another thread, and closes the port")
  func closedMeanwhile() throws {
    let (listener, port) = try listener()
    Thread.detachNewThread {
      _ = RawClient.get("/cb?x", port: port)
      listener.close()
      listener.close()
    }
    expect(wait(listener), is: .cancelled)
    #expect(RawClient.isFree(port))
    expect(wait(listener), is: .illegalState)
  }

  @Test("the port is closed with the listener")
  func deinitCloses() throws {
    var kept: LoopbackListener? = try LoopbackListener(redirectURI: "http://127.0.0.1/cb")
    let port = try #require(
      URLComponents(string: kept?.redirectURI ?? "")?.port.flatMap { UInt16(exactly: $0) })
    #expect(RawClient(port: port) != nil)
    kept = nil
    #expect(RawClient.isFree(port))
  }

  @Test("only one thread waits at a time")
  func twoWaits() throws {
    let (listener, port) = try listener()
    let second = Guarded(EnrollError.Code?.none, by: Mutex())
    let clock = self.clock
    Thread.detachNewThread { _ = RawClient.get("/cb", port: port) }
    try listener.wait(deadline: clock.instant().advanced(bySeconds: 600), clock: clock) {
      (_: String) throws(EnrollError) -> LoopbackReply in
      let code: EnrollError.Code?
      do throws(EnrollError) {
        try listener.wait(deadline: .distantFuture, clock: clock) { (_: String) throws(EnrollError) in
          .declined
        }
        code = nil
      } catch {
        code = error.code
      }
      second.withLock { $0 = code }
      return .accepted(.signedIn)
    }
    expect(second.withLock { $0 }, is: .illegalState)
  }
}
