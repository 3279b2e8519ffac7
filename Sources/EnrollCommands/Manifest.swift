// The command surface as one JSON document: what bindings, documentation and tests read, so that nothing can drift.

public import EnrollCore
import EnrollHost
public import EnrollJSON

public enum Manifest {
  /// Grows when the document's own shape changes.
  static let format: Int64 = 1

  public static var json: JSON {
    .object([
      ("manifest", .integer(format)),
      ("name", .string("EnrollKit")),
      ("version", .string(LibraryVersion.string)),
      ("abi", .integer(Int64(LibraryVersion.abi))),
      ("schemaDialect", .string(Schema.dialect)),
      ("commands", .array(CommandTable.all.map { $0.document })),
      ("events", .array(EventKind.all.map { $0.document })),
      ("requests", .array(HostRequest.all.map { $0.document })),
      ("errors", .array(EnrollError.Code.allCases.map { $0.document })),
      ("error", Schema.error.document(.output)),
    ])
  }
}

extension Command {
  fileprivate var document: JSON {
    .object([
      ("name", .string(name)), ("summary", .string(summary)), ("kind", .string(kind.rawValue)),
      ("client", .bool(usesClient)), ("since", .string(since)), ("input", input.document(.input)),
      ("output", output.document(.output)),
    ])
  }
}

extension EventKind {
  fileprivate var document: JSON {
    let parameters = Schema.object([.required("client", .clientHandle)] + parameters.properties)
    return .object([
      ("name", .string(name)), ("summary", .string(summary)), ("parameters", parameters.document(.output)),
    ])
  }
}

extension HostRequest {
  fileprivate var document: JSON {
    .object([
      ("name", .string(name)), ("summary", .string(summary)), ("since", .string(since)),
      ("input", input.document(.output)), ("output", output.document(.input)),
      ("errors", .array(errors.map { .string($0.name) })),
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

  /// The code in JSON-RPC 2.0: the specification's own for parameters that are not acceptable, else the range that it
  /// leaves to servers, −32000 to −32099, as −32000 plus the C status.
  public var rpcCode: Int64 {
    self == .invalidArgument ? -32_602 : -32_000 + Int64(rawValue)
  }
}
