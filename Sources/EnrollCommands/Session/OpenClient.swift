// A client in a session: its handle, its log, and whether its events are sent.

import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollJSON
import EnrollPosix

/// An open client. A class, because requests on several threads share it.
final class OpenClient: Sendable {
  let handle: String
  let client: Client
  /// The threads that start the asynchronous calls that may have to read the store's key, because reading the key may
  /// block. nil: these calls start on the calling thread.
  let beginner: WorkerPool?
  /// The log for the client's lines; nil for no log.
  let log: ClientLog?
  private let tell: Session.EventSink
  private let ticket = Guarded<Int?>(nil, by: Mutex())

  init(
    _ client: Client, handle: String, opensAside: Bool, log: ClientLog?, tell: @escaping Session.EventSink
  ) {
    self.log = log
    self.client = client
    self.handle = handle
    beginner = opensAside ? WorkerPool(threads: 1) : nil
    self.tell = tell
  }

  /// Waits until no work of the client is running. Close the client first.
  func drain() {
    beginner?.drain()
    client.drain()
  }

  func subscribe() {
    ticket.withLock { ticket in
      if ticket == nil { ticket = client.observe(Teller(handle, client.configuration.choices, tell)) }
    }
  }

  func unsubscribe() {
    let taken = ticket.withLock { ticket -> Int? in
      defer { ticket = nil }
      return ticket
    }
    if let taken { client.stopObserving(taken) }
  }
}

/// Sends the engine's events to the host.
private final class Teller: EngineObserver {
  private let handle: String
  private let choices: [RegistrationChoice]
  private let tell: Session.EventSink

  init(_ handle: String, _ choices: [RegistrationChoice], _ tell: @escaping Session.EventSink) {
    self.handle = handle
    self.choices = choices
    self.tell = tell
  }

  func observe(_ notification: EnrollEvent) {
    var parameters = JSONObject([("client", .string(handle))])
    for member in notification.parameters(choices: choices).members { parameters[member.key] = member.value }
    tell(notification.name, .object(parameters))
  }
}

/// The log of one client, written to a log that many clients share: each line begins with the client's handle. While a
/// call of the client waits for its reply, errors and warnings are logged as `info`, because the reply will report the
/// error.
final class ClientLog: LogHandler {
  private let handler: any LogHandler
  /// The start of each line: the client's handle and a colon; empty for a call without a client.
  private let beginning: String
  private let repliesDue: Guarded<Int>

  init(_ handler: any LogHandler, of client: String) {
    self.handler = handler
    beginning = "\(client): "
    repliesDue = Guarded(0, by: Mutex())
  }

  /// A log for one call without a client. Its lines go to `handler`.
  init(ofOneCall handler: any LogHandler) {
    self.handler = handler
    beginning = ""
    repliesDue = Guarded(1, by: Mutex())
  }

  var level: LogLevel { handler.level }

  func write(_ level: LogLevel, _ line: String) {
    let isTold = level.rawValue < LogLevel.info.rawValue && repliesDue.withLock({ $0 }) > 0
    if isTold, handler.level.rawValue < LogLevel.info.rawValue { return }
    handler.write(isTold ? .info : level, "\(beginning)\(line)")
  }

  /// Marks a call whose result is sent as a reply.
  /// - Returns: the completion for that call.
  func untilReplied(_ completion: @escaping Command.Completion) -> Command.Completion {
    repliesDue.withLock { $0 += 1 }
    return { [self] result in
      repliesDue.withLock { $0 -= 1 }
      completion(result)
    }
  }
}
