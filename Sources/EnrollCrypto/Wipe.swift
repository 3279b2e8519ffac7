// Overwriting memory in a way that compilers do not remove.

import COpenSSL

public enum Wipe {
  /// Zeroes every byte.
  public static func bytes(_ memory: UnsafeMutableRawBufferPointer) {
    enroll_wipe_memory(memory.baseAddress, memory.count)
  }
}
