// The application behind the server under test: it keeps the requests that reached it, and gives the test's
// answers.

import EnrollSteps
import EnrollHTTP
import EnrollPosix
import Foundation

/// Answers with the path, and keeps every request.
final class TestApplication: WebApplication {
  private let requests = Guarded<[WebRequest]>([], by: Mutex())
  private let laneOf: @Sendable (WebRequest) -> Lane
  private let body: @Sendable (WebRequest) -> WebResponse

  init(
    lane: @escaping @Sendable (WebRequest) -> Lane, _ body: @escaping @Sendable (WebRequest) -> WebResponse
  ) {
    laneOf = lane
    self.body = body
  }

  /// Answers on the event loop.
  convenience init(
    _ body: @escaping @Sendable (WebRequest) -> WebResponse = {
      WebResponse(200, body: Array($0.path.utf8))
    }
  ) {
    self.init(lane: { _ in .here }, body)
  }

  var seen: [WebRequest] { requests.withLock { $0 } }
  func forget() { requests.withLock { $0 = [] } }

  func lane(for request: inout WebRequest) -> Lane { laneOf(request) }

  func answer(_ request: WebRequest) -> WebResponse {
    requests.withLock { $0.append(request) }
    return body(request)
  }
}

/// Starts a server for `http://gateway.test`, runs `body`, and stops it.
func withServer(
  _ application: TestApplication = TestApplication(), _ change: (inout ServerSettings) -> Void = { _ in },
  _ body: (HTTPServer) throws -> Void
) throws {
  var options = ServerSettings(publicOrigin: "http://gateway.test")
  options.eventLoops = 1
  change(&options)
  let server = try HTTPServer.start(options, application)
  defer { server.stop(withinSeconds: 5) }
  try body(server)
}

/// Checks `condition` again and again until it holds; false if it still does not hold after a long time.
func eventually(_ condition: () -> Bool) -> Bool {
  for _ in 0..<20_000 {
    if condition() { return true }
    poll(nil, 0, 1)
  }
  return false
}
