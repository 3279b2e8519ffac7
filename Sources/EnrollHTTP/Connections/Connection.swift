// One connection: reads requests one at a time, has each answered, sends the answer, and closes when time is up (RFC 9112 §9). Whatever
// is refused ends the connection; nothing of it reaches the application.

import EnrollPosix
import Synchronization

/// A connection of one event loop.
final class Connection: LoopSocket, @unchecked Sendable {
  // Unchecked: all but `isGone` is only touched on the loop.

  /// The event that the connection waits for, until `deadline`.
  private enum Waiting {
    case request, head, body, answer
    /// The client has to take its answer.
    case taking
    /// The connection is refused or done, and read to its end.
    case ending
  }

  /// Bytes of the next requests that a client may send while one is in work.
  private static let heldLimit = 128 << 10
  /// An answer of which more is left than this holds the next one back.
  private static let untakenLimit = 64 << 10

  /// Where the roster has it.
  var place = 0
  /// The client has left, or this side has closed: nobody waits for an answer.
  let isGone = Atomic<Bool>(false)

  /// nil for a peer without an IP address.
  private let peer: IPAddress?
  private let isProxied: Bool
  private var client: String?
  private var waiting = Waiting.request
  private var deadline: Int64
  /// When the connection came, or its last answer was sent.
  private var waitingSince = SystemClock.monotonic()
  private var reader = RequestReader()
  /// Bytes that came and are not read yet.
  private var held: [UInt8] = []
  /// Of the request that is answered.
  private var manner = AnswerWriter.Manner()
  private var delayed: WebResponse?
  /// Requests since the client last waited for an answer.
  private var pipelined = 0
  /// Something has come behind the request that is answered.
  private var hasMore = false
  private var thrownAway = 0
  private var isFirst = true
  private var isAdvancing = false
  /// The client sends no more.
  private var isAtEnd = false

  private init(_ descriptor: Int32, _ peer: IPAddress?, isProxied: Bool, _ loop: EventLoop) {
    self.peer = peer
    self.isProxied = isProxied
    deadline = ServerContext.deadline(afterMilliseconds: loop.shared.limits.headerTimeoutMilliseconds)
    super.init(descriptor, loop)
  }

  private var shared: ServerContext { loop.shared }

  /// Takes a socket that was accepted, or closes it where there are too many.
  static func admit(_ descriptor: Int32, _ peer: IPAddress?, to loop: EventLoop) {
    let shared = loop.shared
    guard !loop.roster.isDraining else { return closeFile(descriptor) }
    let isProxied = peer.map { shared.proxies.contains($0) } ?? false
    let counted = isProxied ? nil : peer?.network
    var refusal = shared.census.enter(counted)
    if refusal == .tooManyConnections, shared.limits.newestWins, loop.roster.closeIdlest() {
      refusal = shared.census.enter(counted)
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
      thrownAway += bytes.count
      if thrownAway > 1 << 20 { close() }
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

  /// Keeps what is not read yet. Where that is a next request, nothing more is read: a client that sends on waits.
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

  /// Reads requests, and has those that are whole answered.
  /// - Returns: how many of `bytes` are done with.
  private func advance(_ bytes: UnsafeRawBufferPointer) -> Int {
    // An answer that is made at once comes back in here: the loop below goes on by itself.
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

  /// The first byte of a request came. That of the first request does not prolong the time it has.
  private func beginRequest() {
    waiting = .head
    guard !isFirst else { return }
    deadline = ServerContext.deadline(afterMilliseconds: shared.limits.headerTimeoutMilliseconds)
  }

  /// The client closes, or sends no more. An answer that is on its way is still sent.
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
    manner = AnswerWriter.Manner(isHead: head.isHead, persists: head.isPersistent && !isOver)
    var request = WebRequest(
      head.method, head.path, query: head.query, fields: .lines(head.fields), body: body, client: "")
    request.isHead = head.isHead
    request.client = address(of: request)
    switch shared.answering {
    case .lanes(let application):
      switch application.lane(for: request) {
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

  /// The answer is there.
  /// - Parameter answer: nil: the application gives none.
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

  /// Whether the connection stays is decided now: the server may have begun to stop while the answer was made.
  private func deliver(_ answer: WebResponse) {
    var bodyCount = manner.isHead || !AnswerWriter.hasBody(answer.status) ? 0 : answer.body.count
    var persists = manner.persists && !shared.isDraining
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
    guard unsentCount <= Self.untakenLimit else {
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
    // The server may have begun to stop while the client took its answer.
    if shared.isDraining { return end() }
    waiting = .request
    waitingSince = SystemClock.monotonic()
    deadline = ServerContext.deadline(afterMilliseconds: shared.limits.idleTimeoutMilliseconds)
    pipelined = (isAdvancing ? hasMore : !held.isEmpty) ? pipelined + 1 : 0
    guard !isAdvancing else { return }
    if !held.isEmpty { advanceHeld() }
    setReading(held.isEmpty || waiting != .answer && waiting != .taking)
  }

  /// Answers by itself and ends the connection.
  private func refuse(_ refusal: Refusal) {
    guard waiting != .ending else { return }
    shared.counters.refused(refusal)
    manner = AnswerWriter.Manner(isHead: reader.isHead, persists: false)
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

  /// Closes this side, and reads on for a while: closing at once would reset the connection, and with it the answer.
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
    shared.census.leave(isProxied ? nil : peer?.network)
  }

  /// Looks at the time, every now and then. Time in which the server did not run counts against no client.
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

  /// The server stops: an idle connection closes now, another one behind its answer. A request that is not whole yet has little time
  /// left.
  func drain() {
    switch waiting {
    // The client may still be taking its last answer.
    case .request where reader.isFresh && held.isEmpty: if unsentCount > 0 { end() } else { close() }
    case .request, .head, .body:
      deadline = min(
        deadline, ServerContext.deadline(afterMilliseconds: shared.limits.drainTimeoutMilliseconds))
    case .answer, .taking, .ending: break
    }
  }

  /// Since when nobody but the client has had something to do; nil while the application has, or the client takes its answer.
  var idleSince: Int64? {
    switch waiting {
    case .request, .head, .body: unsentCount > 0 ? nil : waitingSince
    case .ending: .min
    case .answer, .taking: nil
    }
  }
}
