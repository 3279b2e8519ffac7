// Sends the events of an engine to the observer, and keeps a log of the last errors.

import EnrollRules

/// Notifies the observer, and remembers the last errors for the diagnostics.
final class EngineEvents: Sendable {
  private let observer: any EngineObserver
  private let clock: any Clock
  private let log: Guarded<ErrorLog>

  init(observer: any EngineObserver, clock: any Clock, lock: any Lock) {
    self.observer = observer
    self.clock = clock
    log = Guarded(ErrorLog(), by: lock)
  }

  /// Events for the same observer, with an empty log of errors.
  func restarted(lock: any Lock) -> EngineEvents {
    EngineEvents(observer: observer, clock: clock, lock: lock)
  }

  /// The last errors of this process.
  var errors: ErrorLog { log.withLock { $0 } }

  func notify(_ notification: EnrollEvent) {
    let now = clock.wallTime()
    log.withLock { $0.add(notification, at: now) }
    observer.observe(notification)
  }

  /// Records an error that does not stop the flow: for the log and the diagnostics, not for the user.
  func warn(_ error: EnrollError) {
    let now = clock.wallTime()
    log.withLock { $0.add(error, at: now) }
    observer.warn(error)
  }
}
