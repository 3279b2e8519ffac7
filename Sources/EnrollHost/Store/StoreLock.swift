// A lock on something of the store, against the threads of this process and against other processes: first the mutex, then the
// file. Freed in the opposite order.

import EnrollCore

/// One lock file and the mutex before it.
final class StoreLock: Sendable {
  private let folder: StoreFolder
  private let name: String
  private let mutex = TimedMutex()

  init(_ name: String, in folder: StoreFolder) {
    self.name = name
    self.folder = folder
  }

  /// - Throws: `.busy` when it was not to be had for half a minute; what files can throw.
  func take() throws(EnrollError) -> Held {
    try mutex.lock()
    do {
      let file = try FileLock(name, in: folder)
      try file.lock()
      return Held(file: file, mutex: mutex)
    } catch {
      mutex.unlock()
      throw error
    }
  }

  struct Held {
    fileprivate let file: FileLock
    fileprivate let mutex: TimedMutex

    func release() {
      file.close()
      mutex.unlock()
    }
  }
}
