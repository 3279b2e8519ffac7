// The lock for changes to profiles and to other programs' configurations. A command reads a file, and then replaces the
// file. Without the lock, if two commands do this at the same time, the change of one command is lost.

import EnrollJSON
import EnrollPosix
import EnrollRules

enum ProfileLock {
  private static let seconds: Int64 = 30

  /// Waits until this process has the lock. The caller releases the lock.
  /// - Returns: nil if the lock file cannot be made: the command then works without a lock.
  /// - Throws: `.failed` if another process keeps the lock; `.interrupted` by Ctrl-C.
  static func taken(_ session: CommandSession) throws(Failure) -> SignInLock? {
    guard let folder = try? UserDirectories.state(), (try? Folders.make(folder)) != nil else { return nil }
    let end = session.instant.advanced(bySeconds: seconds)
    while true {
      switch SignInLock.take("\(folder)/profiles.lock") {
      case .taken(let lock): return lock
      case .impossible: return nil
      case .held(let process):
        guard session.instant < end else {
          let name = process.map { "process \($0)" } ?? "another process"
          throw Failure(
            .failed, "\(name) has changed profiles for \(seconds) seconds, and this command has not",
            advice: "Wait until that process has ended, and run the command again.")
        }
      }
      try session.pause(milliseconds: 20)
    }
  }
}

extension ConfigurationDocument {
  /// The document with the `credentialHosts` of the file, which another command may have changed since the document was
  /// read.
  func withHosts(of path: String) -> ConfigurationDocument {
    guard let file = try? UserDirectories.readConfiguration(at: path, called: path).object else {
      return self
    }
    var document = self
    document.credentialHosts = file[UserDirectories.credentialHosts]
    return document
  }
}
