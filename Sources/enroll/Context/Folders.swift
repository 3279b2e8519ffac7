// Directories and small files of the user's, made as the XDG Base Directory Specification asks: for the user alone.

import CPosix
import EnrollHost
import EnrollPosix

enum Folders {
  static func parent(of path: String) -> String {
    var parts = path.split(separator: "/", omittingEmptySubsequences: true)
    _ = parts.popLast()
    return "/" + parts.joined(separator: "/")
  }

  /// - Parameter failure: of an error that leaves open whether it is there.
  static func exists(_ path: String, _ failure: (Int32) -> Failure) throws(Failure) -> Bool {
    guard access(path, F_OK) != 0 else { return true }
    let number = enroll_posix_errno()
    guard Absence.isMeant(by: number) else { throw failure(number) }
    return false
  }

  /// Before a sign-in whose profile is saved there.
  /// - Throws: `.failed` if the directory can neither be written to nor made.
  static func requireWritable(_ path: String) throws(Failure) {
    var path = path
    while access(path, F_OK) != 0, enroll_posix_errno() == ENOENT, path != "/" { path = parent(of: path) }
    guard access(path, W_OK) == 0 else {
      throw Failure(
        .failed, "the directory \(path) cannot be written to: \(reason)",
        advice: "Make it writable, or name another place for the profile by --config.")
    }
  }

  /// Makes a directory and those above it, of mode 0700; those that are there stay as they are.
  static func make(_ path: String) throws(Failure) {
    guard let fault = OwnerAccess.makeFolders(path) else { return }
    throw Failure(.failed, "the directory \(fault.path) cannot be made: \(SystemError.words(fault.number))")
  }

  /// Writes a file that is whole or not there: a new one beside it takes its name.
  static func write(_ text: String, to path: String) throws(Failure) {
    let draft = "\(path).\(getpid())"
    let fd = enroll_posix_open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard fd >= 0 else { throw Failure(.failed, "\(path) cannot be written: \(reason)") }
    OwnerAccess.complete(file: fd)
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

  private static var reason: String { SystemError.words(enroll_posix_errno()) }
}
