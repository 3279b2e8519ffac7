// A client in a session: its handle, its log, and whether its events are told.

import EnrollCore
import EnrollHost
import EnrollJSON
import EnrollPosix

/// An open client. A class because requests on many threads share it.
final class OpenClient: Sendable {
  let handle: String
  let client: Client
  /// The pool on which its parked calls begin if that may mean waiting for the keeper of the store's key; nil: they
  /// begin on the calling thread.
  let beginner: WorkerPool?
  private let tell: Session.EventSink
  private let ticket = Guarded<Int?>(nil, by: Mutex())

  init(_ client: Client, handle: String, opensAside: Bool, tell: @escaping Session.EventSink) {
    self.client = client
    self.handle = handle
    beginner = opensAside ? WorkerPool(threads: 1) : nil
    self.tell = tell
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

/// Turns notifications into events.
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

/// One log for many clients: each line says whose it is.
final class ClientLog: LogHandler {
  private let handler: any LogHandler
  /// The client's handle.
  private let client: String

  init(_ handler: any LogHandler, of client: String) {
    self.handler = handler
    self.client = client
  }

  var level: LogLevel { handler.level }
  func write(_ level: LogLevel, _ line: String) { handler.write(level, "\(client): \(line)") }
}
