// The bridge between a host's standard streams and a server's Streamable HTTP (Model Context Protocol). The bridge
// passes messages on unchanged. One thread does everything except the steps of the account: it waits for the host, the
// server and tokens at the same time.

import CPosix
import EnrollHost
import EnrollMCP
import EnrollPosix
import EnrollRules

/// One run of the bridge. A class, because its exchanges report to it.
final class Bridge {
  /// The maximum number of the host's messages that are processed at the same time. Further messages wait.
  private static let mostExchanges = 128
  /// The maximum number of bytes of all messages that are processed at the same time. One message may be longer.
  private static let mostRunningBytes = 16 << 20
  /// The maximum number of bytes of all waiting messages. Above this limit, no further line is read.
  private static let mostQueuedBytes = 1 << 20
  /// How many bytes are counted for a waiting message in addition to the message's own bytes.
  private static let queuedOverhead = 512
  /// How long requests may still run after the end of the input.
  private static let lastAnswersNanoseconds: Int64 = 700_000_000
  /// How long the request that ends the session at the server may take.
  private static let closingNanoseconds: Int64 = 1_000_000_000
  /// The intervals, in nanoseconds, at which the bridge checks whether a sign-in has ended: `tick` for a sign-in in a
  /// helper process, `slowTick` for a sign-in at a terminal.
  static let tick: Int64 = 200_000_000
  static let slowTick: Int64 = 1_000_000_000

  let options: BridgeOptions
  let session: CommandSession
  let output: HostOutput
  let tokens: BridgeTokens
  var signIn: BridgeSignIn
  var legacy = LegacySession()
  var wholeStream = WholeStream()
  /// The protocol version that the last message of 2026-07-28 or later named.
  var modernVersion: String?
  /// The server's last nonce (`DPoP-Nonce`), for the proofs of a bound token.
  var proofNonce: String?
  /// When to check again whether the sign-in has ended, in nanoseconds.
  var nextLook: Int64 = 0
  private var http: StreamingExchanges?
  private var exchanges: [Exchange] = []
  private var lastNumber = 0
  private let log: BridgeLog?
  private var lines: HostLines
  /// The tool arguments that are repeated in headers.
  var knownTools = KnownTools()
  /// The tools that were left out, and about which the user was warned.
  var warnedTools: Set<String> = []
  /// The last token that the server has accepted.
  var acceptedToken: AccessToken?
  /// How long the process was stopped, in nanoseconds.
  private var stopped: Int64 = 0
  private var isInputOver = false
  /// Whether a part of a response is held back until the host reads the output of the bridge.
  var hasPostponed = false

  init(_ options: BridgeOptions, _ session: CommandSession, output: HostOutput) throws(Failure) {
    self.options = options
    self.session = session
    self.output = output
    lines = HostLines(limit: options.longestMessage)
    tokens = try Failure.wrapping { () throws(EnrollError) in
      try BridgeTokens(session, resource: options.resource)
    }
    signIn = BridgeSignIn(options, session)
    log = try BridgeLog.named()
  }

  /// The time for timers, in nanoseconds. It does not advance while the process is stopped.
  var now: Int64 { SystemClock.now().nanoseconds - stopped }

  /// Adds a line to the log, if there is one.
  func note(_ text: @autoclosure () -> String) {
    if let log { log.add(text()) }
  }

  // MARK: The run

  /// Serves the host until the host closes the bridge's input or output, or until a signal ends the program.
  func run() {
    note("enroll \(LibraryVersion.string) begins, for \(options.serverName)")
    while !isInputOver, !output.isBroken, !session.waits.isInterrupted { serve() }
    note(isInputOver ? "the input is over" : output.isBroken ? "the host reads no more" : "a signal came")
    let end = now + Self.lastAnswersNanoseconds
    while now < end, !output.isBroken, !session.waits.isInterrupted,
      exchanges.contains(where: { !$0.openIDs.isEmpty && !$0.isWaitingForUser }) || !output.isEmpty
    {
      wait(atMost: 50)
      work()
    }
    close()
  }

  /// Ends the session at the server, and every stream.
  func close() {
    for exchange in exchanges { drop(exchange) }
    if let id = legacy.id {
      let closing = exchange(.closing, [], Message(), ids: [])
      closing.sessionID = id
      // There is no time to renew a token, so this request uses the last accepted token.
      send(closing, acceptedToken)
      let end = now + Self.closingNanoseconds
      while exchanges.contains(where: { $0 === closing }), now < end {
        wait(atMost: 50)
        work()
      }
    }
    tokens.abandon()
  }

  /// Waits for the next event and handles it. Does not read the host's input.
  /// - Parameter most: the longest wait, in milliseconds.
  func step(atMost most: Int32) {
    wait(atMost: most)
    work()
  }

  /// Handles what is pending, waits for the next event, and reads the host's input if there is any.
  private func serve() {
    work()
    // A single long message that waits must not stop the bridge from reading the host's answers and cancellations.
    let reads =
      (queuedBytes < Self.mostQueuedBytes || exchanges.count { $0.isQueued } == 1)
      && exchanges.count { !$0.isQueued } < 2 * Self.mostExchanges
    wait(reads: reads)
    readInput(reads)
  }

  /// Handles everything that is pending now. Does not block.
  private func work() {
    http?.advance()
    output.write()
    if hasPostponed, !output.isFull {
      hasPostponed = false
      http?.resume()
    }
    for (exchange, answer) in tokens.takeAnswers() { receive(answer, for: exchange) }
    runTimers()
    releaseAnswered()
    releaseHeld()
    releaseQueued()
  }

  /// - Parameter reads: whether input from the host ends the wait. With false, only the end of the input ends the wait;
  ///   with nil, not even the end of the input does.
  private func wait(reads: Bool? = nil, atMost most: Int32? = nil) {
    var waits = [
      StreamingExchanges.Wait(tokens.descriptor, forInput: true),
      StreamingExchanges.Wait(Interrupts.descriptor, forInput: true),
    ]
    // With `forInput` false the wait still ends when the host closes its input (POLLHUP).
    if let reads { waits.append(StreamingExchanges.Wait(STDIN_FILENO, forInput: reads)) }
    if !output.isEmpty { waits.append(StreamingExchanges.Wait(STDOUT_FILENO, forOutput: true)) }
    let due = waitMilliseconds
    let limit = most.map { due < 0 ? $0 : min(due, $0) } ?? due
    let begun = now
    if let http {
      http.wait(for: waits, milliseconds: limit)
    } else {
      var pollers = waits.map { wait in
        pollfd(
          fd: wait.descriptor,
          events: Int16(wait.forInput ? POLLIN : 0) | Int16(wait.forOutput ? POLLOUT : 0), revents: 0)
      }
      _ = poll(&pollers, nfds_t(pollers.count), limit)
    }
    // If a wait ends more than a second late, the process was stopped (SIGSTOP, a frozen container). This time does
    // not count for requests.
    let late = limit < 0 ? 0 : now - begun - Int64(limit) * 1_000_000
    if late > 1_000_000_000 { stopped += late }
    if session.waits.next(milliseconds: 0) == .interrupt { return }
  }

  /// Reads what the host has written.
  private func readInput(_ reads: Bool) {
    var poller = pollfd(fd: STDIN_FILENO, events: Int16(reads ? POLLIN : 0), revents: 0)
    guard poll(&poller, 1, 0) > 0 else { return }
    guard reads else {
      isInputOver = Int32(poller.revents) & (POLLHUP | POLLERR | POLLNVAL) != 0
      return
    }
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    let count = bytes.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress, $0.count) }
    if count > 0 { return offer(bytes[..<count]) }
    guard count == 0 || ![EINTR, EAGAIN].contains(enroll_posix_errno()) else { return }
    isInputOver = true
    lines.finish { receive($0) }
  }

  /// Handles bytes that the host has written.
  func offer(_ bytes: ArraySlice<UInt8>) { lines.add(bytes) { receive($0) } }

  // MARK: The exchanges

  func exchange(_ kind: Exchange.Kind, _ body: [UInt8], _ message: Message, ids: [MessageID]) -> Exchange {
    lastNumber += 1
    let made = Exchange(lastNumber, kind, body, message, ids: ids, deadline: newDeadline, self)
    exchanges.append(made)
    return made
  }

  /// The deadline of a wait for a token or a sign-in that begins now.
  var newDeadline: Int64 { now + options.waitSeconds * 1_000_000_000 }

  /// Sends a message of the host, unless it has to stay in the queue.
  func begin(_ message: Exchange) {
    guard message.isUrgent || hasRoom && !exchanges.contains(where: { $0 !== message && $0.isQueued }) else {
      return
    }
    advance(message)
  }

  private var hasRoom: Bool {
    // A server may leave the stream of an answered request open. Such a request does not count as running.
    let running = exchanges.filter {
      $0.kind == .message && !$0.isQueued && (!$0.openIDs.isEmpty || $0.status == 0)
    }
    return running.count < Self.mostExchanges
      && running.reduce(0) { $0 + $1.body.count } < Self.mostRunningBytes
  }

  private var queuedBytes: Int {
    exchanges.reduce(0) { $0 + ($1.isQueued ? $1.body.count + Self.queuedOverhead : 0) }
  }

  private func releaseQueued() {
    for queued in exchanges where queued.isQueued {
      guard hasRoom else { return }
      queued.deadline = newDeadline
      advance(queued)
    }
  }

  /// The running request with this id.
  func exchange(of id: MessageID) -> Exchange? {
    exchanges.first { $0.openIDs.contains(id) && $0.isOfHost }
  }

  /// The exchanges for which `isWanted` returns true.
  func all(where isWanted: (Exchange) -> Bool) -> [Exchange] { exchanges.filter(isWanted) }

  /// Whether a message of the host has to wait until the session is initialized.
  /// - Parameter waiting: the message.
  func isBeginning(before waiting: Exchange) -> Bool {
    exchanges.contains { $0 !== waiting && $0.isFirst && !$0.isHeld && !$0.isQueued } || isBeginningAgain
  }

  /// Sends the messages that waited until the session was initialized.
  private func releaseHeld() {
    for held in exchanges where held.isHeld {
      guard !isBeginning(before: held) else { return }
      advance(held)
    }
  }

  /// Whether the bridge is initializing a new session, because the server has lost the previous session.
  var isBeginningAgain: Bool {
    exchanges.contains { $0.kind == .initializeAgain || $0.kind == .initializedAgain }
  }

  /// Removes an exchange, and closes its stream.
  func drop(_ exchange: Exchange) {
    if let running = exchange.running { http?.stop(running) }
    exchange.running = nil
    tokens.forget(exchange)
    exchanges.removeAll { $0 === exchange }
  }

  /// Answers the open requests of an exchange with an error, and removes it.
  func fail(_ exchange: Exchange, _ answer: ErrorAnswer) {
    drop(exchange)
    // The host knows the call, but not the bridge's request for the rest of the stream, so the error is about the
    // call.
    let answer = exchange.kind == .resuming && answer.reason != .tooLarge ? brokenStream : answer
    guard exchange.kind != .initializeAgain, exchange.kind != .initializedAgain else {
      return sessionFailed(exchange, answer)
    }
    guard exchange.kind != .wholeStream else { return wholeStreamFailed(answer) }
    guard exchange.kind != .listingTools else { return toolsListed(exchange) }
    guard !exchange.isCancelled else { return }
    note("\(exchange.logged): the host gets an error, \(answer.reason?.rawValue ?? "of JSON-RPC")")
    for id in exchange.openIDs { output.add(answer.line(id: id.bytes)) }
  }

  /// Starts the HTTP exchange.
  func start(
    _ exchange: Exchange, _ method: HTTPRequest.Method, _ headers: [HTTPHeader], _ body: [UInt8],
    at url: String? = nil
  ) throws(EnrollError) {
    let http: StreamingExchanges
    if let known = self.http {
      http = known
    } else {
      http = try StreamingExchanges(
        CurlTransport.Options(
          allowsLoopbackHTTP: options.allowsLoopbackHTTP, caFile: options.certificateFile,
          connectTimeout: CurlTransport.Milliseconds(10_000)))
      self.http = http
    }
    exchange.restart()
    var headers = headers
    if let token = exchange.token {
      headers += try tokens.headers(token, for: method, url ?? options.url, nonce: proofNonce)
    }
    exchange.running = try http.start(
      method, url ?? options.url, headers: headers, body: body, receiver: exchange)
    exchange.phase = .running
    note("\(exchange.logged): \(method.rawValue)\(exchange.token == nil ? ", without a token" : "")")
  }

  // MARK: Timers

  /// How long to wait for events; negative for no limit.
  private var waitMilliseconds: Int32 {
    var next: Int64?
    for exchange in exchanges {
      switch exchange.phase {
      case .resting(let until): next = min(next ?? until, until)
      case .awaitingSignIn: next = min(next ?? .max, nextLook)
      case .awaitingToken: next = min(next ?? .max, now + Self.slowTick)
      case .awaitingEndpoint:
        if streamAtServer != nil { next = min(next ?? .max, exchange.deadline) }
      case .queued, .held, .awaitingSession, .awaitingTools, .awaitingAnswer, .running: break
      }
    }
    guard let next else { return -1 }
    return Int32(clamping: max(0, next - now) / 1_000_000 + 1)
  }

  private func runTimers() {
    for exchange in exchanges {
      if case .resting(let until) = exchange.phase, now >= until { advance(exchange) }
    }
    endWaitForEndpoint()
    if exchanges.contains(where: { $0.isWaitingForUser }) {
      lookAtSignIn()
    } else if signIn.isAwaited {
      // The host has cancelled all requests that waited for the sign-in.
      signIn.end()
    }
  }
}
