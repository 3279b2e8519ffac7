// A pthread mutex, because Embedded Swift on Linux has no Synchronization.Mutex.

import CPosix
public import EnrollSteps

/// A mutex at a stable address.
public final class Mutex: Lock, @unchecked Sendable {
  // Unchecked: a pthread mutex may be shared between threads.
  private let handle: UnsafeMutablePointer<pthread_mutex_t>

  public init() {
    handle = .allocate(capacity: 1)
    pthread_mutex_init(handle, nil)
  }

  deinit {
    pthread_mutex_destroy(handle)
    handle.deallocate()
  }

  public func lock() { pthread_mutex_lock(handle) }
  public func unlock() { pthread_mutex_unlock(handle) }
}
