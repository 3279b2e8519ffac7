// Standard output and standard error, whole. Output that cannot be written is a failure of the command: a copy of an account that was cut
// must not look complete.

import CPosix
import EnrollCore
import EnrollPosix
import Synchronization

enum StandardStream {
  /// The error number of the first write to standard output that failed; 0 for none.
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

  static func say(_ text: String, to descriptor: Int32 = STDOUT_FILENO) {
    write(Array((text + "\n").utf8), to: descriptor)
  }

  /// - Throws: `.storeIO` if something for standard output was not written.
  static func checkOutput() throws(EnrollError) {
    let number = failure.load(ordering: .relaxed)
    guard number == 0 else {
      throw EnrollError(
        .storeIO,
        "standard output cannot be written: \(SystemError.words(number)). The command itself was carried out."
      )
    }
  }
}
