// The reasons for which the server itself refuses a request, an answer or a connection: broken HTTP (RFC 9110 §15.5, RFC 9112),
// a limit, or an application that fails.

/// The reason why the server refused a request, an answer or a connection.
public enum Refusal: String, Sendable, CaseIterable {
  case malformed, misdirected, version, method, targetTooLong, headersTooLarge, bodyTooLarge, expectation
  /// A method that no server of this module answers, such as TRACE (RFC 9110 §9.1).
  case unknownMethod
  case headerTimeout, bodyTimeout
  /// All workers are busy and the queue is full.
  case overloaded
  /// The application gave no answer, or an answer that cannot be written.
  case badAnswer
  /// The client does not receive its answer in time.
  case slowReader
  case tooManyConnections, tooManyFromAddress, tooManyPipelined
  /// The process has no free file descriptor: new connections wait until it has one.
  case noDescriptor

  /// The status of the answer; nil if the server sends no answer for this reason.
  public var status: Int? {
    switch self {
    case .malformed: 400
    case .method: 405
    case .headerTimeout, .bodyTimeout: 408
    case .bodyTooLarge: 413
    case .targetTooLong: 414
    case .expectation: 417
    case .misdirected: 421
    case .headersTooLarge: 431
    case .badAnswer: 500
    case .unknownMethod: 501
    case .overloaded: 503
    case .version: 505
    case .slowReader, .tooManyConnections, .tooManyFromAddress, .tooManyPipelined, .noDescriptor: nil
    }
  }

  /// One sentence for the client. It never quotes the request.
  var sentence: String {
    switch self {
    case .malformed: "The request is not well-formed HTTP."
    case .unknownMethod: "The server does not know this method."
    case .method: "The server does not answer this method."
    case .headerTimeout: "The header lines did not come in time."
    case .bodyTimeout: "The body did not come in time."
    case .bodyTooLarge: "The body is too large."
    case .targetTooLong: "The request target is too long."
    case .expectation: "The server meets no expectation but 100-continue."
    case .misdirected: "The server does not answer for this host."
    case .headersTooLarge: "The header lines are too large or too many."
    case .badAnswer: "The server could not write its answer."
    case .overloaded: "The server is busy. Try again in a moment."
    case .version: "The server speaks HTTP/1.0 and HTTP/1.1."
    case .slowReader, .tooManyConnections, .tooManyFromAddress, .tooManyPipelined, .noDescriptor: ""
    }
  }
}
