// HTTP as the host does it: its code finds its own signal mask, also on a thread of the library's.

import EnrollCore
import EnrollPosix

/// A transport of the host's.
final class HostedTransport: Transport {
  private let transport: any Transport
  private let host = HostThread()

  init(_ transport: any Transport) { self.transport = transport }

  var trust: String { transport.trust }

  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
    try host.run { () throws(EnrollError) in try transport.send(request, cancellation: cancellation) }
  }
}
