// The words of the command line, from where the kernel puts them: the end of the first thread's stack. Embedded Swift has
// no CommandLine, and that of the debug build reads /proc, which is not there in every container and chroot.

import CPosix

public enum CommandWords {
  /// The program's name and its arguments, each ending in NUL. They stay until the process ends.
  /// - Returns: nil where the C library does not tell them.
  public static func pointers() -> [UnsafeMutablePointer<CChar>]? {
    var count = 0
    guard let first = enroll_posix_command_words(&count) else { return nil }
    return UnsafeBufferPointer(start: first, count: max(0, count)).compactMap { $0 }
  }

  /// The number of the first argument that is not UTF-8: as text it would be another one, and name another file.
  public static func firstThatIsNotText() -> Int? {
    (pointers() ?? []).enumerated().first { $0.offset > 0 && String(validatingCString: $0.element) == nil }?
      .offset
  }

  /// The arguments, without the program's name; nil as for ``pointers()``.
  public static func arguments() -> [String]? { pointers()?.dropFirst().map { String(cString: $0) } }
}
