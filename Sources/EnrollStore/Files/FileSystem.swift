// All access of the store to the disk goes through these operations and no others, so that a test can count them, fail
// any of them, tear a write or kill the process between two. Each is one system call and does nothing else, but for the rights
// that a umask takes from the owner of what is made (`OwnerAccess`): repeating
// after EINTR, finishing short writes and understanding errors is the business of ``StoreFolder``.

import EnrollCore

/// The operations by name: what a fault is injected into.
public enum FileOperation: String, Sendable, CaseIterable {
  case makeFolder, openFolder, open, openLock, close, closeLock, read, write, allocate, truncate, sync,
    readBack, rename, renameNew
  case unlink, status, statusByName, statusByPath, kind, list, lock, unlock
}

/// A system call said no.
public struct FileFault: Error, Equatable, Sendable {
  public var operation: FileOperation
  /// `errno`.
  public var number: Int32

  public init(_ operation: FileOperation, _ number: Int32) {
    self.operation = operation
    self.number = number
  }
}

/// How a file is opened. Always close-on-exec, never following a symbolic link, never waiting for a pipe's other end.
public enum FileAccess: Sendable {
  case reading
  /// For writing and reading back, made by this call with mode 0600: fails with EEXIST where there is one.
  case making
  /// For writing and reading back, there already.
  case writing
}

/// The facts about a file that the store needs.
public struct FileStatus: Equatable, Sendable {
  public enum Kind: Sendable { case file, folder, symbolicLink, other }

  public var kind: Kind
  /// Permission bits, 0o7777.
  public var permissions: UInt32
  public var owner: UInt32
  public var links: UInt64
  public var device: UInt64
  public var inode: UInt64
  /// Bytes.
  public var size: Int64
  /// Last change of the content, nanoseconds since 1970.
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

/// The disk. Names are single path components inside an open folder. Any operation may throw EINTR.
public protocol FileSystem: AnyObject, Sendable {
  /// mkdir(2) with mode 0700. `path` is absolute.
  func makeFolder(_ path: String) throws(FileFault)
  /// A descriptor of a folder. `path` is absolute; a symbolic link at its end is not followed.
  func openFolder(_ path: String) throws(FileFault) -> Int32
  /// A descriptor of a file in a folder.
  func open(_ name: String, in folder: Int32, for access: FileAccess) throws(FileFault) -> Int32
  /// A file that only serves as a lock, made with mode 0600 if there is none. A forked child loses it at once.
  func openLock(_ name: String, in folder: Int32) throws(FileFault) -> Int32
  /// Never fails as the store sees it: everything that matters was synced before.
  func close(_ descriptor: Int32)
  /// Closes what ``openLock(_:in:)`` opened, and so frees the lock.
  func closeLock(_ descriptor: Int32)
  /// Bytes read at the descriptor's position, 0 at the end.
  func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(FileFault) -> Int
  /// Bytes read from the byte at `offset` on, 0 at the end. The descriptor's position stays (pread).
  func readBack(
    _ descriptor: Int32, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileFault) -> Int
  /// Bytes written at the descriptor's position; may be fewer than asked.
  func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(FileFault) -> Int
  /// Disk space for the first `count` bytes, which the file then has (posix_fallocate).
  func allocate(_ descriptor: Int32, _ count: Int64) throws(FileFault)
  /// Makes the file exactly `count` bytes long (ftruncate).
  func truncate(_ descriptor: Int32, to count: Int64) throws(FileFault)
  /// Of a file or a folder (fsync).
  func sync(_ descriptor: Int32) throws(FileFault)
  /// Gives the file another name in the same folder, in the place of whatever had it.
  func rename(_ old: String, to new: String, in folder: Int32) throws(FileFault)
  /// As ``rename(_:to:in:)``, but fails with EEXIST where `new` exists.
  func renameNew(_ old: String, to new: String, in folder: Int32) throws(FileFault)
  /// Removes the name of a file (unlinkat).
  func unlink(_ name: String, in folder: Int32) throws(FileFault)
  /// Of an open descriptor (fstat).
  func status(_ descriptor: Int32) throws(FileFault) -> FileStatus
  /// The status of the name itself: a symbolic link is not followed.
  func status(_ name: String, in folder: Int32) throws(FileFault) -> FileStatus
  /// Of what is at an absolute path: a symbolic link at its end is not followed.
  func status(ofPath path: String) throws(FileFault) -> FileStatus
  /// The magic number of the filesystem (statfs(2)).
  func kind(_ descriptor: Int32) throws(FileFault) -> UInt32
  /// Names in the folder, in no order, without `.` and `..`.
  func list(_ folder: Int32) throws(FileFault) -> [String]
  /// Takes the exclusive lock without waiting (flock(2)).
  /// - Returns: false while somebody else has it.
  func lock(_ descriptor: Int32) throws(FileFault) -> Bool
  /// Frees the lock; the file stays open.
  func unlock(_ descriptor: Int32) throws(FileFault)
  /// The user as whom files are made.
  var user: UInt32 { get }
}
