// Splits bytes into messages. A message over 1 MiB is read to its end and reported once. The next message is read
// normally (R36). If headers state no length, the next message cannot be found, and the stream ends.

import CPosix

/// Splits a stream into messages as it arrives. Keeps at most one message in memory.
struct MessageReader {
  /// The maximum number of bytes of one message (R36).
  static let limit = 1 << 20
  /// The maximum number of bytes of the headers of one message.
  static let headerLimit = 8192

  enum Item {
    case message([UInt8])
    /// A message was longer than ``limit`` and was discarded.
    case tooLong
    /// The rest of the stream cannot be split into messages. The text says what was expected.
    case unframed(String)
  }

  /// A function that gets an item that was read, and the framing of the messages.
  typealias Handler = (Item, Framing) -> Void

  /// The framing of the messages; nil until the first byte.
  private var framing: Framing?
  private var partial: [UInt8] = []
  private var part = Part.head

  /// The part of the stream that the next bytes belong to.
  private enum Part: Equatable {
    /// A line, or headers.
    case head
    /// The rest of a line that is too long, which is skipped.
    case longLine
    /// The body of a message, with the number of bytes that are still missing.
    case body(Int)
    /// The body of a message that is too long, with the number of bytes that still have to be skipped.
    case longBody(Int)
    /// The stream cannot be split any more.
    case failed
  }

  /// Passes each message that `chunk` completes to `handler`.
  mutating func read(_ chunk: UnsafeRawBufferPointer, _ handler: Handler) {
    var rest = chunk[...]
    if framing == nil {
      guard let start = rest.firstIndex(where: { !Self.isSpace($0) }) else { return }
      framing = Framing(first: rest[start])
      // White space before the first message may arrive in any number of pieces.
      rest = rest[start...]
    }
    while !rest.isEmpty {
      switch part {
      case .head, .longLine: readHead(&rest, handler)
      case .body(let left): readBody(&rest, left, handler)
      case .longBody(let left):
        let skipped = min(left, rest.count)
        rest = rest.dropFirst(skipped)
        part = left == skipped ? .head : .longBody(left - skipped)
        if left == skipped { deliver(.tooLong, handler) }
      case .failed: return
      }
    }
  }

  /// Handles the end of the stream. The last line needs no line break.
  mutating func end(_ handler: Handler) {
    switch part {
    case .longLine: deliver(.tooLong, handler)
    case .body, .longBody: deliver(.unframed("the input ended inside a message"), handler)
    case .head:
      if framing == .headers {
        if !partial.isEmpty { deliver(.unframed("the input ended inside headers"), handler) }
      } else {
        finishLine(partial[...], handler)
      }
    case .failed: break
    }
    partial = []
    part = .failed
  }

  private mutating func readHead(_ rest: inout Slice<UnsafeRawBufferPointer>, _ handler: Handler) {
    guard let newline = Self.newline(in: rest) else {
      if part == .head { keep(rest, handler) }
      rest = rest.suffix(0)
      return
    }
    let line = rest[..<newline]
    rest = rest[(newline + 1)...]
    if framing == .headers {
      keep(line, handler)
      partial.append(UInt8(ascii: "\n"))
      if part == .head { finishHeaders(handler) }
    } else if part == .longLine || partial.count + line.count > Self.limit {
      part = .head
      partial = []
      deliver(.tooLong, handler)
    } else if partial.isEmpty {
      finishLine(line, handler)
    } else {
      partial.append(contentsOf: line)
      finishLine(partial[...], handler)
      partial = []
    }
  }

  /// Appends bytes of an unfinished line, or a line of headers, to `partial`. Above the limit all these bytes are
  /// dropped: too long headers end the stream, and a line that is too long is skipped to its end.
  private mutating func keep(_ bytes: Slice<UnsafeRawBufferPointer>, _ handler: Handler) {
    let limit = framing == .headers ? Self.headerLimit : Self.limit
    guard partial.count + bytes.count <= limit else {
      partial = []
      if framing == .headers { return fail("expected at most \(limit) bytes of headers", handler) }
      part = .longLine
      return
    }
    partial.append(contentsOf: bytes)
  }

  private func finishLine(_ line: some RandomAccessCollection<UInt8>, _ handler: Handler) {
    var message = Array(line)
    if message.last == UInt8(ascii: "\r") { message.removeLast() }
    if !message.allSatisfy(Self.isSpace) { deliver(.message(message), handler) }
  }

  /// Ends the headers at an empty line.
  private mutating func finishHeaders(_ handler: Handler) {
    let bytes = partial
    guard bytes.count > 1 else { return partial = [] }
    guard bytes.suffix(2).elementsEqual("\n\n".utf8) || bytes.suffix(3).elementsEqual("\n\r\n".utf8) else {
      return
    }
    partial = []
    switch MessageHeaders.length(in: bytes) {
    case .success(let length):
      part = length > Self.limit ? .longBody(length) : .body(length)
      if length == 0 { finishBody(handler) }
    case .failure(let problem): fail(problem.text, handler)
    }
  }

  private mutating func readBody(
    _ rest: inout Slice<UnsafeRawBufferPointer>, _ left: Int, _ handler: Handler
  ) {
    let taken = rest.prefix(left)
    partial.append(contentsOf: taken)
    rest = rest.dropFirst(taken.count)
    part = .body(left - taken.count)
    if left == taken.count { finishBody(handler) }
  }

  private mutating func finishBody(_ handler: Handler) {
    let message = partial
    partial = []
    part = .head
    deliver(.message(message), handler)
  }

  private mutating func fail(_ text: String, _ handler: Handler) {
    part = .failed
    partial = []
    deliver(.unframed(text), handler)
  }

  /// The index of the next line feed. Uses memchr, which is many times faster than a loop in Swift.
  private static func newline(in bytes: Slice<UnsafeRawBufferPointer>) -> Int? {
    guard let start = bytes.base.baseAddress else { return nil }
    guard let found = memchr(start + bytes.startIndex, Int32(UInt8(ascii: "\n")), bytes.count) else {
      return nil
    }
    return UnsafeRawPointer(found) - start
  }

  private func deliver(_ item: Item, _ handler: Handler) { handler(item, framing ?? .lines) }

  static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
      || byte == UInt8(ascii: "\n")
  }
}
