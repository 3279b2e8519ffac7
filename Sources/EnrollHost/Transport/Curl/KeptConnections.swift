// The idle connections that libcurl keeps for later requests. A server may send something on them that no request asked
// for: many send a 408 before they close an idle connection. Older versions of libcurl take such bytes as the response
// to the next request. So a request gets a new connection if an idle connection has unread bytes.

import CCurl
import CPosix

/// The sockets of the connections that a multi handle keeps. This type is a class, because libcurl has a pointer to it.
/// It must stay valid until the multi handle is cleaned up.
final class KeptConnections {
  private var sockets: [Int32] = []

  /// Adds the connection of a transfer that has ended, if libcurl keeps it.
  func add(_ curl: UnsafePointer<enroll_curl>, _ easy: UnsafeMutableRawPointer) {
    let socket = enroll_curl_kept_socket(curl, easy)
    if socket >= 0, !sockets.contains(socket) { sockets.append(socket) }
  }

  /// Makes a transfer that begins now open a new connection, if a kept connection has unread bytes or has ended.
  /// - Parameter areIdle: whether no running transfer uses a kept connection. Then the connections with unread bytes
  ///   are ended, and libcurl closes them.
  func check(_ curl: UnsafePointer<enroll_curl>, _ easy: UnsafeMutableRawPointer, areIdle: Bool) {
    let unclean = sockets.filter { enroll_curl_has_input($0) != 0 }
    guard !unclean.isEmpty else { return }
    _ = enroll_curl_set_long(curl, easy, CURLOPT_FRESH_CONNECT, 1)
    guard areIdle else { return }
    for socket in unclean { enroll_curl_end(socket) }
    // The end of a socket is readable, too. libcurl finds it and closes the socket, or closes it later.
    sockets.removeAll { unclean.contains($0) }
  }

  /// Closes a socket for libcurl, which calls this method for each socket.
  fileprivate func close(_ socket: Int32) -> Int32 {
    sockets.removeAll { $0 == socket }
    return CPosix.close(socket)
  }
}

extension CurlSetup {
  /// Makes `kept` close the sockets of the connections that this transfer opens.
  mutating func closer(_ kept: KeptConnections) {
    socketCloser { kept, socket in
      guard let kept else { return CPosix.close(socket) }
      return Unmanaged<KeptConnections>.fromOpaque(kept).takeUnretainedValue().close(socket)
    }
    memory(CURLOPT_CLOSESOCKETDATA, UnsafeRawPointer(Unmanaged.passUnretained(kept).toOpaque()))
  }
}
