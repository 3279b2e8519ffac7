// Bytes to messages. A message over 1 MiB is drained and reported once, and the next one works (R36). Headers that say no
// length leave no way to find the next message: that ends the stream.

import CPosix

/// Takes a stream apart as it arrives. Holds at most one message.
struct MessageReader {
  /// Bytes of one message (R36).
  static let limit = 1 << 20
  /// Bytes of the headers of one message.
  static let headerLimit = 8192

  enum Item {
    case message([UInt8])
    /// It was longer than ``limit``, and is gone.
    case tooLong
    /// Nothing after this can be understood. The text says what was expected.
    case unframed(String)
  }

  /// The item that was read, and the framing of the messages.
  typealias Take = (Item, Framing) -> Void

  /// nil until the first byte.
  private var framing: Framing?
  private var partial: [UInt8] = []
  private var part = Part.head

  /// The part that the next bytes belong to.
  private enum Part: Equatable {
    /// A line, or headers.
    case head
    /// The rest of a line that is too long.
    case longLine
    /// A message of that many bytes more.
    case body(Int)
    /// A message that is too long, with that many bytes more.
    case longBody(Int)
    /// Past all understanding.
    case lost
  }

  /// Gives each message that `chunk` completes to `take`.
  mutating func read(_ chunk: UnsafeRawBufferPointer, _ take: Take) {
    var rest = chunk[...]
    if framing == nil {
      guard let start = rest.firstIndex(where: { !Self.isSpace($0) }) else { return }
      framing = Framing(first: rest[start])
      // Bytes before it belong to no message, in however many pieces they arrive.
      rest = rest[start...]
    }
    while !rest.isEmpty {
      switch part {
      case .head, .longLine: readHead(&rest, take)
      case .body(let left): readBody(&rest, left, take)
      case .longBody(let left):
        let skipped = min(left, rest.count)
        rest = rest.dropFirst(skipped)
        part = left == skipped ? .head : .longBody(left - skipped)
        if left == skipped { tell(.tooLong, take) }
      case .lost: return
      }
    }
  }

  /// The stream has ended: a last line need not end in a line break.
  mutating func end(_ take: Take) {
    switch part {
    case .longLine: tell(.tooLong, take)
    case .body, .longBody: tell(.unframed("the input ended inside a message"), take)
    case .head:
      if framing == .headers {
        if !partial.isEmpty { tell(.unframed("the input ended inside headers"), take) }
      } else {
        finishLine(partial[...], take)
      }
    case .lost: break
    }
    partial = []
    part = .lost
  }

  private mutating func readHead(_ rest: inout Slice<UnsafeRawBufferPointer>, _ take: Take) {
    guard let newline = Self.newline(in: rest) else {
      if part == .head { keep(rest, take) }
      rest = rest.suffix(0)
      return
    }
    let line = rest[..<newline]
    rest = rest[(newline + 1)...]
    if framing == .headers {
      keep(line, take)
      partial.append(UInt8(ascii: "\n"))
      if part == .head { finishHeaders(take) }
    } else if part == .longLine || partial.count + line.count > Self.limit {
      part = .head
      partial = []
      tell(.tooLong, take)
    } else if partial.isEmpty {
      finishLine(line, take)
    } else {
      partial.append(contentsOf: line)
      finishLine(partial[...], take)
      partial = []
    }
  }

  /// Remembers the beginning of a line, or a line of headers, as far as it may be long.
  private mutating func keep(_ bytes: Slice<UnsafeRawBufferPointer>, _ take: Take) {
    let limit = framing == .headers ? Self.headerLimit : Self.limit
    guard partial.count + bytes.count <= limit else {
      partial = []
      if framing == .headers { return lose("expected at most \(limit) bytes of headers", take) }
      part = .longLine
      return
    }
    partial.append(contentsOf: bytes)
  }

  private func finishLine(_ line: some RandomAccessCollection<UInt8>, _ take: Take) {
    var message = Array(line)
    if message.last == UInt8(ascii: "\r") { message.removeLast() }
    if !message.allSatisfy(Self.isSpace) { tell(.message(message), take) }
  }

  /// An empty line ends the headers.
  private mutating func finishHeaders(_ take: Take) {
    let bytes = partial
    guard bytes.count > 1 else { return partial = [] }
    guard bytes.suffix(2).elementsEqual("\n\n".utf8) || bytes.suffix(3).elementsEqual("\n\r\n".utf8) else {
      return
    }
    partial = []
    switch MessageHeaders.length(in: bytes) {
    case .success(let length):
      part = length > Self.limit ? .longBody(length) : .body(length)
      if length == 0 { finishBody(take) }
    case .failure(let problem): lose(problem.text, take)
    }
  }

  private mutating func readBody(
    _ rest: inout Slice<UnsafeRawBufferPointer>, _ left: Int, _ take: Take
  ) {
    let taken = rest.prefix(left)
    partial.append(contentsOf: taken)
    rest = rest.dropFirst(taken.count)
    part = .body(left - taken.count)
    if left == taken.count { finishBody(take) }
  }

  private mutating func finishBody(_ take: Take) {
    let message = partial
    partial = []
    part = .head
    tell(.message(message), take)
  }

  private mutating func lose(_ text: String, _ take: Take) {
    part = .lost
    partial = []
    tell(.unframed(text), take)
  }

  /// memchr is many times faster than a loop of ours.
  private static func newline(in bytes: Slice<UnsafeRawBufferPointer>) -> Int? {
    guard let start = bytes.base.baseAddress else { return nil }
    guard let found = memchr(start + bytes.startIndex, Int32(UInt8(ascii: "\n")), bytes.count) else {
      return nil
    }
    return UnsafeRawPointer(found) - start
  }

  private func tell(_ item: Item, _ take: Take) { take(item, framing ?? .lines) }

  static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
      || byte == UInt8(ascii: "\n")
  }
}
