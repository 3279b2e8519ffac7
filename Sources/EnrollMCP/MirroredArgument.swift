// Tool arguments that are repeated in headers (Model Context Protocol 2026-07-28, "Custom Headers from Tool
// Parameters"). The server marks these arguments in the tool's `inputSchema`. A host sends no headers on stdio, so
// the bridge adds them.

package import EnrollRules

/// An argument that is repeated in a header `Mcp-Param-NAME`.
package struct MirroredArgument: Equatable, Sendable {
  /// The name of the header, without `Mcp-Param-`.
  package let header: String
  /// The names of the members that lead from `arguments` to the value.
  package let path: [String]

  /// The member of a schema that marks an argument.
  static let mark = "x-mcp-header"
  private static let longestHeader = 128

  init(header: String, path: [String]) {
    self.header = header
    self.path = path
  }

  /// Whether a header can have this name.
  static func isName(_ name: String) -> Bool {
    (1...longestHeader).contains(name.utf8.count) && name.utf8.allSatisfy { MessageHeaders.isTokenByte($0) }
  }

  /// The headers for a call.
  /// - Parameter body: the bytes of a `tools/call`.
  package static func headers(_ arguments: [MirroredArgument], of body: [UInt8]) -> [HTTPHeader] {
    guard !arguments.isEmpty else { return [] }
    var values = [String?](repeating: nil, count: arguments.count)
    var cursor = JSONCursor(body)
    _ = cursor.object { name, cursor in
      guard name == "params" else { return cursor.value() != nil }
      return cursor.members { name, cursor in
        guard name == "arguments" else { return cursor.value() != nil }
        // If `arguments` occurs twice, the last occurrence counts, as for the server.
        values = [String?](repeating: nil, count: arguments.count)
        return read(&cursor, body, arguments, level: 0, wanted: Array(arguments.indices), &values)
      }
    }
    return arguments.indices.compactMap { index in
      values[index].map { HTTPHeader("Mcp-Param-" + arguments[index].header, $0) }
    }
  }

  private static func read(
    _ cursor: inout JSONCursor, _ body: [UInt8], _ arguments: [MirroredArgument], level: Int, wanted: [Int],
    _ values: inout [String?]
  ) -> Bool {
    cursor.members { name, cursor in
      let here = wanted.filter { arguments[$0].path[level] == name }
      for index in here { values[index] = nil }
      let deeper = here.filter { arguments[$0].path.count > level + 1 }
      guard deeper.isEmpty else {
        return read(&cursor, body, arguments, level: level + 1, wanted: deeper, &values)
      }
      guard let range = cursor.value() else { return false }
      for index in here { values[index] = text(of: body[range]) }
      return true
    }
  }

  /// The header's value for a JSON value; nil for `null`, for an object or array, and for text that is not Unicode.
  private static func text(of value: ArraySlice<UInt8>) -> String? {
    switch value.first {
    case UInt8(ascii: "\""): return JSONCursor.decoded(value).map { MessageHeaders.encoded($0) }
    case nil, UInt8(ascii: "n"), UInt8(ascii: "{"), UInt8(ascii: "["): return nil
    default:
      var digits = value
      // An integer may be written as 42.0.
      if let point = digits.firstIndex(of: UInt8(ascii: ".")),
        digits[(point + 1)...].allSatisfy({ $0 == UInt8(ascii: "0") })
      {
        digits = digits[..<point]
      }
      return String(validating: digits, as: UTF8.self)
    }
  }
}

/// Reads the marks in the schema of a tool.
struct MirroredArguments {
  private static let oneSchema = [
    "items", "additionalItems", "contains", "additionalProperties", "unevaluatedItems",
    "unevaluatedProperties", "propertyNames", "prefixItems", "oneOf", "anyOf", "allOf", "not", "if", "then",
    "else", "contentSchema",
  ]
  private static let namedSchemas = ["$defs", "definitions", "patternProperties", "dependentSchemas"]

  private static let deepestSchema = 64

  private let bytes: [UInt8]
  private(set) var all: [MirroredArgument] = []
  /// Why a mark in the schema is not allowed; nil if all marks are allowed.
  private(set) var fault: String?

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads one schema.
  /// - Parameters:
  ///   - path: the names of the properties that lead to the schema.
  ///   - isReachable: whether the way to the schema leads only through `properties`. Marks are not allowed in other
  ///     schemas.
  ///   - depth: the number of schemas that enclose this one.
  /// - Returns: false if the text is not JSON.
  mutating func read(
    _ cursor: inout JSONCursor, path: [String] = [], isReachable: Bool = true, depth: Int = 0
  ) -> Bool {
    guard depth < Self.deepestSchema else {
      refuse("the inputSchema has more than \(Self.deepestSchema) schemas in each other")
      return cursor.value() != nil
    }
    var mark: Range<Int>?
    var type: Range<Int>?
    let isRead = cursor.members { name, cursor in
      switch name {
      case MirroredArgument.mark:
        mark = cursor.value()
        return mark != nil
      case "type":
        type = cursor.value()
        return type != nil
      case "properties":
        return cursor.members {
          read(&$1, path: path + [$0], isReachable: isReachable, depth: depth + 1)
        }
      case _ where Self.oneSchema.contains(name): return unreachable(&cursor, depth: depth + 1)
      case _ where Self.namedSchemas.contains(name):
        return cursor.members { read(&$1, isReachable: false, depth: depth + 1) }
      default: return cursor.value() != nil
      }
    }
    guard isRead else { return false }
    if let mark { take(mark, type: type, path: path, isReachable: isReachable) }
    return true
  }

  /// Reads a schema, or an array of schemas, in which no mark is allowed.
  private mutating func unreachable(_ cursor: inout JSONCursor, depth: Int) -> Bool {
    cursor.skipSpace()
    guard cursor.next == UInt8(ascii: "[") else { return read(&cursor, isReachable: false, depth: depth) }
    return cursor.array { read(&$0, isReachable: false, depth: depth) }
  }

  private mutating func take(_ mark: Range<Int>, type: Range<Int>?, path: [String], isReachable: Bool) {
    guard isReachable, !path.isEmpty else {
      return refuse("\(MirroredArgument.mark) is in a place that properties alone do not lead to")
    }
    guard let name = JSONCursor.decoded(bytes[mark]), MirroredArgument.isName(name) else {
      return refuse("\(MirroredArgument.mark) is not the name of a header")
    }
    let kind = type.flatMap { JSONCursor.decoded(bytes[$0]) } ?? ""
    guard ["string", "integer", "boolean"].contains(kind) else {
      return refuse("\(MirroredArgument.mark) is at an argument that is no string, integer or boolean")
    }
    guard !all.contains(where: { ASCII.equalsIgnoringCase($0.header, name) }) else {
      return refuse("two arguments have the same \(MirroredArgument.mark)")
    }
    all.append(MirroredArgument(header: name, path: path))
  }

  private mutating func refuse(_ reason: String) { fault = fault ?? reason }
}
