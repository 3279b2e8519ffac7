// Server-sent events, as far as the Model Context Protocol uses them (HTML Standard, "Server-sent events"): each event
// is a JSON-RPC message. The stream is read piece by piece, and only the message that is being assembled is kept.

import EnrollRules

/// Reads events from the pieces of a response body.
package struct EventStreamParser {
  /// The message of one event. Its lines are separated by line feeds.
  package typealias Emit = (_ message: [UInt8]) -> Void

  private let limit: Int
  private var line: [UInt8] = []
  private var data: [UInt8] = []
  private var hasData = false
  private var isMessage = true
  private var isEndpoint = false
  private var pendingID: [UInt8]?
  private var endedWithCR = false
  private var isAtStart = true

  /// The last `id` that an event had, with which a stream is resumed; nil if the server sent no `id`.
  package private(set) var lastEventID: [UInt8]?
  /// The data of the event `endpoint` (2024-11-05); nil if there was no such event.
  package private(set) var endpoint: [UInt8]?
  /// The value of `retry`, in milliseconds; nil if the server sent no `retry`.
  package private(set) var retryMilliseconds: Int64?

  /// - Parameter limit: the maximum number of bytes of one message.
  package init(limit: Int) { self.limit = limit }

  /// Reads a piece of the body, and passes each complete message to `emit`.
  /// - Returns: false if a message is longer than the limit. Then the stream cannot be read any further.
  package mutating func add(_ bytes: UnsafeRawBufferPointer, _ emit: Emit) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      if endedWithCR, rest.first == UInt8(ascii: "\n") { rest = rest.dropFirst() }
      endedWithCR = false
      let end = rest.firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
      let piece = end.map { rest[..<$0] } ?? rest
      guard line.count + data.count + piece.count <= limit + 16 else { return false }
      line += piece
      guard let end else { break }
      endedWithCR = rest[end] == UInt8(ascii: "\r")
      rest = rest[(end + 1)...]
      endLine(emit)
    }
    return true
  }

  private mutating func endLine(_ emit: Emit) {
    if isAtStart {
      isAtStart = false
      if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
    }
    guard !line.isEmpty else { return dispatch(emit) }
    defer { line = [] }
    let nameEnd = line.prefix(16).firstIndex(of: UInt8(ascii: ":"))
    if nameEnd == 0 { return }
    let name = line[..<(nameEnd ?? min(line.count, 16))]
    if name.elementsEqual("data".utf8) {
      takeData(after: nameEnd)
      return
    }
    var value = nameEnd.map { line[($0 + 1)...] } ?? []
    if value.first == 0x20 { value = value.dropFirst() }
    if name.elementsEqual("event".utf8) {
      isMessage = value.isEmpty || value.elementsEqual("message".utf8)
      isEndpoint = value.elementsEqual("endpoint".utf8)
    } else if name.elementsEqual("id".utf8) {
      if !value.contains(0), value.count <= 1024 { pendingID = Array(value) }
    } else if name.elementsEqual("retry".utf8), !value.isEmpty, value.count <= 9,
      value.allSatisfy({ ASCII.isDigit($0) })
    {
      retryMilliseconds = value.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }
  }

  /// Moves the line into the message. A long line is not copied.
  private mutating func takeData(after nameEnd: Int?) {
    var dropped = nameEnd.map { $0 + 1 } ?? line.count
    if dropped < line.count, line[dropped] == 0x20 { dropped += 1 }
    if hasData {
      data.append(0x0A)
      data += line[dropped...]
    } else {
      line.removeFirst(dropped)
      swap(&data, &line)
    }
    hasData = true
  }

  private mutating func dispatch(_ emit: Emit) {
    if let pendingID { lastEventID = pendingID.isEmpty ? nil : pendingID }
    let message = data
    let isWanted = isMessage && hasData && !message.isEmpty
    if isEndpoint, endpoint == nil { endpoint = message }
    (data, hasData, isMessage, isEndpoint, pendingID) = ([], false, true, false, nil)
    if isWanted { emit(message) }
  }
}

/// Converts JSON to one line of output.
package enum OneLine {
  /// Replaces line ends by spaces. The text must have been read as JSON before: then its line ends are white space
  /// between the parts of the JSON, because a JSON string cannot contain a line end.
  package static func made(of body: inout [UInt8]) {
    for index in body.indices where body[index] == UInt8(ascii: "\n") || body[index] == UInt8(ascii: "\r") {
      body[index] = 0x20
    }
  }
}
