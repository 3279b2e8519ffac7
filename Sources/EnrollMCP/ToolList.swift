// The answer to `tools/list`: the only message that a bridge changes. The bridge removes the tools that the user
// hides, and the tools that the protocol of 2026-07-28 forbids to show. All other bytes stay the same.

import EnrollRules

/// One answer to `tools/list`, or a batch with such an answer.
package struct ToolList {
  /// A tool that is not shown because its schema has a mark that is not allowed (``MirroredArgument``).
  package struct Fault: Equatable {
    package let tool: String
    package let reason: String
  }

  /// The tools of the list, with their mirrored arguments.
  package private(set) var tools: [(name: String, mirrored: [MirroredArgument])] = []
  package private(set) var faults: [Fault] = []
  /// The bytes of `nextCursor`, with its quotation marks; nil on the last page.
  package private(set) var nextCursor: [UInt8]?
  private let bytes: [UInt8]
  private let checksMarks: Bool
  private let isHidden: (String) -> Bool
  private var removed: [Range<Int>] = []

  /// - Parameters:
  ///   - line: the answer.
  ///   - ids: the ids of the `tools/list` requests that the line may answer.
  ///   - checksMarks: whether the protocol has marks for arguments (2026-07-28).
  ///   - isHidden: whether the user hides the tool of this name.
  package init(
    _ line: [UInt8], answering ids: [MessageID], checksMarks: Bool, isHidden: @escaping (String) -> Bool
  ) {
    bytes = line
    self.checksMarks = checksMarks
    self.isHidden = isHidden
    var cursor = JSONCursor(line)
    cursor.skipSpace()
    if cursor.next == UInt8(ascii: "[") {
      _ = cursor.array { readAnswer(&$0, ids) }
    } else {
      _ = readAnswer(&cursor, ids)
    }
  }

  /// The answer without the tools that are left out.
  package var line: [UInt8] {
    guard !removed.isEmpty else { return bytes }
    var kept: [UInt8] = []
    kept.reserveCapacity(bytes.count)
    var end = 0
    for range in removed.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      kept += bytes[end..<range.lowerBound]
      end = range.upperBound
    }
    return kept + bytes[end...]
  }

  private mutating func readAnswer(_ cursor: inout JSONCursor, _ ids: [MessageID]) -> Bool {
    var id: Range<Int>?
    var result: Range<Int>?
    let isObject = cursor.object { name, cursor in
      let range = cursor.value()
      if name == "id" { id = range }
      if name == "result" { result = range }
      return range != nil
    }
    guard isObject else { return false }
    if let id, let result, ids.contains(MessageID(Array(bytes[id]))) { readResult(result) }
    return true
  }

  private mutating func readResult(_ range: Range<Int>) {
    var cursor = JSONCursor(bytes, at: range.lowerBound)
    var list: Range<Int>?
    _ = cursor.members { name, cursor in
      let range = cursor.value()
      if name == "tools" { list = range }
      if name == "nextCursor" {
        nextCursor = range.flatMap { Self.isText(bytes[$0]) ? Array(bytes[$0]) : nil }
      }
      return range != nil
    }
    if let list { readTools(list) }
  }

  private static func isText(_ value: ArraySlice<UInt8>) -> Bool { value.first == UInt8(ascii: "\"") }

  private mutating func readTools(_ range: Range<Int>) {
    var cursor = JSONCursor(bytes, at: range.lowerBound)
    guard cursor.next == UInt8(ascii: "[") else { return }
    var places: [(range: Range<Int>, isShown: Bool)] = []
    _ = cursor.array { cursor in
      cursor.skipSpace()
      let start = cursor.index
      guard let isShown = readTool(&cursor) else { return false }
      places.append((start..<cursor.index, isShown))
      return true
    }
    var hasShown = false
    for (index, place) in places.enumerated() {
      hasShown = hasShown || place.isShown
      guard !place.isShown else { continue }
      // The tool is removed with the comma before it, or, at the beginning of the list, with the comma after it.
      if hasShown {
        removed.append(places[index - 1].range.upperBound..<place.range.upperBound)
      } else {
        let end = index + 1 < places.count ? places[index + 1].range.lowerBound : place.range.upperBound
        removed.append(place.range.lowerBound..<end)
      }
    }
  }

  /// Reads one tool of the list.
  /// - Returns: whether the tool is shown; nil if the text is not JSON.
  private mutating func readTool(_ cursor: inout JSONCursor) -> Bool? {
    guard cursor.next == UInt8(ascii: "{") else { return cursor.value() == nil ? nil : true }
    var name: String?
    var schema: Range<Int>?
    let isObject = cursor.object { member, cursor in
      let range = cursor.value()
      if member == "name" { name = range.flatMap { JSONCursor.decoded(bytes[$0]) } }
      if member == "inputSchema" { schema = range }
      return range != nil
    }
    guard isObject else { return nil }
    guard let name else { return true }
    var marks = MirroredArguments(bytes)
    if checksMarks, let schema {
      var cursor = JSONCursor(bytes, at: schema.lowerBound)
      _ = marks.read(&cursor)
    }
    if let reason = marks.fault {
      faults.append(Fault(tool: name, reason: reason))
      return false
    }
    tools.append((name, marks.all))
    return !isHidden(name)
  }

  // MARK: The bridge's own request

  /// A `tools/list` request that has the protocol version, the client and the capabilities of a given call.
  /// - Parameters:
  ///   - id: the bytes of the new request's id.
  ///   - call: the bytes of the `tools/call`.
  ///   - page: the bytes of the page's cursor; nil for the first page.
  package static func request(id: [UInt8], after call: [UInt8], page: [UInt8]?) -> [UInt8] {
    var meta: [UInt8] = []
    var cursor = JSONCursor(call)
    _ = cursor.object { name, cursor in
      guard name == "params" else { return cursor.value() != nil }
      return cursor.members { name, cursor in
        guard name == "_meta" else { return cursor.value() != nil }
        meta = []
        return cursor.members { name, cursor in
          guard let value = cursor.value() else { return false }
          guard kept.contains(name) else { return true }
          if !meta.isEmpty { meta.append(UInt8(ascii: ",")) }
          meta += Array("\"\(name)\":".utf8) + call[value]
          return true
        }
      }
    }
    let paging = page.map { Array(#","cursor":"#.utf8) + $0 } ?? []
    return Array(#"{"jsonrpc":"2.0","id":"#.utf8) + id
      + Array(#","method":"tools/list","params":{"_meta":{"#.utf8) + meta + [UInt8(ascii: "}")] + paging
      + Array("}}".utf8)
  }

  /// The members of `_meta` that every request of 2026-07-28 has. A progress token is not among them: it belongs only
  /// to the call.
  private static let kept = [
    Message.versionKey, "io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/clientCapabilities",
  ]
}

/// The mirrored arguments of the tools that a server has listed.
package struct KnownTools {
  private static let most = 10_000
  private var mirrored: [String: [MirroredArgument]] = [:]

  package init() {}

  package subscript(name: String) -> [MirroredArgument] { mirrored[name] ?? [] }

  package mutating func learn(_ list: ToolList) {
    for (name, arguments) in list.tools {
      guard !arguments.isEmpty else {
        mirrored[name] = nil
        continue
      }
      if mirrored.count < Self.most || mirrored[name] != nil { mirrored[name] = arguments }
    }
    for fault in list.faults { mirrored[fault.tool] = nil }
  }
}
