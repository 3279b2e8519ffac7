// Overwriting memory in a way that compilers do not remove.

import COpenSSL

public enum Wipe {
  /// Zeroes every byte.
  public static func bytes(_ memory: UnsafeMutableRawBufferPointer) {
    OPENSSL_cleanse(memory.baseAddress, memory.count)
  }
}
