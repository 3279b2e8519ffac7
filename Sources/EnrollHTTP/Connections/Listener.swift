// A listening socket. It gives the connections that it accepts to the event loops in turn. If each loop had its own
// listening socket, a small number of connections would be spread unevenly, and the connections in the backlogs would
// be lost when the server stops.

import CEvent
import CPosix
import EnrollPosix

/// The listener of one address. Only the thread of its event loop may use it.
final class Listener {
  let port: Int
  /// True while the listener accepts nothing after accept(2) failed, for example because no file descriptor was free.
  /// The pause exists because repeated tries without a pause would keep a processor busy.
  private(set) var isPaused = false

  private let listener: OpaquePointer
  private unowned let loop: EventLoop
  private let loops: [EventLoop]
  private var next = 0

  /// - Parameters:
  ///   - loop: the loop on which the listener accepts connections.
  ///   - loops: the loops that get the accepted connections, in turn.
  /// - Throws: ``ServerError`` with the setting ``ServerError/Setting/addresses``.
  init(_ address: String, port: Int, on loop: EventLoop, handingTo loops: [EventLoop]) throws(ServerError) {
    let flags = UInt32(LEV_OPT_REUSEABLE | LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC)
    var place = sockaddr_in6()
    var size = Int32(MemoryLayout<sockaddr_in6>.size)
    let made = withUnsafeMutablePointer(to: &place) { place in
      place.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic -> OpaquePointer? in
        guard evutil_parse_sockaddr_port(address, generic, &size) == 0 else { return nil }
        // Setting the port in this way is correct for IPv4, too, because the port is at the same offset in both
        // families of addresses.
        place.pointee.sin6_port = UInt16(truncatingIfNeeded: port).bigEndian
        // The listener has no callback yet, and accepts nothing until it has one.
        return evconnlistener_new_bind(loop.base, nil, nil, flags, 1_024, generic, size)
      }
    }
    guard let made else {
      let number = enroll_posix_errno()
      throw ServerError(
        setting: .addresses, isPortTaken: number == EADDRINUSE, description: SystemError.message(number))
    }
    listener = made
    self.loop = loop
    self.loops = loops
    let descriptor = evconnlistener_get_fd(made)
    // This option switches off Nagle's algorithm, so that an answer never waits for the acknowledgement of an earlier
    // answer. Accepted sockets inherit the option.
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    self.port = IPAddress.port(of: descriptor) ?? port
    evconnlistener_set_error_cb(made) { _, this in
      guard let this else { return }
      Unmanaged<Listener>.fromOpaque(this).takeUnretainedValue().pause()
    }
    evconnlistener_set_cb(
      made,
      { _, descriptor, address, _, this in
        guard let this else { return }
        Unmanaged<Listener>.fromOpaque(this).takeUnretainedValue().handOn(
          descriptor, address.flatMap { IPAddress($0) })
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit { evconnlistener_free(listener) }

  private func handOn(_ descriptor: Int32, _ address: IPAddress?) {
    loop.shared.counters.acceptedConnection()
    let target = loops[next % loops.count]
    next = (next + 1) % loops.count
    if target === loop {
      Connection.admit(descriptor, address, to: target)
    } else {
      target.post { Connection.admit(descriptor, address, to: target) }
    }
  }

  private func pause() {
    if [EMFILE, ENFILE].contains(enroll_posix_errno()) { loop.shared.counters.refused(.noDescriptor) }
    evconnlistener_disable(listener)
    isPaused = true
    loop.setTicking()
  }

  /// Accepts again after a pause.
  func resume() {
    guard isPaused else { return }
    isPaused = false
    evconnlistener_enable(listener)
  }
}
