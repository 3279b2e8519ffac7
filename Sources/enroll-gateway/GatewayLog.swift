// The gateway's log: one JSON object a line on standard error. Lines hold no secret: what is logged is written for it (R40).

#if Gateway
  import CPosix
  import EnrollCore
  import EnrollJSON
  import EnrollPosix

  final class GatewayLog: LogHandler {
    let level: LogLevel
    private let clock: any Clock
    private let lock = Mutex()

    init(level: LogLevel, clock: any Clock) {
      self.level = level
      self.clock = clock
    }

    func write(_ level: LogLevel, _ line: String) {
      guard level.rawValue <= self.level.rawValue else { return }
      let object = JSON.object([
        ("time", .integer(clock.wallTime().seconds)), ("level", .string(level.name)),
        ("message", .string(line)),
      ])
      let bytes = object.serialized() + [0x0A]
      lock.locked { StandardStream.write(bytes, to: STDERR_FILENO) }
    }
  }

  /// Bytes to standard output or standard error, whole.
  enum StandardStream {
    static func write(_ bytes: [UInt8], to descriptor: Int32) {
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { CPosix.write(descriptor, $0.baseAddress, $0.count) }
        if count < 0, enroll_posix_errno() == EINTR { continue }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
      }
    }

    static func say(_ text: String, to descriptor: Int32 = STDOUT_FILENO) {
      write(Array((text + "\n").utf8), to: descriptor)
    }
  }
#endif
