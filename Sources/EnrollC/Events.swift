// Events of a client. The host gets them in their order, on the thread of its callbacks.

public import CEnroll
import EnrollRules

@_cdecl("enroll_events_subscribe") @implementation
public func enroll_events_subscribe(
  _ client: Handle?, _ callback: enroll_event_callback?, _ user_data: UserData?,
  _ ended: enroll_ended_callback?,
  _ subscription: Int64Out?, _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let handle = try ClientHandle.find(client)
    let host = try HostCallback(callback, user_data)
    let output = try require(subscription, "subscription")
    try handle.subscriptions.begin(Subscription(host, ended: ended, handle), output)
  }
}

@_cdecl("enroll_events_unsubscribe") @implementation
public func enroll_events_unsubscribe(
  _ client: Handle?, _ subscription: Int64, _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let handle = try ClientHandle.find(client)
    guard handle.subscriptions.end(subscription) else {
      throw EnrollError(.notFound, "no such subscription, or it has ended", field: "subscription")
    }
  }
}
