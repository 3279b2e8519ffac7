// Removes files that a process left in the store's folder when it died while saving: half-written files, and space reserved for
// tokens that never came. The next save of the same file replaces them. Otherwise they are removed at the first use of the same
// account by another process, and whenever a call reads the whole folder; no call reads it only for this.

import EnrollCore

extension StoreFolder {
  /// Removes what nobody uses any more: whoever does holds its lock. Fails without a word, because nothing depends on it.
  /// - Parameter names: of files that may be there.
  func tidy(_ names: [String]) {
    for name in names {
      guard let locks = StoreNames.locks(ofTemporary: name), (try? status(name)) != .some(.none) else {
        continue
      }
      try? discard(name, under: locks)
    }
  }

  private func discard(_ name: String, under locks: [String]) throws(EnrollError) {
    var held: [FileLock] = []
    defer { for lock in held { lock.close() } }
    for lock in locks {
      let file = try FileLock(lock, in: self)
      held.append(file)
      guard try file.tryLock() else { return }
    }
    try discard(name)
  }
}
