// Passes the engine's events to any number of observers, and wakes the threads that wait for a change.

import EnrollRules
import EnrollSteps
import EnrollPosix

/// Passes notifications on. Observers run on the thread that caused the notification, with no lock held.
final class EventHub: EngineObserver {
  private struct Observers {
    var next = 1
    var list: [(ticket: Int, observer: any EngineObserver)] = []
  }

  private let observers = Guarded(Observers(), by: Mutex())
  private let changes = Condition()
  private let count = Guarded(UInt64(0), by: Mutex())

  func observe(_ notification: EnrollEvent) {
    for (_, observer) in observers.withLock({ $0.list }) { observer.observe(notification) }
    announceChange()
  }

  func warn(_ error: EnrollError) {
    for (_, observer) in observers.withLock({ $0.list }) { observer.warn(error) }
  }

  func add(_ observer: any EngineObserver) -> Int {
    observers.withLock { observers in
      let ticket = observers.next
      observers.next += 1
      observers.list.append((ticket, observer))
      return ticket
    }
  }

  func remove(_ ticket: Int) {
    observers.withLock { observers in observers.list.removeAll { $0.ticket == ticket } }
  }

  /// A number that grows with every change. Read this number before you read the value that may change, and pass it to
  /// ``waitForChange(since:atMost:)``.
  var changeCount: UInt64 { count.withLock { $0 } }

  func announceChange() {
    count.withLock { $0 &+= 1 }
    changes.locked { changes.wakeAll() }
  }

  /// Waits until the change count differs from `seen`, or until `nanoseconds` have passed.
  func waitForChange(since seen: UInt64, atMost nanoseconds: Int64) {
    changes.locked {
      if changeCount == seen { changes.wait(atMost: nanoseconds) }
    }
  }
}
