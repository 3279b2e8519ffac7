// Answers messages (JSON-RPC 2.0). This code runs on the reading thread, and never waits there. Commands that need no
// waiting are answered at once. Other commands run on the session's workers, or wait without a thread. Requests
// beyond the limits are answered with `busy`. The reading thread therefore always continues to read. If another
// thread waits for an answer of the host, no request delays that answer.

import EnrollCommands
import EnrollRules
import EnrollJSON
import Synchronization

/// The server for one host. This type is a class, because answers come from many threads.
final class Server: Sendable {
  private let session: Session
  private let host: HostRequests
  private let ignoresRequests = Atomic<Bool>(false)
  private let requests = RunningRequests()
  private let log: Log
  private let send: @Sendable (JSON) -> Void

  /// Makes the server of one host.
  /// - Parameter send: queues a message for the host. Never waits.
  init(_ environment: SessionEnvironment, log: Log, send: @escaping @Sendable (JSON) -> Void) {
    self.log = log
    self.send = send
    let host = HostRequests(log: log, send: send)
    self.host = host
    session = Session(environment.asking(host)) { name, parameters in
      send(Reply.notification(name, parameters))
    }
  }

  /// Handles one message of the host.
  func receive(_ message: [UInt8]) {
    let json: JSON
    do throws(JSONError) {
      json = try JSON.parse(message)
    } catch {
      return send(
        Reply.parseError(error.offset < 0 ? error.message : "\(error.message) (byte \(error.offset))"))
    }
    guard case .array(let items) = json else {
      return handle(json) { [send] answer in if let answer { send(answer) } }
    }
    guard (1...Batch.limit).contains(items.count) else {
      return send(Reply.invalidRequest("expected a batch of 1 to \(Batch.limit), got \(items.count)"))
    }
    let batch = Batch(count: items.count, send: send)
    for (index, item) in items.enumerated() {
      handle(item) { answer in batch.setAnswer(index, answer) }
    }
  }

  /// Answers a message that was longer than the limit, and was discarded (R36).
  func refuseTooLong() {
    send(Reply.invalidRequest("expected at most \(MessageReader.limit) bytes"))
  }

  func refuseUnframed(_ detail: String) { send(Reply.parseError(detail)) }

  /// Handles one request, notification or answer.
  /// - Parameter answer: called exactly once; with nil if there is no answer.
  private func handle(_ json: JSON, _ answer: @escaping @Sendable (JSON?) -> Void) {
    switch IncomingMessage(json) {
    case .invalid(let id, let detail): answer(Reply.invalidRequest(detail, to: id))
    case .response(let id, let came):
      host.deliver(id, came)
      answer(nil)
    case .request where ignoresRequests.load(ordering: .relaxed):
      log.debug("a request after the end was ignored")
      answer(nil)
    case .request(let id, let method, let params):
      if method.utf8.starts(with: "$/".utf8) {
        answer(control(id, method, params))
      } else if let command = CommandTable.command(method) {
        run(command, id, params, answer)
      } else {
        answer(id.map { Reply.methodNotFound(to: $0) })
      }
    }
  }

  /// Handles methods of the connection, which are not commands of EnrollKit.
  private func control(_ id: MessageID?, _ method: String, _ params: JSON?) -> JSON? {
    guard ASCII.equals(method, "$/cancelRequest") else { return id.map { Reply.methodNotFound(to: $0) } }
    guard let meant = params?["id"].flatMap({ MessageID($0) }) else {
      let error = EnrollError(.invalidArgument, "id: expected the id of a request", field: "id")
      return id.map { Reply.failure(error, to: $0) }
    }
    requests.cancel(meant)
    return id.map { Reply.result(.null, to: $0) }
  }

  private func run(
    _ command: Command, _ id: MessageID?, _ params: JSON?, _ answer: @escaping @Sendable (JSON?) -> Void
  ) {
    log.debug("\(command.name) begins")
    let reply: @Sendable (Result<JSON, EnrollError>) -> Void = { [log] result in
      switch result {
      case .success(let value): answer(id.map { Reply.result(value, to: $0) })
      case .failure(let error):
        let line = "\(command.name): \(error.code.name): \(error.message)"
        if id == nil { log.warning("\(line) (a notification, so no reply says it)") } else { log.info(line) }
        answer(id.map { Reply.failure(error, to: $0) })
      }
    }
    let parameters: JSON
    do throws(EnrollError) {
      parameters = try command.named(params)
    } catch {
      return reply(.failure(error))
    }
    guard command.kind != .memory else {
      return session.start(
        command, parameters, cancellation: nil, isAnswered: id != nil, completion: reply)
    }
    let (ticket, cancellation) = requests.begin(id, command.kind)
    session.start(command, parameters, cancellation: cancellation, isAnswered: id != nil) {
      [requests] result in
      reply(result)
      requests.end(ticket)
    }
  }

  /// Call this when no more messages will arrive. Requests that wait for a user or for the host are cancelled, and
  /// the others continue.
  func cancelWaits() {
    requests.cancelWaiting()
    endHostRequests()
  }

  /// Ends the daemon's requests to the host, which cannot answer any more. The host gets no further requests.
  func endHostRequests() { host.end() }

  /// From now on requests of the host are ignored; the host's answers still count.
  func ignoreRequests() { ignoresRequests.store(true, ordering: .relaxed) }

  /// Ends every wait, because the host is gone. Requests that were sent to a provider continue until their answers
  /// arrive.
  func cancelAll() {
    requests.cancelAll()
    session.closeClients()
  }

  func isIdle(withinNanoseconds limit: Int64) -> Bool { requests.areDone(withinNanoseconds: limit) }

  /// Returns once every renewal that was sent is saved (R39), or after `seconds`.
  func finish(within seconds: Int64) { session.finish(within: seconds) }
}

extension Command {
  /// Returns the parameters by name. Parameters by position are named in the order of the schema (JSON-RPC 2.0 §4.2).
  /// - Throws: `.invalidArgument` for more parameters than the schema has.
  fileprivate func named(_ params: JSON?) throws(EnrollError) -> JSON {
    guard case .array(let values) = params else { return params ?? .object([]) }
    let properties = input.properties
    guard values.count <= properties.count else {
      throw EnrollError(
        .invalidArgument, "params: expected at most \(properties.count), got \(values.count)",
        field: "params")
    }
    var object = JSONObject()
    for (property, value) in zip(properties, values) { object[property.name] = value }
    return .object(object)
  }
}
