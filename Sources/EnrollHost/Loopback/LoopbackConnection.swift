// One connection to the loopback listener: it is read until the head is complete, answered once, and closed. Browsers
// open connections that they never use, so each connection has a time limit.

import CPosix
import EnrollRules
import EnrollPosix

struct LoopbackConnection {
  let descriptor: Int32
  /// The instant of the listener's clock at which the connection is closed without an answer.
  let deadline: Instant
  private var bytes: [UInt8] = []
  private var scanned = 0

  static let seconds: Int64 = 5
  /// How long sending waits for a browser that does not read its answer.
  private static let sendMilliseconds: Int32 = 1_000
  /// Two limits for a request that the listener did not read to its end: how long it waits for each further piece, and
  /// how many pieces it reads.
  private static let (restMilliseconds, mostUnread): (Int32, Int) = (100, 64)

  init(descriptor: Int32, now: Instant) {
    self.descriptor = descriptor
    deadline = now.advanced(bySeconds: Self.seconds)
  }

  enum Progress {
    case waiting, gone
    case head(ArraySlice<UInt8>)
    case refused(Int)
  }

  /// Reads the bytes that have arrived. Does not wait.
  mutating func read() -> Progress {
    var chunk = [UInt8](repeating: 0, count: 4_096)
    let count = chunk.withUnsafeMutableBytes {
      recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
    }
    if count < 0 {
      let number = enroll_posix_errno()
      return number == EAGAIN || number == EINTR ? .waiting : .gone
    }
    guard count > 0 else { return .gone }
    bytes += chunk[..<count]
    do throws(LoopbackRequest.Refusal) {
      if let end = try LoopbackRequest.end(in: bytes, scanned: scanned) { return .head(bytes[..<end]) }
      scanned = bytes.count
      return .waiting
    } catch {
      return .refused(error.status)
    }
  }

  /// Sends a response. Stops if the browser does not read it.
  func answer(_ response: [UInt8]) {
    response.withUnsafeBytes { response in
      var sent = 0
      while let start = response.baseAddress, sent < response.count {
        let count = enroll_posix_send(descriptor, start + sent, response.count - sent)
        if count > 0 {
          sent += count
        } else {
          guard count < 0, enroll_posix_errno() == EAGAIN || enroll_posix_errno() == EINTR else { return }
          var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          guard ExitBarrier.allowingExit({ poll(&writable, 1, Self.sendMilliseconds) }) > 0 else { return }
        }
      }
    }
  }

  /// Closes the connection without a reset. If data were left unread, the close would become a reset, and the browser
  /// could lose its answer.
  /// - Parameter isCut: whether the request was not read to its end. The browser may still be writing it.
  func close(isCut: Bool = false) {
    shutdown(descriptor, Int32(SHUT_WR))
    var rest = [UInt8](repeating: 0, count: 16_384)
    for _ in 1...Self.mostUnread {
      if isCut {
        var readable = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard ExitBarrier.allowingExit({ poll(&readable, 1, Self.restMilliseconds) }) > 0 else { break }
      }
      let count = rest.withUnsafeMutableBytes {
        recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
      }
      guard count > 0 else { break }
    }
    CPosix.close(descriptor)
  }
}
