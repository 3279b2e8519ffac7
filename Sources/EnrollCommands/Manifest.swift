// The command surface as one JSON document. Bindings, documentation and tests are made from the document, so that they
// all agree.

public import EnrollRules
import EnrollHost
public import EnrollJSON

public enum Manifest {
  /// The version of the document's structure. It is increased when the structure changes.
  static let format: Int64 = 2

  public static var json: JSON {
    var types = JSONObject()
    var commands: [JSON] = []
    var events: [JSON] = []
    var requests: [JSON] = []
    for command in CommandTable.all { commands.append(command.document(&types)) }
    for event in EventKind.all { events.append(event.document(&types)) }
    for request in HostRequest.all { requests.append(request.document(&types)) }
    let error = Schema.error.document(.output, &types)
    return .object([
      ("manifest", .integer(format)),
      ("name", .string("EnrollKit")),
      ("version", .string(LibraryVersion.string)),
      ("abi", .integer(Int64(LibraryVersion.abi))),
      ("schemaDialect", .string(Schema.dialect)),
      ("commands", .array(commands)),
      ("events", .array(events)),
      ("requests", .array(requests)),
      ("errors", .array(EnrollError.Code.allCases.map { $0.document })),
      (
        "commonErrors",
        .object([("every", names(CommandErrors.every)), ("client", names(CommandErrors.client))])
      ),
      ("error", error),
      ("$defs", .object(types)),
    ])
  }

  fileprivate static func names(_ errors: [EnrollError.Code]) -> JSON {
    .array(errors.map { .string($0.name) })
  }
}

extension Command {
  fileprivate func document(_ types: inout JSONObject) -> JSON {
    .object([
      ("name", .string(name)), ("method", .string(method)), ("summary", .string(summary)),
      ("kind", .string(kind.rawValue)), ("client", .bool(usesClient)), ("since", .string(since)),
      ("input", input.document(.input, &types)), ("output", output.document(.output, &types)),
      ("errors", Manifest.names(errors.codes)), ("source", source.map { .string($0) }),
    ])
  }
}

extension EventKind {
  fileprivate func document(_ types: inout JSONObject) -> JSON {
    let parameters = Schema.object([.required("client", .clientHandle)] + parameters.properties)
    return .object([
      ("name", .string(name)), ("summary", .string(summary)),
      ("parameters", parameters.document(.output, &types)),
    ])
  }
}

extension HostRequest {
  fileprivate func document(_ types: inout JSONObject) -> JSON {
    .object([
      ("name", .string(name)), ("summary", .string(summary)), ("since", .string(since)),
      ("input", input.document(.output, &types)), ("output", output.document(.input, &types)),
      ("errors", Manifest.names(errors)),
    ])
  }
}

extension EnrollError.Code {
  fileprivate var document: JSON {
    let error = EnrollError(self, "")
    return .object([
      ("status", .string(name)), ("code", .integer(Int64(rawValue))), ("rpcCode", .integer(rpcCode)),
      ("blame", .string(error.blame.rawValue)), ("retryable", .bool(error.isRetryable)),
      ("summary", .string(summary)),
    ])
  }

  /// The code in JSON-RPC 2.0. For invalid parameters it is the specification's own code. For every other error it is
  /// −32000 plus the C status, which is in the range for servers, −32000 to −32099.
  public var rpcCode: Int64 {
    self == .invalidArgument ? -32_602 : -32_000 + Int64(rawValue)
  }
}
