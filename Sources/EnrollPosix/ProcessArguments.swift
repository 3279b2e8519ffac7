// The arguments of this process, read from the end of the first thread's stack, where the kernel puts them. Embedded
// Swift has no CommandLine; in a debug build (without Embedded Swift), CommandLine reads /proc, which some containers
// and chroots do not have.

import CPosix

public enum ProcessArguments {
  /// The program's name and its arguments, each ending with NUL. The memory stays valid until the process ends.
  /// - Returns: nil if the C library does not provide the arguments.
  public static func pointers() -> [UnsafeMutablePointer<CChar>]? {
    var count = 0
    guard let first = enroll_posix_command_words(&count) else { return nil }
    return UnsafeBufferPointer(start: first, count: max(0, count)).compactMap { $0 }
  }

  /// The index of the first argument that is not UTF-8; nil if all arguments are UTF-8. Converted to text, such an
  /// argument would change, and it might name a different file.
  public static func firstInvalidUTF8() -> Int? {
    (pointers() ?? []).enumerated().first { $0.offset > 0 && String(validatingCString: $0.element) == nil }?
      .offset
  }

  /// The arguments, without the program's name; nil if ``pointers()`` is nil.
  public static func arguments() -> [String]? { pointers()?.dropFirst().map { String(cString: $0) } }
}
