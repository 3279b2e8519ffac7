// Runs exchanges of the MCP bridge in tests, and keeps their responses.

import EnrollHost
import EnrollPosix
import EnrollRules
import EnrollSteps
import Testing

/// Keeps what arrives of one response.
final class Receiver: ExchangeReceiver {
  var status = 0
  var headers: [HTTPHeader] = []
  var body: [UInt8] = []
  var pieces = 0
  /// The answer to each piece of the body.
  var receipt: (Receiver) -> BodyReceipt = { _ in .taken }
  var endings: [EnrollError?] = []

  /// How much of the body the receiver needs.
  var need = BodyNeed.whole

  func receivedHead(status: Int, headers: [HTTPHeader]) -> BodyNeed {
    (self.status, self.headers) = (status, headers)
    return need
  }

  func receivedBody(_ bytes: UnsafeRawBufferPointer) -> BodyReceipt {
    pieces += 1
    let receipt = receipt(self)
    if receipt == .taken { body += bytes }
    return receipt
  }

  func ended(_ failure: EnrollError?) { endings.append(failure) }

  var text: String { String(decoding: body, as: UTF8.self) }
  var isOver: Bool { !endings.isEmpty }
  var failure: EnrollError? { endings.first ?? nil }
}

extension StreamingExchanges {
  func start(
    _ server: RawServer, _ receiver: Receiver, _ method: HTTPRequest.Method = .post, _ path: String = "/",
    body: [UInt8] = [0x7B, 0x7D]
  ) throws -> StreamedExchange {
    try start(
      method, server.url(path), headers: [HTTPHeader("Content-Type", "application/json")], body: body,
      receiver: receiver)
  }

  /// Runs the exchanges until `isDone` returns true.
  func run(until isDone: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    let end = SystemClock.monotonic() + 30_000_000_000
    while true {
      advance()
      if isDone() { return }
      guard SystemClock.monotonic() < end else {
        Issue.record("it took too long", sourceLocation: sourceLocation)
        return
      }
      wait(for: [], milliseconds: 100)
    }
  }
}
