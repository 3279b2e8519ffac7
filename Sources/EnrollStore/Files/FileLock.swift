// One lock file, open. The file is never unlinked by us; should somebody else do so, a lock on the old one excludes nobody, so
// that is checked after locking. Closing frees the lock, also when the process dies; a forked child closes it by itself.

import EnrollCore
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

  /// May be called again while it is locked. Then a folder that is not in its place does not free it: the folder may come back.
  /// - Returns: false while another process, or another store of this process, has the lock.
  func tryLock() throws(EnrollError) -> Bool {
    guard try folder.lock(descriptor) else { return false }
    if try folder.isNamed(name, descriptor) {
      // In a folder that is somewhere else by now the lock excludes nobody.
      guard try folder.isInPlace() else {
        if !isLocked { unlock() }
        throw StoreFolder.replaced
      }
      isLocked = true
      return true
    }
    // Locked a file that is not there any more.
    let fresh = try folder.openLock(name)
    folder.closeLock(descriptor)
    descriptor = fresh
    isLocked = false
    return false
  }

  /// Waits for the lock.
  /// - Throws: `.busy`; `.cancelled`, `.deadlineExceeded` once the call on this thread is not to wait any longer.
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

  /// Waits for a lock that is held across the network, as long as the call on this thread is to wait.
  /// - Throws: `.cancelled`, `.deadlineExceeded`.
  func lockDuringCall() throws(EnrollError) {
    var pause = PollingPause(longest: 100_000_000)
    while try !tryLock() {
      try CallTimeout.check("while another process was at the same")
      Pause.nanoseconds(CallTimeout.nanoseconds(atMost: pause.next()))
    }
  }

  /// Frees the lock; the file stays open for the next one.
  func unlock() {
    isLocked = false
    do { try folder.unlock(descriptor) } catch { close() }
  }

  /// Whether ``tryLock()`` can be called.
  var isOpen: Bool { descriptor >= 0 }

  func close() {
    // In a forked child the descriptor was closed at once, and its number may be somebody else's by now.
    guard descriptor >= 0, !origin.isForkedChild else { return }
    folder.closeLock(descriptor)
    descriptor = -1
    isLocked = false
  }
}
