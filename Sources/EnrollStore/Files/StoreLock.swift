// A lock on something of the store, against the threads of this process and against other processes: first the mutex, then the
// file. Freed in the opposite order.

import EnrollCore

/// One lock file and the mutex before it.
final class StoreLock: @unchecked Sendable {
  // Unchecked: `spare` and `staysOpen` are only touched with `mutex` held.
  private let folder: StoreFolder
  private let name: String
  private let mutex = TimedMutex()
  /// The lock file, open between two takings.
  private var spare: FileLock?
  private var staysOpen = false

  init(_ name: String, in folder: StoreFolder) {
    self.name = name
    self.folder = folder
  }

  /// - Throws: `.busy` when another held it for `seconds`; `.cancelled`, `.deadlineExceeded` as ``FileLock/lock()``; what
  ///   files can throw.
  func take(atMost seconds: Int64 = TimedMutex.timeoutSeconds) throws(EnrollError) -> Held {
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

  /// The lock file is open only while the lock is held, as usual.
  func closeBetweenTakings() {
    // A holder that keeps the lock for so long frees it with the file open, which does no harm.
    guard (try? mutex.lock()) != nil else { return }
    staysOpen = false
    spare?.close()
    spare = nil
    mutex.unlock()
  }

  struct Held {
    fileprivate let lock: StoreLock
    fileprivate let file: FileLock

    /// From now on the lock can be taken in a process that has no descriptor left.
    func keepFileOpen() { lock.staysOpen = true }

    func release() {
      if lock.staysOpen { file.unlock() } else { file.close() }
      lock.spare = lock.staysOpen && file.isOpen ? file : nil
      lock.mutex.unlock()
    }
  }
}
