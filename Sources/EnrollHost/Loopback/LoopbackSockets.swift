// The sockets of a loopback listener: 127.0.0.1 and ::1 with the same port, and no other interface (R4).

import CPosix
import EnrollRules
import EnrollPosix

/// One or two listening sockets, until ``close()``.
struct LoopbackSockets {
  private(set) var descriptors: [Int32]
  let port: UInt16

  /// The maximum number of tries with a port that the system chooses. A try fails if the port is taken in the other
  /// address family.
  private static let attempts = 16
  private static let backlog: Int32 = 64

  /// - Parameters:
  ///   - isIPv6: whether the redirect URI has an IPv6 address. A socket of the redirect URI's address family is
  ///     required; a socket of the other family is opened if possible.
  ///   - needsBoth: whether the redirect URI has the host `localhost`, which a browser resolves to either address. One
  ///     address is required; if the machine has both, no other program may use the port at either of them (R4).
  ///   - port: the port to open; nil if the system chooses it.
  /// - Throws: `.busy` if the port is taken or no descriptor is left, `.unsupported` if the machine has no such
  ///   address, `.configuration` if this user may not use the port.
  init(isIPv6: Bool, needsBoth: Bool = false, port: UInt16?) throws(EnrollError) {
    var isIPv6 = isIPv6
    if needsBoth, !isIPv6, !Self.hasIPv4 { isIPv6 = true }
    let family = isIPv6 ? AF_INET6 : AF_INET
    let other = isIPv6 ? AF_INET : AF_INET6
    for attempt in 1...Self.attempts {
      let first = enroll_posix_listen_loopback(family, port ?? 0, Self.backlog)
      guard first >= 0 else { throw Self.failure(enroll_posix_errno(), isIPv6: isIPv6, port: port) }
      guard let bound = UInt16(exactly: enroll_posix_local_port(first)) else {
        CPosix.close(first)
        throw EnrollError(.internal, "the port of a listening socket could not be read")
      }
      let second = enroll_posix_listen_loopback(other, bound, Self.backlog)
      let isTaken = second < 0 && enroll_posix_errno() == EADDRINUSE
      if isTaken, port == nil, attempt < Self.attempts {
        CPosix.close(first)
        continue
      }
      if isTaken, needsBoth {
        CPosix.close(first)
        throw Self.failure(EADDRINUSE, isIPv6: !isIPv6, port: port)
      }
      self.port = bound
      descriptors = second >= 0 ? [first, second] : [first]
      return
    }
    throw EnrollError(.busy, "no port is free on this machine's loopback addresses", field: "redirectUri")
  }

  /// Whether this machine has the address 127.0.0.1.
  private static var hasIPv4: Bool {
    let probe = enroll_posix_listen_loopback(AF_INET, 0, backlog)
    guard probe >= 0 else {
      return enroll_posix_errno() != EADDRNOTAVAIL && enroll_posix_errno() != EAFNOSUPPORT
    }
    CPosix.close(probe)
    return true
  }

  mutating func close() {
    for descriptor in descriptors { CPosix.close(descriptor) }
    descriptors = []
  }

  private static func failure(_ number: Int32, isIPv6: Bool, port: UInt16?) -> EnrollError {
    let place = (isIPv6 ? "[::1]" : "127.0.0.1") + (port.map { ":\($0)" } ?? "")
    switch number {
    case EADDRINUSE:
      return EnrollError(
        .busy,
        "\(place) is taken by another program: end that program, or use a redirect URI with another port or none",
        field: "redirectUri")
    case EMFILE, ENFILE, ENOBUFS, ENOMEM:
      return EnrollError(
        .busy,
        "no socket can be opened for \(place): \(SystemError.message(number)). Close some files, then try again"
      )
    case EACCES:
      return EnrollError(
        .configuration,
        "this user may not listen on \(place): ports below 1024 need privileges. Use a port from 1024 on, or none",
        field: "redirectUri")
    default:
      return EnrollError(
        .unsupported, "this machine cannot listen on \(place): \(SystemError.message(number))",
        field: "redirectUri")
    }
  }
}
