// The error for a failed system call of the store.

import CPosix
import EnrollRules
import EnrollPosix

enum StoreFault {
  /// The error about a file or folder that belongs to another user; nil if it belongs to this user.
  static func foreignOwner(_ status: FileStatus, user: UInt32, _ what: String) -> EnrollError? {
    guard status.owner != user else { return nil }
    return EnrollError(
      .storeRefused,
      "\(what) belongs to user \(status.owner), this process is user \(user). Run it as user \(status.owner), or name a"
        + " store of this user's",
      field: "store")
  }

  /// Repeats a call after EINTR, at most 100 times.
  static func retrying<Value>(_ body: () throws(FileFault) -> Value) throws(FileFault) -> Value {
    var tries = 0
    while true {
      do {
        return try body()
      } catch {
        tries += 1
        guard error.number == EINTR, tries < 100 else { throw error }
      }
    }
  }

  /// Runs `body`; a missing file is not an error.
  /// - Returns: the result of `body`; nil if the file does not exist.
  static func nilIfMissing<Value>(_ body: () throws(FileFault) -> Value) throws(FileFault) -> Value? {
    do {
      return try body()
    } catch {
      if error.number == ENOENT { return nil }
      throw error
    }
  }

  /// The error. Its text says which operation failed on which file, why, and what helps.
  /// - Parameters:
  ///   - name: the name of a file in the store's folder; nil for the folder itself.
  ///   - folder: the store's path.
  static func error(_ fault: FileFault, _ name: String?, in folder: String) -> EnrollError {
    let place = printable(folder)
    let what = name.map { "\($0) in the store's folder \(place)" } ?? "the store's folder \(place)"
    if fault.operation == .readBack, fault.number == EIO {
      return EnrollError(
        .storeIO,
        "\(what) did not read back as it was written, twice: the disk is failing, or another part of the program"
          + " writes to descriptors that are not its own",
        field: "store")
    }
    let (code, reason) = reason(fault, of: name, in: folder)
    return EnrollError(code, "\(what) cannot be \(participle(fault.operation)): \(reason)", field: "store")
  }

  /// The error if mkdir(2) of the store's folder returned ENOENT: the parent is missing, or does not allow new folders,
  /// as in /proc.
  static func creationError(_ path: String, _ system: any FileSystem) -> EnrollError {
    let parent = parent(of: path)
    // The dot at the end of the path makes the system follow a symbolic link, as mkdir(2) does.
    let exists = (try? system.status(ofPath: parent + "/."))?.kind == .folder
    let why =
      exists
      ? "\(printable(parent)) exists, but the system makes no folder in it. Name a store elsewhere"
      : "the folder \(printable(parent)), which should hold it, does not exist."
        + " Run mkdir -p \(printable(parent)), or name a store elsewhere"
    return EnrollError(
      .storeRefused, "the store's folder \(printable(path)) cannot be made: \(why)", field: "store")
  }

  private static func reason(
    _ fault: FileFault, of name: String?, in folder: String
  ) -> (EnrollError.Code, String) {
    let place = printable(folder)
    switch fault.number {
    case ENOSPC:
      return (.storeFull, "no space is left on its file system. Free some space, or name a store elsewhere")
    case EDQUOT:
      return (.storeFull, "the disk quota of this user is used up. Remove files, or have the quota raised")
    case EACCES, EPERM:
      let refused = "user \(geteuid()) has no permission. "
      if fault.operation == .makeFolder {
        return (
          .storeRefused,
          refused + "Make \(printable(parent(of: folder))) writable for this user, or name a store elsewhere"
        )
      }
      let modes =
        name == nil
        ? "The folder needs mode 700, and this user must be able to search those above it"
        : "The folder needs mode 700 and each file in it 600"
      return (.storeRefused, refused + "\(modes): run ls -la \(place), or name a store elsewhere")
    case EROFS:
      return (
        .storeRefused,
        "its file system is read-only. Mount that for writing, or name a store in a folder that can be written"
      )
    case ELOOP:
      return (
        .storeRefused, "it is a symbolic link, which the store does not follow. Put the file itself there"
      )
    case EISDIR, ENXIO: return (.storeRefused, "it is not a plain file. Move it out of the store's folder")
    case ENOLCK, EOPNOTSUPP:
      return (
        .storeRefused,
        "its file system lacks what the store needs (\(SystemError.message(fault.number)))."
          + " Name a store on a local file system"
      )
    case EMFILE, ENFILE:
      return (.storeIO, "too many files are open. Close some, or raise the limit (ulimit -n)")
    case EIO: return (.storeIO, "\(SystemError.message(EIO)). Check the disk")
    default: return (.storeIO, SystemError.message(fault.number))
    }
  }

  /// The operation as the end of a sentence: “the file cannot be …”.
  private static func participle(_ operation: FileOperation) -> String {
    switch operation {
    case .makeFolder: "made"
    case .openFolder: "opened"
    case .open, .openLock: "opened or made"
    case .read, .readBack, .list: "read"
    case .write, .allocate, .truncate, .sync, .rename, .renameNew: "written"
    case .unlink: "removed"
    case .status, .statusByName, .statusByPath, .kind: "examined"
    case .lock: "locked"
    case .unlock: "unlocked"
    case .close, .closeLock: "closed"
    }
  }

  static func printable(_ path: String) -> String { PrintableText.bounded(path, maximumBytes: 300) }

  static func parent(of path: String) -> String {
    let bytes = Array(path.utf8)
    let slash = bytes.lastIndex(of: UInt8(ascii: "/")) ?? 0
    return slash == 0 ? "/" : String(decoding: bytes[..<slash], as: UTF8.self)
  }
}

/// Filesystems on which locks and renames do not work between machines, or cannot be relied on.
enum NetworkFilesystem {
  /// The name of a network filesystem; nil for a local filesystem. The magic numbers are from linux/magic.h and the
  /// drivers' sources.
  static func name(of kind: UInt32) -> String? {
    switch kind {
    case 0x6969: "NFS"
    case 0x517B, 0xFF53_4D42, 0xFE53_4D42: "SMB"
    case 0x7375_7245: "Coda"
    case 0x564C: "NCP"
    case 0x5346_414F, 0x6B41_4653: "AFS"
    case 0x0102_1997: "9P"
    case 0x00C3_6400: "Ceph"
    case 0x0BD0_0BD0: "Lustre"
    case 0x4750_4653: "GPFS"
    case 0x1983_0326: "BeeGFS"
    case 0x786F_4256: "a VirtualBox shared folder"
    case 0x6573_5546: "FUSE, behind which may be a network"
    default: nil
    }
  }
}
