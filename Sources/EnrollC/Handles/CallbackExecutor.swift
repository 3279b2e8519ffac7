// Where a client's callbacks run: on a thread of the client, or on a thread of the host.

import CEnroll
import EnrollHost
import EnrollPosix

/// Runs callbacks one at a time, in their order.
enum CallbackExecutor {
  /// A thread of the client, with the signal mask of the thread that made the client.
  case thread(WorkerPool, HostSignalMask)
  /// A thread of the host. After the host has freed its queue, a thread of the queue runs the callbacks.
  case queue(PolledQueue, HostSignalMask)

  /// The largest number of callbacks that may wait. Further events are refused.
  private static let limit = 65_536

  static var ownThread: CallbackExecutor {
    .thread(WorkerPool(threads: 1, queue: .max, idleSeconds: 1), HostSignalMask())
  }

  /// Submits a callback that must not be lost. Each call and each subscription has one such callback.
  /// - Returns: false if no thread could be started.
  func submit(completion: @escaping WorkerPool.Job) -> Bool {
    switch self {
    case .thread(let pool, let host): pool.submit { host.run(completion) }
    case .queue(let queue, let host): queue.submit { host.run(completion) }
    }
  }

  /// Submits an event. If the host's callbacks do not return, further events are dropped once the limit is reached, so
  /// that waiting events do not fill the memory.
  /// - Returns: false if the event will not be delivered.
  func submit(event: @escaping WorkerPool.Job) -> Bool {
    switch self {
    case .thread(let pool, let host): pool.submit({ host.run(event) }, limit: Self.limit)
    case .queue(let queue, let host): queue.submit({ host.run(event) }, limit: Self.limit)
    }
  }
}
