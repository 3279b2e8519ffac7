// What a process leaves in the store's folder that dies while it saves: files half written, and space kept for tokens that never
// came. The next save of the same file would take their place; where none comes, they would stay for ever.

import EnrollCore

extension StoreFolder {
  /// Removes what nobody uses any more: whoever does holds its lock. Fails without a word, because nothing depends on it.
  func tidy() {
    guard let names = try? names() else { return }
    for name in names {
      guard let locks = StoreNames.locks(ofTemporary: name) else { continue }
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
