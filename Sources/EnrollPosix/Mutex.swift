// Ten lines of pthread mutex: Synchronization.Mutex is not in Embedded Swift on Linux.

import CPosix
public import EnrollCore

/// A mutex at a stable address.
public final class Mutex: Lock, @unchecked Sendable {
  // Unchecked: a pthread mutex is made to be shared.
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
