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

  /// Writes a file atomically: writes a new file in the same directory, and then renames it.
  static func write(_ text: String, to path: String) throws(Failure) {
    let draft = "\(path).\(getpid())"
    let fd = enroll_posix_open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard fd >= 0 else { throw Failure(.failed, "\(path) cannot be written: \(reason)") }
    OwnerPermissions.restore(file: fd)
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { CPosix.write(fd, $0.baseAddress, $0.count) }
      guard count > 0 || enroll_posix_errno() == EINTR else { break }
      bytes = bytes.dropFirst(max(0, count))
    }
    let isWritten = bytes.isEmpty && fsync(fd) == 0
    let why = reason
    close(fd)
    guard isWritten, rename(draft, path) == 0 else {
      let why = isWritten ? reason : why
      unlink(draft)
      throw Failure(.failed, "\(path) cannot be written: \(why)")
    }
  }

  private static var reason: String { SystemError.message(enroll_posix_errno()) }
}
