// From bytes to requests, one at a time, without a socket: a head, then the body that it announces. A request that is refused ends
// the reading.

/// Reads the requests of one connection.
struct RequestReader {
  enum Event {
    case needsMore
    /// The head is proper, and a body follows.
    case bodyFollows(waitsForContinue: Bool)
    /// The next byte begins another request.
    case whole(ProperHead, body: [UInt8])
    case refused(Refusal)
  }

  private enum Phase {
    case head, chunks
    case body(left: Int)
  }

  private var phase = Phase.head
  private var scanner = HeadScanner()
  private var chunks = ChunkScanner()
  private var head: ProperHead?
  private var body: [UInt8] = []

  /// Nothing of a request has come.
  var isFresh: Bool { if case .head = phase { scanner.isFresh } else { false } }

  /// The request is one of HEAD, as far as it has come: an answer to it has no body, whatever else is wrong with its first line.
  private(set) var isHead = false

  /// - Parameter bytes: begins with those that the last call did not pass, and is not empty.
  /// - Returns: how many of `bytes` are read, and what they are.
  mutating func read(_ bytes: UnsafeRawBufferPointer, _ rules: HeadRules) -> (passed: Int, event: Event) {
    switch phase {
    case .head:
      isHead = bytes.starts(with: "HEAD ".utf8)
      switch scanner.scan(bytes, rules) {
      case .needsMore: return (0, .needsMore)
      case .refused(let refusal): return (0, .refused(refusal))
      case .whole(let count): return (count, judge(UnsafeRawBufferPointer(rebasing: bytes[..<count]), rules))
      }
    case .body(let left):
      let count = min(left, bytes.count)
      body.append(contentsOf: bytes[..<count])
      phase = .body(left: left - count)
      return (count, count == left ? whole() : .needsMore)
    case .chunks:
      let (count, outcome) = chunks.scan(bytes, rules.limits, into: &body)
      switch outcome {
      case .needsMore: return (count, .needsMore)
      case .refused(let refusal): return (count, .refused(refusal))
      case .whole: return (count, whole())
      }
    }
  }

  private mutating func judge(_ bytes: UnsafeRawBufferPointer, _ rules: HeadRules) -> Event {
    guard let line = scanner.line else { return .refused(.malformed) }
    switch rules.judge(line, scanner.fields, bytes) {
    case .refused(let refusal): return .refused(refusal)
    case .proper(let proper):
      head = proper
      switch proper.body {
      case .none: return whole()
      case .chunked: phase = .chunks
      case .count(let count):
        phase = .body(left: count)
        // The body that is announced may never come.
        body.reserveCapacity(min(count, 16 << 10))
      }
      return .bodyFollows(waitsForContinue: proper.waitsForContinue)
    }
  }

  /// Gives the request away, and begins anew.
  private mutating func whole() -> Event {
    guard let head else { return .refused(.malformed) }
    let body = body
    self = RequestReader()
    return .whole(head, body: body)
  }
}
