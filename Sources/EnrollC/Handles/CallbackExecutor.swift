// Where a client's callbacks run: on a thread of its own, or on one of the host's.

import CEnroll
import EnrollCore
import EnrollHost
import EnrollPosix

/// One at a time, in their order.
enum CallbackExecutor {
  /// A thread of the client's own, with the signal mask of the one that made the client.
  case thread(WorkerPool, HostThread)
  /// A thread of the host's.
  case queue(PolledQueue)

  /// Callbacks that may wait before events are refused.
  private static let limit = 65_536

  static var ownThread: CallbackExecutor {
    .thread(WorkerPool(threads: 1, queue: limit, idleSeconds: 1), HostThread())
  }

  /// Completions outnumber neither the calls that may be pending nor the limit.
  /// - Returns: false where no thread could be started.
  func submit(completion: @escaping WorkerPool.Job) -> Bool {
    switch self {
    case .thread(let pool, let host): pool.submit { host.run(completion) }
    case .queue(let queue): queue.submit(completion)
    }
  }

  /// A host whose callbacks do not return misses events at last, rather than fill the memory.
  func submit(event: @escaping WorkerPool.Job) {
    switch self {
    case .thread(let pool, let host): _ = pool.submit { host.run(event) }
    case .queue(let queue): _ = queue.submit(event, limit: Self.limit)
    }
  }
}
