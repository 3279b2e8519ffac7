// All disk access of the store goes through these operations, so that a test can count them, make any of them fail,
// tear a write, or kill the process between two of them. Each operation is one system call, except that creating a file
// or folder also restores the owner's rights that a umask removed (`OwnerPermissions`). ``StoreFolder`` and ``StoreFault``
// repeat calls after EINTR, finish short writes and translate errors.

/// The operations by name, so that a test can choose the operation that fails.
public enum FileOperation: String, Sendable, CaseIterable {
  case makeFolder, openFolder, open, openLock, close, closeLock, read, write, allocate, truncate, sync,
    readBack, rename, renameNew
  case unlink, status, statusByName, statusByPath, kind, list, lock, unlock
}

/// A system call failed.
public struct FileFault: Error, Equatable, Sendable {
  public var operation: FileOperation
  /// The `errno` of the system call.
  public var number: Int32

  public init(_ operation: FileOperation, _ number: Int32) {
    self.operation = operation
    self.number = number
  }
}

/// How a file is opened. In every case the descriptor is close-on-exec, a symbolic link is not followed, and the call
/// does not wait for the other end of a pipe.
public enum FileAccess: Sendable {
  case reading
  /// Creates the file with mode 0600, for writing and reading back. Fails with EEXIST if the file exists.
  case making
  /// Opens a file that exists, for writing and reading back.
  case writing
}

/// The facts about a file that the store needs.
public struct FileStatus: Equatable, Sendable {
  public enum Kind: Sendable { case file, folder, symbolicLink, other }

  public var kind: Kind
  /// The permission bits (mask 0o7777).
  public var permissions: UInt32
  public var owner: UInt32
  public var links: UInt64
  public var device: UInt64
  public var inode: UInt64
  /// The size in bytes.
  public var size: Int64
  /// When the content was last changed, in nanoseconds since 1970.
  public var modified: Int64

  public init(
    kind: Kind, permissions: UInt32, owner: UInt32, links: UInt64, device: UInt64, inode: UInt64, size: Int64,
    modified: Int64
  ) {
    self.kind = kind
    self.permissions = permissions
    self.owner = owner
    self.links = links
    self.device = device
    self.inode = inode
    self.size = size
    self.modified = modified
  }
}

/// The operations on the disk. A name is one path component inside an open folder. Any operation may throw EINTR.
public protocol FileSystem: AnyObject, Sendable {
  /// mkdir(2) with mode 0700. `path` is absolute.
  func makeFolder(_ path: String) throws(FileFault)
  /// Opens a folder. `path` is absolute; a symbolic link at its end is not followed.
  func openFolder(_ path: String) throws(FileFault) -> Int32
  /// Opens a file in a folder.
  func open(_ name: String, in folder: Int32, for access: FileAccess) throws(FileFault) -> Int32
  /// Opens a file that serves only as a lock, and creates it with mode 0600 if it does not exist. A forked child closes
  /// it at once.
  func openLock(_ name: String, in folder: Int32) throws(FileFault) -> Int32
  /// Closes a file. Errors are ignored: everything that matters was synced before.
  func close(_ descriptor: Int32)
  /// Closes a descriptor from ``openLock(_:in:)``, and so frees the lock.
  func closeLock(_ descriptor: Int32)
  /// Reads at the descriptor's position.
  /// - Returns: the number of bytes; 0 at the end.
  func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(FileFault) -> Int
  /// Reads from the byte at `offset` on, without changing the descriptor's position (pread).
  /// - Returns: the number of bytes; 0 at the end.
  func readBack(
    _ descriptor: Int32, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileFault) -> Int
  /// Writes at the descriptor's position.
  /// - Returns: the number of bytes written, perhaps fewer than were passed.
  func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(FileFault) -> Int
  /// Allocates disk space for the first `count` bytes, and makes the file at least that long (posix_fallocate).
  func allocate(_ descriptor: Int32, _ count: Int64) throws(FileFault)
  /// Makes the file exactly `count` bytes long (ftruncate).
  func truncate(_ descriptor: Int32, to count: Int64) throws(FileFault)
  /// Syncs a file or a folder (fsync).
  func sync(_ descriptor: Int32) throws(FileFault)
  /// Renames a file within the folder, and replaces a file that has the new name.
  func rename(_ old: String, to new: String, in folder: Int32) throws(FileFault)
  /// Like ``rename(_:to:in:)``, but fails with EEXIST if `new` exists.
  func renameNew(_ old: String, to new: String, in folder: Int32) throws(FileFault)
  /// Removes the name of a file (unlinkat).
  func unlink(_ name: String, in folder: Int32) throws(FileFault)
  /// The status of an open file or folder (fstat).
  func status(_ descriptor: Int32) throws(FileFault) -> FileStatus
  /// The status of the name itself: a symbolic link is not followed.
  func status(_ name: String, in folder: Int32) throws(FileFault) -> FileStatus
  /// The status of an absolute path. A symbolic link at its end is not followed.
  func status(ofPath path: String) throws(FileFault) -> FileStatus
  /// The magic number of the filesystem (statfs(2)).
  func kind(_ descriptor: Int32) throws(FileFault) -> UInt32
  /// The names in the folder, unsorted, without `.` and `..`.
  func list(_ folder: Int32) throws(FileFault) -> [String]
  /// Tries to lock the file exclusively, without waiting (flock(2)).
  /// - Returns: false if another open file description has the lock.
  func lock(_ descriptor: Int32) throws(FileFault) -> Bool
  /// Frees the lock; the file stays open.
  func unlock(_ descriptor: Int32) throws(FileFault)
  /// The effective user id, which owns the files that are made.
  var user: UInt32 { get }
}
