// The errors with which the bridge itself answers a host. Models and people read `message`, which says what happened
// and what to do. Programs read `data.enrollkit`.

import EnrollJSON

/// An error with which the bridge answers a request in place of the server.
package struct ErrorAnswer: Equatable, Sendable {
  /// Why the bridge answers, and not the server.
  package enum Reason: String, Equatable, Sendable {
    case signInRequired, signedOut, moreScopes, unreachable, refused, tooLarge, storeLocked, storeRefused

    fileprivate var code: Int64 {
      switch self {
      case .signInRequired, .signedOut: -32010
      case .moreScopes: -32011
      case .unreachable: -32012
      case .refused: -32013
      case .tooLarge: -32014
      case .storeLocked, .storeRefused: -32015
      }
    }
  }

  /// Why the bridge answers; nil for an error that JSON-RPC itself defines.
  package let reason: Reason?
  private let code: Int64
  package let message: String
  /// A command that solves the problem.
  package var command: String?
  /// The number of seconds after which the same request may succeed.
  package var retryAfter: Int64?

  package init(_ reason: Reason, _ message: String, command: String? = nil, retryAfter: Int64? = nil) {
    self.reason = reason
    code = reason.code
    self.message = message
    self.command = command
    self.retryAfter = retryAfter
  }

  private init(code: Int64, _ message: String) {
    reason = nil
    self.code = code
    self.message = message
  }

  package static let notJSON = ErrorAnswer(code: -32700, "a line is no JSON-RPC message")
  package static func invalid(_ message: String) -> ErrorAnswer { ErrorAnswer(code: -32600, message) }

  /// The error for a call of a tool that the user hides.
  /// - Parameter name: the tool's name, made safe to print.
  package static func hiddenTool(_ name: String) -> ErrorAnswer {
    ErrorAnswer(code: -32602, "The tool \(name) is hidden: the bridge was started with --hide-tool.")
  }

  /// The line for the host, without a line end.
  /// - Parameter id: the bytes of the request's `id`; nil if the `id` could not be read.
  package func line(id: [UInt8]?) -> [UInt8] {
    let known = JSON.object([
      ("reason", reason.map { .string($0.rawValue) }), ("command", command.map { .string($0) }),
      ("retryAfter", retryAfter.map { .integer($0) }),
    ])
    let error = JSON.object([
      ("code", .integer(code)), ("message", .string(message)),
      ("data", reason == nil ? nil : .object([("enrollkit", known)])),
    ])
    return Self.line(id: id, error: error.serialized())
  }

  /// A line for the host, with an error that the server sent.
  package static func line(id: [UInt8]?, error: [UInt8]) -> [UInt8] {
    Array(#"{"jsonrpc":"2.0","id":"#.utf8) + (id ?? Array("null".utf8)) + Array(#","error":"#.utf8) + error
      + Array("}".utf8)
  }
}
