// The database's file before SQLite opens it. It holds names and addresses, so only its owner may read it; SQLite gives the
// write-ahead log beside it the same permissions.

import CPosix
import EnrollCore
import EnrollGateway
import EnrollPosix

enum SQLiteFile {
  /// Makes the file with mode 0600 unless it is there.
  /// - Throws: `.full` if the folder cannot be written, `.unavailable` if it is missing, `.fault` for a path that names no
  ///   file, and for a file that other users may read.
  static func prepare(_ path: String) throws(StoreFailure) {
    guard !path.isEmpty, !path.hasPrefix(":"), !path.utf8.contains(0) else {
      throw .fault(
        "The path of the database is empty, begins with a colon or contains a NUL. The store expects the path of a "
          + "file. Name one.")
    }
    // Exclusively: to close a descriptor of a file that is there would drop SQLite's locks on it (fcntl(2), F_SETLK).
    let descriptor = enroll_posix_open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 {
      close(descriptor)
      return
    }
    let number = errnoNow()
    if number == EEXIST { return try check(path) }
    // An existing file on a read-only file system is opened for reading, and says so at the first write.
    var status = stat()
    if number == EROFS, stat(path, &status) == 0 { return try check(path) }
    throw failure(path, number)
  }

  /// The files of a database, as they were when it was opened. Once one of them was away, none is used again: what was written last may
  /// have gone with it.
  final class Place: Sendable {
    private struct File: Equatable {
      let path: String
      let device: dev_t
      let number: ino_t

      /// nil if nothing is there.
      init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.path = path
        device = status.st_dev
        number = status.st_ino
      }
    }
    private struct State {
      var files: [File]
      /// The path of the first one that was away.
      var lost: String?
    }
    private let state: Guarded<State>

    /// - Throws: `.unavailable` if nothing is there.
    init(_ path: String) throws(StoreFailure) {
      guard let file = File(path) else { throw SQLiteFault.replaced(path) }
      state = Guarded(State(files: [file]), by: Mutex())
    }

    /// The write-ahead log and its index count as well from now on. SQLite has made them for the first connection, and removes them when
    /// the last one of all programs closes.
    /// - Parameter path: of the database, behind all links.
    func watchLog(of path: String) {
      let logs = ["-wal", "-shm"].compactMap { File(path + $0) }
      state.withLock { $0.files += logs }
    }

    /// The last connection may close, and take the log with it.
    func end() { state.withLock { $0.files = [] } }

    /// - Throws: `.unavailable` if a path names another file, or none, or did so at an earlier check.
    func check() throws(StoreFailure) {
      // With the lock held: the log that goes by itself after `end` is not missed here.
      let lost = state.withLock { state in
        state.lost = state.lost ?? state.files.first { File($0.path) != $0 }?.path
        return state.lost
      }
      if let lost { throw SQLiteFault.replaced(lost) }
    }
  }

  private static func check(_ path: String) throws(StoreFailure) {
    var status = stat()
    guard stat(path, &status) == 0 else { throw failure(path, errnoNow()) }
    guard status.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG) else {
      throw .fault("\(path) is no file. The store expects a file, or nothing there. Name another path.")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw .fault(
        "Other users may open the database \(path) (mode 0\(String(status.st_mode & 0o777, radix: 8))). The store "
          + "expects mode 0600. Run: chmod 600 \(path)")
    }
  }

  private static func failure(_ path: String, _ number: Int32) -> StoreFailure {
    switch number {
    case ENOSPC, EDQUOT: SQLiteFault.full(path)
    case EACCES, EPERM, EROFS: SQLiteFault.notWritable(path, SystemError.words(number))
    default:
      .unavailable(
        "The database \(path) cannot be made or opened (\(SystemError.words(number))). The store expected an "
          + "existing folder. Check the path, then try again.")
    }
  }

  private static func errnoNow() -> Int32 { enroll_posix_errno() }
}
