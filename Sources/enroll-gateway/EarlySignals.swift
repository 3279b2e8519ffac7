// `serve` reads its signals from a descriptor (signalfd(2)), so the signals must be blocked before the first signal
// arrives: by default SIGHUP ends a program. This code runs before the libraries of the program are initialized, and
// long before `main`. A signal can still end the program while the system's loader maps it, unless the program is
// started with SIGHUP blocked or ignored.

import CPosix

/// Blocks the signals of ``ServiceSignals`` if the command is `serve`. The function uses only the C library: Swift's
/// runtime is not ready yet.
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
