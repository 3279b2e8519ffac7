// Standard output of the bridge: it gets whole lines, in the order in which they were added, and nothing else. A write
// never blocks. While the host does not read, the bridge stops reading its sockets instead of keeping everything that
// arrives.

import CPosix

/// The lines for the host.
final class HostOutput {
  /// The number of waiting bytes above which no further pieces of responses are accepted.
  private static let enough = 1 << 20
  /// The length below which a line is copied, so that the line and its line end are written together.
  private static let short = 64 << 10
  /// The number of bytes that a writable pipe accepts without blocking (PIPE_BUF of POSIX.1, which is 4096 on Linux).
  private static let pieceOfPipe = 4096

  private let descriptor: Int32
  private let isSocket: Bool
  private var waiting: [[UInt8]] = []
  private var first = 0
  private var written = 0
  private var count = 0
  /// Whether the host has closed its end.
  private(set) var isBroken = false

  /// - Parameter descriptor: the descriptor to write to. If it is negative, the lines are kept for ``takeLine()``.
  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    var type: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    isSocket = getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0
  }

  var isEmpty: Bool { first == waiting.count }
  var isFull: Bool { count > Self.enough }

  /// - Parameter line: the line, without a line end.
  func add(_ line: [UInt8]) {
    count += line.count + 1
    if line.count <= Self.short {
      waiting.append(line + [0x0A])
    } else {
      waiting.append(line)
      waiting.append([0x0A])
    }
  }

  /// The first line; nil if there is none.
  func takeLine() -> [UInt8]? {
    guard first < waiting.count else { return nil }
    var line = waiting[first]
    next()
    if line.last == 0x0A { line.removeLast() } else if first < waiting.count { next() }
    return line
  }

  private func next() {
    count -= waiting[first].count
    waiting[first] = []
    first += 1
    written = 0
    if first == waiting.count { (waiting, first) = ([], 0) }
  }

  /// Writes as many bytes as the host accepts now.
  func write() {
    while !isEmpty, !isBroken {
      guard isSocket || isReady else { return }
      let line = waiting[first]
      let done = line[written...].withUnsafeBytes { bytes in
        isSocket
          ? send(descriptor, bytes.baseAddress, bytes.count, Int32(truncatingIfNeeded: Int(MSG_DONTWAIT)))
          : CPosix.write(descriptor, bytes.baseAddress, min(bytes.count, Self.pieceOfPipe))
      }
      guard done > 0 else {
        let number = enroll_posix_errno()
        if number == EINTR { continue }
        isBroken = number != EAGAIN
        return
      }
      written += done
      if written == line.count { next() }
    }
  }

  private var isReady: Bool {
    var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&poller, 1, 0) > 0
  }
}
