// Answers (JSON-RPC 2.0 §5). Errors of the protocol have JSON-RPC's codes and messages. Errors of commands have the
// codes of the manifest, and details in `data`.

import EnrollCommands
import EnrollRules
import EnrollJSON

enum Reply {
  static func result(_ result: JSON, to id: MessageID) -> JSON {
    .object([("jsonrpc", .string("2.0")), ("result", result), ("id", id.json)])
  }

  static func failure(_ error: EnrollError, to id: MessageID) -> JSON {
    failure(error.code.rpcCode, error.message, error, id)
  }

  static func parseError(_ detail: String) -> JSON {
    failure(-32_700, "Parse error", EnrollError(.json, detail), nil)
  }

  static func invalidRequest(_ detail: String, to id: MessageID? = nil) -> JSON {
    failure(-32_600, "Invalid Request", EnrollError(.invalidArgument, detail), id)
  }

  static func methodNotFound(to id: MessageID) -> JSON {
    failure(-32_601, "Method not found", EnrollError(.notFound, "no command has this name"), id)
  }

  /// A request of the daemon.
  static func request(_ id: MessageID, _ method: String, _ params: JSON) -> JSON {
    .object([
      ("jsonrpc", .string("2.0")), ("id", id.json), ("method", .string(method)), ("params", params),
    ])
  }

  static func notification(_ method: String, _ params: JSON) -> JSON {
    .object([("jsonrpc", .string("2.0")), ("method", .string(method)), ("params", params)])
  }

  private static func failure(_ code: Int64, _ message: String, _ error: EnrollError, _ id: MessageID?)
    -> JSON
  {
    .object([
      ("jsonrpc", .string("2.0")),
      (
        "error",
        .object([("code", .integer(code)), ("message", .string(message)), ("data", error.json)])
      ),
      ("id", id?.json ?? .null),
    ])
  }
}
