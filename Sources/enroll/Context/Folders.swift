// The user's directories and small files, which only the user can access, as the XDG Base Directory Specification
// requires.

import CPosix
import EnrollHost
import EnrollPosix

enum Folders {
  /// The directory of a path: `.` for a relative path without a directory.
  static func parent(of path: String) -> String {
    var parts = path.split(separator: "/", omittingEmptySubsequences: true)
    _ = parts.popLast()
    let parent = parts.joined(separator: "/")
    guard !path.hasPrefix("/") else { return "/" + parent }
    return parent.isEmpty ? "." : parent
  }

  /// Whether there is a file at the path.
  /// - Parameter failure: makes the error if it is unclear whether the file exists.
  static func exists(_ path: String, _ failure: (Int32) -> Failure) throws(Failure) -> Bool {
    guard access(path, F_OK) != 0 else { return true }
    let number = enroll_posix_errno()
    guard SystemError.isMissingFile(number) else { throw failure(number) }
    return false
  }

  /// Checks the directory before a sign-in whose profile is saved there.
  /// - Throws: `.failed` if the directory cannot be written to, and cannot be created.
  static func requireWritable(_ path: String) throws(Failure) {
    var path = path
    while access(path, F_OK) != 0, enroll_posix_errno() == ENOENT, path != "/" { path = parent(of: path) }
    guard access(path, W_OK) == 0 else {
      throw Failure(
        .failed, "the directory \(path) cannot be written to: \(reason)",
        advice: "Make it writable, or name another place for the profile by --config.")
    }
  }

  /// Creates a directory and its parents with mode 0700. Existing directories do not change.
  static func make(_ path: String) throws(Failure) {
    guard let fault = OwnerPermissions.makeFolders(path) else { return }
    throw Failure(.failed, "the directory \(fault.path) cannot be made: \(SystemError.message(fault.number))")
  }

  /// Writes a file atomically: writes a draft in the same directory, and then renames it.
  static func write(_ text: String, to path: String) throws(Failure) {
    guard let (draft, fd) = openDraft(of: path) else {
      throw Failure(.failed, "\(path) cannot be written: \(reason)")
    }
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { CPosix.write(fd, $0.baseAddress, $0.count) }
      guard count > 0 || enroll_posix_errno() == EINTR else { break }
      bytes = bytes.dropFirst(max(0, count))
    }
    // The draft is renamed while it is open: another process could write into a draft without a lock.
    defer { close(fd) }
    guard bytes.isEmpty, fsync(fd) == 0, rename(draft, path) == 0 else {
      let why = reason
      unlink(draft)
      throw Failure(.failed, "\(path) cannot be written: \(why)")
    }
  }

  /// Opens an empty draft of a file, which has a lock as long as it is open. A process that is killed leaves its draft
  /// behind, without the lock, and the next process that writes the file uses this draft.
  /// - Returns: nil if no draft can be opened; `errno` says why.
  private static func openDraft(of path: String) -> (path: String, descriptor: Int32)? {
    for number in 1...mostDrafts {
      let draft = "\(path).enroll-draft\(number)"
      let flags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
      var fd = enroll_posix_open(draft, flags | O_CREAT | O_EXCL, 0o600)
      let isNew = fd >= 0
      if isNew {
        OwnerPermissions.restore(file: fd)
      } else if enroll_posix_errno() == EEXIST {
        fd = enroll_posix_open(draft, flags, 0)
      } else {
        return nil
      }
      guard fd >= 0 else { continue }
      // In a file system without locks, only a new draft is used.
      let isLocked =
        enroll_posix_lock_file(fd) == 0 || isNew && ![EACCES, EAGAIN].contains(enroll_posix_errno())
      // Another process may have renamed or removed the draft since it was opened, so the path is checked after the
      // lock was taken.
      if isLocked, isDraft(fd, at: draft, isNew: isNew), ftruncate(fd, 0) == 0 { return (draft, fd) }
      close(fd)
    }
    return nil
  }

  /// The largest number of processes that write the same file at the same time.
  private static let mostDrafts = 32

  /// Whether the open file is at the path. A file that was there before must be a private file of this user.
  private static func isDraft(_ descriptor: Int32, at path: String, isNew: Bool) -> Bool {
    var (open, named) = (stat(), stat())
    guard fstat(descriptor, &open) == 0, lstat(path, &named) == 0, open.st_dev == named.st_dev,
      open.st_ino == named.st_ino
    else { return false }
    let mode = Int32(truncatingIfNeeded: open.st_mode)
    return isNew
      || mode & Int32(S_IFMT) == Int32(S_IFREG) && mode & 0o077 == 0 && open.st_uid == geteuid()
        && open.st_nlink == 1
  }

  private static var reason: String { SystemError.message(enroll_posix_errno()) }
}
