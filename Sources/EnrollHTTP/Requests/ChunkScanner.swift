// Reads a chunked body while its bytes arrive (RFC 9112 §7.1). Chunk extensions are refused: no client needs them, and parsers
// disagree on where they end.

/// Reads one chunked body. Each call of `scan` must begin with the bytes that the last call did not consume.
struct ChunkScanner {
  enum Outcome: Equatable {
    case needsMore
    case whole
    case refused(Refusal)
  }

  private enum Expected {
    case size, trailers
    case data(left: Int)
    case dataEnd
  }

  /// The limit for chunk sizes and line ends: together they may have at most this many bytes more than the data. There
  /// is a limit, because reading tiny chunks costs the server more than sending them costs the client.
  private static let spareFraming = 4_096

  private var expected = Expected.size
  private var total = 0
  /// The number of bytes in chunk sizes and line ends.
  private var framing = 0
  /// The number of scanned bytes of the trailer section, and the position where its current line starts.
  private var trailerPosition = 0
  private var trailerLine = 0

  /// Reads the next bytes of the body.
  /// - Parameter body: gets the data of the chunks, at its end.
  /// - Returns: how many of `bytes` are consumed, and the outcome.
  mutating func scan(
    _ bytes: UnsafeRawBufferPointer, _ limits: ServerLimits, into body: inout [UInt8]
  ) -> (passed: Int, outcome: Outcome) {
    var passed = 0
    while passed < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[passed...])
      switch expected {
      case .size:
        switch Self.size(rest) {
        case .needsMore: return (passed, .needsMore)
        case .refused: return (passed, .refused(.malformed))
        case .proper(let size, let count):
          guard size <= limits.bodyBytes - total else { return (passed, .refused(.bodyTooLarge)) }
          total += size
          framing += count + 2
          guard framing <= total + Self.spareFraming else { return (passed, .refused(.bodyTooLarge)) }
          passed += count
          expected = size == 0 ? .trailers : .data(left: size)
        }
      case .data(let left):
        let count = min(left, rest.count)
        body.append(contentsOf: rest[..<count])
        passed += count
        expected = count == left ? .dataEnd : .data(left: left - count)
      case .dataEnd:
        guard rest[0] == 0x0D, rest.count < 2 || rest[1] == 0x0A else {
          return (passed, .refused(.malformed))
        }
        guard rest.count >= 2 else { return (passed, .needsMore) }
        passed += 2
        expected = .size
      case .trailers:
        let outcome = trailers(rest, limits)
        if outcome == .whole { passed += trailerPosition }
        return (passed, outcome)
      }
    }
    return (passed, .needsMore)
  }

  private enum Size {
    case proper(Int, count: Int)
    case needsMore, refused
  }

  /// Reads a chunk size: one to eight hexadecimal digits and CRLF.
  private static func size(_ bytes: UnsafeRawBufferPointer) -> Size {
    var size = 0
    var count = 0
    while count < bytes.count, let digit = hexadecimal(bytes[count]) {
      guard count < 8 else { return .refused }
      size = size << 4 | digit
      count += 1
    }
    guard count < bytes.count else { return .needsMore }
    guard count > 0, bytes[count] == 0x0D else { return .refused }
    guard count + 1 < bytes.count else { return .needsMore }
    return bytes[count + 1] == 0x0A ? .proper(size, count: count + 2) : .refused
  }

  private static func hexadecimal(_ byte: UInt8) -> Int? {
    switch byte {
    case 0x30...0x39: Int(byte) - 0x30
    case 0x41...0x46: Int(byte) - 0x37
    case 0x61...0x66: Int(byte) - 0x57
    default: nil
    }
  }

  /// Checks the trailer section: header lines up to an empty line, none of them folded. Their values are dropped.
  private mutating func trailers(_ bytes: UnsafeRawBufferPointer, _ limits: ServerLimits) -> Outcome {
    while trailerPosition < bytes.count {
      guard trailerPosition < limits.trailerBytes else { return .refused(.headersTooLarge) }
      let byte = bytes[trailerPosition]
      if byte == 0x0D {
        guard trailerPosition + 1 < bytes.count else { return .needsMore }
        guard bytes[trailerPosition + 1] == 0x0A else { return .refused(.malformed) }
        let line = trailerLine..<trailerPosition
        trailerPosition += 2
        trailerLine = trailerPosition
        if line.isEmpty { return .whole }
        if HeaderLine(bytes, line) == nil { return .refused(.malformed) }
      } else if byte >= 0x20 && byte != 0x7F || byte == 0x09 {
        if trailerPosition == trailerLine, HeaderGrammar.isBlank(byte) { return .refused(.malformed) }
        trailerPosition += 1
      } else {
        return .refused(.malformed)
      }
    }
    return .needsMore
  }
}
