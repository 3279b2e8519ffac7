// The events of a client, as streams.

import EnrollRules
import EnrollSteps
import EnrollHost

extension EnrollClient {
  /// The states from now on, starting with the last known state. A slow reader misses older states, and gets the
  /// newest.
  public var states: AsyncStream<RegistrationState> {
    let client = client
    return AsyncStream(bufferingPolicy: .bufferingNewest(16)) { continuation in
      let ticket = client.observe(
        Observer { if case .registrationChanged(let state) = $0 { continuation.yield(state) } })
      continuation.yield(client.lastKnownState)
      continuation.onTermination = { _ in client.stopObserving(ticket) }
    }
  }

  /// All events of the client from now on: renewals, failures, states. A slow reader misses older events, and gets
  /// the newest.
  public var events: AsyncStream<EnrollEvent> {
    let client = client
    return AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
      let ticket = client.observe(Observer { continuation.yield($0) })
      continuation.onTermination = { _ in client.stopObserving(ticket) }
    }
  }
}

/// An observer that calls a closure.
private final class Observer: EngineObserver {
  private let body: @Sendable (EnrollEvent) -> Void

  init(_ body: @escaping @Sendable (EnrollEvent) -> Void) { self.body = body }

  func observe(_ notification: EnrollEvent) { body(notification) }
}
