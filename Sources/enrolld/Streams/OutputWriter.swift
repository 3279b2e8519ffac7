// Writes all output to stdout, in the order of the calls of ``send(_:)``. A thread that answers never waits for the
// host to read. It writes the bytes that stdout accepts at once, and a separate thread writes the rest.
//
// Limits: while more than 1 MiB waits, the reader of requests pauses before each 64 KiB, for at most 50 ms. A host that
// sends requests faster than it reads answers is slowed down in this way, but never blocked. If more than 16 MiB wait
// when another answer comes, the daemon assumes that the host has stopped reading: it drops the waiting bytes and ends.

import CPosix
import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollPosix

/// The only writer to stdout. It is a class, because every thread that answers shares it.
final class OutputWriter: @unchecked Sendable {
  // Unchecked: all state is only touched with `condition` held.
  static let slowBytes = 1 << 20
  static let limitBytes = 16 << 20
  private static let pauseNanoseconds: Int64 = 50_000_000
  /// If nothing could be written for this long, ``finish()`` no longer waits for the host.
  private static let lastTimeoutNanoseconds: Int64 = 5_000_000_000

  enum EndReason {
    case hostGone, hostDoesNotRead
    /// The system refuses writes, although the host may still be there; the number is the system's error number.
    case unwritable(Int32)
  }

  private let descriptor: Int32
  private let kind: Kind
  private let condition = Condition()
  private let writer = WorkerPool(threads: 1)
  private let onEnd: @Sendable (EndReason) -> Void
  private var waiting: [UInt8] = []
  /// Whether the writer's thread is just reporting that it cannot write any more.
  private var isReporting = false
  /// The number of bytes that the writer's thread has taken, but not written yet.
  private var taken = 0
  private var isCorked = false
  private var isDraining = false
  private var hasEnded = false
  private var written: UInt64 = 0

  private enum Kind { case pipe, socket, file, other }

  /// - Parameter onEnd: called once, on any thread, when writing is no longer possible.
  init(_ descriptor: Int32, onEnd: @escaping @Sendable (EndReason) -> Void) {
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
    var ending: EndReason?
    condition.lock()
    if !hasEnded {
      // Only the bytes that waited before this answer count, because a single answer may be longer than the limit.
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

  /// Makes ``send(_:)`` only queue its output until ``uncork()`` is called, so that many answers become one write.
  func cork() { condition.locked { isCorked = true } }

  func uncork() {
    var ending: EndReason?
    condition.lock()
    isCorked = false
    if !hasEnded { ending = push() }
    condition.unlock()
    if let ending { onEnd(ending) }
  }

  /// Slows down the thread that reads requests if the host does not read its answers fast enough.
  func pauseWhileFull() {
    condition.lock()
    if backlog > Self.slowBytes && !hasEnded { condition.wait(atMost: Self.pauseNanoseconds) }
    condition.unlock()
  }

  /// Waits until everything has been written, or until the host has stopped reading.
  func finish() {
    uncork()
    let clock = SystemClock()
    condition.lock()
    var seen = written
    var timeout = clock.instant().advanced(byNanoseconds: Self.lastTimeoutNanoseconds)
    while isDraining && (!hasEnded || isReporting) {
      let left = timeout.since(clock.instant())
      guard left > 0 else { break }
      condition.wait(atMost: left)
      guard written != seen else { continue }
      seen = written
      timeout = clock.instant().advanced(byNanoseconds: Self.lastTimeoutNanoseconds)
    }
    condition.unlock()
  }

  /// Whether the other end is closed. This check does not write anything.
  var isClosed: Bool {
    var poller = pollfd(fd: descriptor, events: 0, revents: 0)
    return poll(&poller, 1, 0) == 1 && Self.isGone(poller)
  }

  /// Whether nobody can read any more, because the pipe's reader, the socket's peer or the terminal is gone.
  static func isGone(_ poller: pollfd) -> Bool {
    Int32(poller.revents) & (POLLERR | POLLHUP | POLLNVAL) != 0
  }

  private var backlog: Int { waiting.count + taken }

  /// Called with the condition held.
  private func push() -> EndReason? {
    guard !isDraining else { return nil }
    let count = writeAtOnce()
    if count < 0 { return end(reason(enroll_posix_errno())) }
    waiting.removeFirst(count)
    written &+= UInt64(count)
    guard !waiting.isEmpty else { return nil }
    isDraining = true
    // If no thread can be started, this thread writes and waits, because a late answer is better than a lost one.
    if !writer.submit({ self.drain() }) {
      condition.unlock()
      drain()
      condition.lock()
    }
    return nil
  }

  /// Writes the bytes that stdout accepts without waiting.
  /// - Returns: the number of bytes written; -1 if the host is gone.
  private func writeAtOnce() -> Int {
    // A long queue is left to the writer's thread, which writes in larger pieces.
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

  /// A pipe that is writable accepts PIPE_BUF (4096) bytes without blocking (pipe(7)).
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

  /// The reason why writing is no longer possible, for the error number of a failed write.
  private func reason(_ number: Int32) -> EndReason {
    number == EPIPE || number == ECONNRESET || isClosed ? .hostGone : .unwritable(number)
  }

  /// Writes all waiting bytes. This runs on the writer's thread, which waits for the host.
  private func drain() {
    var ending: EndReason?
    condition.lock()
    while !waiting.isEmpty && !hasEnded {
      let bytes = waiting
      waiting = []
      taken = bytes.count
      condition.unlock()
      let failure = writeAll(bytes)
      condition.lock()
      taken = 0
      if let failure, !hasEnded {
        ending = end(failure)
        isReporting = true
      }
      condition.wakeAll()
    }
    if let ending {
      // ``finish()`` waits until this report is complete.
      condition.unlock()
      onEnd(ending)
      condition.lock()
      isReporting = false
    }
    isDraining = false
    condition.wakeAll()
    condition.unlock()
  }

  /// - Returns: why writing failed; nil if it succeeded.
  private func writeAll(_ bytes: [UInt8]) -> EndReason? {
    bytes.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
        let count = ExitBarrier.allowingExit { write(descriptor, rest.baseAddress, min(rest.count, 65_536)) }
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
          // The write would block, because the host made stdout non-blocking.
          var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          _ = ExitBarrier.allowingExit { poll(&poller, 1, -1) }
        }
      }
      return nil
    }
  }

  /// Called with the condition held.
  private func end(_ ending: EndReason) -> EndReason? {
    guard !hasEnded else { return nil }
    hasEnded = true
    waiting = []
    condition.wakeAll()
    return ending
  }
}
