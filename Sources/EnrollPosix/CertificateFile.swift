// The file of certificates that a configuration names. libcurl opens the file itself, and would wait without limit for
// the writer of a FIFO, so the file is checked first.

import CPosix
public import EnrollRules

public enum CertificateFile {
  /// More than any system's bundle of authorities has.
  private static let limit = 16 << 20

  /// - Throws: `.configuration` with field `caFile` unless the path is a regular file of at most 16 MiB that can be
  ///   opened.
  public static func check(_ path: String) throws(EnrollError) {
    let fd = enroll_posix_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0)
    guard fd >= 0 else {
      let number = enroll_posix_errno()
      // The process has no free descriptor. That says nothing about the file.
      if number == EMFILE || number == ENFILE { return }
      throw refusal(SystemError.message(number))
    }
    defer { close(fd) }
    var status = stat()
    guard fstat(fd, &status) == 0, Int32(truncatingIfNeeded: status.st_mode) & Int32(S_IFMT) == Int32(S_IFREG)
    else { throw refusal("it is no regular file") }
    guard status.st_size <= limit else { throw refusal("it is longer than \(limit) bytes") }
  }

  private static func refusal(_ why: String) -> EnrollError {
    EnrollError(
      .configuration,
      "the file that caFile, or else SSL_CERT_FILE, names could not be read as PEM certificates: \(why)",
      field: "caFile")
  }
}
