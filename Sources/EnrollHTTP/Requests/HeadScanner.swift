// Finds the end of a request's head while its bytes arrive, and refuses at the first byte that is not proper: a line that ends
// by LF or CR alone, a control character, a folded line (RFC 9112 §2.2, §5.2), a head over the limits. NIO's parser then reads
// the same bytes: a head is accepted only where both agree.

/// Reads one head; each call goes on where the last one ended.
struct HeadScanner {
  enum Outcome: Equatable {
    case needsMore
    /// The head with the empty line behind it has `count` bytes.
    case whole(count: Int)
    case refused(Refusal)
  }

  /// nil until the first line came whole.
  private(set) var requestLine: RequestLine?
  /// The `Upgrade` lines, which are ignored: NIO's parser would stop at them.
  private(set) var upgradeLines: [Range<Int>] = []
  private var position = 0
  private var lineStart = 0
  private var fieldsStart = 0
  private var fieldCount = 0

  /// Nothing of the request has come.
  var isFresh: Bool { position == 0 }

  /// - Parameter bytes: everything of this request that has come so far.
  mutating func scan(_ bytes: UnsafeRawBufferPointer, _ limits: ServerLimits) -> Outcome {
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
        if let outcome = read(line, bytes, limits) { return outcome }
      } else if byte == 0x09, requestLine != nil {
        position += 1
      } else {
        return .refused(.malformed)
      }
    }
    return tooLong(bytes.count, limits).map { .refused($0) } ?? .needsMore
  }

  /// - Returns: nil to go on.
  private mutating func read(
    _ line: Range<Int>, _ bytes: UnsafeRawBufferPointer, _ limits: ServerLimits
  ) -> Outcome? {
    guard requestLine != nil else {
      if let refusal = tooLong(line.upperBound, limits) { return .refused(refusal) }
      switch RequestLine.read(bytes, line, targetLimit: limits.targetBytes) {
      case .proper(let first): requestLine = first
      case .refused(let refusal): return .refused(refusal)
      }
      fieldsStart = position
      return nil
    }
    if line.isEmpty { return .whole(count: position) }
    fieldCount += 1
    guard fieldCount <= limits.headerCount, position - fieldsStart <= limits.headerBytes else {
      return .refused(.headersTooLarge)
    }
    let first = bytes[line.lowerBound]
    guard first != 0x20, first != 0x09 else { return .refused(.malformed) }
    switch first | 0x20 {
    case 0x75 where isNamed("upgrade:", line, bytes): upgradeLines.append(line.lowerBound..<position)
    case 0x63 where isNamed("content-length:", line, bytes):
      return isPlain(line, 15, bytes) ? nil : .refused(.malformed)
    case 0x74 where isNamed("transfer-encoding:", line, bytes):
      return isPlain(line, 18, bytes) ? nil : .refused(.malformed)
    default: break
    }
    return nil
  }

  /// - Parameter name: in small letters, with its colon.
  private func isNamed(_ name: StaticString, _ line: Range<Int>, _ bytes: UnsafeRawBufferPointer) -> Bool {
    guard line.count >= name.utf8CodeUnitCount else { return false }
    // Control characters are refused before, so only the two cases of a letter become that letter.
    for index in 0..<name.utf8CodeUnitCount
    where bytes[line.lowerBound + index] | 0x20 != name.utf8Start[index] { return false }
    return true
  }

  /// One blank or none before the value, none behind it. Readers differ in how they take others off, and what frames a
  /// body may not depend on it.
  private func isPlain(_ line: Range<Int>, _ nameCount: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
    var start = line.lowerBound + nameCount
    if start < line.upperBound, bytes[start] == 0x20 { start += 1 }
    guard start < line.upperBound else { return false }
    for index in [start, line.upperBound - 1] where bytes[index] == 0x20 || bytes[index] == 0x09 {
      return false
    }
    return true
  }

  /// A head that never ends is refused once it is over a limit, not when its end comes.
  private func tooLong(_ count: Int, _ limits: ServerLimits) -> Refusal? {
    // Beside the target a line has a method, two blanks and the version.
    guard requestLine != nil else { return count > limits.targetBytes + 24 ? .targetTooLong : nil }
    return count - fieldsStart > limits.headerBytes ? .headersTooLarge : nil
  }
}
