// What a process leaves in the store's folder that dies while it saves: files half written, and space kept for tokens that never
// came. The next save of the same file takes their place. Where none comes, they go at the first use of the same account by
// another process, and whenever the whole folder is looked at: no call looks at it for this.

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
