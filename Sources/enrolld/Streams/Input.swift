// The events that the one reading thread waits for: bytes on stdin, a signal to end, or the end of the host.

import CPosix
import EnrollHost
import EnrollPosix

/// Waits for whatever comes first, and reads.
final class Input: @unchecked Sendable {
  // Unchecked: one thread reads at a time; the others only look for signals.
  enum Event {
    /// So many bytes are in ``buffer``.
    case bytes(Int)
    /// stdin has ended.
    case end
    /// stdin cannot be read, by an error number of the system's.
    case unreadable(Int32)
    /// SIGTERM, SIGINT or SIGHUP.
    case signal
    /// stdout is closed, or something else asked for an end.
    case wake
  }

  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
  private let signals: Int32
  private let waker: Int32
  /// Only touched by the thread that looks for signals.
  private var hasTakenSignal = false

  /// - Parameters:
  ///   - signals: as `EndingSignals.prepare()` gives it; negative for none.
  ///   - waker: an event descriptor that asks for an end.
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
      if pollers[2].revents != 0 || Output.isGone(pollers[3]) { return .wake }
      // A read that would wait hears no signal.
      guard pollers[0].revents != 0 else { continue }
      switch take() {
      case .nothing: continue
      case .bytes(0): return .end
      case .bytes(let count): return .bytes(count)
      // A host that went away cannot be told from one that closed stdin: what it sent was read.
      case .failed(let number): return Output.isGone(pollers[0]) ? .end : .unreadable(number)
      }
    }
  }

  /// Waits for bytes alone.
  /// - Returns: how many are in ``buffer``; nil when stdin has ended or stdout is closed.
  func more() -> Int? {
    while true {
      var pollers = [
        pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
        pollfd(fd: STDOUT_FILENO, events: 0, revents: 0),
      ]
      guard ExitBarrier.outside({ poll(&pollers, 2, -1) }) > 0 else { continue }
      if Output.isGone(pollers[1]) { return nil }
      guard pollers[0].revents != 0 else { continue }
      switch take() {
      case .nothing: continue
      case .bytes(let count): return count > 0 ? count : nil
      case .failed: return nil
      }
    }
  }

  private enum Taken {
    /// 0 at the end of stdin.
    case bytes(Int)
    /// There are none after all.
    case nothing
    case failed(Int32)
  }

  private func take() -> Taken {
    let count = read(STDIN_FILENO, buffer.baseAddress, buffer.count)
    if count >= 0 { return .bytes(count) }
    let number = enroll_posix_errno()
    return number == EINTR || number == EAGAIN ? .nothing : .failed(number)
  }

  /// Whether the first signal waits to be taken.
  var hasSignal: Bool {
    guard !hasTakenSignal else { return false }
    var poller = pollfd(fd: signals, events: Int16(POLLIN), revents: 0)
    return poll(&poller, 1, 0) == 1 && poller.revents != 0
  }

  /// Those that follow are nobody's here.
  func takeSignal() {
    hasTakenSignal = true
    EndingSignals.take(signals)
  }
}
