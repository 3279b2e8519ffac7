// Receives the redirect of a loopback sign-in (R4, RFC 8252 §7.3). The listener is open on this machine only, while a
// transaction is pending, until it has accepted one URL. Every program and every web page on the machine can send
// requests to the port. So the listener accepts only a GET of exactly the configured path with the configured Host;
// after DNS rebinding the Host is another name. A URL that the caller's handler declines changes nothing (R6). The
// answer to an accepted request is a redirect to the path without the query, so that the code leaves the address bar
// and the history. The listener shows the page at that path.

import CPosix
public import EnrollRules
public import EnrollSteps
import EnrollPosix

/// Waits for the browser's redirect. A listener belongs to its process: it ends with the process, and does not work in
/// a forked child.
public final class LoopbackListener: @unchecked Sendable {
  // Unchecked: `connections` is only touched by the thread inside `wait`, or by the thread that closes the listener;
  // `state` says which thread it is.
  private enum Phase { case idle, waiting, closing, closed }

  private struct State {
    var phase = Phase.idle
    var sockets: LoopbackSockets
  }

  /// The configured redirect URI with the port that is open. The authorization request has to use it.
  public let redirectURI: String

  private let address: LoopbackAddress
  private let state: Guarded<State>
  private let event: EventDescriptor
  private let fork = ForkGuard()
  private var connections: [LoopbackConnection] = []
  private let returnPage: ReturnPage
  /// The page that is shown at the path without a query; nil if no page is to be shown yet.
  private var shown: LoopbackPage?
  private var postponed = PostponedRedirects()

  /// Two limits after the redirect to the page: how long the listener waits for the browser's next event, and how many
  /// events it waits for.
  private static let (lingerMilliseconds, mostLingering): (Int32, Int) = (2_000, 64)
  /// The maximum number of connections. Browsers open only a few; above the maximum, a new connection replaces the
  /// oldest.
  private static let mostConnections = 16
  /// The clock is read at least this often, because the timeout of poll(2) does not count time in suspend.
  private static let longestWaitNanoseconds: Int64 = 10_000_000_000

  /// Opens the port that `redirectURI` names, or a port that the system chooses.
  /// - Parameters:
  ///   - redirectURI: `http://127.0.0.1[:port]/path`, or the same with `[::1]` or `localhost`. The listener uses both
  ///     addresses if the machine has them. For `localhost`, no other program may use the port at either address.
  ///   - returnPage: the app's part of the page.
  /// - Throws: `.configuration` (not such a URL, or a port that needs privileges), `.busy` (the port is taken, or no
  ///   file descriptor is left), `.unsupported` (this machine has no such address).
  public convenience init(redirectURI: String, returnPage: ReturnPage = ReturnPage()) throws(EnrollError) {
    let url = try LoopbackAddress.parse(redirectURI)
    let host = url.hostText ?? ""
    let event = try EventDescriptor()
    let sockets = try LoopbackSockets(
      isIPv6: ASCII.equals(host, "[::1]"), needsBoth: ASCII.equals(host, "localhost"),
      port: url.port.flatMap { UInt16(exactly: $0) })
    self.init(LoopbackAddress(url, host: host, port: sockets.port), sockets, event, returnPage)
  }

  private init(
    _ address: LoopbackAddress, _ sockets: LoopbackSockets, _ event: EventDescriptor, _ returnPage: ReturnPage
  ) {
    self.address = address
    redirectURI = address.redirectURI
    self.returnPage = returnPage
    self.event = event
    state = Guarded(State(sockets: sockets), by: Mutex())
  }

  deinit { closeEverything() }

  /// Waits until `handle` has accepted a URL. Then the browser has its page, and the port is closed.
  ///
  /// `handle` gets each URL that was requested at the right path, as ``redirectURI`` with the received query. It runs
  /// on this thread and may take long: the browser waits for the result. A URL that `handle` postpones is passed to it
  /// again later. After a deadline or a cancellation the port stays open, and this method can be called again.
  /// - Throws: the error of `handle` (the browser then shows ``LoopbackPage/failed``, and the port is closed);
  ///   `.deadlineExceeded`; `.cancelled` (also if ``close()`` was called meanwhile); `.illegalState` (closed before, or
  ///   another thread is waiting); `.busy` (no file descriptor for the browser, or the system refuses poll(2));
  ///   `.forked`.
  public func wait(
    deadline: Instant, clock: any Clock, cancellation: (any Cancellation)? = nil,
    _ handle: (String) throws(EnrollError) -> LoopbackReply
  ) throws(EnrollError) {
    try fork.check()
    let sockets = try beginWaiting()
    let event = self.event
    let ticket = cancellation?.onCancel { event.wake() }
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
        throw EnrollError(.deadlineExceeded, "no redirect arrived before the timeout")
      }
      dropConnections { now >= $0.deadline }
      let due = postponed.nextDue ?? deadline
      let ready = try poll(sockets, now: now, deadline: min(deadline, due))
      event.drain()
      do throws(EnrollError) {
        if try serve(ready, clock, handle) {
          linger(sockets, clock, cancellation)
          close()
          return
        }
        if try retry(clock, handle) {
          close()
          return
        }
      } catch {
        linger(sockets, clock, cancellation)
        close()
        throw error
      }
      try accept(ready, now: clock.instant())
    }
  }

  /// Closes the port. A wait on another thread ends with `.cancelled`. This method may be called more than once.
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
    if isMine { closeEverything() } else { event.wake() }
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

// One iteration of the wait: poll, serve, accept.
extension LoopbackListener {
  /// The sockets that are ready.
  private struct Ready {
    var listeners: [Int32] = []
    var connections: Set<Int32> = []
  }

  /// Waits until a socket is ready or the time is over.
  /// - Parameter atMost: the timeout in milliseconds; nil to compute it from the clock.
  /// - Throws: `.busy` if the system refuses the wait, because of a lack of memory or a sandbox's filter.
  private func poll(
    _ sockets: [Int32], now: Instant, deadline: Instant, atMost: Int32? = nil
  ) throws(EnrollError) -> Ready {
    var descriptors = [pollfd(fd: event.descriptor, events: Int16(POLLIN), revents: 0)]
    for socket in sockets { descriptors.append(pollfd(fd: socket, events: Int16(POLLIN), revents: 0)) }
    var until = min(deadline, now.advanced(byNanoseconds: Self.longestWaitNanoseconds))
    for connection in connections {
      descriptors.append(pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0))
      until = min(until, connection.deadline)
    }
    // The timeout is rounded up, so that poll never returns too early.
    let milliseconds = atMost ?? Int32(clamping: max(0, until.since(now)) / 1_000_000 + 1)
    let outcome = ExitBarrier.allowingExit {
      CPosix.poll(&descriptors, nfds_t(descriptors.count), milliseconds)
    }
    let number = enroll_posix_errno()
    if outcome < 0, number != EINTR, number != EAGAIN {
      throw EnrollError(.busy, "poll(2) for the redirect failed: \(SystemError.message(number))")
    }
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

  /// Reads from every connection that has data.
  /// - Returns: whether a URL was accepted.
  private func serve(
    _ ready: Ready, _ clock: any Clock, _ handle: (String) throws(EnrollError) -> LoopbackReply
  ) throws(EnrollError) -> Bool {
    for index in connections.indices.reversed()
    where ready.connections.contains(connections[index].descriptor) {
      let progress = connections[index].read()
      if case .waiting = progress { continue }
      let connection = connections.remove(at: index)
      var isCut = false
      defer { connection.close(isCut: isCut) }
      switch progress {
      case .waiting, .gone: break
      case .refused(let status):
        connection.answer(LoopbackResponse.refusal(status, returnPage))
        isCut = status == 431
      case .head(let head):
        if try answer(head, on: connection, clock, handle) { return true }
      }
    }
    return false
  }

  private func answer(
    _ head: ArraySlice<UInt8>, on connection: LoopbackConnection, _ clock: any Clock,
    _ handle: (String) throws(EnrollError) -> LoopbackReply
  ) throws(EnrollError) -> Bool {
    guard let url = asked(head, on: connection) else { return false }
    do throws(EnrollError) {
      switch try handle(url) {
      case .declined: connection.answer(LoopbackResponse.refusal(404, returnPage))
      case .postponed(let page, let seconds):
        guard postponed.add(url, until: clock.instant().advanced(bySeconds: seconds)) else {
          connection.answer(LoopbackResponse.refusal(404, returnPage))
          return false
        }
        show(page, on: connection)
      case .redirected(let next): connection.answer(LoopbackResponse.redirect(to: next))
      case .accepted(let page):
        show(page, on: connection)
        return true
      }
      return false
    } catch {
      show(.failed(returnPage.language), on: connection)
      throw error
    }
  }

  /// The URL that `handle` has to process; nil if the request was answered here.
  private func asked(_ head: ArraySlice<UInt8>, on connection: LoopbackConnection) -> String? {
    do throws(LoopbackRequest.Refusal) {
      let request = try LoopbackRequest(head: head)
      let url = try address.url(of: request)
      guard request.query == nil, let shown else { return url }
      connection.answer(LoopbackResponse.bytes(200, shown, returnPage))
    } catch {
      connection.answer(LoopbackResponse.refusal(error.status, returnPage))
    }
    return nil
  }

  /// Shows the page at the path without the query, so that neither the address bar nor the history keeps the code.
  private func show(_ page: LoopbackPage, on connection: LoopbackConnection) {
    shown = page
    connection.answer(LoopbackResponse.redirect(to: address.base))
  }

  /// Calls `handle` again for each postponed URL whose time has come.
  /// - Returns: whether one of them was accepted.
  private func retry(
    _ clock: any Clock, _ handle: (String) throws(EnrollError) -> LoopbackReply
  ) throws(EnrollError) -> Bool {
    let now = clock.instant()
    for url in postponed.due(at: now) {
      switch try handle(url) {
      // The browser that sent the URL already shows a page, so nothing is sent now. If the browser requests the URL
      // again, it is redirected then.
      case .declined, .redirected: postponed.remove(url)
      case .postponed(let page, let seconds):
        shown = page
        _ = postponed.add(url, until: clock.instant().advanced(bySeconds: seconds))
      case .accepted: return true
      }
    }
    return false
  }

  /// Waits until the browser requests the page to which it was redirected.
  private func linger(_ sockets: [Int32], _ clock: any Clock, _ cancellation: (any Cancellation)?) {
    for _ in 1...Self.mostLingering {
      let now = clock.instant()
      guard
        let ready = try? poll(
          sockets, now: now, deadline: .distantFuture, atMost: Self.lingerMilliseconds)
      else { return }
      event.drain()
      let isOver = ready.listeners.isEmpty && ready.connections.isEmpty
      guard !isOver, !isClosing, cancellation?.isCancelled != true else { return }
      for index in connections.indices.reversed()
      where ready.connections.contains(connections[index].descriptor) {
        let progress = connections[index].read()
        if case .waiting = progress { continue }
        let connection = connections.remove(at: index)
        defer { connection.close() }
        guard case .head(let head) = progress else { continue }
        // The listener has accepted a redirect already, so a second redirect is refused.
        if asked(head, on: connection) == nil { return }
        connection.answer(LoopbackResponse.refusal(404, returnPage))
      }
      try? accept(ready, now: clock.instant())
    }
  }

  private func accept(_ ready: Ready, now: Instant) throws(EnrollError) {
    for listener in ready.listeners {
      for _ in 1...Self.mostConnections {
        let descriptor = enroll_posix_accept(listener)
        guard descriptor >= 0 else {
          let number = enroll_posix_errno()
          if number == EMFILE || number == ENFILE || number == ENOBUFS || number == ENOMEM {
            throw EnrollError(.busy, "no file descriptor is free for the browser's connection")
          }
          break
        }
        if connections.count == Self.mostConnections { connections.removeFirst().close() }
        connections.append(LoopbackConnection(descriptor: descriptor, now: now))
      }
    }
  }
}
