// C strings that end with a NUL.

import CPosix

public enum NulTerminated {
  /// The number of bytes before the NUL.
  /// - Parameter limit: at most `limit` + 1 bytes are read.
  /// - Returns: more than `limit` if there is no NUL within that many bytes.
  public static func count(of text: UnsafePointer<CChar>, limit: Int) -> Int { strnlen(text, limit + 1) }
}
