// Maps SQLite's result codes to the failures of the store (sqlite.org/rescode.html).

import CPosix
import CSQLite
import EnrollGateway
import EnrollPosix

enum SQLiteFault {
  /// The failure of the store for a result code of SQLite.
  /// - Parameters:
  ///   - code: an extended result code.
  ///   - systemError: the errno behind the code, or 0.
  ///   - isCommitting: true if the failed statement was the one that makes a change durable.
  static func failure(
    _ code: Int32, _ message: String, systemError: Int32 = 0, path: String, isCommitting: Bool = false
  ) -> StoreFailure {
    if systemError == ENOSPC || systemError == EDQUOT { return full(path) }
    switch code & 0xff {
    case SQLITE_BUSY, SQLITE_LOCKED:
      return .unavailable(
        "The database \(path) is locked by another program. The store expected to get its turn to write within "
          + "the busy timeout. End the other program's transaction, then try again.")
    case SQLITE_FULL:
      return full(path)
    case SQLITE_READONLY:
      return notWritable(path, message)
    case SQLITE_CANTOPEN, SQLITE_PERM:
      if [EACCES, EROFS, EPERM].contains(systemError) {
        return notWritable(path, SystemError.message(systemError))
      }
      return .unavailable(
        "The database \(path) cannot be opened (\(words(message, systemError))). The store expected a file, or a "
          + "folder in which it can make one. Check the path, then try again.")
    case SQLITE_NOTADB:
      return .fault(
        "\(path) is no SQLite database. The store expected one, or no file. Name another path, or restore the "
          + "file from a backup.")
    case SQLITE_CORRUPT:
      return .fault(
        "The database \(path) is damaged (\(message)). The store expected it as SQLite wrote it. Stop the "
          + "program, then restore the file from a backup.")
    case SQLITE_NOMEM:
      return .unavailable(
        "The program has no memory left for the database \(path). The store expected a few megabytes. "
          + "Try again when memory is free.")
    case SQLITE_IOERR where isCommitting:
      return .unknownOutcome(
        "The disk failed while a change of \(path) was being written (\(words(message, systemError))). The store "
          + "expected the write to succeed. Check the disk, then look whether the change is there.")
    case SQLITE_IOERR:
      return .unavailable(
        "The disk failed while \(path) was being used (\(words(message, systemError))). The store expected reads "
          + "and writes to succeed. Check the disk, then try again.")
    default:
      return .fault(
        "SQLite refused a statement on \(path): \(message) (code \(code)). The store expected it to succeed. "
          + "Report this as a fault of enroll-gateway.")
    }
  }

  static func full(_ path: String) -> StoreFailure {
    .full(
      "The disk that holds \(path) is full. The store expected room for the change; nothing was changed. "
        + "Free some space, then try again.")
  }

  static func replaced(_ path: String) -> StoreFailure {
    .unavailable(
      "The file \(path) was removed or replaced while the program runs. The store expected the file that it opened; "
        + "nothing was changed. Put the file back if you need it, then restart the program.")
  }

  static func foreign(_ path: String) -> StoreFailure {
    .fault(
      "The database \(path) has tables of another program. The store expected its own, or an empty file; nothing was "
        + "changed. Name another path.")
  }

  static func notWritable(_ path: String, _ why: String) -> StoreFailure {
    .full(
      "The database \(path) cannot be written (\(why)). The store expected a writable file in a writable "
        + "folder; nothing was changed. Change the permissions or the mount, then try again.")
  }

  private static func words(_ message: String, _ systemError: Int32) -> String {
    systemError == 0 ? message : "\(message): \(SystemError.message(systemError))"
  }
}
