// Writes complete texts to standard output and standard error. If output cannot be written, the command fails: an
// incomplete copy of an account must not look complete.

import CPosix
import EnrollRules
import EnrollPosix
import Synchronization

enum StandardStream {
  /// The errno of the first failed write to standard output; 0 if no write has failed.
  private static let failure = Atomic<Int32>(0)

  static func write(_ bytes: [UInt8], to descriptor: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { CPosix.write(descriptor, $0.baseAddress, $0.count) }
      let number = count < 0 ? enroll_posix_errno() : EIO
      if count < 0, number == EINTR { continue }
      guard count > 0 else {
        if descriptor == STDOUT_FILENO {
          _ = failure.compareExchange(expected: 0, desired: number, ordering: .relaxed)
        }
        return
      }
      rest = rest.dropFirst(count)
    }
  }

  static func printLine(_ text: String, to descriptor: Int32 = STDOUT_FILENO) {
    write(Array((text + "\n").utf8), to: descriptor)
  }

  /// Checks that all output was written.
  /// - Throws: `.storeIO` if a write to standard output failed.
  static func checkOutput() throws(EnrollError) {
    let number = failure.load(ordering: .relaxed)
    guard number == 0 else {
      throw EnrollError(
        .storeIO,
        "standard output cannot be written: \(SystemError.message(number)). The command itself was carried out."
      )
    }
  }
}
