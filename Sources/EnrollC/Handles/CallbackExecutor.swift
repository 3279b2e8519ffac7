// Where a client's callbacks run: on a thread of its own, or on one of the host's.

import CEnroll
import EnrollCore
import EnrollHost
import EnrollPosix

/// One at a time, in their order.
enum CallbackExecutor {
  /// A thread of the client's own, with the signal mask of the one that made the client.
  case thread(WorkerPool, HostThread)
  /// A thread of the host's; once the host has given its queue up, a thread of the queue's.
  case queue(PolledQueue, HostThread)

  /// Callbacks that may wait before events are refused.
  private static let limit = 65_536

  static var ownThread: CallbackExecutor {
    .thread(WorkerPool(threads: 1, queue: .max, idleSeconds: 1), HostThread())
  }

  /// For a callback that must not be lost: there is one for each call and each subscription.
  /// - Returns: false where no thread could be started.
  func submit(completion: @escaping WorkerPool.Job) -> Bool {
    switch self {
    case .thread(let pool, let host): pool.submit { host.run(completion) }
    case .queue(let queue, let host): queue.submit { host.run(completion) }
    }
  }

  /// A host whose callbacks do not return misses events at last, rather than fill the memory.
  /// - Returns: false when the event will not be delivered.
  func submit(event: @escaping WorkerPool.Job) -> Bool {
    switch self {
    case .thread(let pool, let host): pool.submit({ host.run(event) }, limit: Self.limit)
    case .queue(let queue, let host): queue.submit({ host.run(event) }, limit: Self.limit)
    }
  }
}
