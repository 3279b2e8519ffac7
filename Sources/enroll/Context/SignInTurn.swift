// Allows one sign-in at a time for each resource: its redirect URI has a fixed port, and a second browser tab for one
// session is useless.

import CPosix
import EnrollPosix

/// The lock that lets this process sign in. The system releases it when the process ends.
struct SignInTurn {
  private let descriptor: Int32
  /// Whether another process had the turn before.
  let wasWaitedFor: Bool

  /// Waits until the sign-in of another process ends.
  /// - Returns: nil if no lock file can be created: then other processes are not excluded.
  /// - Throws: `.interrupted` by Ctrl-C.
  static func acquire(_ session: CommandSession) throws(Failure) -> SignInTurn? {
    guard let folder = try? UserDirectories.state(), (try? Folders.make(folder)) != nil else { return nil }
    let path = "\(folder)/sign-in-\(session.place.configurationName.replacingSlashes).lock"
    let descriptor = enroll_posix_open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return nil }
    var isTold = false
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let number = enroll_posix_errno()
      guard number == EWOULDBLOCK || number == EINTR else {
        close(descriptor)
        return nil
      }
      if !isTold {
        isTold = true
        Terminal.errors.say("Another sign-in at this resource is in progress; waiting for it to end.")
      }
      do throws(Failure) { try session.pause(milliseconds: 200) } catch {
        close(descriptor)
        throw Failure(.interrupted, "stopped; nothing has changed")
      }
    }
    return SignInTurn(descriptor: descriptor, wasWaitedFor: isTold)
  }

  func end() { close(descriptor) }
}

extension String {
  /// A file name made from a path or a name.
  fileprivate var replacingSlashes: String {
    String(suffix(120).map { $0 == "/" ? "-" : $0 })
  }
}
