// The lines that a host sends: each line is one message. A line above the limit is not kept in memory. The `id` in such
// a line is still read, so that the host gets an error for its request.

/// Splits the input of a bridge into lines.
package struct HostLines {
  package enum Line: Equatable {
    case whole([UInt8])
    /// A line above the limit.
    /// - Parameter id: the bytes of the line's `id`; nil if the line has no `id`.
    case tooLong(id: [UInt8]?)
  }

  private let limit: Int
  private var line: [UInt8] = []
  /// Finds the `id` of the current line; nil unless the line is above the limit.
  private var finder: IDFinder?

  package init(limit: Int) { self.limit = limit }

  /// The number of bytes of a line that has not ended.
  package var pendingCount: Int { line.count }

  /// Adds bytes of the input.
  /// - Parameter emit: gets each line that ends in these bytes, except empty lines.
  package mutating func add(_ bytes: some Collection<UInt8>, _ emit: (Line) -> Void) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let end = rest.firstIndex(of: UInt8(ascii: "\n"))
      let piece = end.map { rest[..<$0] } ?? rest
      if finder != nil {
        for byte in piece { finder?.add(byte) }
      } else if line.count + piece.count > limit {
        var finder = IDFinder()
        for byte in line { finder.add(byte) }
        for byte in piece { finder.add(byte) }
        self.finder = finder
        line = []
      } else {
        line += piece
      }
      guard let end else { return }
      finish(emit)
      rest = rest[rest.index(after: end)...]
    }
  }

  /// Ends the last line, even if it has no line end.
  package mutating func finish(_ emit: (Line) -> Void) {
    if let finder {
      self.finder = nil
      return emit(.tooLong(id: finder.id))
    }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    let isBlank = line.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
    let whole = line
    line = []
    if !isBlank { emit(.whole(whole)) }
  }
}

/// Finds the `id` of a message byte by byte, without keeping the message.
package struct IDFinder {
  private enum Part { case before, name, afterName, value }

  /// The longest `id` that is kept.
  private static let longestID = 1024

  private var depth = 0
  private var isInText = false
  private var isEscaped = false
  private var part = Part.before
  private var name: [UInt8] = []
  private var value: [UInt8] = []
  /// The bytes of `id`; nil if no `id` was found.
  package private(set) var id: [UInt8]?
  /// Whether the message has a `method`; an answer has no `method`.
  private var hasMethod = false

  package init() {}

  /// The `id` of a request that cannot be read as a whole, for example because its values are nested too deeply.
  /// - Returns: nil for an answer, a notification, and text that is not JSON.
  package static func requestID(in bytes: [UInt8]) -> [UInt8]? {
    var finder = IDFinder()
    for byte in bytes { finder.add(byte) }
    guard finder.hasMethod, finder.depth == 0, let id = finder.id,
      case .single(let message)? = Message.content(of: Array("{\"id\":".utf8) + id + [UInt8(ascii: "}")])
    else { return nil }
    return message.id?.bytes
  }

  package mutating func add(_ byte: UInt8) {
    if isInText {
      keep(byte)
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isInText = false
        if depth == 1, part == .name { part = .afterName }
      }
      return
    }
    switch byte {
    case UInt8(ascii: "\""):
      isInText = true
      if depth == 1, part == .before {
        part = .name
        name = []
      }
      keep(byte)
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      depth += 1
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      if depth == 1 { endValue() }
      depth -= 1
    case UInt8(ascii: ":") where depth == 1 && part == .afterName:
      part = .value
      value = []
    case UInt8(ascii: ",") where depth == 1: endValue()
    case 0x20, 0x09, 0x0D, 0x0A: break
    default: keep(byte)
    }
  }

  private mutating func keep(_ byte: UInt8) {
    guard depth == 1 else { return }
    if part == .name, name.count < 8 { name.append(byte) }
    if part == .value, value.count <= Self.longestID { value.append(byte) }
  }

  private mutating func endValue() {
    if part == .value, name.elementsEqual("\"method\"".utf8) { hasMethod = true }
    if part == .value, name.elementsEqual("\"id\"".utf8), !value.isEmpty, value.count <= Self.longestID,
      !value.elementsEqual("null".utf8)
    {
      id = value
    }
    part = .before
  }
}
