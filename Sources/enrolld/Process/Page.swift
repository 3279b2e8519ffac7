// The pages that the daemon prints instead of serving: its help, its version, its manifest.

import CPosix
import EnrollCore
import EnrollPosix

enum Page {
  /// - Returns: the exit status: 1 when standard output did not take all of it.
  static func print(_ text: String) -> Int32 {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if count < 0, enroll_posix_errno() == EINTR { continue }
      guard count > 0 else {
        Log(.error).error("standard output cannot be written: \(SystemError.words(enroll_posix_errno()))")
        return 1
      }
      bytes = bytes.dropFirst(count)
    }
    return 0
  }
}
