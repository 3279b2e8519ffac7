// libpq, opened at run time on first use: a gateway with SQLite does not need it. libpq is never closed.

import CPostgreSQL
import EnrollCrypto
import EnrollGateway

/// The functions of libpq.
enum PostgreSQLLibrary {
  typealias Functions = UnsafePointer<enroll_postgresql>

  static let fileNames = [ENROLL_POSTGRESQL_LIBPQ]

  private struct Opened: @unchecked Sendable {
    // Unchecked: the functions are written once, before any thread gets them, and are never freed.
    var functions: Functions
  }

  private static let library = open(fileNames)

  /// The functions of libpq, which is opened at the first call.
  /// - Throws: `.fault` if libpq is not installed or too old.
  static func functions() throws(StoreFailure) -> Functions { try library.get().functions }

  private static func open(_ fileNames: [String]) -> Result<Opened, StoreFailure> {
    // libpq loads OpenSSL. This call comes first, so that OpenSSL frees nothing at exit.
    OpenSSLThread.prepare()
    for name in fileNames {
      guard let handle = enroll_postgresql_open(name) else { continue }
      let functions = UnsafeMutablePointer<enroll_postgresql>.allocate(capacity: 1)
      if let missing = enroll_postgresql_bind(handle, functions) {
        functions.deallocate()
        return .failure(tooOld("\(name) has no \(String(cString: missing))"))
      }
      // Version 12 introduced tcp_user_timeout.
      guard functions.pointee.PQlibVersion() >= 12_00_00 else {
        functions.deallocate()
        return .failure(tooOld("\(name) is older than version 12"))
      }
      return .success(Opened(functions: Functions(functions)))
    }
    return .failure(
      .fault(
        "libpq could not be opened (\(fileNames.joined(separator: ", "))). A PostgreSQL database needs version 12 or "
          + "later. Install it (Debian package libpq5)."))
  }

  private static func tooOld(_ what: String) -> StoreFailure {
    .fault("\(what). The store expects libpq 12 or later. Install a newer one (Debian package libpq5).")
  }
}
