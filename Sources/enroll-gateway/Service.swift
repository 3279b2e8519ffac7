// The work in addition to answering requests: reading signals, deleting expired data, and checking the database and
// the workers.

import CPosix
import EnrollRules
import EnrollSteps
import EnrollGateway
import EnrollHTTP
import EnrollPosix

/// The signals of the service: SIGTERM and SIGINT end it, SIGHUP reads the key file again.
struct ServiceSignals {
  private let descriptor: Int32

  private static var signals: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&set, number) }
    return set
  }

  /// Blocks the signals, so that they stay pending until they are read. Call this before the first thread starts:
  /// threads inherit the mask.
  static func block() {
    var set = signals
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  init() {
    enroll_posix_ignore_signal(SIGPIPE)
    Self.block()
    var set = Self.signals
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

/// Repeats work on a separate thread.
final class Repetition: Sendable {
  private let what: String
  private let milliseconds: Int64
  private let body: @Sendable () -> Int64
  private let ended = Event()

  /// - Parameters:
  ///   - what: the name of the work, for the error if no thread starts.
  ///   - milliseconds: the time before the first run.
  ///   - body: returns the milliseconds before the next run.
  init(
    _ what: String, afterMilliseconds milliseconds: Int64, _ body: @escaping @Sendable () -> Int64
  ) {
    self.what = what
    self.milliseconds = milliseconds
    self.body = body
  }

  convenience init(
    _ what: String, everySeconds seconds: Int64, _ body: @escaping @Sendable () -> Void
  ) {
    self.init(what, afterMilliseconds: seconds * 1_000) {
      body()
      return seconds * 1_000
    }
  }

  /// Starts the thread.
  /// - Throws: `.outOfMemory` if the system cannot start a thread.
  func start() throws(EnrollError) {
    let isStarted = BackgroundThread.start {
      var milliseconds = self.milliseconds
      while !self.ended.wait(nanoseconds: milliseconds * 1_000_000) {
        milliseconds = self.body()
      }
    }
    guard isStarted else {
      throw EnrollError(
        .outOfMemory,
        "the system gives no thread for \(what). Raise the limit of threads (TasksMax=, ulimit -u), or free memory."
      )
    }
  }

  func stop() { ended.set() }
}

extension Repetition {
  /// Deletes data that expired days ago. Several replicas may delete such data at the same time.
  /// - Parameter auditDays: how many days the audit keeps an entry.
  static func pruning(
    _ store: any AccountStore, auditDays: Int64, by clock: any Clock, _ log: any LogHandler
  ) -> Repetition {
    Repetition("removing what has ended", everySeconds: 600) {
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

  /// Revokes the queued tokens of deleted accounts. A token is in the queue if it was not revoked at once, or if an
  /// operator's command left it there.
  static func revoking(_ gateway: Gateway, _ log: any LogHandler) -> Repetition {
    Repetition("revoking tokens of providers", everySeconds: 20) {
      do throws(StoreFailure) { try gateway.revokeDue() } catch {
        log.write(.warning, "revocations wait: \(error.message)")
      }
    }
  }

  static func probing(_ gateway: Gateway) -> Repetition {
    Repetition("looking at the database", afterMilliseconds: Gateway.probeMilliseconds) {
      gateway.probe() ? Gateway.probeMilliseconds : Gateway.failedProbeMilliseconds
    }
  }

  /// Reads the metrics that only the database knows.
  static func measuring(_ gateway: Gateway) -> Repetition {
    Repetition("reading figures for the metrics", everySeconds: Gateway.measureSeconds) {
      gateway.measure()
    }
  }

  /// Logs that requests or connections were refused: otherwise only their clients would notice.
  static func watching(_ server: HTTPServer, _ log: any LogHandler) -> Repetition {
    let told = Guarded<[Refusal: Int]>([:], by: Mutex())
    return Repetition("watching the workers", everySeconds: 10) {
      let refusals = server.metrics.refusals
      for (kind, words) in [
        (
          Refusal.overloaded,
          "requests were refused: every worker was busy, or the system gave no more threads"
        ),
        (.tooManyConnections, "connections were closed: there were too many at once"),
        (.noDescriptor, "times a connection had to wait: the program may open no more files"),
      ] {
        let count = refusals[kind] ?? 0
        let before = told.withLock { told in
          let before = told[kind] ?? 0
          told[kind] = count
          return before
        }
        if count > before { log.write(.warning, "\(count - before) \(words)") }
      }
    }
  }
}
