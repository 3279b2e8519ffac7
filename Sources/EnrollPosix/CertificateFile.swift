// The file of certificates that a configuration names. libcurl opens it itself, and would wait without end for the writer of a
// FIFO; so the file is looked at before.

import CPosix
public import EnrollCore

public enum CertificateFile {
  /// More than any system's bundle of authorities.
  private static let limit = 16 << 20

  /// - Throws: `.configuration` with field `caFile` for anything but a regular file of at most 16 MiB that can be opened.
  public static func check(_ path: String) throws(EnrollError) {
    let fd = enroll_posix_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0)
    guard fd >= 0 else {
      let number = enroll_posix_errno()
      // Says nothing about the file.
      if number == EMFILE || number == ENFILE { return }
      throw refusal(SystemError.words(number))
    }
    defer { close(fd) }
    var status = stat()
    guard fstat(fd, &status) == 0, Int32(truncatingIfNeeded: status.st_mode) & Int32(S_IFMT) == Int32(S_IFREG)
    else { throw refusal("it is no regular file") }
    guard status.st_size <= limit else { throw refusal("it is longer than \(limit) bytes") }
  }

  private static func refusal(_ why: String) -> EnrollError {
    EnrollError(
      .configuration, "the file could not be read as PEM certificates: \(why)", field: "caFile")
  }
}
