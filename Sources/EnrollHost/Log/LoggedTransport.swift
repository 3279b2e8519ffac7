// Writes each request as a line of the client's log: its method, its URL without secrets, and the result.

import EnrollRules
import EnrollSteps

final class LoggedTransport: Transport {
  private let transport: any Transport
  private let handler: any LogHandler
  private let clock: any Clock

  init(_ transport: any Transport, _ handler: any LogHandler, clock: any Clock) {
    self.transport = transport
    self.handler = handler
    self.clock = clock
  }

  var trust: String { transport.trust }

  func becomeReady(cancellation: any Cancellation) { transport.becomeReady(cancellation: cancellation) }

  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
    let begin = clock.instant()
    do throws(EnrollError) {
      let response = try transport.send(request, cancellation: cancellation)
      let level = response.status < 500 ? LogLevel.debug : .warning
      handler.log(level, "\(shown(request)): \(response.status) after \(elapsed(begin)) ms")
      if let cut = response.cut {
        handler.log(.warning, "\(shown(request)): the answer may not be whole: \(cut.message)")
      }
      return response
    } catch {
      handler.log(
        .warning, "\(shown(request)): \(error.code.name) after \(elapsed(begin)) ms: \(error.message)")
      throw error
    }
  }

  private func elapsed(_ begin: Instant) -> Int64 { clock.instant().since(begin) / 1_000_000 }

  private func shown(_ request: HTTPRequest) -> String {
    "\(request.method.rawValue) \(RedactedURL.text(request.url))"
  }
}
