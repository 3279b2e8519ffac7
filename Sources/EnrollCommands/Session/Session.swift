// The open clients of one interface, and the generic call: find the command, check its input, run it. The session has
// its own threads, apart from the threads on which clients renew tokens: a call may wait for a renewal, and must never
// block it.

public import EnrollRules
public import EnrollSteps
import EnrollHost
public import EnrollJSON
public import EnrollPosix

/// A table of open clients (handles `c1`, `c2`, … are never reused), and the calls of commands. Any method may be
/// called from any thread.
public final class Session: Sendable {
  /// Gets events: a name and an object. Called on the thread that caused the event; must not block.
  public typealias EventSink = @Sendable (_ name: String, _ parameters: JSON) -> Void

  /// The limit of open clients.
  static let clientLimit = 65_536

  private struct Clients {
    var opened: [UInt64: OpenClient] = [:]
    var next: UInt64 = 1
    var isEnding = false
  }

  let environment: SessionEnvironment
  private let tell: EventSink
  private let clients = Guarded(Clients(), by: Mutex())
  private let limits = CallLimits()
  private let workers = WorkerPool(threads: CallLimits.blocking)

  public init(_ environment: SessionEnvironment = .none, tell: @escaping EventSink = { _, _ in }) {
    self.environment = environment
    self.tell = tell
  }

  /// Runs a command on this thread and waits for its result.
  /// - Parameters:
  ///   - parameters: an object.
  ///   - deadline: the caller's deadline, in addition to the parameter `timeout`.
  /// - Throws: `.notFound` for an unknown command; `.invalidArgument`; `.handle`; the errors of the command.
  public func call(
    _ name: String, _ parameters: JSON = .object([]), deadline: Instant? = nil,
    cancellation: (any Cancellation)? = nil
  ) throws(EnrollError) -> JSON {
    let command = try CommandTable.required(name)
    return try command.run(try invocation(command, parameters, deadline, cancellation))
  }

  /// Starts a command and returns at once. `completion` runs exactly once: before this returns if the call is refused
  /// or need not wait, otherwise on another thread. If too many calls are running, the result is `.busy`.
  /// - Parameter isAnswered: whether the result is sent to the host. The client's log then reports the errors of the
  ///   call only as `info`.
  public func start(
    _ command: Command, _ parameters: JSON, cancellation: CancellationFlag?, isAnswered: Bool = true,
    completion: @escaping Command.Completion
  ) {
    var completion = completion
    do throws(EnrollError) {
      let invocation = try invocation(command, parameters, nil, cancellation)
      if isAnswered, let log = invocation.opened?.log { completion = log.untilReplied(completion) }
      switch command.kind {
      case .memory: completion(.success(try command.run(invocation)))
      case .blocking, .waiting: try startBlocking(command, invocation, cancellation, completion)
      case .parked: try startParked(command, invocation, cancellation, completion)
      }
    } catch {
      completion(.failure(error))
    }
  }

  private func startBlocking(
    _ command: Command, _ invocation: Invocation, _ cancellation: CancellationFlag?,
    _ completion: @escaping Command.Completion
  ) throws(EnrollError) {
    let handle = invocation.opened?.handle ?? ""
    try limits.enterBlocking(handle)
    let completion = untilClosed(invocation, cancellation, completion)
    let isAccepted = workers.submit { [limits] in
      let result: Result<JSON, EnrollError>
      do throws(EnrollError) {
        let json = try CallTimeout.until(cancellation: invocation.cancellation) {
          () throws(EnrollError) in
          try command.run(invocation)
        }
        result = .success(json)
      } catch {
        result = .failure(error)
      }
      limits.leaveBlocking(handle)
      completion(result)
    }
    guard !isAccepted else { return }
    limits.leaveBlocking(handle)
    completion(
      .failure(
        EnrollError.noThread(", or the session is ending")))
  }

  private func startParked(
    _ command: Command, _ invocation: Invocation, _ cancellation: CancellationFlag?,
    _ completion: @escaping Command.Completion
  ) throws(EnrollError) {
    guard case .parked(let start) = command.body else {
      throw EnrollError(.internal, "\(command.name) is parked and has no start")
    }
    if let known = command.known?(invocation) { return completion(.success(known)) }
    try limits.enterParked()
    let completion = untilClosed(invocation, cancellation, completion)
    let done: Command.Completion = { [limits] result in
      limits.leaveParked()
      completion(result)
    }
    guard let beginner = invocation.opened?.beginner else { return start(invocation, done) }
    if !beginner.submit({ start(invocation, done) }) {
      done(
        .failure(
          EnrollError.noThread(", or the client is closing")))
    }
  }

  private func untilClosed(
    _ invocation: Invocation, _ cancellation: CancellationFlag?, _ completion: @escaping Command.Completion
  ) -> Command.Completion {
    guard let client = invocation.opened?.client, let cancellation else { return completion }
    return client.untilClosed(cancellation, completion)
  }

  private func invocation(
    _ command: Command, _ parameters: JSON, _ deadline: Instant?, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Invocation {
    try command.input.check(parameters)
    var invocation = Invocation(
      parameters: parameters.object ?? JSONObject(), session: self, deadline: deadline,
      cancellation: cancellation)
    if command.usesClient {
      let opened = try opened(parameters["client"]?.string ?? "")
      invocation.opened = opened
      invocation.client = opened.client
    }
    return invocation
  }

  /// The open client of a handle.
  /// - Throws: `.handle` for a stale handle, and for a text that was never a handle.
  private func opened(_ handle: String) throws(EnrollError) -> OpenClient {
    if let number = Self.number(handle), let opened = clients.withLock({ $0.opened[number] }) {
      return opened
    }
    throw EnrollError(
      .handle, "no client has this handle: it was closed, or client.open has not answered yet",
      field: "client")
  }

  /// The number of a handle such as `c1`; nil for any other spelling.
  private static func number(_ handle: String) -> UInt64? {
    let bytes = handle.utf8
    guard bytes.first == UInt8(ascii: "c"), let number = UInt64(handle.dropFirst()),
      ASCII.equals("c\(number)", handle)
    else { return nil }
    return number
  }

  /// A handle for a client that will be opened.
  func newHandle() -> String {
    let number = clients.withLock { clients -> UInt64 in
      defer { clients.next += 1 }
      return clients.next
    }
    return "c\(number)"
  }

  /// Adds an open client to the session.
  /// - Parameters:
  ///   - handle: from ``newHandle()``.
  ///   - opensAside: true if opening the store may ask the host for a key. A separate thread then opens the store,
  ///     because the thread that reads requests must also read the host's answer.
  /// - Throws: `.busy` if too many clients are open; this client is then closed.
  func add(
    _ client: Client, handle: String, opensAside: Bool, log: ClientLog? = nil
  ) throws(EnrollError) {
    let opened = OpenClient(client, handle: handle, opensAside: opensAside, log: log, tell: tell)
    let isAdded = clients.withLock { clients -> Bool in
      guard clients.opened.count < Self.clientLimit, !clients.isEnding, let number = Self.number(handle)
      else { return false }
      clients.opened[number] = opened
      return true
    }
    guard isAdded else {
      client.close()
      throw EnrollError(.busy, "\(Self.clientLimit) clients are open, or the session is ending")
    }
  }

  func close(_ opened: OpenClient) {
    remove(opened)
    // A renewal that was sent is stored before the process ends (R39): finish() waits for this job.
    _ = workers.submit { opened.drain() }
  }

  private func remove(_ opened: OpenClient) {
    if let number = Self.number(opened.handle) {
      _ = clients.withLock { $0.opened.removeValue(forKey: number) }
    }
    opened.unsubscribe()
    opened.client.close()
  }

  /// Closes all clients, and every client that is opened later. Their running calls end, and nothing more is sent.
  public func closeClients() {
    let open = clients.withLock { clients -> [OpenClient] in
      clients.isEnding = true
      return Array(clients.opened.values)
    }
    for opened in open { opened.client.close() }
  }

  /// Ends the session: no new call starts, running calls end, and every renewal that was sent is stored (R39). Returns
  /// after that.
  /// - Parameter seconds: the time after which the session does not even wait for the response to a refresh token; nil:
  ///   the longest time that a request may take.
  public func finish(within seconds: Int64? = nil) {
    closeClients()
    let open = clients.withLock { Array($0.opened.values) }
    let timers = TimerQueue()
    let timer = seconds.flatMap { seconds in
      timers.run(at: SystemClock.now().advanced(bySeconds: seconds)) {
        for opened in open { opened.client.cancelLastRequests() }
      }
    }
    // The first client is closed on this thread, so that a single client needs no other thread.
    for opened in open.dropFirst() { close(opened) }
    if let first = open.first {
      remove(first)
      first.drain()
    }
    workers.drain()
    if let timer { timers.cancel(timer) }
  }
}
