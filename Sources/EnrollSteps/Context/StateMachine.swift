// The state machine of an account, as this process knows it. This knowledge is lost when the process ends; the next
// process derives the state from the store's content (RegistrationStep.swift).

import EnrollRules

/// The registration state, and the values that change with it. All fields change together, under one lock.
final class StateMachine: Sendable {
  private struct Fields {
    var state: RegistrationState = .starting
    var hasSettled = false
    /// While a transaction runs during a session: the session's state from before the transaction, to which the
    /// machine returns after the transaction (flows.md §6).
    var before: RegistrationState?
    /// The transactions for which the host has seen the confirmation question since the last answer to such a question.
    var shown: [TransactionID] = []

    /// Records the confirmation question that the host sees in this state. Call this with every state that the host
    /// gets from a call or an event.
    mutating func noteQuestion(in state: RegistrationState) {
      switch state {
      case .awaitingConfirmation(let transactionID, _):
        if !shown.contains(transactionID) { shown.append(transactionID) }
      // A running exchange of another sign-in leaves the question open.
      case .authenticating: break
      case .starting, .unregistered, .active, .renewalFailed, .registrationFailed: shown = []
      }
    }
  }

  private let fields: Guarded<Fields>
  private let events: EngineEvents

  init(events: EngineEvents, lock: any Lock) {
    fields = Guarded(Fields(), by: lock)
    self.events = events
  }

  /// The last known state, without reading the store.
  var state: RegistrationState { fields.withLock { $0.state } }

  /// The current state; and, while a transaction runs during a session, the session's state from before the
  /// transaction.
  var stateAndBefore: (RegistrationState, before: RegistrationState?) {
    fields.withLock { ($0.state, $0.before) }
  }

  /// The transactions for which the host has seen the confirmation question since the last answer to such a question.
  var shown: [TransactionID] { fields.withLock { $0.shown } }

  /// Forgets the state from before the transaction, because its session has ended: the machine does not return to that
  /// state after the transaction.
  func forgetBefore() { fields.withLock { $0.before = nil } }

  /// Moves the state machine and notifies the observer.
  /// - Throws: `.illegalState` if the event is illegal now; then nothing changes.
  @discardableResult
  func apply(_ event: RegistrationEvent) throws(EnrollError) -> RegistrationState {
    let moved = fields.withLock { fields -> Result<Move, EnrollError> in
      do throws(EnrollError) {
        let after = try fields.state.after(event)
        let isChanged = after != fields.state
        if after.kind != .authenticating {
          fields.before = nil
        } else if fields.state.kind != .authenticating {
          fields.before = fields.state
        }
        fields.state = after
        fields.noteQuestion(in: after)
        let settlesNow = after.isSettled && !fields.hasSettled
        if settlesNow { fields.hasSettled = true }
        return .success(Move(after: after, isChanged: isChanged, settlesNow: settlesNow))
      } catch {
        return .failure(error)
      }
    }
    let move = try moved.get()
    if move.isChanged { events.notify(.registrationChanged(move.after)) }
    if move.settlesNow { events.notify(.registrationSettled(move.after)) }
    return move.after
  }

  private struct Move {
    var after: RegistrationState
    var isChanged: Bool
    var settlesNow: Bool
  }

  /// Checks that an event is legal now, without moving the machine.
  /// - Throws: `.illegalState` if `event` is illegal now. Call this before work that cannot be undone.
  func require(_ event: RegistrationEvent) throws(EnrollError) {
    _ = try state.after(event)
  }
}
