// Random bytes from the system's generator (getrandom(2) on Linux). The generator needs no descriptor, and no new seed
// after a fork. It reports an error if it has no random bytes.

import CPosix
public import EnrollRules
public import EnrollSteps

/// The system's generator.
public final class SystemRandomSource: RandomSource {
  public init() {}

  public func bytes(_ count: Int) throws(EnrollError) -> [UInt8] {
    guard count >= 0, count <= 1 << 20 else {
      throw EnrollError(.invalidArgument, "expected 0 to 1048576 random bytes at a time, got \(count)")
    }
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let got = bytes.withUnsafeMutableBytes { buffer in
        enroll_posix_random(buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
      }
      if got > 0 {
        filled += got
      } else if got == 0 || enroll_posix_errno() != EINTR {
        throw EnrollError(
          .internal, "the system gave no random bytes: \(SystemError.message(enroll_posix_errno()))")
      }
    }
    return bytes
  }
}
