// One connection: reads requests one at a time, gets an answer to each, sends the answer, and closes on a timeout (RFC
// 9112 §9). A request that breaks HTTP or a limit ends the connection and does not reach the application.

import EnrollPosix
import Synchronization

/// A connection of one event loop.
final class Connection: LoopSocket, @unchecked Sendable {
  // Unchecked: everything but `isGone` is touched only on the event loop.

  /// The event that the connection waits for, until `deadline`.
  private enum Waiting {
    case request, head, body, answer
    /// The server waits until the client has received the answer.
    case taking
    /// The connection is being closed: this side sends the rest of its answer and discards what the client sends.
    case ending
  }

  /// The limit in bytes for further requests that a client may send while one of its requests is processed.
  private static let heldLimit = 128 << 10
  /// If more than this many bytes of an answer are unsent, the next request waits.
  private static let unsentLimit = 64 << 10

  /// The index in the roster.
  var index = 0
  /// True once the client or the server has closed the connection, so that no answer is needed any more.
  let isGone = Atomic<Bool>(false)

  /// The peer's address; nil for a peer without an IP address.
  private let peer: IPAddress?
  private let isProxied: Bool
  private var client: String?
  private var waiting = Waiting.request
  private var deadline: Int64
  /// The time at which the connection began or its last answer was sent.
  private var waitingSince = SystemClock.monotonic()
  private var reader = RequestReader()
  /// Bytes that were received and not parsed yet.
  private var held: [UInt8] = []
  /// The properties of the request that is being processed.
  private var options = AnswerWriter.Options()
  private var delayed: WebResponse?
  /// The number of requests since the client last waited for an answer.
  private var pipelined = 0
  /// True if bytes follow the request that is being processed.
  private var hasMore = false
  private var discardedCount = 0
  private var isFirst = true
  private var isAdvancing = false
  /// True once the client has closed its sending side.
  private var isAtEnd = false

  private init(_ descriptor: Int32, _ peer: IPAddress?, isProxied: Bool, _ loop: EventLoop) {
    self.peer = peer
    self.isProxied = isProxied
    deadline = ServerContext.deadline(afterMilliseconds: loop.shared.limits.headerTimeoutMilliseconds)
    super.init(descriptor, loop)
  }

  private var shared: ServerContext { loop.shared }

  /// Registers an accepted socket, or closes it if a limit is reached.
  static func admit(_ descriptor: Int32, _ peer: IPAddress?, to loop: EventLoop) {
    let shared = loop.shared
    guard !loop.roster.isDraining else { return closeFile(descriptor) }
    let isProxied = peer.map { shared.proxies.contains($0) } ?? false
    let counted = isProxied ? nil : peer?.network
    var refusal = shared.census.admit(counted)
    if refusal == .tooManyConnections, shared.limits.evictsIdle, loop.roster.closeIdlest() {
      refusal = shared.census.admit(counted)
    }
    if let refusal {
      shared.counters.refused(refusal)
      return closeFile(descriptor)
    }
    let connection = Connection(descriptor, peer, isProxied: isProxied, loop)
    loop.roster.add(connection)
    loop.setTicking()
    connection.open()
  }

  // MARK: Reading

  override func received(_ bytes: UnsafeRawBufferPointer) {
    switch waiting {
    case .ending:
      discardedCount += bytes.count
      if discardedCount > 1 << 20 { close() }
    case .answer, .taking: hold(bytes)
    case .request, .head, .body:
      if held.isEmpty {
        hold(UnsafeRawBufferPointer(rebasing: bytes[advance(bytes)...]))
      } else {
        held.append(contentsOf: bytes)
        advanceHeld()
      }
    }
  }

  /// Keeps bytes that are not parsed yet. While a request is processed, reading stops.
  private func hold(_ bytes: UnsafeRawBufferPointer) {
    guard !bytes.isEmpty, waiting != .ending else { return }
    held.append(contentsOf: bytes)
    guard waiting == .answer || waiting == .taking else { return }
    if held.count > Self.heldLimit { close() } else { setReading(false) }
  }

  private func advanceHeld() {
    let bytes = held
    held = []
    let passed = bytes.withUnsafeBytes { advance($0) }
    guard waiting != .ending else { return }
    held = passed == 0 ? bytes : Array(bytes[passed...])
  }

  /// Parses requests, and passes each complete request on to be answered.
  /// - Returns: how many of `bytes` are consumed.
  private func advance(_ bytes: UnsafeRawBufferPointer) -> Int {
    // An answer that is made at once calls back into this connection, but only the loop below may parse further bytes.
    isAdvancing = true
    defer { isAdvancing = false }
    var passed = 0
    while passed < bytes.count, waiting == .request || waiting == .head || waiting == .body {
      if reader.isFresh { beginRequest() }
      let (count, event) = reader.read(UnsafeRawBufferPointer(rebasing: bytes[passed...]), shared.rules)
      passed += count
      switch event {
      case .needsMore: return passed
      case .bodyFollows(let waitsForContinue):
        waiting = .body
        deadline = ServerContext.deadline(afterMilliseconds: shared.limits.bodyTimeoutMilliseconds)
        if waitsForContinue { send(AnswerWriter.continues) }
      case .whole(let head, let body):
        hasMore = passed < bytes.count
        dispatch(head, body)
      case .refused(let refusal): refuse(refusal)
      }
    }
    return passed
  }

  /// Called at the first byte of a request. For a connection's first request, the timeout began with the connection.
  private func beginRequest() {
    waiting = .head
    guard !isFirst else { return }
    deadline = ServerContext.deadline(afterMilliseconds: shared.limits.headerTimeoutMilliseconds)
  }

  /// The client closed its sending side: buffered bytes are still sent; an answer that is not made yet will be dropped.
  override func cameToEnd() {
    guard unsentCount > 0 else { return close() }
    setReading(false)
    isAtEnd = true
    isGone.store(true, ordering: .releasing)
    waiting = .ending
    deadline = ServerContext.deadline(afterMilliseconds: shared.limits.idleTimeoutMilliseconds)
  }

  // MARK: Answering

  private func dispatch(_ head: ProperHead, _ body: [UInt8]) {
    isFirst = false
    waiting = .answer
    deadline = .max
    let isOver = hasMore && pipelined + 1 >= shared.limits.pipelined
    if isOver { shared.counters.refused(.tooManyPipelined) }
    options = AnswerWriter.Options(isHead: head.isHead, persists: head.isPersistent && !isOver)
    var request = WebRequest(
      head.method, head.path, query: head.query, fields: .lines(head.fields), body: body, client: "")
    request.isHead = head.isHead
    request.client = address(of: request)
    switch shared.answering {
    case .lanes(let application):
      switch application.lane(for: &request) {
      case .here: answered(application.answer(request))
      case .database: work(shared.database, application, request)
      case .provider: work(shared.provider, application, request)
      }
    case .later(let begin):
      shared.census.beginWork()
      begin(request, Responder(self))
    }
  }

  private func address(of request: WebRequest) -> String {
    if isProxied, let peer {
      return shared.proxies.client(behind: peer, forwarded: request.values(of: "X-Forwarded-For")).text
    }
    if let client { return client }
    let text = peer?.text ?? ""
    client = text
    return text
  }

  private func work(_ pool: WorkerPool, _ application: any WebApplication, _ request: WebRequest) {
    shared.census.beginWork()
    let isAccepted = pool.submit { [self] in
      defer { shared.census.endWork() }
      guard !isGone.load(ordering: .acquiring) else { return }
      let answer = application.answer(request)
      loop.post { self.answered(answer) }
    }
    guard !isAccepted else { return }
    shared.census.endWork()
    shared.counters.refused(.overloaded)
    answered(loop.writer.answer(.overloaded))
  }

  /// Receives the answer from the application.
  /// - Parameter answer: nil if the application gives no answer.
  func answered(_ answer: WebResponse?) {
    guard waiting == .answer, delayed == nil else { return }
    guard let answer else { return deliverBadAnswer() }
    guard answer.delayMilliseconds > 0 else { return deliver(answer) }
    delayed = answer
    startTimer(milliseconds: min(answer.delayMilliseconds, 86_400_000))
  }

  override func timePassed() {
    guard let answer = delayed else { return }
    delayed = nil
    deliver(answer)
  }

  /// Sends the answer. Decides whether the connection stays open: the server may have begun to stop meanwhile.
  private func deliver(_ answer: WebResponse) {
    var bodyCount = options.isHead || !AnswerWriter.hasBody(answer.status) ? 0 : answer.body.count
    var persists = options.persists && !shared.isDraining
    switch answer.delivery {
    case .whole: break
    case .nothing: return end()
    case .cut(let count):
      bodyCount = min(max(count, 0), bodyCount)
      persists = false
    }
    guard loop.writer.write(answer, persists: persists) else { return deliverBadAnswer() }
    shared.counters.answered(answer.status)
    send(loop.writer.bytes, answer.body, bodyCount)
    guard persists else { return end() }
    guard unsentCount <= Self.unsentLimit else {
      waiting = .taking
      deadline = ServerContext.deadline(afterMilliseconds: shared.limits.idleTimeoutMilliseconds)
      return
    }
    next()
  }

  private func deliverBadAnswer() {
    shared.counters.refused(.badAnswer)
    if let answer = loop.writer.answer(.badAnswer) { deliver(answer) }
  }

  private func next() {
    // The server may have begun to stop while the client received its answer.
    if shared.isDraining { return end() }
    waiting = .request
    waitingSince = SystemClock.monotonic()
    deadline = ServerContext.deadline(afterMilliseconds: shared.limits.idleTimeoutMilliseconds)
    pipelined = (isAdvancing ? hasMore : !held.isEmpty) ? pipelined + 1 : 0
    guard !isAdvancing else { return }
    if !held.isEmpty { advanceHeld() }
    setReading(held.isEmpty || waiting != .answer && waiting != .taking)
  }

  /// Sends the server's own answer, if the refusal has one, and ends the connection.
  private func refuse(_ refusal: Refusal) {
    guard waiting != .ending else { return }
    shared.counters.refused(refusal)
    options = AnswerWriter.Options(isHead: reader.isHead, persists: false)
    if let answer = loop.writer.answer(refusal) { deliver(answer) } else { close() }
  }

  override func sentAll() {
    switch waiting {
    case .ending: endOutput()
    case .taking: next()
    case .request: deadline = ServerContext.deadline(afterMilliseconds: shared.limits.idleTimeoutMilliseconds)
    case .head, .body, .answer: break
    }
  }

  // MARK: Ending

  /// Closes the sending side and keeps reading for a while: closing at once could destroy the unread answer by a reset.
  private func end() {
    waiting = .ending
    deadline = ServerContext.deadline(afterMilliseconds: shared.limits.idleTimeoutMilliseconds)
    held = []
    if !isAtEnd { setReading(true) }
    if unsentCount == 0 { endOutput() }
  }

  private func endOutput() {
    guard !isAtEnd else { return close() }
    closeOutput()
    deadline = ServerContext.deadline(afterMilliseconds: shared.limits.lingerMilliseconds)
  }

  override func hasClosed() {
    isGone.store(true, ordering: .releasing)
    waiting = .ending
    (held, reader, delayed) = ([], RequestReader(), nil)
    loop.roster.remove(self)
    loop.setTicking()
    shared.census.release(isProxied ? nil : peer?.network)
  }

  /// Checks the deadline; called at every tick. Time in which the process was suspended does not count.
  func tick(_ now: Int64, stopped: Int64) {
    deadline = min(deadline, .max - stopped) + stopped
    guard now >= deadline else { return }
    switch waiting {
    case .request where unsentCount > 0: dropSlowReader()
    case .request, .ending: close()
    case .head: refuse(.headerTimeout)
    case .body: refuse(.bodyTimeout)
    case .taking: dropSlowReader()
    case .answer: break
    }
  }

  private func dropSlowReader() {
    shared.counters.refused(.slowReader)
    close()
  }

  /// Called when the server stops. An idle connection closes now; a connection that processes a request closes after
  /// its answer. The deadline of an incomplete request moves closer.
  func drain() {
    switch waiting {
    // The client may still be receiving its last answer.
    case .request where reader.isFresh && held.isEmpty: if unsentCount > 0 { end() } else { close() }
    case .request, .head, .body:
      deadline = min(
        deadline, ServerContext.deadline(afterMilliseconds: shared.limits.drainTimeoutMilliseconds))
    case .answer, .taking, .ending: break
    }
  }

  /// The time since which the server has waited for the client to send; nil while the application works or the client
  /// receives its answer. A connection that is being closed counts as idle for ever.
  var idleSince: Int64? {
    switch waiting {
    case .request, .head, .body: unsentCount > 0 ? nil : waitingSince
    case .ending: .min
    case .answer, .taking: nil
    }
  }
}
