// Hands NIO's parser the bytes of one request at a time, once their framing is proven; what follows stays unread until the answer
// is written. So requests are answered in order, one is in work, and a client that sends on is not read on.

import NIOCore

/// The first handler of a connection, before NIO's parser. Confined to the connection's event loop.
final class RequestFramer: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer

  private enum Phase {
    case head(HeadScanner)
    case body(left: Int)
    case chunks(ChunkScanner)
    case answering
    /// Refused: what comes is thrown away.
    case ended
  }

  /// Bytes of the next requests that a client may send while one is in work.
  private static let heldLimit = 128 << 10

  private let limits: HostLimits
  private let connection: HTTPConnection
  private var context: ChannelHandlerContext?
  private var phase = Phase.head(HeadScanner())
  private var held = ByteBuffer()
  private var isAdvancing = false
  private var isReadPending = false
  private var thrownAway = 0
  /// Requests since the client last waited for an answer.
  private var pipelined = 0

  init(_ limits: HostLimits, _ connection: HTTPConnection) {
    self.limits = limits
    self.connection = connection
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    connection.framer = self
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    connection.framer = nil
  }

  func channelInactive(context: ChannelHandlerContext) {
    // Before NIO's parser is told: it reports the end of an unfinished request as an error.
    connection.left()
    phase = .ended
    held = ByteBuffer()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    if case .ended = phase {
      thrownAway += bytes.readableBytes
      if thrownAway > 1 << 20 { context.close(promise: nil) }
      return
    }
    if held.readableBytes == 0 { held = bytes } else { held.writeBuffer(&bytes) }
    if case .answering = phase {
      if held.readableBytes > Self.heldLimit { context.close(promise: nil) }
    } else {
      advance(context)
    }
  }

  func read(context: ChannelHandlerContext) {
    if case .answering = phase, held.readableBytes > 0 {
      isReadPending = true
    } else {
      context.read()
    }
  }

  /// Nothing of a next request has come.
  var isIdle: Bool {
    if case .head(let scanner) = phase { scanner.isFresh && held.readableBytes == 0 } else { false }
  }

  /// The answer is written: the next request may be read.
  func resume() {
    guard let context, case .answering = phase else { return }
    phase = .head(HeadScanner())
    pipelined = held.readableBytes > 0 ? pipelined + 1 : 0
    advance(context)
    if isReadPending {
      isReadPending = false
      read(context: context)
    }
  }

  /// Whether the client has used up what it may send without waiting.
  var isOverPipelined: Bool { held.readableBytes > 0 && pipelined + 1 >= limits.pipelined }

  /// Throws away what comes from now on.
  func end() {
    phase = .ended
    held = ByteBuffer()
    if isReadPending, let context {
      isReadPending = false
      context.read()
    }
  }

  private func advance(_ context: ChannelHandlerContext) {
    // An answer that is made at once comes back in here: the loop below goes on by itself.
    guard !isAdvancing else { return }
    isAdvancing = true
    while step(context) {}
    isAdvancing = false
    if held.readableBytes == 0 { held = ByteBuffer() }
  }

  /// - Returns: whether another step may be possible.
  private func step(_ context: ChannelHandlerContext) -> Bool {
    switch phase {
    case .head(var scanner):
      guard held.readableBytes > 0 else { return false }
      if scanner.isFresh { connection.begin() }
      let outcome = held.withUnsafeReadableBytes { scanner.scan($0, limits) }
      phase = .head(scanner)
      return headCame(outcome, scanner, context)
    case .body(let left):
      let count = min(left, held.readableBytes)
      guard count > 0 else { return false }
      phase = .body(left: left - count)
      pass(count, context)
      return count == left ? wholeCame() : false
    case .chunks(var scanner):
      guard held.readableBytes > 0 else { return false }
      let (count, outcome) = held.withUnsafeReadableBytes { scanner.scan($0, limits) }
      phase = .chunks(scanner)
      if count > 0 { pass(count, context) }
      return chunksCame(outcome)
    case .answering, .ended: return false
    }
  }

  private func headCame(
    _ outcome: HeadScanner.Outcome, _ scanner: HeadScanner, _ context: ChannelHandlerContext
  ) -> Bool {
    switch outcome {
    case .needsMore: return false
    case .refused(let refusal):
      connection.refuse(refusal)
      return false
    case .whole(let count):
      connection.requestLine = scanner.requestLine
      passHead(count, without: scanner.upgradeLines, context)
      guard case .head = phase else { return false }
      switch connection.judged {
      case .some(.none): return wholeCame()
      case .some(.count(let count)): phase = .body(left: count)
      case .some(.chunked): phase = .chunks(ChunkScanner())
      // NIO's parser made no head of it.
      case nil: connection.refuse(.malformed)
      }
      return true
    }
  }

  private func chunksCame(_ outcome: ChunkScanner.Outcome) -> Bool {
    guard case .chunks = phase else { return false }
    switch outcome {
    case .needsMore: return false
    case .whole: return wholeCame()
    case .refused(let refusal):
      connection.refuse(refusal)
      return false
    }
  }

  /// By our reading the request is whole: by that of NIO's parser it has to be as well.
  private func wholeCame() -> Bool {
    if case .ended = phase { return false }
    guard connection.isWhole else {
      connection.refuse(.malformed)
      return false
    }
    phase = .answering
    connection.dispatch()
    return true
  }

  private func pass(_ count: Int, _ context: ChannelHandlerContext) {
    guard let bytes = held.readSlice(length: count) else { return }
    context.fireChannelRead(wrapInboundOut(bytes))
  }

  private func passHead(_ count: Int, without lines: [Range<Int>], _ context: ChannelHandlerContext) {
    guard !lines.isEmpty, var head = held.readSlice(length: count) else { return pass(count, context) }
    var kept = ByteBufferAllocator().buffer(capacity: count)
    var position = 0
    for line in lines {
      if var part = head.readSlice(length: line.lowerBound - position) { kept.writeBuffer(&part) }
      head.moveReaderIndex(forwardBy: line.count)
      position = line.upperBound
    }
    kept.writeBuffer(&head)
    context.fireChannelRead(wrapInboundOut(kept))
  }
}
