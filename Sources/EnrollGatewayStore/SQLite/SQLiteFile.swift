// Prepares the database's file before SQLite opens it. The file holds names and e-mail addresses, so only its owner may
// read it; SQLite gives the write-ahead log the same permissions.

import CPosix
import EnrollSteps
import EnrollGateway
import EnrollPosix

enum SQLiteFile {
  /// Creates the file with mode 0600 if it is missing.
  /// - Throws: `.full` if the folder cannot be written, `.unavailable` if the folder is missing, `.fault` for a path
  ///   that does not name a file, and for a file that other users may open.
  static func prepare(_ path: String) throws(StoreFailure) {
    try checkPath(path)
    // With O_EXCL no existing file is opened: closing its descriptor would drop SQLite's locks on the file (fcntl(2),
    // F_SETLK).
    let descriptor = enroll_posix_open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 {
      close(descriptor)
      return
    }
    let number = errnoNow()
    if number == EEXIST { return try check(path) }
    // SQLite opens an existing file on a read-only file system for reading, and fails at the first write.
    var status = stat()
    if number == EROFS, stat(path, &status) == 0 { return try check(path) }
    throw failure(path, number)
  }

  /// - Throws: `.fault` for a path that does not name a file: an empty path, `:memory:` and similar names, and a path
  ///   with a NUL.
  static func checkPath(_ path: String) throws(StoreFailure) {
    guard !path.isEmpty, !path.hasPrefix(":"), !path.utf8.contains(0) else {
      throw .fault(
        "The path of the database is empty, begins with a colon or contains a NUL. The store expects the path of a "
          + "file. Name one.")
    }
  }

  /// - Throws: `.full` if this user cannot make a file in the folder.
  static func checkFolder(_ folder: String, of path: String) throws(StoreFailure) {
    guard access(folder, W_OK | X_OK) != 0 else { return }
    throw SQLiteFault.notWritable(path, SystemError.message(errnoNow()))
  }

  /// The identity of the database's files when the database was opened. If one of the files is ever missing or
  /// replaced, none of them is used again, because the latest changes may be lost.
  final class FileIdentity: Sendable {
    private struct File: Equatable {
      let path: String
      let device: dev_t
      let number: ino_t

      /// Reads the facts about the file at this path; nil if the file does not exist.
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
      /// The path of the first file that was missing or replaced.
      var lost: String?
    }
    private let state: Guarded<State>

    /// - Throws: `.unavailable` if the file does not exist.
    init(_ path: String) throws(StoreFailure) {
      guard let file = File(path) else { throw SQLiteFault.replaced(path) }
      state = Guarded(State(files: [file]), by: Mutex())
    }

    /// Also checks the write-ahead log and its index from now on. SQLite created them for the first connection, and removes
    /// them when the last connection of all programs closes.
    /// - Parameter path: the path of the database without symbolic links.
    func watchLog(of path: String) {
      let logs = ["-wal", "-shm"].compactMap { File(path + $0) }
      state.withLock { $0.files += logs }
    }

    /// Stops checking, because SQLite removes the log when the last connection closes.
    func end() { state.withLock { $0.files = [] } }

    /// - Throws: `.unavailable` if a file is missing or was replaced, now or at an earlier check.
    func check() throws(StoreFailure) {
      // Compare with the lock held: if `end` runs meanwhile, SQLite may remove the log, which must not count as missing.
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
    case EACCES, EPERM, EROFS: SQLiteFault.notWritable(path, SystemError.message(number))
    default:
      .unavailable(
        "The database \(path) cannot be made or opened (\(SystemError.message(number))). The store expected an "
          + "existing folder. Check the path, then try again.")
    }
  }

  private static func errnoNow() -> Int32 { enroll_posix_errno() }
}
