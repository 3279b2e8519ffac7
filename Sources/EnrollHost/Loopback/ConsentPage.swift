// Asks in the browser whether to sign in at a server, for a user without a terminal. The server was named by a resource
// that anybody may operate, so EnrollKit asks before it sends a user there. After the answer the same tab goes on to
// the server. Other programs and web pages on the machine can send requests to the page's port. Therefore the page has
// an address that nobody can guess, an answer needs a secret word that only the page contains, and a request with
// another Host is refused.

import CPosix
import EnrollCrypto
package import EnrollRules
package import EnrollSteps
import EnrollPosix

/// The question for the user. Its texts come from servers, and none of them is verified.
package struct ConsentQuestion: Equatable, Sendable {
  /// The name that the resource gives itself.
  package var name: String?
  /// The URL of the resource.
  package var resource: String
  package var issuer: String
  /// The server of the earlier sign-ins, if the resource has named another server since.
  package var issuerBefore: String?

  package init(name: String?, resource: String, issuer: String, issuerBefore: String? = nil) {
    self.name = name
    self.resource = resource
    self.issuer = issuer
    self.issuerBefore = issuerBefore
  }
}

/// Asks one question, once. One thread uses it at a time.
package final class ConsentPage: @unchecked Sendable {
  // Unchecked: a caller waits until `answer` returns before it calls anything else.

  /// The address for the browser.
  package let address: String

  private let authority: [UInt8]
  private let path: [UInt8]
  private let word: [UInt8]
  private let question: ConsentQuestion
  private let event: EventDescriptor
  private var sockets: LoopbackSockets
  private var connections: [LoopbackConnection] = []
  /// The connection of the tab in which the user agreed. The tab waits there for the sign-in.
  private var agreed: LoopbackConnection?

  private static let secretBytes = 24
  private static let mostConnections = 16
  private static let longestWaitNanoseconds: Int64 = 10_000_000_000

  /// Opens a port that the system chooses.
  /// - Throws: `.busy` or `.unsupported` if no port can be opened; `.internal` if the system has no random bytes.
  package convenience init(
    _ question: ConsentQuestion, random: any RandomSource = SystemRandomSource()
  ) throws(EnrollError) {
    let path = Base64URL.encode(try random.bytes(Self.secretBytes))
    let word = Base64URL.encode(try random.bytes(Self.secretBytes))
    let event = try EventDescriptor()
    self.init(question, path, word, event, try LoopbackSockets(isIPv6: false, port: nil))
  }

  private init(
    _ question: ConsentQuestion, _ path: String, _ word: String, _ event: EventDescriptor,
    _ sockets: LoopbackSockets
  ) {
    let authority = "127.0.0.1:\(sockets.port)"
    address = "http://\(authority)/\(path)"
    self.authority = Array(authority.utf8)
    self.path = Array("/\(path)".utf8)
    self.word = Array(word.utf8)
    self.question = question
    self.event = event
    self.sockets = sockets
  }

  deinit { close() }

  /// Waits for the user's answer.
  /// - Returns: whether the user agrees. The browser then waits for ``goOn(to:)``.
  /// - Throws: `.deadlineExceeded`, `.cancelled`; `.busy` if the system refuses the wait.
  package func answer(
    until deadline: Instant, clock: any Clock, cancellation: any Cancellation
  ) throws(EnrollError) -> Bool {
    let event = self.event
    let ticket = cancellation.onCancel { event.wake() }
    defer { cancellation.removeHook(ticket) }
    while true {
      if cancellation.isCancelled {
        throw EnrollError(.cancelled, "the wait for the user's answer was cancelled")
      }
      let now = clock.instant()
      guard now < deadline else {
        throw EnrollError(.deadlineExceeded, "the user did not answer in the browser")
      }
      for connection in connections where now >= connection.deadline { connection.close() }
      connections.removeAll { now >= $0.deadline }
      let ready = try poll(until: deadline, now)
      event.drain()
      if let agrees = serve(ready) { return agrees }
      // The time is read again, because the wait may have been long: with the old `now`, the new connections would be
      // past their deadline.
      accept(ready, clock.instant())
    }
  }

  /// Sends the browser to the server, in the tab in which the user agreed.
  package func goOn(to target: String) {
    let page = ConsentHTML.continued(to: target)
    agreed?.answer(page)
    agreed?.close()
    agreed = nil
    // After a double click the browser has two connections, and shows only the answer to the second one.
    accept(Set(sockets.descriptors), SystemClock.now())
    for connection in connections {
      var connection = connection
      if case .head(let head) = connection.read(), let request = try? LoopbackRequest(head: head),
        (try? choice(of: request)) == .agreed
      {
        connection.answer(page)
      }
      connection.close()
    }
    connections = []
    close()
  }

  /// Ends the question. If a tab is waiting for the sign-in, it shows that the sign-in failed.
  package func close() {
    agreed?.answer(ConsentHTML.page("The sign-in failed", "The program that started it says why."))
    agreed?.close()
    agreed = nil
    for connection in connections { connection.close() }
    connections = []
    sockets.close()
  }

  // MARK: One iteration of the wait

  private func poll(until deadline: Instant, _ now: Instant) throws(EnrollError) -> Set<Int32> {
    var descriptors = [pollfd(fd: event.descriptor, events: Int16(POLLIN), revents: 0)]
    for socket in sockets.descriptors + connections.map({ $0.descriptor }) {
      descriptors.append(pollfd(fd: socket, events: Int16(POLLIN), revents: 0))
    }
    let latest = connections.reduce(now.advanced(byNanoseconds: Self.longestWaitNanoseconds)) {
      min($0, $1.deadline)
    }
    let milliseconds = Int32(clamping: max(0, min(deadline, latest).since(now)) / 1_000_000 + 1)
    let outcome = ExitBarrier.allowingExit {
      CPosix.poll(&descriptors, nfds_t(descriptors.count), milliseconds)
    }
    let number = enroll_posix_errno()
    if outcome < 0, number != EINTR, number != EAGAIN {
      throw EnrollError(.busy, "poll(2) for the answer failed: \(SystemError.message(number))")
    }
    return Set(descriptors.filter { $0.revents != 0 }.map { $0.fd })
  }

  private func accept(_ ready: Set<Int32>, _ now: Instant) {
    for socket in sockets.descriptors where ready.contains(socket) {
      while true {
        let descriptor = enroll_posix_accept(socket)
        guard descriptor >= 0 else { break }
        if connections.count >= Self.mostConnections { connections.removeFirst().close() }
        connections.append(LoopbackConnection(descriptor: descriptor, now: now))
      }
    }
  }

  /// Answers the requests of the connections that are ready.
  /// - Returns: the user's answer; nil if there is no answer yet.
  private func serve(_ ready: Set<Int32>) -> Bool? {
    for index in connections.indices.reversed() where ready.contains(connections[index].descriptor) {
      let progress = connections[index].read()
      if case .waiting = progress { continue }
      let connection = connections.remove(at: index)
      switch progress {
      case .waiting, .gone: connection.close()
      case .refused(let status):
        connection.answer(LoopbackResponse.refusal(status))
        connection.close(isCut: status == 431)
      case .head(let head):
        switch reply(to: head, on: connection) {
        case .agreed:
          agreed = connection
          return true
        case .declined:
          connection.close()
          return false
        case .asked, nil: connection.close()
        }
      }
    }
    return nil
  }

  private enum Choice { case asked, agreed, declined }

  /// Answers the request, unless it says that the user agrees.
  private func reply(to head: ArraySlice<UInt8>, on connection: LoopbackConnection) -> Choice? {
    do throws(LoopbackRequest.Refusal) {
      let choice = try choice(of: try LoopbackRequest(head: head))
      switch choice {
      case .asked:
        let form = String(decoding: path + [0x2F] + word, as: UTF8.self)
        connection.answer(ConsentHTML.question(question, form: form))
      case .declined:
        connection.answer(
          ConsentHTML.page("Not signed in", "Nothing was registered or sent. You can close this window."))
      case .agreed: break
      }
      return choice
    } catch {
      connection.answer(LoopbackResponse.refusal(error.status))
      return nil
    }
  }

  private func choice(of request: LoopbackRequest) throws(LoopbackRequest.Refusal) -> Choice {
    guard request.host.elementsEqual(authority) else { throw LoopbackRequest.Refusal(status: 421) }
    guard request.query == nil else { throw LoopbackRequest.Refusal(status: 404) }
    if ConstantTime.equal(Array(request.path), path) {
      guard ASCII.equals(request.method, "GET") else { throw LoopbackRequest.Refusal(status: 405) }
      return .asked
    }
    for (choice, ending) in [(Choice.agreed, "/continue"), (.declined, "/decline")]
    where ConstantTime.equal(Array(request.path), path + [0x2F] + word + Array(ending.utf8)) {
      guard ASCII.equals(request.method, "POST") else { throw LoopbackRequest.Refusal(status: 405) }
      return choice
    }
    throw LoopbackRequest.Refusal(status: 404)
  }
}
