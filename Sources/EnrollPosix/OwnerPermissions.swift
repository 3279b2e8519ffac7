// Files and folders get the permissions of their owner whatever the umask is: a umask such as 0277 removes permissions
// that the owner's next call needs. On a filesystem without modes nothing changes.

import CPosix

/// The owner's permissions for a file or folder that this process has just made.
public enum OwnerPermissions {
  /// Sets mode 0600 on a file of this user, if the owner lacks some of these permissions and nobody else has any.
  public static func restore(file descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, lacks(0o600, status) else { return }
    _ = fchmod(descriptor, 0o600)
  }

  /// Sets mode 0700 on a folder of this user, if the owner lacks some of these permissions and nobody else has any. A
  /// symbolic link is not followed.
  /// - Parameter path: absolute.
  public static func restore(folder path: String) {
    var status = stat()
    guard fstatat(AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) == 0, lacks(0o700, status),
      Int32(truncatingIfNeeded: status.st_mode) & Int32(S_IFMT) == Int32(S_IFDIR)
    else { return }
    // Keeps the setgid bit, which a folder inherits from its parent.
    _ = chmod(path, status.st_mode & 0o7000 | 0o700)
  }

  /// Makes a folder and its missing parents, with mode 0700. Existing folders are not changed.
  /// - Parameter path: absolute.
  /// - Returns: the path of the folder that could not be made, and errno; nil if all folders exist now.
  public static func makeFolders(_ path: String) -> (path: String, number: Int32)? {
    guard access(path, F_OK) != 0, !path.isEmpty else { return nil }
    if let slash = path.utf8.lastIndex(of: 0x2F), let fault = makeFolders(String(path[..<slash])) {
      return fault
    }
    guard mkdir(path, 0o700) == 0 || enroll_posix_errno() == EEXIST else {
      return (path, enroll_posix_errno())
    }
    restore(folder: path)
    return nil
  }

  private static func lacks(_ mode: UInt32, _ status: stat) -> Bool {
    let mine = UInt32(status.st_mode) & 0o777
    return status.st_uid == geteuid() && mine & 0o077 == 0 && mine & mode != mode
  }
}
