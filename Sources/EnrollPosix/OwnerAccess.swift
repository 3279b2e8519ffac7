// Files and folders are made for their owner alone, whatever the umask: one such as 0277 takes rights from the owner that the
// next call needs. A file system that keeps no modes is left as it is.

import CPosix

/// The owner's rights to what this process has just made.
public enum OwnerAccess {
  /// Mode 0600 for a file that lacks a part of it, and lets nobody else in.
  public static func complete(file descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, lacks(0o600, status) else { return }
    _ = fchmod(descriptor, 0o600)
  }

  /// Mode 0700 for a folder that lacks a part of it, and lets nobody else in. A symbolic link is not followed.
  /// - Parameter path: absolute.
  public static func complete(folder path: String) {
    var status = stat()
    guard fstatat(AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) == 0, lacks(0o700, status),
      Int32(truncatingIfNeeded: status.st_mode) & Int32(S_IFMT) == Int32(S_IFDIR)
    else { return }
    // A folder below one with the setgid bit has that bit, too.
    _ = chmod(path, status.st_mode & 0o7000 | 0o700)
  }

  /// Makes a folder and those above it, of mode 0700; those that are there stay as they are.
  /// - Parameter path: absolute.
  /// - Returns: the path of a folder that cannot be made, and errno; nil if all are there.
  public static func makeFolders(_ path: String) -> (path: String, number: Int32)? {
    guard access(path, F_OK) != 0, let slash = path.utf8.lastIndex(of: 0x2F) else { return nil }
    if let fault = makeFolders(String(path[..<slash])) { return fault }
    guard mkdir(path, 0o700) == 0 || enroll_posix_errno() == EEXIST else {
      return (path, enroll_posix_errno())
    }
    complete(folder: path)
    return nil
  }

  private static func lacks(_ mode: UInt32, _ status: stat) -> Bool {
    let mine = UInt32(status.st_mode) & 0o777
    return status.st_uid == geteuid() && mine & 0o077 == 0 && mine & mode != mode
  }
}
