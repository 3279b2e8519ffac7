// Texts for the system's error numbers.

import CPosix

public enum SystemError {
  /// The text of strerror(3): `No space left on device`.
  /// - Parameter number: an errno.
  public static func message(_ number: Int32) -> String {
    strerror(number).map { String(cString: $0) } ?? "error \(number) of the system"
  }

  /// Whether the error number for a path means that the file is missing. Only a missing file may be created or ignored;
  /// other errors mean that a file cannot be accessed.
  public static func isMissingFile(_ number: Int32) -> Bool { number == ENOENT || number == ENOTDIR }
}
