import EnrollPosix
import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollTesting
import Expectations
import Foundation
import Testing

/// Tests of the question that the browser shows before a sign-in at a resource.
@Suite(.timeLimit(.minutes(5))) struct ConsentPageTests {
  @Test("a user who thinks for a while before each click is answered")
  func slowUser() throws {
    let clock = FakeClock()
    let page = try ConsentPage(
      ConsentQuestion(name: "Notes", resource: "https://n.example", issuer: "https://i.example"))
    let url = try #require(URLComponents(string: page.address))
    let port = try #require(url.port.flatMap { UInt16(exactly: $0) })
    let cancellation = CancellationFlag()
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      _ = try? page.answer(until: .distantFuture, clock: clock, cancellation: cancellation)
      done.signal()
    }
    // The step is repeated, because the thread is usually, but not always, inside the wait when the clock moves on.
    for _ in 0..<20 {
      #expect(RawClient.get(url.path, port: port).hasPrefix("HTTP/1.1 200"))
      clock.advance(seconds: 6)
    }
    cancellation.cancel()
    done.wait()
    page.close()
  }
}
