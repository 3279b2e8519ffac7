// One detached thread that runs one closure, with every signal blocked: a host's handlers run on the host's threads.

import CPosix

enum PlainThread {
  /// 512 KiB: enough for libcurl, OpenSSL and JSON of the allowed depth, small enough for many.
  static let stackBytes = 512 << 10

  private final class Start {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// - Returns: false when the system gives no thread.
  static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return false }
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, stackBytes)

    // The new thread inherits the mask: block here, so that no signal slips in before it could block for itself.
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

    let start = Unmanaged.passRetained(Start(body))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, &attributes,
      { pointer in
        if let pointer { Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue().body() }
        return nil
      }, start.toOpaque())
    if status != 0 { start.release() }
    return status == 0
  }
}
