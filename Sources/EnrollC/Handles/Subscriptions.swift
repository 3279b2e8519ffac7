// Subscriptions to a client's events. Each passes events to the host until it ends, and then calls `ended` once: after that,
// nothing uses the host's `user_data`.

import CEnroll
import EnrollCommands
import EnrollCore
import EnrollHost
import EnrollJSON
import EnrollPosix

/// The subscriptions of one client that have not ended.
final class Subscriptions: Sendable {
  private struct Entry {
    let number: Int64
    /// The client's own number of this observer.
    let ticket: Int
    let subscription: Subscription
  }

  private struct State {
    var last: Int64 = 0
    var entries: [Entry] = []
    /// Set when the client was freed.
    var isClosed = false
  }

  private let state = Guarded(State(), by: Mutex())
  private let client: Client

  init(_ client: Client) { self.client = client }

  /// - Parameter number: gets the number for ``end(_:)``.
  /// - Throws: `.handle` when the client was freed meanwhile; no event was passed on then.
  func begin(_ subscription: Subscription, _ number: Int64Out) throws(EnrollError) {
    // Adding the observer and the entry is one step: a subscription that is refused has heard nothing, and one that has
    // begun is found by whoever ends it.
    let hasBegun = state.withLock { state in
      guard !state.isClosed else { return false }
      state.last += 1
      // The first event may come before this returns, and its callback may want to end the subscription.
      number.pointee = state.last
      state.entries.append(
        Entry(number: state.last, ticket: client.observe(subscription), subscription: subscription))
      return true
    }
    guard hasBegun else { throw ClientHandle.unknownHandle }
  }

  /// Ends one subscription. Events that wait for their callback are dropped.
  /// - Returns: false when it has ended, or never was one.
  func end(_ number: Int64) -> Bool {
    let entry = state.withLock { state in
      state.entries.firstIndex { $0.number == number }.map { state.entries.remove(at: $0) }
    }
    guard let entry else { return false }
    client.stopObserving(entry.ticket)
    entry.subscription.end(dropsPending: true)
    return true
  }

  /// Ends all, and refuses new ones. Events that wait for their callback still get it.
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
    /// Events that wait for their callback or are in it.
    var pending = 0
    var hasEnded = false
    var dropsPending = false
  }

  private let event: HostCallback<enroll_event_callback>
  private let ended: enroll_ended_callback?
  private let room: CallExecutor
  private let choices: [RegistrationChoice]
  private let progress = Guarded(Progress(), by: Mutex())
  private let origin = ForkGuard()

  init(_ event: HostCallback<enroll_event_callback>, ended: enroll_ended_callback?, _ handle: ClientHandle) {
    self.event = event
    self.ended = ended
    room = handle.room
    choices = handle.client.configuration.choices
  }

  func observe(_ notification: EnrollEvent) {
    let name = notification.name
    let parameters = JSON.object(notification.parameters(choices: choices)).serialized()
    // An observer may be called after it was removed, so the end is looked up here; with the lock held, because no event
    // may be accepted that the end does not count.
    progress.withLock { progress in
      guard !progress.hasEnded else { return }
      if room.callbacks.submit(event: { self.deliver(name, parameters) }) { progress.pending += 1 }
    }
  }

  /// To be called once. No event is accepted afterwards.
  func end(dropsPending: Bool) {
    let pending = progress.withLock { progress in
      progress.hasEnded = true
      progress.dropsPending = dropsPending
      return progress.pending
    }
    // Otherwise the last of them calls `ended`: it may be in its callback now, on this thread or on another.
    if pending == 0, ended != nil { room.callBack { self.tellEnd() } }
  }

  private func deliver(_ name: String, _ parameters: [UInt8]) {
    if !progress.withLock({ $0.dropsPending }) {
      let text = parameters.withUnsafeBytes { Buffer($0) }
      name.withCString { event.function(event.userData, $0, text.bytes, text.size) }
    }
    // The callback may have forked: the child has this thread and the parent's locks.
    if origin.isForkedChild { return }
    let isLast = progress.withLock { progress in
      progress.pending -= 1
      return progress.hasEnded && progress.pending == 0
    }
    if isLast { tellEnd() }
  }

  private func tellEnd() { ended?(event.userData) }
}
