// libcrypto, opened at first use: linking it would cost every start of the host more than a millisecond and some
// megabytes, and many processes never need it. libcrypto is never closed. Wiping and comparing secrets works without
// libcrypto.

import COpenSSL

/// The functions of libcrypto.
enum OpenSSL {
  static let fileName = ENROLL_POSIX_LIBCRYPTO

  // Unsafe: the table is written once, with every function, before any caller gets the table, and the table is never
  // freed.
  private nonisolated(unsafe) static let library = open(fileName)

  /// - Throws: `.missing`.
  static func functions() throws(CryptoError) -> UnsafePointer<enroll_openssl> { try library.get() }

  /// The functions of libcrypto; nil if ``functions()`` throws. This is for objects that exist only if libcrypto was
  /// opened.
  static var opened: UnsafePointer<enroll_openssl>? { try? library.get() }

  static func open(_ fileName: String) -> Result<UnsafePointer<enroll_openssl>, CryptoError> {
    guard let handle = enroll_openssl_open(fileName) else {
      // The error text of the loader says whether the file is missing or something else failed.
      let reason = enroll_openssl_open_error().map { String(cString: $0) } ?? ""
      return .failure(
        CryptoError(
          .missing, "\(fileName) could not be opened (\(reason)). \(ENROLL_POSIX_LIBCRYPTO_ADVICE)")
      )
    }
    let functions = UnsafeMutablePointer<enroll_openssl>.allocate(capacity: 1)
    if let missing = enroll_openssl_bind(handle, functions) {
      functions.deallocate()
      return .failure(
        CryptoError(.missing, "\(fileName) is not OpenSSL 3: it has no \(String(cString: missing))"))
    }
    enroll_openssl_keep_at_exit(functions)
    _ = enroll_atomic_fill(openedCell, functions)
    return .success(UnsafePointer(functions))
  }

  // Unsafe: the cell is only read and filled, both atomically.
  private nonisolated(unsafe) static let openedCell: UnsafeMutablePointer<UnsafeMutableRawPointer?> = {
    let cell = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: 1)
    cell.initialize(to: nil)
    return cell
  }()

  /// The functions of libcrypto; nil if libcrypto is not open yet. This property does not open libcrypto.
  fileprivate static var alreadyOpened: UnsafePointer<enroll_openssl>? {
    enroll_atomic_read(openedCell).map { UnsafePointer($0.assumingMemoryBound(to: enroll_openssl.self)) }
  }
}

/// The data that OpenSSL keeps for each of EnrollKit's threads.
public enum OpenSSLThread {
  /// Opens OpenSSL. Call this before another library opens OpenSSL, so that OpenSSL frees nothing at exit.
  public static func prepare() { _ = OpenSSL.opened }

  /// Frees OpenSSL's data of the current thread, which must not use OpenSSL afterwards.
  public static func end() { OpenSSL.alreadyOpened?.pointee.OPENSSL_thread_stop() }
}
