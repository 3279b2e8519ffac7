// A lock of the store, between the threads of this process and between processes: a thread locks the mutex first, then
// the lock file, and unlocks them in the opposite order.

import EnrollRules

/// A lock file, and the mutex that a thread locks first.
final class StoreLock: @unchecked Sendable {
  // Unchecked: `spare` and `staysOpen` are only touched with `mutex` held.
  private let folder: StoreFolder
  private let name: String
  private let mutex = TimedMutex()
  /// The lock file, if the file stays open while the lock is not held.
  private var spare: FileLock?
  private var staysOpen = false

  init(_ name: String, in folder: StoreFolder) {
    self.name = name
    self.folder = folder
  }

  /// Waits for the lock and takes it.
  /// - Throws: `.busy` if another thread or process held the lock for `seconds`; `.cancelled`, `.deadlineExceeded` as
  ///   ``FileLock/lock()``; the errors of files.
  func acquire(atMost seconds: Int64 = TimedMutex.timeoutSeconds) throws(EnrollError) -> Held {
    try mutex.lock(atMost: seconds)
    do {
      let file: FileLock
      if let spare { file = spare } else { file = try FileLock(name, in: folder) }
      try file.lock(atMost: seconds)
      return Held(lock: self, file: file)
    } catch {
      mutex.unlock()
      throw error
    }
  }

  /// Ends the effect of ``Held/keepFileOpen()``: from now on the lock file is open only while the lock is held.
  func closeWhileUnlocked() {
    // If another thread holds the mutex for too long, the lock file simply stays open, which does no harm.
    guard (try? mutex.lock()) != nil else { return }
    staysOpen = false
    spare?.close()
    spare = nil
    mutex.unlock()
  }

  struct Held {
    fileprivate let lock: StoreLock
    fileprivate let file: FileLock

    /// Keeps the lock file open after the lock is released, so that a process without free descriptors can lock it
    /// again.
    func keepFileOpen() { lock.staysOpen = true }

    func release() {
      if lock.staysOpen { file.unlock() } else { file.close() }
      lock.spare = lock.staysOpen && file.isOpen ? file : nil
      lock.mutex.unlock()
    }
  }
}
