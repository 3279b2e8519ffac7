// Turns bytes into requests, one at a time, without a socket: a head, then the body that the head announces. Nothing is
// read after a request that is refused.

/// Reads the requests of one connection.
struct RequestReader {
  enum Event {
    case needsMore
    /// The head is valid, and a body follows.
    case bodyFollows(waitsForContinue: Bool)
    /// The request is complete; the next byte begins another request.
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

  /// True if no byte of a request has arrived.
  var isFresh: Bool { if case .head = phase { scanner.isFresh } else { false } }

  /// True if the request begins with `HEAD`: the answer has no body then, even if the rest of the request's first line
  /// is invalid.
  private(set) var isHead = false

  /// Reads the next bytes of the connection.
  /// - Parameter bytes: not empty. They begin with the bytes that the last call did not consume.
  /// - Returns: how many of `bytes` are consumed, and the event.
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
        // Reserve little: the announced body may never arrive.
        body.reserveCapacity(min(count, 16 << 10))
      }
      return .bodyFollows(waitsForContinue: proper.waitsForContinue)
    }
  }

  /// Returns the request, and resets the reader for the next request.
  private mutating func whole() -> Event {
    guard let head else { return .refused(.malformed) }
    let body = body
    self = RequestReader()
    return .whole(head, body: body)
  }
}
