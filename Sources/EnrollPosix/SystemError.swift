// Errors of the system in words that people know.

import CPosix

public enum SystemError {
  /// As strerror(3) says it: `No space left on device`.
  /// - Parameter number: an errno.
  public static func words(_ number: Int32) -> String {
    strerror(number).map { String(cString: $0) } ?? "error \(number) of the system"
  }
}

/// Tells a missing file from one that cannot be accessed: only a missing file is made, or counts as nothing.
public enum Absence {
  /// Whether an error number of a path says that nothing is there.
  public static func isMeant(by number: Int32) -> Bool { number == ENOENT || number == ENOTDIR }
}
