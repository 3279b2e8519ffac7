// The interface that sends requests. Rules build requests and read responses; only Transport does IO.

public import EnrollRules

/// Sends one request and waits for the whole response.
public protocol Transport: AnyObject, Sendable {
  /// Identifies the trust settings: which servers are trusted. A provider's document that was fetched with one value of
  /// `trust` is not used with another value.
  var trust: String { get }

  /// Waits until the next request can be sent at once, or until `cancellation` is cancelled. This is called before a
  /// request whose response must be awaited (``HTTPRequest/mustAwaitResponse``).
  func becomeReady(cancellation: any Cancellation)

  /// Sends a request and waits for the response.
  /// - Throws: `.network` (not reached, connection lost), `.tls` (final: R19), `.timeout`, `.responseInvalid` (over
  ///   the limit, not HTTP), `.cancelled`. A response of any status is a response, not an error. If the body of a
  ///   response to a request with ``HTTPRequest/takesCutAnswer`` is incomplete, the response is returned as
  ///   ``HTTPResponse/cut`` instead.
  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse
}

extension Transport {
  /// The default for a host's own transport, which decides by itself which servers it trusts.
  public var trust: String { "host" }

  /// The default for a transport that needs no preparation: it returns at once.
  public func becomeReady(cancellation: any Cancellation) {}
}
