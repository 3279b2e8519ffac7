// Answers as every rule reads them: without a byte order mark (RFC 8259 §8.1 lets a reader ignore one), with the time and the
// secrets that their requests carried, and whole. Of a cut answer only one that brings what comes once is handed on (R30).

import EnrollJSON

/// The transport of an engine.
final class ReadingTransport: Transport {
  private let transport: any Transport
  private let clock: any Clock

  init(_ transport: any Transport, _ clock: any Clock) {
    self.transport = transport
    self.clock = clock
  }

  var trust: String { transport.trust }

  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
    var response = try transport.send(request, cancellation: cancellation)
    response.sent = SentSecrets(of: request)
    response.received = clock.wallTime()
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    if response.body.count > mark.count, response.body.starts(with: mark) {
      response.body.removeFirst(mark.count)
    }
    if let cut = response.cut, !(request.takesCutAnswer && response.isOfUse) { throw cut }
    return response
  }
}

extension HTTPResponse {
  /// Whether a cut answer is a success that still has a whole object, or a whole token.
  fileprivate var isOfUse: Bool {
    guard (200..<300).contains(status) else { return false }
    let members = TokenResponse.members(of: self, undoubted: "refresh_token").0
    return !members.isNull
      || ["refresh_token", "access_token"].contains { TokenResponse.tokenBeforeCut($0, in: self) != nil }
  }
}
