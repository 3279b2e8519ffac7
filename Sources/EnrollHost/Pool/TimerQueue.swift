// Deadlines of callers that hold no thread: one thread for all of them, started with the first and gone after the last.

public import EnrollCore

/// Runs short blocks when their time has come.
public final class TimerQueue: @unchecked Sendable {
  // Unchecked: all state is only touched with `condition` held.
  private struct Entry {
    var ticket: UInt64
    var due: Instant
    var run: @Sendable () -> Void
  }

  private let clock: any Clock
  private let slice: Int64
  private let condition = Condition()
  private let origin = ForkGuard()
  /// A binary heap: the earliest first.
  private var heap: [Entry] = []
  private var nextTicket: UInt64 = 1
  private var isRunning = false

  /// - Parameter sliceNanoseconds: how soon a clock that jumps (suspend, a test's clock) is noticed.
  public init(clock: any Clock, sliceNanoseconds: Int64 = 1_000_000_000) {
    self.clock = clock
    slice = max(1, sliceNanoseconds)
  }

  /// Runs `block` once, at `due` or soon after, on the queue's own thread with every signal blocked. The block must be
  /// short: hand longer work to a pool.
  /// - Returns: a ticket for ``cancel(_:)``; nil when the system gives no thread, or after a fork.
  public func run(at due: Instant, _ block: @escaping @Sendable () -> Void) -> UInt64? {
    if origin.isForkedChild { return nil }
    condition.lock()
    defer { condition.unlock() }
    if !isRunning {
      guard PlainThread.start({ self.work() }) else { return nil }
      isRunning = true
    }
    let ticket = nextTicket
    nextTicket += 1
    heap.append(Entry(ticket: ticket, due: due, run: block))
    rise(from: heap.count - 1)
    condition.wakeOne()
    return ticket
  }

  /// Forgets a block. It may be running while this returns.
  public func cancel(_ ticket: UInt64) {
    if origin.isForkedChild { return }
    condition.lock()
    defer { condition.unlock() }
    guard let at = heap.firstIndex(where: { $0.ticket == ticket }) else { return }
    remove(at: at)
    if heap.isEmpty { condition.wakeOne() }
  }

  private func work() {
    condition.lock()
    while let first = heap.first {
      let left = first.due.since(clock.instant())
      if left > 0 {
        condition.wait(atMost: min(left, slice))
        continue
      }
      remove(at: 0)
      condition.unlock()
      first.run()
      condition.lock()
    }
    isRunning = false
    condition.unlock()
  }

  private func remove(at index: Int) {
    let last = heap.removeLast()
    guard index < heap.count else { return }
    heap[index] = last
    rise(from: index)
    sink(from: index)
  }

  private func rise(from start: Int) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].due < heap[parent].due else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  private func sink(from start: Int) {
    var parent = start
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
        if heap[child].due < heap[least].due { least = child }
      }
      guard least != parent else { return }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}
