// Texts of C that end with a NUL.

import CPosix

public enum NulTerminated {
  /// Bytes before the NUL.
  /// - Parameter limit: no more than one byte after it is looked at.
  /// - Returns: more than `limit` where no NUL stands among them.
  public static func count(of text: UnsafePointer<CChar>, limit: Int) -> Int { strnlen(text, limit + 1) }
}
