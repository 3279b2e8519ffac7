// The thread behind every timer of the process: it starts with the first timer, ends after the last timer, and sleeps
// until the next timer is due. It waits with a clock that also counts suspended time (timerfd_create(2) on Linux), so
// it need not wake in between. A clock of the host or of a test may jump, so the thread reads such a clock at
// intervals.

import CPosix
import EnrollRules
import EnrollSteps
import EnrollPosix

/// Runs short blocks when they are due.
final class TimerThread: @unchecked Sendable {
  // Unchecked: all state is only touched with `condition` held.
  struct Entry: Sendable {
    var due: Instant
    /// The clock to which `due` refers; nil for the system's clock.
    var clock: (any Clock)?
    /// The longest time until the thread notices a jump of `clock`, in nanoseconds.
    var slice: Int64
    var run: @Sendable () -> Void
  }

  static let perProcess = PerProcess { TimerThread() }

  /// How often the thread reads the clock if it has no timer descriptor.
  private static let pollingInterval: Int64 = 1_000_000_000

  private let condition = Condition()
  private var planned = TimerHeap()
  /// Timers with a clock of the host or of a test, the earliest first.
  private var injected: [(ticket: UInt64, entry: Entry)] = []
  private var nextTicket: UInt64 = 1
  private var isRunning = false
  /// The thread's timer descriptor. Negative while the thread does not run, or if the system gave it no such
  /// descriptor.
  private var alarm: Int32 = -1
  private var armedFor = Instant(nanoseconds: .max)

  /// - Returns: a ticket for ``cancel(_:)``; nil if no thread can be started.
  func add(_ entry: Entry) -> UInt64? {
    condition.lock()
    defer { condition.unlock() }
    if !isRunning {
      guard BackgroundThread.start({ self.work() }) else { return nil }
      isRunning = true
      alarm = enroll_posix_alarm()
    }
    let ticket = nextTicket
    nextTicket += 1
    if entry.clock == nil {
      planned.add(ticket, due: entry.due, entry.run)
      if entry.due < armedFor { arm(for: entry.due) }
    } else {
      let index = injected.firstIndex { entry.due < $0.entry.due } ?? injected.count
      injected.insert((ticket, entry), at: index)
      arm(for: Instant(nanoseconds: .min))
    }
    return ticket
  }

  /// Removes a block. The block may be running when this returns.
  func cancel(_ ticket: UInt64) {
    condition.lock()
    defer { condition.unlock() }
    injected.removeAll { $0.ticket == ticket }
    planned.remove(ticket)
    // No timer is left: wakes the thread, so that it ends.
    if planned.first == nil, injected.isEmpty { arm(for: Instant(nanoseconds: .min)) }
  }

  private func work() {
    condition.lock()
    while planned.first != nil || !injected.isEmpty {
      armedFor = Instant(nanoseconds: .max)
      var next = runPlanned()
      // The clocks may be code of the host, so they are called without the lock.
      let clocks = injected
      condition.unlock()
      let now = SystemClock.now()
      for (ticket, entry) in clocks {
        guard let clock = entry.clock else { continue }
        let left = entry.due.since(clock.instant())
        if left > 0 {
          next = min(next, now.advanced(byNanoseconds: min(left, entry.slice)))
        } else {
          run(injected: ticket)
          next = now
        }
      }
      condition.lock()
      if next > now, planned.first != nil || !injected.isEmpty { sleep(until: min(next, armedFor)) }
    }
    isRunning = false
    if alarm >= 0 { close(alarm) }
    alarm = -1
    condition.unlock()
  }

  /// Runs the blocks that are due. Called with the condition held, which is released while a block runs.
  /// - Returns: when the next block is due.
  private func runPlanned() -> Instant {
    while let first = planned.first {
      guard first.due <= SystemClock.now() else { return first.due }
      planned.remove(first.ticket)
      condition.unlock()
      first.run()
      condition.lock()
    }
    return Instant(nanoseconds: .max)
  }

  private func run(injected ticket: UInt64) {
    condition.lock()
    let index = injected.firstIndex { $0.ticket == ticket }
    let taken = index.map { injected.remove(at: $0) }
    condition.unlock()
    taken?.entry.run()
  }

  /// Sleeps at most until `instant`; another thread can wake this thread earlier. Called with the condition held, which
  /// is released during the sleep.
  private func sleep(until instant: Instant) {
    guard alarm >= 0 else {
      let left = instant.since(SystemClock.now())
      return condition.wait(atMost: min(left, Self.pollingInterval))
    }
    arm(for: instant)
    let alarm = alarm
    condition.unlock()
    var poller = pollfd(fd: alarm, events: Int16(POLLIN), revents: 0)
    let outcome = ExitBarrier.allowingExit { poll(&poller, 1, -1) }
    let isRefused = outcome < 0 && enroll_posix_errno() != EINTR
    condition.lock()
    // The system refused poll(2), perhaps by a sandbox's filter: the thread reads the clock at intervals instead.
    if isRefused {
      condition.wait(atMost: min(max(0, instant.since(SystemClock.now())), Self.pollingInterval))
    }
    enroll_posix_clear_alarm(alarm)
  }

  /// Called with the condition held.
  private func arm(for instant: Instant) {
    armedFor = instant
    if alarm >= 0 { enroll_posix_set_alarm(alarm, instant.nanoseconds) } else { condition.wakeAll() }
  }
}

/// Blocks, ordered by the time at which they are due: a binary heap with the earliest block first.
private struct TimerHeap {
  struct Timer {
    var ticket: UInt64
    var due: Instant
    var run: @Sendable () -> Void
  }

  private var heap: [Timer] = []
  /// The index of each ticket in the heap. It makes removals fast: thousands of callers may end at the same moment, and
  /// each removes its timer.
  private var places: [UInt64: Int] = [:]

  var first: Timer? { heap.first }

  mutating func add(_ ticket: UInt64, due: Instant, _ run: @escaping @Sendable () -> Void) {
    heap.append(Timer(ticket: ticket, due: due, run: run))
    places[ticket] = heap.count - 1
    rise(from: heap.count - 1)
  }

  mutating func remove(_ ticket: UInt64) {
    guard let index = places.removeValue(forKey: ticket) else { return }
    let last = heap.removeLast()
    guard index < heap.count else { return }
    heap[index] = last
    places[last.ticket] = index
    rise(from: index)
    sink(from: index)
  }

  private mutating func swap(_ one: Int, _ other: Int) {
    heap.swapAt(one, other)
    places[heap[one].ticket] = one
    places[heap[other].ticket] = other
  }

  private mutating func rise(from start: Int) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].due < heap[parent].due else { return }
      swap(child, parent)
      child = parent
    }
  }

  private mutating func sink(from start: Int) {
    var parent = start
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
        if heap[child].due < heap[least].due { least = child }
      }
      guard least != parent else { return }
      swap(parent, least)
      parent = least
    }
  }
}
