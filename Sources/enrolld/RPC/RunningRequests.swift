// The running requests that may take long, with their ids and cancellations.

import EnrollCommands
import EnrollHost
import EnrollPosix

/// Requests that have no answer yet. This is a class, because requests end on different threads.
final class RunningRequests: @unchecked Sendable {
  // Unchecked: all state is only touched with `condition` held.
  private struct Entry {
    var id: MessageID?
    var kind: Command.Kind
    var cancellation: CancellationFlag
  }

  private let condition = Condition()
  private var entries: [UInt64: Entry] = [:]
  private var nextTicket: UInt64 = 1

  /// - Returns: a ticket for ``end(_:)``, and the cancellation of the request.
  func begin(_ id: MessageID?, _ kind: Command.Kind) -> (ticket: UInt64, cancellation: CancellationFlag) {
    let cancellation = CancellationFlag()
    condition.lock()
    defer { condition.unlock() }
    let ticket = nextTicket
    nextTicket += 1
    entries[ticket] = Entry(id: id, kind: kind, cancellation: cancellation)
    return (ticket, cancellation)
  }

  func end(_ ticket: UInt64) {
    condition.lock()
    entries[ticket] = nil
    if entries.isEmpty { condition.wakeAll() }
    condition.unlock()
  }

  /// Cancels all requests with this id, because a host may use the same id twice.
  func cancel(_ id: MessageID) {
    cancel { entry in entry.id.map { $0.isSame(as: id) } ?? false }
  }

  func cancelAll() { cancel { _ in true } }

  /// Cancels the requests that wait for a user, because the host cannot send anything any more.
  func cancelWaiting() { cancel { $0.kind == .waiting } }

  private func cancel(_ isMeant: (Entry) -> Bool) {
    condition.lock()
    var meant: [CancellationFlag] = []
    for entry in entries.values where isMeant(entry) { meant.append(entry.cancellation) }
    condition.unlock()
    // The hooks of a cancellation run without the lock, because they may end a request, which takes the lock.
    for cancellation in meant { cancellation.cancel() }
  }

  /// Waits until no request is running.
  /// - Returns: false if requests still run after the time limit.
  func areDone(withinNanoseconds limit: Int64) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    if !entries.isEmpty { condition.wait(atMost: limit) }
    return entries.isEmpty
  }
}
