// An open lock file. EnrollKit never removes lock files. If another program removes a lock file, a lock on the removed
// file excludes no other process. So after locking, EnrollKit checks that the locked file still has its name. Closing
// the descriptor frees the lock; this also happens when the process dies. A forked child closes its copy in the fork
// handler.

import EnrollRules
import EnrollPosix

/// A lock file that this process has open, locked or not.
final class FileLock {
  private let folder: StoreFolder
  private let name: String
  private var descriptor: Int32
  private var isLocked = false
  private let origin = ForkGuard()

  convenience init(_ name: String, in folder: StoreFolder) throws(EnrollError) {
    self.init(name, folder, owning: try folder.openLock(name))
  }

  private init(_ name: String, _ folder: StoreFolder, owning descriptor: Int32) {
    self.name = name
    self.folder = folder
    self.descriptor = descriptor
  }

  deinit { close() }

  /// Tries to get the lock, without waiting. It can be called again while the lock is held. If the folder has been
  /// replaced in the meantime, the old lock stays held, because the old folder may be moved back to its path.
  /// - Returns: false if another process, or another store object of this process, has the lock.
  func tryLock() throws(EnrollError) -> Bool {
    guard try folder.lock(descriptor) else { return false }
    if try folder.isNamed(name, descriptor) {
      // The open folder is no longer at the store's path, so a lock in it excludes no other process.
      guard try folder.isAtPath() else {
        if !isLocked { unlock() }
        throw StoreFolder.replaced
      }
      isLocked = true
      return true
    }
    // The locked file no longer has this name. The next try locks the file that has this name now.
    let fresh = try folder.openLock(name)
    folder.closeLock(descriptor)
    descriptor = fresh
    isLocked = false
    return false
  }

  /// Waits for the lock.
  /// - Throws: `.busy` after `seconds`; `.cancelled`, `.deadlineExceeded` if the current call is cancelled or timed
  ///   out.
  func lock(atMost seconds: Int64 = TimedMutex.timeoutSeconds) throws(EnrollError) {
    let end = SystemClock.monotonic() + seconds * 1_000_000_000
    var pause = PollingPause(longest: 8_000_000)
    while try !tryLock() {
      guard SystemClock.monotonic() < end else {
        throw EnrollError(
          .busy, "another process has held the store's lock for \(seconds) s")
      }
      try CallTimeout.check("while another process held the store's lock")
      Pause.nanoseconds(pause.next())
    }
  }

  /// Waits for a lock that another process may hold across network requests, until this process gets the lock, or the
  /// current call is cancelled or times out.
  /// - Throws: `.cancelled`, `.deadlineExceeded`.
  func lockDuringCall() throws(EnrollError) {
    var pause = PollingPause(longest: 100_000_000)
    while try !tryLock() {
      try CallTimeout.check("while another process was at the same")
      Pause.nanoseconds(CallTimeout.nanoseconds(atMost: pause.next()))
    }
  }

  /// Frees the lock. The file stays open for the next use.
  func unlock() {
    isLocked = false
    do { try folder.unlock(descriptor) } catch { close() }
  }

  /// Whether the lock file is open, so that ``tryLock()`` can be called.
  var isOpen: Bool { descriptor >= 0 }

  func close() {
    // In a forked child the fork handler has closed the descriptor, and its number may belong to another file now.
    guard descriptor >= 0, !origin.isForkedChild else { return }
    folder.closeLock(descriptor)
    descriptor = -1
    isLocked = false
  }
}
