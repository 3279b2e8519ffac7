// Tells systemd the state of the program (sd_notify(3)): one datagram to the socket in NOTIFY_SOCKET. Without the
// variable it does nothing.

import CPosix
import EnrollPosix

struct ServiceManager {
  enum State { case ready, reloading, stopping }

  /// The path of the service manager's socket, as the bytes of `sun_path` (unix(7)); nil without a service manager.
  private let path: [UInt8]?

  /// The flags of each send: a service manager that does not read must not block the thread that handles signals.
  private static let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
  /// The size of `sun_path`.
  private static let longest = 108

  init() {
    let bytes =
      getenv("NOTIFY_SOCKET").flatMap { String(validatingCString: $0) }.map { Array($0.utf8) } ?? []
    switch bytes.first {
    // `@` means an abstract socket: its name begins with NUL and has no NUL at its end.
    case 0x40 where bytes.count <= Self.longest: path = [0] + bytes.dropFirst()
    case 0x2F where bytes.count < Self.longest: path = bytes + [0]
    default: path = nil
    }
  }

  func notify(_ state: State) {
    guard let path else { return }
    let text: String =
      switch state {
      case .ready: "READY=1"
      case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(SystemClock.monotonic() / 1_000)"
      case .stopping: "STOPPING=1"
      }
    let fd = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    guard fd >= 0 else { return }
    defer { close(fd) }
    let address = withUnsafeBytes(of: sa_family_t(AF_UNIX)) { Array($0) } + path
    let message = Array(text.utf8)
    address.withUnsafeBytes { address in
      guard let start = address.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return }
      _ = message.withUnsafeBytes {
        sendto(fd, $0.baseAddress, $0.count, Self.flags, start, socklen_t(address.count))
      }
    }
  }
}
