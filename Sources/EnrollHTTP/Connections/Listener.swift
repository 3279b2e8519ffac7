// A socket that listens. What it accepts goes round the loops: one socket for each loop would share few connections unevenly, and lose
// those that wait when the server stops.

import CEvent
import CPosix
import EnrollPosix

/// A listener of one address. It belongs to the thread of its loop.
final class Listener {
  let port: Int
  /// It accepts nothing for a moment, because the process may open no more files. To try again at once would need all of a processor.
  private(set) var isPaused = false

  private let listener: OpaquePointer
  private unowned let loop: EventLoop
  private let loops: [EventLoop]
  private var next = 0

  /// - Parameters:
  ///   - loop: on which it accepts.
  ///   - loops: which get what is accepted, in turn.
  /// - Throws: ``ServerError`` with the setting ``ServerError/Setting/addresses``.
  init(_ address: String, port: Int, on loop: EventLoop, handingTo loops: [EventLoop]) throws(ServerError) {
    let flags = UInt32(LEV_OPT_REUSEABLE | LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC)
    var place = sockaddr_in6()
    var size = Int32(MemoryLayout<sockaddr_in6>.size)
    let made = withUnsafeMutablePointer(to: &place) { place in
      place.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic -> OpaquePointer? in
        guard evutil_parse_sockaddr_port(address, generic, &size) == 0 else { return nil }
        // It is at the same place in addresses of both families.
        place.pointee.sin6_port = UInt16(truncatingIfNeeded: port).bigEndian
        // Without a callback nothing is accepted yet.
        return evconnlistener_new_bind(loop.base, nil, nil, flags, 1_024, generic, size)
      }
    }
    guard let made else {
      let number = enroll_posix_errno()
      throw ServerError(
        setting: .addresses, isPortTaken: number == EADDRINUSE, description: SystemError.words(number))
    }
    listener = made
    self.loop = loop
    self.loops = loops
    let descriptor = evconnlistener_get_fd(made)
    // Connections inherit it: an answer never waits for the client to acknowledge another one.
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

  /// Tries again.
  func resume() {
    guard isPaused else { return }
    isPaused = false
    evconnlistener_enable(listener)
  }
}
