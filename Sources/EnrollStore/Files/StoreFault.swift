// The error for a failed system call of the store.

import CPosix
import EnrollCore

enum StoreFault {
  /// Repeats after an interruption, but not for ever.
  static func patiently<Value>(_ body: () throws(FileFault) -> Value) throws(FileFault) -> Value {
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

  /// nil where the file does not exist.
  static func absent<Value>(_ body: () throws(FileFault) -> Value) throws(FileFault) -> Value? {
    do {
      return try body()
    } catch {
      if error.number == ENOENT { return nil }
      throw error
    }
  }

  /// - Parameter what: a file's name inside the store, or the store's folder.
  static func error(_ fault: FileFault, _ what: String) -> EnrollError {
    if fault.operation == .readBack, fault.number == EIO {
      return EnrollError(
        .storeIO,
        "\(what) did not read back as it was written, twice: the disk is failing, or another part of the program"
          + " writes to descriptors that are not its own",
        field: "store")
    }
    let text = "\(what): \(fault.operation.rawValue) failed, errno \(fault.number)"
    switch fault.number {
    case ENOSPC, EDQUOT: return EnrollError(.storeFull, text + " (no space left)", field: "store")
    case EACCES, EPERM: return EnrollError(.storeRefused, text + " (no permission)", field: "store")
    case EROFS: return EnrollError(.storeRefused, text + " (read-only filesystem)", field: "store")
    case ELOOP: return EnrollError(.storeRefused, text + " (a symbolic link)", field: "store")
    case EISDIR, ENXIO: return EnrollError(.storeRefused, text + " (not a plain file)", field: "store")
    case ENOLCK, EOPNOTSUPP:
      return EnrollError(.storeRefused, text + " (the filesystem lacks what the store needs)", field: "store")
    default: return EnrollError(.storeIO, text, field: "store")
    }
  }
}

/// Filesystems whose locks and renames do not hold between machines, or of which that cannot be known.
enum NetworkFilesystem {
  /// nil for a local one. Numbers as in linux/magic.h and the drivers' sources.
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
