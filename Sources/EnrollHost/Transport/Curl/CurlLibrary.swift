// libcurl, opened at first use: linking it would delay every start of the host by several milliseconds. It is never
// closed, because its threads may still run.

package import CCurl
import CPosix
package import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollPosix

/// The table of libcurl's functions. It is created only after all functions were found and libcurl was initialised. The
/// table is freed when its last user is freed; libcurl itself stays loaded.
package final class CurlLibrary: @unchecked Sendable {
  // Unchecked: the table is written once, before it is handed out.
  package let functions: UnsafePointer<enroll_curl>

  private init(owning functions: UnsafeMutablePointer<enroll_curl>) {
    self.functions = UnsafePointer(functions)
  }

  deinit { functions.deallocate() }

  package static let fileNames = [ENROLL_POSIX_LIBCURL, ENROLL_POSIX_LIBCURL_ELSE]

  /// Held while libcurl is initialised, because before 7.84 two threads must not initialise it at the same time.
  private static let opening = Mutex()

  /// Loads the first library that exists, without initialising it.
  static func load(_ fileNames: [String]) {
    _ = fileNames.first { dlopen($0, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) != nil }
  }

  /// Whether the loader's text says that it found the library, but had too little memory to load it.
  private static func isAboutMemory(_ reason: String) -> Bool {
    ASCII.contains(reason, "failed to map segment") || ASCII.contains(reason, "annot allocate memory")
  }

  /// Opens and initialises libcurl.
  /// - Throws: `.unsupported` with the name of the Debian package if no libcurl is installed, or only one that is too
  ///   old (7.66 or later is needed); `.outOfMemory` if it cannot be loaded or initialised for lack of memory.
  package static func open(_ fileNames: [String] = CurlLibrary.fileNames) throws(EnrollError) -> CurlLibrary {
    var library: CurlLibrary?
    var failure: EnrollError?
    opening.locked {
      OpenSSLThread.prepare()
      for name in fileNames where library == nil {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) else {
          // The loader's text says whether the file is missing or something else failed.
          let reason = dlerror().map { String(cString: $0) } ?? ""
          if failure == nil {
            failure =
              isAboutMemory(reason)
              ? EnrollError(
                .outOfMemory, "there is too little memory to load \(name) (\(reason)); see ulimit -v")
              : EnrollError(
                .unsupported,
                "\(name) could not be opened (\(reason)). \(ENROLL_POSIX_LIBCURL_ADVICE)",
                field: EnrollError.transportField)
          }
          continue
        }
        let functions = UnsafeMutablePointer<enroll_curl>.allocate(capacity: 1)
        functions.initialize(to: enroll_curl())
        if let missing = enroll_curl_bind(handle, functions) {
          failure = EnrollError(
            .unsupported, "\(name) is too old: it has no \(String(cString: missing))",
            field: EnrollError.transportField)
        } else if enroll_curl_global_init(functions) != CURLE_OK {
          failure = EnrollError(.outOfMemory, "\(name) could not be initialised")
        } else {
          library = CurlLibrary(owning: functions)
          // Registers EnrollKit's exit handler again, so that it runs before the exit handlers that other code, such as
          // libcurl, has registered in the meantime.
          ExitBarrier.prepare()
          continue
        }
        functions.deallocate()
        dlclose(handle)
      }
    }
    guard let library else {
      throw failure
        ?? EnrollError(.unsupported, "there is no libcurl", field: EnrollError.transportField)
    }
    return library
  }
}
