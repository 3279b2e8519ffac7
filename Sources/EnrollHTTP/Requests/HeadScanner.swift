// Scans a request's head while its bytes arrive, and refuses the request as soon as it finds a line that ends with LF
// or CR alone, a control character, a folded line (RFC 9112 §2.2, §5.2), a second `Content-Length`, or a head over the
// limits.

/// Scans one head; each call continues where the last one ended.
struct HeadScanner {
  enum Outcome: Equatable {
    case needsMore
    /// The head, including its empty line, has `count` bytes.
    case whole(count: Int)
    case refused(Refusal)
  }

  /// The request line; nil until all its bytes have arrived.
  private(set) var line: RequestLine?
  private(set) var fields = HeadFields()
  private var position = 0
  private var lineStart = 0

  /// True if no byte of the request has arrived.
  var isFresh: Bool { position == 0 }

  /// Continues the scan.
  /// - Parameter bytes: all bytes of this request that have arrived so far.
  mutating func scan(_ bytes: UnsafeRawBufferPointer, _ rules: HeadRules) -> Outcome {
    while position < bytes.count {
      let byte = bytes[position]
      if byte >= 0x20 && byte != 0x7F {
        position += 1
      } else if byte == 0x0D {
        guard position + 1 < bytes.count else { break }
        guard bytes[position + 1] == 0x0A else { return .refused(.malformed) }
        let line = lineStart..<position
        position += 2
        lineStart = position
        if let outcome = read(line, bytes, rules) { return outcome }
      } else if byte == 0x09, line != nil {
        position += 1
      } else {
        return .refused(.malformed)
      }
    }
    return tooLong(bytes.count, rules.limits).map { .refused($0) } ?? .needsMore
  }

  /// Reads one line of the head.
  /// - Returns: nil if the scan continues with the next line.
  private mutating func read(
    _ range: Range<Int>, _ bytes: UnsafeRawBufferPointer, _ rules: HeadRules
  ) -> Outcome? {
    guard line != nil else { return readFirst(range, bytes, rules) }
    if range.isEmpty {
      fields.end = range.lowerBound
      return .whole(count: position)
    }
    fields.count += 1
    guard fields.count <= rules.limits.headerCount, position - fields.start <= rules.limits.headerBytes else {
      return .refused(.headersTooLarge)
    }
    // A folded line begins with a blank, so it has no field name and is refused here.
    guard let field = HeaderLine(bytes, range) else { return .refused(.malformed) }
    return fields.note(field, range, bytes).map { .refused($0) }
  }

  private mutating func readFirst(
    _ range: Range<Int>, _ bytes: UnsafeRawBufferPointer, _ rules: HeadRules
  ) -> Outcome? {
    if let refusal = tooLong(range.upperBound, rules.limits) { return .refused(refusal) }
    switch RequestLine.read(bytes, range, targetLimit: rules.limits.targetBytes) {
    case .proper(let first):
      line = first
      guard rules.methods.contains(first.method) else { return .refused(.method) }
    case .refused(let refusal): return .refused(refusal)
    }
    fields.start = position
    return nil
  }

  /// Refuses a head as soon as it is over a limit, not only when it ends.
  private func tooLong(_ count: Int, _ limits: ServerLimits) -> Refusal? {
    // Besides the target, the first line has only a method, two spaces and the version, for which 24 bytes are enough.
    guard line != nil else { return count > limits.targetBytes + 24 ? .targetTooLong : nil }
    return count - fields.start > limits.headerBytes ? .headersTooLarge : nil
  }
}

/// The position of the header lines, and the values of the headers that the server itself acts on.
struct HeadFields {
  /// The start of the first header line (`start`), and the end of the last header line (`end`).
  var start = 0
  var end = 0
  var count = 0
  private(set) var host: Range<Int>?
  private(set) var length: Range<Int>?
  private(set) var coding: Range<Int>?
  private(set) var expectation: Range<Int>?
  /// The `Upgrade` lines with their line ends; the server ignores `Upgrade`.
  private(set) var upgrades: [Range<Int>] = []
  /// True for `Connection: close`.
  private(set) var closes = false

  /// Records a header line, if the server acts on it.
  /// - Parameter range: the whole line, without its line end.
  mutating func note(
    _ field: HeaderLine, _ range: Range<Int>, _ bytes: UnsafeRawBufferPointer
  ) -> Refusal? {
    switch field.name.count {
    case 4 where bytes.equalsIgnoringCase(field.name, "host"):
      guard host == nil else { return .malformed }
      host = field.value
    case 6 where bytes.equalsIgnoringCase(field.name, "expect"):
      guard expectation == nil else { return .expectation }
      expectation = field.value
    case 7 where bytes.equalsIgnoringCase(field.name, "upgrade"):
      upgrades.append(range.lowerBound..<range.upperBound + 2)
    case 10 where bytes.equalsIgnoringCase(field.name, "connection"):
      if field.lists("close", in: bytes) { closes = true }
    case 14 where bytes.equalsIgnoringCase(field.name, "content-length"):
      guard length == nil, field.isPlain(range, bytes) else { return .malformed }
      length = field.value
    case 17 where bytes.equalsIgnoringCase(field.name, "transfer-encoding"):
      guard coding == nil, field.isPlain(range, bytes) else { return .malformed }
      coding = field.value
    default: break
    }
    return nil
  }

  /// The lines as they were received, without `Upgrade` lines.
  func lines(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var lines: [UInt8] = []
    lines.reserveCapacity(end - start)
    var position = start
    for line in upgrades {
      lines.append(contentsOf: bytes[position..<line.lowerBound])
      position = line.upperBound
    }
    lines.append(contentsOf: bytes[position..<end])
    return lines
  }
}
