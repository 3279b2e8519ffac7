// Subscriptions to a client's events. A subscription passes events to the host until it ends, and then calls `ended`
// once. Afterwards nothing uses the host's `user_data`.

import CEnroll
import EnrollCommands
import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollJSON
import EnrollPosix

/// The subscriptions of one client that have not ended.
final class Subscriptions: Sendable {
  private struct Entry {
    let number: Int64
    /// The number by which the client knows this observer.
    let ticket: Int
    let subscription: Subscription
  }

  private struct State {
    var last: Int64 = 0
    var entries: [Entry] = []
    /// True once the client was freed.
    var isClosed = false
  }

  private let state = Guarded(State(), by: Mutex())
  private let client: Client

  init(_ client: Client) { self.client = client }

  /// - Parameter number: gets the number for ``end(_:)``.
  /// - Throws: `.handle` if the client was freed meanwhile. In this case no event was passed to the host.
  func begin(_ subscription: Subscription, _ number: Int64Out) throws(EnrollError) {
    // The observer and the entry are added under one lock: a refused subscription gets no event, and a subscription
    // that has begun can be found by the call that ends it.
    let hasBegun = state.withLock { state in
      guard !state.isClosed else { return false }
      state.last += 1
      // The subscription's number is written now, because the first event may arrive before this function returns, and
      // the callback of that event may end the subscription by its number.
      number.pointee = state.last
      state.entries.append(
        Entry(number: state.last, ticket: client.observe(subscription), subscription: subscription))
      return true
    }
    guard hasBegun else { throw ClientHandle.unknownHandle }
  }

  /// Ends one subscription. Events that wait for their callback are dropped.
  /// - Returns: false if there is no such subscription, or it has ended.
  func end(_ number: Int64) -> Bool {
    let entry = state.withLock { state in
      state.entries.firstIndex { $0.number == number }.map { state.entries.remove(at: $0) }
    }
    guard let entry else { return false }
    client.stopObserving(entry.ticket)
    entry.subscription.end(dropsPending: true)
    return true
  }

  /// Ends all subscriptions, and refuses new ones. Events that wait for their callback are still delivered.
  func close() {
    let entries = state.withLock { state in
      state.isClosed = true
      defer { state.entries = [] }
      return state.entries
    }
    for entry in entries {
      client.stopObserving(entry.ticket)
      entry.subscription.end(dropsPending: false)
    }
  }
}

/// One subscription.
final class Subscription: EngineObserver {
  private struct Progress {
    /// The number of events that wait for their callback, or whose callback is running.
    var pending = 0
    var hasEnded = false
    var dropsPending = false
  }

  private let event: HostCallback<enroll_event_callback>
  private let ended: enroll_ended_callback?
  private let executor: CallExecutor
  private let choices: [RegistrationChoice]
  private let progress = Guarded(Progress(), by: Mutex())
  private let origin = ForkGuard()

  init(_ event: HostCallback<enroll_event_callback>, ended: enroll_ended_callback?, _ handle: ClientHandle) {
    self.event = event
    self.ended = ended
    executor = handle.executor
    choices = handle.client.configuration.choices
  }

  func observe(_ notification: EnrollEvent) {
    let name = notification.name
    let parameters = JSON.object(notification.parameters(choices: choices)).serialized()
    // An observer may be called after its removal, so the end is checked here. The lock is held, because an event that
    // is accepted must be counted before the end.
    progress.withLock { progress in
      guard !progress.hasEnded else { return }
      if executor.callbacks.submit(event: { self.deliver(name, parameters) }) { progress.pending += 1 }
    }
  }

  /// Ends the subscription. Call it once. No event is accepted afterwards.
  func end(dropsPending: Bool) {
    let pending = progress.withLock { progress in
      progress.hasEnded = true
      progress.dropsPending = dropsPending
      return progress.pending
    }
    // If events are pending, `ended` is called after the callback of the last event. That callback may be running now,
    // on this thread or another.
    if pending == 0, ended != nil { executor.callBack { self.notifyEnd() } }
  }

  private func deliver(_ name: String, _ parameters: [UInt8]) {
    if !progress.withLock({ $0.dropsPending }) {
      let text = parameters.withUnsafeBytes { Buffer($0) }
      name.withCString { event.function(event.userData, $0, text.bytes, text.size) }
    }
    // The callback may have forked. In the child process only this thread exists, and the locks may stay locked for
    // ever, because other threads of the parent may have held them.
    if origin.isForkedChild { return }
    let isLast = progress.withLock { progress in
      progress.pending -= 1
      return progress.hasEnded && progress.pending == 0
    }
    if isLast { notifyEnd() }
  }

  private func notifyEnd() { ended?(event.userData) }
}
