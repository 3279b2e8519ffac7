// The redirect of a loopback sign-in (R4, RFC 8252 §7.3): listens on this machine only, while a transaction is pending,
// until one answer was accepted. Every program and every web page on the machine can send requests here, so it is strict:
// GET of exactly the configured path, with the address itself as Host (a name that was rebound to 127.0.0.1 is another
// Host), and what the host does not recognise changes nothing (R6).

import CPosix
public import EnrollCore

/// Waits for the browser to come back. Belongs to this process: it does not survive it, nor work in a forked child.
public final class LoopbackListener: @unchecked Sendable {
  // Unchecked: `connections` belongs to the one thread inside `wait`, or to whoever closes; `state` says which.
  private enum Phase { case idle, waiting, closing, closed }

  private struct State {
    var phase = Phase.idle
    var sockets: LoopbackSockets
  }

  /// The configured redirect with the port that is really open: what the authorization request has to carry.
  public let redirectURI: String

  private let base: String
  private let path: [UInt8]
  private let authority: [UInt8]
  private let state: Guarded<State>
  private let waker: Waker
  private let fork = ForkGuard()
  private var connections: [LoopbackConnection] = []

  /// Browsers open a few; the oldest gives way to a new one.
  private static let mostConnections = 16
  /// The clock is looked at again at least that often, since poll's own stands still during suspend.
  private static let longestWaitNanoseconds: Int64 = 10_000_000_000

  /// Opens the port: the one that `redirectURI` names, else one that the system chooses.
  /// - Parameter redirectURI: `http://127.0.0.1[:port]/path` or `http://[::1][:port]/path`; both addresses are listened
  ///   on where the machine has them.
  /// - Throws: `.configuration` (not such a URL, or a port that needs privileges), `.busy` (the port is taken; no file
  ///   descriptor left), `.unsupported` (no such address on this machine).
  public convenience init(redirectURI: String) throws(EnrollError) {
    let url = try Self.parse(redirectURI)
    let host = url.hostText ?? ""
    let waker = try Waker()
    let sockets = try LoopbackSockets(
      isIPv6: ASCII.equals(host, "[::1]"), port: url.port.flatMap { UInt16(exactly: $0) })
    self.init(url, host, sockets, waker)
  }

  private init(_ url: StrictURL, _ host: String, _ sockets: LoopbackSockets, _ waker: Waker) {
    let authority = "\(host):\(sockets.port)"
    self.authority = Array(authority.utf8)
    path = Array(url.bytes[url.path])
    base = "http://" + authority + url.text(url.path)
    redirectURI = base + (url.query.map { "?" + url.text($0) } ?? "")
    state = Guarded(State(sockets: sockets), by: Mutex())
    self.waker = waker
  }

  deinit { closeEverything() }

  private static func parse(_ text: String) throws(EnrollError) -> StrictURL {
    let url: StrictURL
    do throws(StrictURL.Refusal) { url = try StrictURL(text) } catch { throw refused(error.text) }
    guard url.kind == .loopbackHTTP, let host = url.hostText,
      ASCII.equals(host, "127.0.0.1") || ASCII.equals(host, "[::1]")
    else { throw refused("a loopback redirect is http to 127.0.0.1 or [::1] (R4)") }
    guard !url.hadFragment, !url.path.isEmpty else { throw refused("a path and no fragment were expected") }
    return url
  }

  private static func refused(_ reason: String) -> EnrollError {
    EnrollError(.configuration, "redirectUri: \(reason)", field: "redirectUri")
  }

  /// Waits until `handle` has accepted a URL; then the browser has its page, and the port is closed.
  ///
  /// `handle` gets each URL that came to the right path, as ``redirectURI`` with the received query, runs on this thread
  /// and may take its time: the browser waits for the outcome. After a deadline or a cancellation the port stays open,
  /// and the wait can be taken up again.
  /// - Throws: what `handle` throws (the browser then shows ``LoopbackPage/failed``, and the port is closed);
  ///   `.deadlineExceeded`; `.cancelled` (also when ``close()`` was called meanwhile); `.illegalState` (closed before, or
  ///   another thread waits already); `.busy` (no file descriptor for the browser); `.forked`.
  public func wait(
    deadline: Instant, clock: any Clock, cancellation: (any Cancellation)? = nil,
    _ handle: (String) throws(EnrollError) -> LoopbackReply
  ) throws(EnrollError) {
    try fork.check()
    let sockets = try beginWaiting()
    let waker = self.waker
    let ticket = cancellation?.onCancel { waker.wake() }
    defer {
      if let ticket { cancellation?.removeHook(ticket) }
      endWaiting()
    }
    while true {
      if isClosing { throw EnrollError(.cancelled, "the loopback listener was closed") }
      if let cancellation, cancellation.isCancelled {
        throw EnrollError(.cancelled, "the wait for the redirect was cancelled")
      }
      let now = clock.instant()
      guard now < deadline else {
        throw EnrollError(.deadlineExceeded, "no redirect came before the deadline")
      }
      dropConnections { now >= $0.deadline }
      let ready = poll(sockets, now: now, deadline: deadline)
      waker.drain()
      if try serve(ready, handle) {
        close()
        return
      }
      try accept(ready, now: now)
    }
  }

  /// Closes the port. A wait on another thread ends with `.cancelled`. Repeating it changes nothing.
  public func close() {
    let isMine = state.withLock { state in
      switch state.phase {
      case .idle:
        state.phase = .closed
        return true
      case .waiting:
        state.phase = .closing
        return false
      case .closing, .closed: return false
      }
    }
    if isMine { closeEverything() } else { waker.wake() }
  }

  private var isClosing: Bool { state.withLock { $0.phase == .closing } }

  private func beginWaiting() throws(EnrollError) -> [Int32] {
    let sockets = state.withLock { state -> [Int32]? in
      guard state.phase == .idle else { return nil }
      state.phase = .waiting
      return state.sockets.descriptors
    }
    guard let sockets else {
      throw EnrollError(.illegalState, "the loopback listener is closed, or another thread waits for it")
    }
    return sockets
  }

  private func endWaiting() {
    let isClosed = state.withLock { state in
      state.phase = state.phase == .closing ? .closed : .idle
      return state.phase == .closed
    }
    if isClosed { closeEverything() }
  }

  private func closeEverything() {
    dropConnections { _ in true }
    state.withLock { $0.sockets.close() }
  }

  private func dropConnections(_ isOver: (LoopbackConnection) -> Bool) {
    for connection in connections where isOver(connection) { connection.close() }
    connections.removeAll(where: isOver)
  }
}

// One turn of the wait: poll, serve, accept.
extension LoopbackListener {
  /// What there is to do.
  private struct Ready {
    var listeners: [Int32] = []
    var connections: Set<Int32> = []
  }

  private func poll(_ sockets: [Int32], now: Instant, deadline: Instant) -> Ready {
    var descriptors = [pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0)]
    for socket in sockets { descriptors.append(pollfd(fd: socket, events: Int16(POLLIN), revents: 0)) }
    var until = min(deadline, now.advanced(byNanoseconds: Self.longestWaitNanoseconds))
    for connection in connections {
      descriptors.append(pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0))
      until = min(until, connection.deadline)
    }
    // Rounded up, so that the time is really over.
    let milliseconds = Int32(clamping: until.since(now) / 1_000_000 + 1)
    _ = ExitBarrier.outside { CPosix.poll(&descriptors, nfds_t(descriptors.count), milliseconds) }
    var ready = Ready()
    for (index, polled) in descriptors.enumerated() where index > 0 && polled.revents != 0 {
      if index <= sockets.count {
        ready.listeners.append(polled.fd)
      } else {
        ready.connections.insert(polled.fd)
      }
    }
    return ready
  }

  /// Reads from every connection that has something; true once a URL was accepted.
  private func serve(
    _ ready: Ready, _ handle: (String) throws(EnrollError) -> LoopbackReply
  ) throws(EnrollError) -> Bool {
    for index in connections.indices.reversed()
    where ready.connections.contains(connections[index].descriptor) {
      let progress = connections[index].read()
      if case .waiting = progress { continue }
      let connection = connections.remove(at: index)
      defer { connection.close() }
      switch progress {
      case .waiting, .gone: break
      case .refused(let status): connection.answer(LoopbackResponse.refusal(status))
      case .head(let head):
        if try answer(head, on: connection, handle) { return true }
      }
    }
    return false
  }

  private func answer(
    _ head: ArraySlice<UInt8>, on connection: LoopbackConnection,
    _ handle: (String) throws(EnrollError) -> LoopbackReply
  ) throws(EnrollError) -> Bool {
    let url: String
    do throws(LoopbackRequest.Refusal) {
      url = try self.url(of: try LoopbackRequest(head: head))
    } catch {
      connection.answer(LoopbackResponse.refusal(error.status))
      return false
    }
    do throws(EnrollError) {
      switch try handle(url) {
      case .declined:
        connection.answer(LoopbackResponse.refusal(404))
        return false
      case .accepted(let page):
        connection.answer(LoopbackResponse.bytes(200, page))
        return true
      }
    } catch {
      connection.answer(LoopbackResponse.bytes(200, .failed))
      close()
      throw error
    }
  }

  /// The URL that the browser was sent to, if the request is for our path on our address.
  private func url(of request: LoopbackRequest) throws(LoopbackRequest.Refusal) -> String {
    guard request.host.elementsEqual(authority) else { throw LoopbackRequest.Refusal(status: 421) }
    guard request.path.elementsEqual(path) else { throw LoopbackRequest.Refusal(status: 404) }
    guard ASCII.equals(request.method, "GET") else { throw LoopbackRequest.Refusal(status: 405) }
    guard let query = request.query else { return base }
    return base + "?" + String(decoding: query, as: UTF8.self)
  }

  private func accept(_ ready: Ready, now: Instant) throws(EnrollError) {
    for listener in ready.listeners {
      for _ in 1...Self.mostConnections {
        let descriptor = enroll_posix_accept(listener)
        guard descriptor >= 0 else {
          let number = enroll_posix_errno()
          if number == EMFILE || number == ENFILE || number == ENOBUFS || number == ENOMEM {
            throw EnrollError(.busy, "no file descriptor could be had for the browser's connection")
          }
          break
        }
        if connections.count == Self.mostConnections { connections.removeFirst().close() }
        connections.append(LoopbackConnection(descriptor: descriptor, now: now))
      }
    }
  }
}
