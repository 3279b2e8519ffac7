// What runs beside the answering of requests: signals are read like input, and what has ended is removed from the store.

#if Gateway
  import CPosix
  import EnrollCore
  import EnrollGateway
  import EnrollPosix

  /// SIGTERM and SIGINT end the service, SIGHUP is for the key file.
  struct ServiceSignals {
    private let descriptor: Int32

    /// To be made before the first thread: threads inherit what is blocked.
    init() {
      enroll_posix_ignore_signal(SIGPIPE)
      var set = sigset_t()
      sigemptyset(&set)
      for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&set, number) }
      pthread_sigmask(SIG_BLOCK, &set, nil)
      descriptor = enroll_posix_signals(&set)
    }

    /// Waits for a signal.
    func next() -> Int32 {
      while true {
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&poller, 1, -1) > 0 else { continue }
        let number = enroll_posix_next_signal(descriptor)
        if number > 0 { return number }
      }
    }
  }

  /// Removes ended sessions and codes every ten minutes. Replicas may do so at the same time.
  final class Pruning: Sendable {
    private let store: any AccountStore
    private let clock: any Clock
    private let log: any LogHandler
    private let auditDays: Int64
    private let ended = Event()

    static let pauseSeconds: Int64 = 600

    init(_ store: any AccountStore, auditDays: Int64, clock: any Clock, log: any LogHandler) {
      self.auditDays = auditDays
      self.store = store
      self.clock = clock
      self.log = log
    }

    func start() {
      _ = PlainThread.start {
        while !self.ended.wait(
          until: self.clock.instant().advanced(bySeconds: Self.pauseSeconds), by: self.clock)
        {
          self.prune()
        }
      }
    }

    func stop() { ended.set() }

    private func prune() {
      do throws(StoreFailure) {
        let count = try store.prune(at: clock.wallTime())
        if count > 0 { log.write(.info, "\(count) ended sessions and codes were removed") }
        _ = try store.pruneLimits(at: clock.wallTime())
        let entries = try store.pruneAudit(before: clock.wallTime() - auditDays * 86_400)
        if entries > 0 { log.write(.info, "\(entries) old entries of the audit were removed") }
      } catch {
        log.write(.warning, "store: \(error.message)")
      }
    }
  }
#endif
