// Everything that goes to stdout, in the order in which it was said. Nobody waits for the host to read: what stdout takes at
// once is written by whoever says it, the rest by one thread.
//
// Bounds: while more than 1 MiB waits, the reader of requests pauses before each 64 KiB, 50 ms at most, so that a host which
// reads more slowly than it asks is slowed down and never stuck. When more than 16 MiB wait and another answer comes, the host
// does not read at all: what waits is dropped and the daemon ends.

import CPosix
import EnrollCore
import EnrollHost
import EnrollPosix

/// The one writer. A class because every thread that answers shares it.
final class Output: @unchecked Sendable {
  // Unchecked: all state is only touched with `condition` held.
  static let slowBytes = 1 << 20
  static let limitBytes = 16 << 20
  private static let pauseNanoseconds: Int64 = 50_000_000
  /// Without progress for so long, the end does not wait for the host any more.
  private static let lastTimeoutNanoseconds: Int64 = 5_000_000_000

  enum Ending {
    case hostGone, hostDoesNotRead
    /// The host may be there, and the system does not take what is written: an error number.
    case unwritable(Int32)
  }

  private let descriptor: Int32
  private let kind: Kind
  private let condition = Condition()
  private let writer = WorkerPool(threads: 1)
  private let onEnd: @Sendable (Ending) -> Void
  private var waiting: [UInt8] = []
  /// Bytes that the writer's thread took and has not written yet.
  private var taken = 0
  private var isCorked = false
  private var isDraining = false
  private var hasEnded = false
  private var written: UInt64 = 0

  private enum Kind { case pipe, socket, file, other }

  /// - Parameter onEnd: called once, on any thread, when nothing can be written any more.
  init(_ descriptor: Int32, onEnd: @escaping @Sendable (Ending) -> Void) {
    self.descriptor = descriptor
    self.onEnd = onEnd
    var status = stat()
    let mode = fstat(descriptor, &status) == 0 ? Int32(truncatingIfNeeded: status.st_mode) & Int32(S_IFMT) : 0
    kind =
      switch mode {
      case S_IFIFO: .pipe
      case S_IFSOCK: .socket
      case S_IFREG: .file
      default: .other
      }
  }

  /// Queues `bytes`, and writes as much as can be written without waiting.
  func send(_ bytes: [UInt8]) {
    var ending: Ending?
    condition.lock()
    if !hasEnded {
      // One answer may be longer than the limit: what counts is what waited before it.
      if backlog > Self.limitBytes {
        ending = end(.hostDoesNotRead)
      } else {
        waiting += bytes
        if !isCorked { ending = push() }
      }
    }
    condition.unlock()
    if let ending { onEnd(ending) }
  }

  /// Until ``uncork()``, what is said is only queued: many answers become one write.
  func cork() { condition.locked { isCorked = true } }

  func uncork() {
    var ending: Ending?
    condition.lock()
    isCorked = false
    if !hasEnded { ending = push() }
    condition.unlock()
    if let ending { onEnd(ending) }
  }

  /// Slows a reader down that is ahead of the host.
  func pauseWhileFull() {
    condition.lock()
    if backlog > Self.slowBytes && !hasEnded { condition.wait(atMost: Self.pauseNanoseconds) }
    condition.unlock()
  }

  /// Waits until everything was written, as long as the host goes on reading.
  func finish() {
    uncork()
    let clock = SystemClock()
    condition.lock()
    var seen = written
    var timeout = clock.instant().advanced(byNanoseconds: Self.lastTimeoutNanoseconds)
    while isDraining && !hasEnded {
      let left = timeout.since(clock.instant())
      guard left > 0 else { break }
      condition.wait(atMost: left)
      guard written != seen else { continue }
      seen = written
      timeout = clock.instant().advanced(byNanoseconds: Self.lastTimeoutNanoseconds)
    }
    condition.unlock()
  }

  /// Whether the other end is closed, asked without writing.
  var isClosed: Bool {
    var poller = pollfd(fd: descriptor, events: 0, revents: 0)
    return poll(&poller, 1, 0) == 1 && Self.isGone(poller)
  }

  /// Whether nobody can read any more: a pipe's reader is gone, a socket's peer, a terminal.
  static func isGone(_ poller: pollfd) -> Bool {
    Int32(poller.revents) & (POLLERR | POLLHUP | POLLNVAL) != 0
  }

  private var backlog: Int { waiting.count + taken }

  /// Called with the condition held.
  private func push() -> Ending? {
    guard !isDraining else { return nil }
    let count = writeAtOnce()
    if count < 0 { return end(reason(enroll_posix_errno())) }
    waiting.removeFirst(count)
    written &+= UInt64(count)
    guard !waiting.isEmpty else { return nil }
    isDraining = true
    // Without a thread this one waits: better late than lost.
    if !writer.submit({ self.drain() }) {
      condition.unlock()
      drain()
      condition.lock()
    }
    return nil
  }

  /// Writes what stdout takes without waiting.
  /// - Returns: bytes written; -1 when the host is gone.
  private func writeAtOnce() -> Int {
    // A long queue is the writer's: it writes in larger pieces.
    guard kind != .other, waiting.count <= 65_536 else { return 0 }
    return waiting.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
        let count = kind == .pipe ? writeToPipe(rest) : writeToOther(rest)
        if count < 0 { return -1 }
        if count == 0 { break }
        done += count
      }
      return done
    }
  }

  /// A pipe that is writable takes PIPE_BUF (4096) bytes without blocking (pipe(7)).
  private func writeToPipe(_ bytes: UnsafeRawBufferPointer) -> Int {
    var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard poll(&poller, 1, 0) == 1 else { return 0 }
    if Self.isGone(poller) { return -1 }
    guard Int32(poller.revents) & POLLOUT != 0 else { return 0 }
    return result(write(descriptor, bytes.baseAddress, min(bytes.count, 4096)))
  }

  private func writeToOther(_ bytes: UnsafeRawBufferPointer) -> Int {
    kind == .socket
      ? result(enroll_posix_send(descriptor, bytes.baseAddress, bytes.count))
      : result(write(descriptor, bytes.baseAddress, bytes.count))
  }

  private func result(_ count: Int) -> Int {
    if count >= 0 { return count }
    let number = enroll_posix_errno()
    return number == EAGAIN || number == EINTR ? 0 : -1
  }

  /// Why nothing more is written.
  private func reason(_ number: Int32) -> Ending {
    number == EPIPE || number == ECONNRESET || isClosed ? .hostGone : .unwritable(number)
  }

  /// The writer's thread: waits for the host.
  private func drain() {
    var ending: Ending?
    condition.lock()
    while !waiting.isEmpty && !hasEnded {
      let bytes = waiting
      waiting = []
      taken = bytes.count
      condition.unlock()
      let failure = writeAll(bytes)
      condition.lock()
      taken = 0
      if let failure, !hasEnded { ending = end(failure) }
      condition.wakeAll()
    }
    isDraining = false
    condition.wakeAll()
    condition.unlock()
    if let ending { onEnd(ending) }
  }

  /// - Returns: why it could not be done; nil when it was.
  private func writeAll(_ bytes: [UInt8]) -> Ending? {
    bytes.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
        let count = ExitBarrier.outside { write(descriptor, rest.baseAddress, min(rest.count, 65_536)) }
        if count > 0 {
          done += count
          condition.lock()
          written &+= UInt64(count)
          taken -= count
          condition.wakeAll()
          condition.unlock()
        } else {
          let number = enroll_posix_errno()
          guard number == EINTR || number == EAGAIN else { return reason(number) }
          // The host made stdout non-blocking.
          var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          _ = ExitBarrier.outside { poll(&poller, 1, -1) }
        }
      }
      return nil
    }
  }

  /// Called with the condition held.
  private func end(_ ending: Ending) -> Ending? {
    guard !hasEnded else { return nil }
    hasEnded = true
    waiting = []
    condition.wakeAll()
    return ending
  }
}
