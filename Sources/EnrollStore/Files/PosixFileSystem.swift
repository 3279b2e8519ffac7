// The operations of FileSystem; each operation is one system call.

import CPosix
import EnrollPosix

/// The machine's disk.
public final class PosixFileSystem: FileSystem {
  public init() {}

  public var user: UInt32 { geteuid() }

  public func makeFolder(_ path: String) throws(FileFault) {
    try check(mkdir(path, 0o700), .makeFolder)
    OwnerPermissions.restore(folder: path)
  }

  public func openFolder(_ path: String) throws(FileFault) -> Int32 {
    try check(
      enroll_posix_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0), .openFolder)
  }

  public func open(_ name: String, in folder: Int32, for access: FileAccess) throws(FileFault) -> Int32 {
    let always = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
    let flags =
      switch access {
      case .reading: O_RDONLY
      case .making: O_RDWR | O_CREAT | O_EXCL
      case .writing: O_RDWR
      }
    let fd = try check(enroll_posix_openat(folder, name, flags | always, 0o600), .open)
    if case .making = access { OwnerPermissions.restore(file: fd) }
    return fd
  }

  public func openLock(_ name: String, in folder: Int32) throws(FileFault) -> Int32 {
    let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
    var number: Int32 = 0
    let fd = ForkGuard.openingLock {
      let fd = enroll_posix_openat(folder, name, flags, 0o600)
      if fd < 0 { number = enroll_posix_errno() }
      return fd
    }
    guard fd >= 0 else { throw FileFault(.openLock, number == 0 ? ENOMEM : number) }
    OwnerPermissions.restore(file: fd)
    return fd
  }

  public func close(_ descriptor: Int32) { _ = CPosix.close(descriptor) }

  public func closeLock(_ descriptor: Int32) { ForkGuard.closeLock(descriptor) }

  public func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(FileFault) -> Int {
    let count = CPosix.read(descriptor, buffer.baseAddress, buffer.count)
    if count < 0 { throw FileFault(.read, enroll_posix_errno()) }
    return count
  }

  public func readBack(
    _ descriptor: Int32, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileFault) -> Int {
    // An empty buffer may have no address. It is not passed on, because some C libraries do not accept a null pointer.
    guard let start = buffer.baseAddress else { return 0 }
    let count = pread(descriptor, start, buffer.count, off_t(offset))
    if count < 0 { throw FileFault(.readBack, enroll_posix_errno()) }
    return count
  }

  public func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(FileFault) -> Int {
    let count = CPosix.write(descriptor, bytes.baseAddress, bytes.count)
    if count < 0 { throw FileFault(.write, enroll_posix_errno()) }
    return count
  }

  public func allocate(_ descriptor: Int32, _ count: Int64) throws(FileFault) {
    let number = enroll_posix_allocate(descriptor, count)
    if number != 0 { throw FileFault(.allocate, number) }
  }

  public func truncate(_ descriptor: Int32, to count: Int64) throws(FileFault) {
    try check(ftruncate(descriptor, off_t(count)), .truncate)
  }

  public func sync(_ descriptor: Int32) throws(FileFault) { try check(enroll_posix_sync(descriptor), .sync) }

  public func rename(_ old: String, to new: String, in folder: Int32) throws(FileFault) {
    try check(renameat(folder, old, folder, new), .rename)
  }

  public func renameNew(_ old: String, to new: String, in folder: Int32) throws(FileFault) {
    try check(enroll_posix_rename_new(folder, old, new), .renameNew)
  }

  public func unlink(_ name: String, in folder: Int32) throws(FileFault) {
    try check(unlinkat(folder, name, 0), .unlink)
  }

  public func status(_ descriptor: Int32) throws(FileFault) -> FileStatus {
    var status = stat()
    try check(fstat(descriptor, &status), .status)
    return FileStatus(status)
  }

  public func status(_ name: String, in folder: Int32) throws(FileFault) -> FileStatus {
    var status = stat()
    try check(fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW), .statusByName)
    return FileStatus(status)
  }

  public func status(ofPath path: String) throws(FileFault) -> FileStatus {
    var status = stat()
    try check(fstatat(AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW), .statusByPath)
    return FileStatus(status)
  }

  public func kind(_ descriptor: Int32) throws(FileFault) -> UInt32 {
    var kind: UInt32 = 0
    try check(enroll_posix_filesystem(descriptor, &kind), .kind)
    return kind
  }

  public func list(_ folder: Int32) throws(FileFault) -> [String] {
    // A separate descriptor is opened, because `closedir` closes the descriptor that it reads, and a copy made by `dup`
    // would share the read position.
    let copy = try check(enroll_posix_openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0), .list)
    guard let stream = fdopendir(copy) else {
      let number = enroll_posix_errno()
      _ = CPosix.close(copy)
      throw FileFault(.list, number)
    }
    defer { closedir(stream) }
    var names: [String] = []
    var number: Int32 = 0
    while let entry = enroll_posix_next_entry(stream, &number) {
      guard let start = enroll_posix_entry_name(entry) else { continue }
      let name = String(cString: start)
      if name != ".", name != ".." { names.append(name) }
    }
    // If only a part of the list can be read, this is an error: files that are not in that part would look missing.
    guard number == 0 else { throw FileFault(.list, number) }
    return names
  }

  public func lock(_ descriptor: Int32) throws(FileFault) -> Bool {
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
    let number = enroll_posix_errno()
    if number == EWOULDBLOCK { return false }
    throw FileFault(.lock, number)
  }

  public func unlock(_ descriptor: Int32) throws(FileFault) { try check(flock(descriptor, LOCK_UN), .unlock) }

  @discardableResult
  private func check(_ result: Int32, _ operation: FileOperation) throws(FileFault) -> Int32 {
    if result < 0 { throw FileFault(operation, enroll_posix_errno()) }
    return result
  }
}

extension FileStatus {
  init(_ status: stat) {
    var status = status
    let kind: Kind =
      switch Int32(truncatingIfNeeded: status.st_mode) & Int32(S_IFMT) {
      case Int32(S_IFREG): .file
      case Int32(S_IFDIR): .folder
      case Int32(S_IFLNK): .symbolicLink
      default: .other
      }
    self.init(
      kind: kind, permissions: UInt32(status.st_mode) & 0o7777, owner: status.st_uid,
      links: UInt64(status.st_nlink), device: UInt64(truncatingIfNeeded: status.st_dev),
      inode: UInt64(status.st_ino),
      size: Int64(status.st_size), modified: enroll_posix_modified(&status))
  }
}
