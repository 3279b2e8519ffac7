// The file of certificates that a configuration names. libcurl opens the file itself. If the file were a FIFO, libcurl
// would wait for its writer without limit, so the file is checked first.

import CPosix
public import EnrollRules

public enum CertificateFile {
  /// The maximum size of the file, in bytes: more than any system's bundle of authorities has.
  private static let limit = 16 << 20

  /// Checks that libcurl can open the file without waiting.
  /// - Throws: `.configuration` with field `caFile` unless the path is a regular file of at most 16 MiB that can be
  ///   opened.
  public static func check(_ path: String) throws(EnrollError) {
    try checked(path) { (_) throws(EnrollError) in true }
  }

  /// Like ``check(_:)``, but also looks for a certificate in the file. This is for a program that saves the path.
  /// - Throws: `.configuration` with field `caFile` also for a file without a certificate in PEM.
  public static func checkContents(_ path: String) throws(EnrollError) {
    try checked(path) { (fd) throws(EnrollError) in try hasCertificate(fd) }
  }

  private static func checked(
    _ path: String, _ isUsable: (Int32) throws(EnrollError) -> Bool
  ) throws(EnrollError) {
    let fd = enroll_posix_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0)
    guard fd >= 0 else {
      let number = enroll_posix_errno()
      // The process has no free descriptor. That says nothing about the file, so the file is accepted.
      if number == EMFILE || number == ENFILE { return }
      throw refusal(SystemError.message(number))
    }
    defer { close(fd) }
    var status = stat()
    guard fstat(fd, &status) == 0, Int32(truncatingIfNeeded: status.st_mode) & Int32(S_IFMT) == Int32(S_IFREG)
    else { throw refusal("it is no regular file") }
    guard status.st_size <= limit else { throw refusal("it is longer than \(limit) bytes") }
    guard try isUsable(fd) else { throw refusal("it has no line -----BEGIN CERTIFICATE-----") }
  }

  /// The labels of certificates that OpenSSL reads.
  private static let labels: [StaticString] = [
    "-----BEGIN CERTIFICATE-----", "-----BEGIN X509 CERTIFICATE-----", "-----BEGIN TRUSTED CERTIFICATE-----",
  ]
  private static let longestLabel = 35

  /// Whether the file has the label of a certificate.
  /// - Throws: `.configuration` if the file cannot be read.
  private static func hasCertificate(_ fd: Int32) throws(EnrollError) -> Bool {
    var piece = [UInt8](repeating: 0, count: 65_536)
    var text: [UInt8] = []
    while true {
      let count = piece.withUnsafeMutableBytes { read(fd, $0.baseAddress, $0.count) }
      guard count >= 0 else { throw refusal(SystemError.message(enroll_posix_errno())) }
      guard count > 0 else { return false }
      // A label may begin in one piece and end in the next.
      text = Array(text.suffix(longestLabel)) + piece.prefix(count)
      for label in labels where ASCII.contains(text, label) { return true }
    }
  }

  private static func refusal(_ why: String) -> EnrollError {
    EnrollError(
      .configuration,
      "the file that caFile, or else SSL_CERT_FILE, names could not be read as PEM certificates: \(why)",
      field: "caFile")
  }
}
