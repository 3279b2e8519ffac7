// Finds conditions that prevent writing to a store that can be read: a full or read-only filesystem, or a lock that a
// process holds too long. The check writes nothing and takes no lock. It finds only conditions that the system shows.

import CPosix
import EnrollRules
import EnrollPosix

enum StoreWriteCheck {
  /// Approximately the number of bytes that a renewal reserves for a small record.
  private static let neededBytes: UInt64 = 80 << 10

  /// The error that a write to the store would cause; nil if no condition that prevents a write was found.
  /// - Parameter names: the names of the files in the folder.
  static func find(
    in folder: Int32, at path: String, _ names: [String], _ system: any FileSystem
  ) -> EnrollError? {
    var space = enroll_posix_room()
    if enroll_posix_room_of(folder, &space) == 0 {
      if space.is_read_only { return StoreFault.error(FileFault(.write, EROFS), nil, in: path) }
      if space.bytes < neededBytes || !space.takes_files {
        return StoreFault.error(FileFault(.write, ENOSPC), nil, in: path)
      }
    }
    let first = holders(in: folder, names, system)
    if let stopped = first.first(where: { ProcessTable.isStopped($0.process) }) {
      return EnrollError(
        .busy,
        "process \(stopped.process) is stopped and holds the store's lock \(stopped.lock), for which other processes wait."
          + " Continue it: kill -CONT \(stopped.process)",
        field: "store")
    }
    // The locks of renewals and registrations may be held for long. Every other lock is held only briefly.
    let brief = first.filter { !$0.lock.hasSuffix(".renew") && !$0.lock.hasSuffix(".register") }
    guard !brief.isEmpty else { return nil }
    Pause.nanoseconds(1_000_000_000)
    let later = holders(in: folder, brief.map { $0.lock }, system)
    return brief.first { held in later.contains { $0 == held } }.map { held in
      EnrollError(
        .busy,
        "process \(held.process) holds the store's lock \(held.lock) for longer than a save takes, and other processes wait"
          + " for it. If it does not go on, end it: kill \(held.process)",
        field: "store")
    }
  }

  private struct Holder: Equatable {
    var lock: String
    var process: Int32
  }

  /// The other processes that hold locks of the store. If no process on this machine holds any lock, the lock files are
  /// not examined.
  private static func holders(
    in folder: Int32, _ names: [String], _ system: any FileSystem
  ) -> [Holder] {
    let held = ProcessTable.lockHolders().filter { $0.process != getpid() }
    guard !held.isEmpty else { return [] }
    return names.filter { StoreNames.isLock($0) }.flatMap { name -> [Holder] in
      guard let inode = (try? system.status(name, in: folder))?.inode else { return [] }
      return held.filter { $0.inode == inode && ProcessTable.hasOpen(name, $0.process) }
        .map { Holder(lock: name, process: $0.process) }
    }
  }
}
