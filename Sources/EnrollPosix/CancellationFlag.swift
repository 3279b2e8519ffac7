// The one Cancellation there is: a flag that a caller raises, with hooks that wake whoever waits.

public import EnrollCore
import Synchronization

/// A wish to stop waiting, made once by any thread.
public final class CancellationFlag: Cancellation {
  private struct Hooks {
    var next = 1
    var waiting: [(ticket: Int, run: @Sendable () -> Void)] = []
  }

  private let raised = Atomic<Bool>(false)
  private let hooks = Guarded(Hooks(), by: Mutex())

  public init() {}

  public var isCancelled: Bool { raised.load(ordering: .acquiring) }

  /// Makes the wish. The hooks run here, on the caller's thread, with no lock held. Repeating it changes nothing.
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
