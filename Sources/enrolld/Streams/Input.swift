// The events for which the reading thread waits: bytes on stdin, a signal to end, or the end of the host.

import CPosix
import EnrollHost
import EnrollPosix

/// Waits for the first event, and reads.
final class Input: @unchecked Sendable {
  // Unchecked: one thread reads at a time; the other threads only check for signals.
  enum Event {
    /// The number of bytes that are in ``buffer``.
    case bytes(Int)
    /// stdin has ended.
    case end
    /// stdin cannot be read; the number is the system's error number.
    case unreadable(Int32)
    /// SIGTERM, SIGINT or SIGHUP.
    case signal
    /// stdout is closed, or another part of the daemon asked for an end.
    case wake
  }

  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
  private let signals: Int32
  private let waker: Int32
  /// Whether the first signal was read. Only the thread that checks for signals uses this flag.
  private var hasReadSignal = false

  /// - Parameters:
  ///   - signals: the descriptor from `TerminationSignals.prepare()`; negative if there is no such descriptor.
  ///   - waker: an event descriptor that is raised to ask for an end.
  init(signals: Int32, waker: Int32) {
    self.signals = signals
    self.waker = waker
  }

  deinit { buffer.deallocate() }

  func next() -> Event {
    while true {
      var pollers = [
        pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
        pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
        pollfd(fd: waker, events: Int16(POLLIN), revents: 0),
        pollfd(fd: STDOUT_FILENO, events: 0, revents: 0),
      ]
      guard poll(&pollers, 4, -1) > 0 else { continue }
      if pollers[1].revents != 0 { return .signal }
      if pollers[2].revents != 0 || OutputWriter.isGone(pollers[3]) { return .wake }
      // Reads only if there is input: a read that blocks would not notice a signal.
      guard pollers[0].revents != 0 else { continue }
      switch readInput() {
      case .nothing: continue
      case .bytes(0): return .end
      case .bytes(let count): return .bytes(count)
      // If the host has ended, the failure counts as the end of stdin. Everything that the host sent was read.
      case .failed(let number): return OutputWriter.isGone(pollers[0]) ? .end : .unreadable(number)
      }
    }
  }

  /// Waits only for bytes.
  /// - Returns: the number of bytes in ``buffer``; nil if stdin has ended or stdout is closed.
  func more() -> Int? {
    while true {
      var pollers = [
        pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
        pollfd(fd: STDOUT_FILENO, events: 0, revents: 0),
      ]
      guard ExitBarrier.allowingExit({ poll(&pollers, 2, -1) }) > 0 else { continue }
      if OutputWriter.isGone(pollers[1]) { return nil }
      guard pollers[0].revents != 0 else { continue }
      switch readInput() {
      case .nothing: continue
      case .bytes(let count): return count > 0 ? count : nil
      case .failed: return nil
      }
    }
  }

  private enum ReadResult {
    /// The number of bytes that were read; 0 at the end of stdin.
    case bytes(Int)
    /// There were no bytes, or the read was interrupted.
    case nothing
    case failed(Int32)
  }

  private func readInput() -> ReadResult {
    let count = read(STDIN_FILENO, buffer.baseAddress, buffer.count)
    if count >= 0 { return .bytes(count) }
    let number = enroll_posix_errno()
    return number == EINTR || number == EAGAIN ? .nothing : .failed(number)
  }

  /// Whether the first signal has arrived and was not read yet.
  var hasSignal: Bool {
    guard !hasReadSignal else { return false }
    var poller = pollfd(fd: signals, events: Int16(POLLIN), revents: 0)
    return poll(&poller, 1, 0) == 1 && poller.revents != 0
  }

  /// Reads the first signal. A thread of TerminationSignals reads later signals.
  func readSignal() {
    hasReadSignal = true
    TerminationSignals.readFirst(signals)
  }
}
