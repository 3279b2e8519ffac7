// The store in one SQLite file.

public import EnrollGateway

/// Accounts in one SQLite file, for a gateway on one machine.
public final class SQLiteStore: SQLStore, @unchecked Sendable {
  /// Opens the file, or creates it with mode 0600; ``SQLStore/migrate()`` creates its tables. If the file, its
  /// write-ahead log or the log's index is removed or replaced later, every call fails until the program starts again,
  /// because writes would be lost.
  /// - Parameters:
  ///   - path: a file in a writable folder on a local disk: SQLite keeps two more files beside it.
  ///   - readers: the highest number of connections that read, at least 1.
  ///   - busyMilliseconds: how long a call waits for a connection, and for a lock that another program holds.
  ///   - observer: gets reports of calls and sessions.
  /// - Throws: `.full` if the file or its folder cannot be written, `.unavailable` if it cannot be opened or is locked,
  ///   `.fault` if it is not a SQLite database, or other users may open it.
  public init(
    path: String, readers: Int = 4, busyMilliseconds: Int64 = 5_000, observer: (any StoreObserver)? = nil
  ) throws(StoreFailure) {
    super.init(
      try SQLiteDatabase(
        path: path, readers: readers, busyMilliseconds: busyMilliseconds, observer: observer), observer)
  }

  /// Checks the text of a path, without opening a file.
  /// - Throws: `.fault` for a path that does not name a file, such as `:memory:`.
  public static func checkPath(_ path: String) throws(StoreFailure) { try SQLiteFile.checkPath(path) }

  /// Checks that this user can make a file in a folder, without making one.
  /// - Parameter path: the path of the file.
  /// - Throws: `.full` if the folder cannot be written.
  public static func checkFolder(_ folder: String, of path: String) throws(StoreFailure) {
    try SQLiteFile.checkFolder(folder, of: path)
  }
}
