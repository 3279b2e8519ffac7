// The program that reads every command line: it stands in `libexec/enrollkit` beside the directory of this one.

import CPosix
import EnrollPosix

enum FullProgram {
  /// Goes on as the full program, with the same words, environment and descriptors.
  /// - Returns: the exit status, if it cannot be started.
  static func execute() -> Int32 {
    let path = Folders.parent(of: Folders.parent(of: own ?? "/usr/bin/enroll")) + "/libexec/enrollkit/enroll"
    enroll_posix_execute(path)
    Terminal.errors.say(
      "enroll: \(path) cannot be started: \(SystemError.words(enroll_posix_errno())). Install EnrollKit again."
    )
    return CommandStatus.failed.rawValue
  }

  /// Where this program is, links resolved; nil where the system does not tell.
  private static var own: String? {
    guard let path = realpath("/proc/self/exe", nil) else { return nil }
    defer { free(path) }
    return String(validatingCString: path)
  }
}
