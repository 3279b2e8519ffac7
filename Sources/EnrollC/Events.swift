// Events of a client, told on its callback thread in the order in which they happened.

public import CEnroll
import EnrollCommands
import EnrollCore
import EnrollHost
import EnrollJSON
import EnrollPosix

/// One subscription: passes notifications to the host.
private final class EventTeller: EngineObserver {
  private let host: HostCallback<enroll_event_callback>
  private let callbacks: CallbackExecutor
  private let choices: [RegistrationChoice]

  init(_ host: HostCallback<enroll_event_callback>, _ handle: ClientHandle) {
    self.host = host
    callbacks = handle.room.callbacks
    choices = handle.client.configuration.choices
  }

  func observe(_ notification: EnrollEvent) {
    let name = notification.name
    let parameters = JSON.object(notification.parameters(choices: choices)).serialized()
    callbacks.submit(event: { [host] in
      let text = parameters.withUnsafeBytes { Buffer($0) }
      name.withCString { host.function(host.userData, $0, text.bytes, text.size) }
    })
  }
}

/// The subscriptions of one client that have not ended: tickets of its observers.
final class Subscriptions: Sendable {
  private let tickets = Guarded<[Int]>([], by: Mutex())

  func add(_ ticket: Int) { tickets.withLock { $0.append(ticket) } }

  /// - Returns: false when it has ended, or never was one.
  func remove(_ ticket: Int) -> Bool {
    tickets.withLock { tickets in
      guard let index = tickets.firstIndex(of: ticket) else { return false }
      tickets.remove(at: index)
      return true
    }
  }
}

@_cdecl("enroll_events_subscribe") @implementation
public func enroll_events_subscribe(
  _ client: Handle?, _ callback: enroll_event_callback?, _ user_data: UserData?, _ subscription: Int64Out?,
  _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let handle = try ClientHandle.find(client)
    let host = try HostCallback(callback, user_data)
    let output = try require(subscription, "subscription")
    let ticket = handle.client.observe(EventTeller(host, handle))
    handle.subscriptions.add(ticket)
    output.pointee = Int64(ticket)
  }
}

@_cdecl("enroll_events_unsubscribe") @implementation
public func enroll_events_unsubscribe(
  _ client: Handle?, _ subscription: Int64, _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let handle = try ClientHandle.find(client)
    guard let ticket = Int(exactly: subscription), handle.subscriptions.remove(ticket) else {
      throw EnrollError(.notFound, "no such subscription, or it has ended", field: "subscription")
    }
    handle.client.stopObserving(ticket)
  }
}
