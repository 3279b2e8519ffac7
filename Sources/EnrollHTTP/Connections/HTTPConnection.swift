// One connection: judges the head that NIO's parser made, collects the body, has the request answered, writes the answer, and
// closes when time is up (RFC 9112 §9). Whatever is refused ends the connection; nothing of it reaches the gateway.

import EnrollGateway
import EnrollHost
import EnrollPosix
import NIOCore
import NIOHTTP1

/// The last handler of a connection. Confined to the connection's event loop.
final class HTTPConnection: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = ByteBuffer

  /// What the connection waits for, until `deadline`.
  private enum Waiting {
    case request, head, body, worker
    /// The client has to take its answer.
    case taking
    /// The connection is refused or done, and read to its end.
    case ending
  }

  private let shared: HostContext
  private let roster: ConnectionRoster
  private let peer: IPAddress?
  private let isProxied: Bool
  private let client: String
  private var context: ChannelHandlerContext?
  private var waiting = Waiting.request
  private var deadline: NIODeadline
  /// When the connection came, or its last answer was written.
  private var waitingSince = NIODeadline.now()
  private var isGivingWay = false
  /// Raised when the client is gone: requests that still wait for a worker are then dropped.
  private let gone = CancellationFlag()
  /// Broken when the handlers are removed.
  var framer: RequestFramer?

  // Of the request that is being read or answered.
  var requestLine: RequestLine?
  private var head: ProperHead?
  private var body: [UInt8] = []
  private(set) var isWhole = false
  private var isFirst = true

  /// - Parameter address: nil for a peer without an IP address.
  init(_ shared: HostContext, _ roster: ConnectionRoster, _ address: IPAddress?) {
    self.shared = shared
    self.roster = roster
    peer = address
    isProxied = address.map { shared.proxies.contains($0) } ?? false
    client = address?.text ?? ""
    deadline = .now() + .milliseconds(shared.limits.headerTimeoutMilliseconds)
  }

  /// The framing of the body; nil until a head was judged to be proper.
  var judged: ProperHead.Body? { head?.body }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    roster.add(self)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    left()
    self.context = nil
    roster.remove(self)
  }

  /// The client is gone, or this side has closed.
  func left() {
    gone.cancel()
    waiting = .ending
    deadline = .distantFuture
  }

  /// The first byte of a request came. That of the first request does not prolong the time it has.
  func begin() {
    if !isFirst { deadline = .now() + .milliseconds(shared.limits.headerTimeoutMilliseconds) }
    waiting = .head
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): judge(head)
    case .body(let bytes): if head != nil { body.append(contentsOf: bytes.readableBytesView) }
    case .end: isWhole = head != nil
    }
  }

  private func judge(_ parsed: HTTPRequestHead) {
    guard let line = requestLine, head == nil else { return refuse(.malformed) }
    switch shared.rules.judge(line, parsed) {
    case .refused(let refusal): refuse(refusal)
    case .proper(let proper):
      head = proper
      guard proper.body != .none else { return }
      waiting = .body
      deadline = .now() + .milliseconds(shared.limits.bodyTimeoutMilliseconds)
      if case .count(let count) = proper.body { body.reserveCapacity(count) }
      if proper.waitsForContinue { write(AnswerWriter.continueBytes()) }
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard error is HTTPParserError || error is NIOHTTPDecoderError else {
      // A broken connection: there is nobody to answer.
      context.close(promise: nil)
      return
    }
    switch error as? HTTPParserError {
    case .headerOverflow: refuse(.headersTooLarge)
    case .invalidVersion: refuse(.version)
    default: refuse(.malformed)
    }
  }

  /// The request is whole: has it answered.
  func dispatch() {
    guard let head, let line = requestLine, let context else { return }
    isFirst = false
    waiting = .worker
    deadline = .distantFuture
    let isHead = line.method == .head
    var request = WebRequest(
      line.method == .post ? .post : .get, head.path, query: head.query, headers: head.headers, body: body,
      client: address(of: head))
    request.isHead = isHead
    let isOver = framer?.isOverPipelined ?? false
    if isOver { shared.counters.refused(.tooManyPipelined) }
    let persists = head.isPersistent && !isOver
    forget()
    switch shared.application.lane(for: request) {
    case .here: answered(shared.answer(request, isHead: isHead, persists: persists))
    case .database: work(shared.database, request, isHead, persists, context.eventLoop)
    case .provider: work(shared.provider, request, isHead, persists, context.eventLoop)
    }
  }

  private func address(of head: ProperHead) -> String {
    guard isProxied, let peer else { return client }
    return shared.proxies.client(behind: peer, headers: head.headers).text
  }

  private func forget() {
    head = nil
    requestLine = nil
    body = []
    isWhole = false
  }

  private func work(
    _ pool: WorkerPool, _ request: WebRequest, _ isHead: Bool, _ persists: Bool, _ loop: any EventLoop
  ) {
    let back = NIOLoopBound(self, eventLoop: loop)
    shared.census.beginWork()
    let isAccepted = pool.submit { [shared, gone] in
      defer { shared.census.endWork() }
      guard !gone.isCancelled else { return }
      let reply = shared.answer(request, isHead: isHead, persists: persists)
      loop.execute { back.value.answered(reply) }
    }
    guard !isAccepted else { return }
    shared.census.endWork()
    answered(shared.refuse(.overloaded, isHead: isHead, persists: persists))
  }

  private func answered(_ reply: Reply) {
    guard let context, case .worker = waiting else { return }
    write(reply.bytes)
    guard reply.persists, !shared.drains.isCancelled else { return end() }
    guard context.channel.isWritable else {
      waiting = .taking
      deadline = .now() + .milliseconds(shared.limits.idleTimeoutMilliseconds)
      return
    }
    next()
  }

  private func next() {
    // The host may have begun to stop while the client took its answer.
    if shared.drains.isCancelled { return end() }
    waiting = .request
    waitingSince = .now()
    deadline = waitingSince + .milliseconds(shared.limits.idleTimeoutMilliseconds)
    framer?.resume()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if case .taking = waiting, context.channel.isWritable { next() }
  }

  private func write(_ bytes: ByteBuffer) {
    context?.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
  }

  /// Answers by itself and ends the connection.
  func refuse(_ refusal: Refusal) {
    if case .ending = waiting { return }
    let isHead = requestLine?.method == .head
    forget()
    write(shared.refuse(refusal, isHead: isHead, persists: false).bytes)
    end()
  }

  /// Closes this side, and reads on for a while: closing at once would reset the connection, and with it the answer.
  private func end() {
    waiting = .ending
    deadline = .now() + .milliseconds(shared.limits.idleTimeoutMilliseconds)
    framer?.end()
    context?.close(mode: .output, promise: nil)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // The answer is out.
    if case .ending = waiting, event as? ChannelEvent == .outputClosed {
      deadline = .now() + .milliseconds(shared.limits.lingerMilliseconds)
    }
    context.fireUserInboundEventTriggered(event)
  }

  private func close() { context?.close(promise: nil) }

  /// Looks at the time, every now and then.
  func tick(_ now: NIODeadline) {
    guard now >= deadline else { return }
    switch waiting {
    case .request, .ending: close()
    case .head: refuse(.headerTimeout)
    case .body: refuse(.bodyTimeout)
    case .taking:
      shared.counters.refused(.slowReader)
      close()
    case .worker: break
    }
  }

  /// The host stops: an idle connection closes now, another one behind its answer. A request that is not whole yet has little time
  /// left.
  func drain() {
    switch waiting {
    case .request where framer?.isIdle ?? true: close()
    case .request, .head, .body:
      deadline = min(deadline, .now() + .milliseconds(shared.limits.drainTimeoutMilliseconds))
    case .worker, .taking, .ending: break
    }
  }

  /// Since when nobody but the client has had something to do; nil while the application has, or the client takes its answer.
  var idleSince: NIODeadline? {
    if isGivingWay { return nil }
    return switch waiting {
    case .request, .head, .body: waitingSince
    case .ending: .distantPast
    case .worker, .taking: nil
    }
  }

  /// Closes, because another connection needs the room.
  func giveWay() {
    isGivingWay = true
    close()
  }

  /// The time for draining is over.
  func abort() { close() }
}
