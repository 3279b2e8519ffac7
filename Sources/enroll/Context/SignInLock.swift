// The lock of a sign-in, which only one process has at a time. The system releases the lock when that process ends. A
// process can find out which process has the lock without taking it, so the check delays no sign-in.

import CPosix
import EnrollPosix

struct SignInLock {
  private let descriptor: Int32

  /// - Parameter descriptor: an open file, which ``end()`` closes.
  private init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// The result of an attempt to take a lock.
  enum Attempt {
    case taken(SignInLock)
    /// Another process has the lock. Its number is nil if it runs in another container.
    case held(by: Int32?)
    /// The lock file cannot be made or locked.
    case impossible
  }

  static func take(_ path: String) -> Attempt {
    let descriptor = enroll_posix_open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return .impossible }
    OwnerPermissions.restore(file: descriptor)
    guard enroll_posix_lock_file(descriptor) != 0 else { return .taken(SignInLock(descriptor)) }
    let number = enroll_posix_errno()
    let holder = enroll_posix_lock_holder(descriptor)
    close(descriptor)
    guard number == EACCES || number == EAGAIN || number == EINTR else { return .impossible }
    return .held(by: holder > 0 ? holder : nil)
  }

  /// The id of the process that has the lock; nil if no process has it, -1 for a process of another container. The
  /// process with the lock must not call this, because it would lose the lock.
  static func holder(_ path: String) -> Int32? {
    let descriptor = enroll_posix_open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let holder = enroll_posix_lock_holder(descriptor)
    return holder == 0 ? nil : holder
  }

  /// The note that the last process with the lock wrote.
  var note: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
    return count > 0 ? Array(bytes[..<count]) : []
  }

  /// Writes the note for the next process. A note that cannot be written is left out.
  func write(_ note: [UInt8]) {
    guard ftruncate(descriptor, 0) == 0, !note.isEmpty else { return }
    _ = note.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
  }

  func end() { close(descriptor) }
}
