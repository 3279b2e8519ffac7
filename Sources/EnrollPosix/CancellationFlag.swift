// The only implementation of Cancellation: a flag that a caller sets, with hooks that wake waiting threads.

public import EnrollSteps
import Synchronization

/// A request to stop waiting, which any thread can make once.
public final class CancellationFlag: Cancellation {
  private struct Hooks {
    var next = 1
    var waiting: [(ticket: Int, run: @Sendable () -> Void)] = []
  }

  private let raised = Atomic<Bool>(false)
  private let hooks = Guarded(Hooks(), by: Mutex())

  public init() {}

  public var isCancelled: Bool { raised.load(ordering: .acquiring) }

  /// Sets the flag. The hooks run on this thread, with no lock held. A second call changes nothing.
  public func cancel() {
    let waiting = hooks.withLock { hooks in
      raised.store(true, ordering: .releasing)
      let waiting = hooks.waiting
      hooks.waiting = []
      return waiting
    }
    for hook in waiting { hook.run() }
  }

  public func onCancel(_ hook: @escaping @Sendable () -> Void) -> Int {
    let ticket = hooks.withLock { hooks in
      if raised.load(ordering: .acquiring) { return 0 }
      let ticket = hooks.next
      hooks.next &+= 1
      hooks.waiting.append((ticket, hook))
      return ticket
    }
    if ticket == 0 { hook() }
    return ticket
  }

  public func removeHook(_ ticket: Int) {
    hooks.withLock { $0.waiting.removeAll { $0.ticket == ticket } }
  }
}
