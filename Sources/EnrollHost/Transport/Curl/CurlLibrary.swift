// libcurl, opened on first use: linking it would cost every start of the host several milliseconds. Never closed
// again: its threads may still run.

package import CCurl
import CPosix
package import EnrollCore
import EnrollCrypto
import EnrollPosix

/// The functions of libcurl, all found, and libcurl initialised. Their table goes with its last user; libcurl itself stays.
package final class CurlLibrary: @unchecked Sendable {
  // Unchecked: written once, before it is handed out.
  package let functions: UnsafePointer<enroll_curl>

  private init(owning functions: UnsafeMutablePointer<enroll_curl>) {
    self.functions = UnsafePointer(functions)
  }

  deinit { functions.deallocate() }

  package static let fileNames = [ENROLL_POSIX_LIBCURL, ENROLL_POSIX_LIBCURL_ELSE]

  /// libcurl before 7.84 initialises itself for one thread at a time.
  private static let opening = Mutex()

  /// Reads the first that is there, and starts nothing of it.
  static func load(_ fileNames: [String]) {
    _ = fileNames.first { dlopen($0, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) != nil }
  }

  /// - Throws: `.unsupported` naming the Debian package when no libcurl is installed, or one without what we need
  ///   (7.66 or later); `.outOfMemory` when it cannot start.
  package static func open(_ fileNames: [String] = CurlLibrary.fileNames) throws(EnrollError) -> CurlLibrary {
    var library: CurlLibrary?
    var failure: EnrollError?
    opening.locked {
      OpenSSLThread.prepare()
      for name in fileNames where library == nil {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) else {
          // Whether it is missing or something is short, the loader says.
          let reason = dlerror().map { String(cString: $0) } ?? ""
          if failure == nil {
            failure = EnrollError(
              .unsupported,
              "\(name) could not be opened (\(reason)). \(ENROLL_POSIX_LIBCURL_ADVICE)")
          }
          continue
        }
        let functions = UnsafeMutablePointer<enroll_curl>.allocate(capacity: 1)
        functions.initialize(to: enroll_curl())
        if let missing = enroll_curl_bind(handle, functions) {
          failure = EnrollError(.unsupported, "\(name) is too old: it has no \(String(cString: missing))")
        } else if enroll_curl_global_init(functions) != CURLE_OK {
          failure = EnrollError(.outOfMemory, "\(name) could not be initialised")
        } else {
          library = CurlLibrary(owning: functions)
          // Whatever registered handlers of its own meanwhile runs them after ours.
          ExitBarrier.prepare()
          continue
        }
        functions.deallocate()
        dlclose(handle)
      }
    }
    guard let library else { throw failure ?? EnrollError(.unsupported, "there is no libcurl") }
    return library
  }
}
