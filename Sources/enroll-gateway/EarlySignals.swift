// `serve` reads its signals like input, so they have to wait from the first moment on: by default SIGHUP ends a program. What stands
// here runs before the libraries of the program are initialized, and long before `main`. Only the time in which the system's loader
// maps the program is left; whoever starts the program with SIGHUP blocked or ignored has closed that, too.

#if Gateway
  import CPosix

  /// Blocks the signals of ``ServiceSignals`` if the command is `serve`. It uses nothing but the C library: Swift's own is not ready yet.
  @section(".preinit_array") @used
  private let blockEarly: @convention(c) (CInt, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Void =
    {
      count, words in
      guard count > 1, let command = words[1], strcmp(command, "serve") == 0 else { return }
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGHUP)
      sigaddset(&signals, SIGTERM)
      sigaddset(&signals, SIGINT)
      pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
#endif
