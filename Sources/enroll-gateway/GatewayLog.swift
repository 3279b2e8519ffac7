// The gateway's log: one JSON object per line on standard error. Lines contain no secrets, because log messages are
// written without them (R40). If the reader of standard error stops reading, no request waits: lines are dropped and
// counted until the reader continues.

import CPosix
import EnrollRules
import EnrollSteps
import EnrollGateway
import EnrollJSON
import EnrollPosix
import Synchronization

final class GatewayLog: LogHandler {
  let level: LogLevel
  private let clock: any Clock
  private let dropped = Guarded(0, by: Mutex())
  private let droppedInAll = Atomic<Int>(0)

  /// The number of lines dropped since the start.
  var dropCount: Int { droppedInAll.load(ordering: .relaxed) }

  /// The limit of a message in bytes; a line with such a message fits into one atomic write to a pipe.
  private static let messageLimit = 600

  init(level: LogLevel, clock: any Clock) {
    self.level = level
    self.clock = clock
  }

  func write(_ level: LogLevel, _ line: String) {
    guard level.rawValue <= self.level.rawValue else { return }
    let bytes = self.line(level, String(decoding: line.utf8.prefix(Self.messageLimit), as: UTF8.self))
    dropped.withLock { dropped in
      if dropped > 0, Self.isWritable {
        StandardStream.write(self.line(.warning, "\(dropped) lines were dropped"), to: STDERR_FILENO)
        dropped = 0
      }
      guard Self.isWritable else {
        dropped += 1
        droppedInAll.wrappingAdd(1, ordering: .relaxed)
        return
      }
      StandardStream.write(bytes, to: STDERR_FILENO)
    }
  }

  private func line(_ level: LogLevel, _ message: String) -> [UInt8] {
    let time = clock.wallTime().seconds
    return JSON.object([
      ("time", .integer(time)), ("level", .string(level.name)),
      ("request", RequestID.current.map { .string($0) }), ("message", .string(message)),
    ]).serialized() + [0x0A]
  }

  /// Whether a line can be written without waiting. If poll(2) reports that a pipe is writable, it accepts PIPE_BUF
  /// bytes at once, which is more than one line (pipe(7)).
  private static var isWritable: Bool {
    var poller = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
    return poll(&poller, 1, 0) == 1 && Int32(poller.revents) & Int32(POLLOUT) != 0
  }
}
