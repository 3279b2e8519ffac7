// libsecret, opened at first use and not linked: a program that does not choose the Secret Service loads neither
// libsecret nor GLib's threads. The library is never closed.

import CPosix
import CSecret
import EnrollRules
import EnrollPosix

/// The functions of libsecret and GLib.
enum SecretServiceLibrary {
  static let fileName = ENROLL_POSIX_LIBSECRET

  private struct Opened: @unchecked Sendable {
    // Unchecked: the table of functions is written once, before it is handed out, and is never freed.
    var functions: UnsafePointer<enroll_secret>
    /// Detects a forked child, which does not have GLib's threads: a call on the parent's connections would hang
    /// there.
    var origin = ForkGuard()
  }

  private static let library = open(fileName)

  /// - Throws: `.unsupported` if the library is not installed or too old; `.forked` in a forked child of the process
  ///   that opened the library.
  static func functions() throws(EnrollError) -> UnsafePointer<enroll_secret> {
    let opened = try library.get()
    try opened.origin.check()
    return opened.functions
  }

  private static func open(_ fileName: String) -> Result<Opened, EnrollError> {
    guard let handle = enroll_secret_open(fileName) else {
      return .failure(
        EnrollError(
          .unsupported,
          "libsecret is not installed: \(fileName) could not be opened (\(ENROLL_POSIX_LIBSECRET_ADVICE))",
          field: "keys"))
    }
    let functions = UnsafeMutablePointer<enroll_secret>.allocate(capacity: 1)
    if let missing = enroll_secret_bind(handle, functions) {
      functions.deallocate()
      return .failure(
        EnrollError(
          .unsupported, "\(fileName) is too old: it has no \(String(cString: missing))", field: "keys"))
    }
    return .success(Opened(functions: UnsafePointer(functions)))
  }
}
