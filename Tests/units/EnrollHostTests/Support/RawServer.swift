// A server that misbehaves as a test says: each connection is given to a script that reads and writes raw
// bytes.

@testable import EnrollPosix
import EnrollSteps
import EnrollHost
import Foundation

/// Listens on a free port of 127.0.0.1 until the object is released.
final class RawServer: Sendable {
  private struct State {
    var connections: [Int32] = []
    var accepted = 0
    var requests: [RawRequest] = []
  }

  let port: Int
  private let listener: Int32
  private let state = Guarded(State(), by: Mutex())

  private let script: @Sendable (RawConnection) -> Void

  /// `script` runs on a thread for each connection; the connection is closed when it returns.
  /// - Parameter listens: if false, the server reserves a port at which every connection is refused, until
  ///   ``listen()``.
  init(listens: Bool = true, _ script: @escaping @Sendable (RawConnection) -> Void) throws {
    self.script = script
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = listener
    let outcome = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard outcome else { throw POSIXError(.EADDRNOTAVAIL) }
    port = Int(UInt16(bigEndian: address.sin_port))
    if listens { try listen() }
  }

  /// Accepts connections from now on.
  func listen() throws {
    guard Foundation.listen(listener, 64) == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
    let (state, descriptor, script) = (self.state, listener, self.script)
    Thread.detachNewThread {
      while true {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else {
          // A connection that has ended already, or a lack of descriptors, must not end the loop: if the port
          // were free, another test's server could answer this server's clients.
          if errno != EINVAL {
            usleep(1000)
            continue
          }
          // Only this thread, which uses the descriptor, closes it, because another server may get the same number at
          // once.
          close(descriptor)
          return
        }
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        let number = state.withLock {
          $0.accepted += 1
          $0.connections.append(connection)
          return $0.accepted
        }
        Thread.detachNewThread {
          script(
            RawConnection(descriptor: connection, number: number) { request in
              state.withLock { $0.requests.append(request) }
            })
          state.withLock { state in
            state.connections.removeAll { $0 == connection }
            close(connection)
          }
        }
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    state.withLock { for connection in $0.connections { shutdown(connection, Int32(SHUT_RDWR)) } }
  }

  func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }
  /// Connections accepted so far.
  var accepted: Int { state.withLock { $0.accepted } }
  /// The requests that were read so far, on any connection.
  var requests: [RawRequest] { state.withLock { $0.requests } }
}

struct RawRequest: Sendable {
  var head: String
  var body: [UInt8]
  var connection: Int

  func hasHeader(_ name: String) -> Bool {
    head.lowercased().contains("\r\n\(name.lowercased()):")
  }
}

/// One accepted connection, for a script.
struct RawConnection: Sendable {
  let descriptor: Int32
  /// The number of the connection: 1 for the server's first connection.
  let number: Int
  let record: @Sendable (RawRequest) -> Void

  init(descriptor: Int32, number: Int, record: @escaping @Sendable (RawRequest) -> Void) {
    self.descriptor = descriptor
    self.number = number
    self.record = record
  }

  /// The next request, complete; nil if the client has closed.
  @discardableResult
  func readRequest() -> RawRequest? {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
      guard recv(descriptor, &byte, 1, 0) == 1 else { return nil }
      bytes.append(byte)
    }
    let head = String(decoding: bytes, as: UTF8.self)
    var body: [UInt8] = []
    for line in head.split(separator: "\r\n") where line.lowercased().hasPrefix("content-length:") {
      let length = Int(line.dropFirst(15).trimmingCharacters(in: .whitespaces)) ?? 0
      body = [UInt8](repeating: 0, count: length)
      var have = 0
      while have < length {
        let count = body.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress! + have, length - have, 0) }
        guard count > 0 else { return nil }
        have += count
      }
    }
    let request = RawRequest(head: head, body: body, connection: number)
    record(request)
    return request
  }

  /// Sends a text. False if the client has closed.
  @discardableResult
  func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Foundation.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// Sends a complete response, and keeps the connection open.
  @discardableResult
  func answer(_ body: String = "ok", status: String = "200 OK", headers: String = "") -> Bool {
    send("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)")
  }

  /// Waits for the client to close, or for `milliseconds` to pass; true if it closed.
  @discardableResult
  func waitForClose(milliseconds: Int32 = -1) -> Bool {
    var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&waited, 1, milliseconds) > 0 else { return false }
    var byte: UInt8 = 0
    while recv(descriptor, &byte, 1, 0) > 0 {}
    return true
  }

  /// Copies bytes in both directions between the client and a port of this machine, until one of them closes.
  /// - Parameter limit: the maximum number of bytes that the client gets.
  func relay(to port: Int, limit: Int = .max) {
    let other = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(other) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = UInt16(port).bigEndian
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(other, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { return }
    let server = RawConnection(descriptor: other, number: 0) { _ in }
    var left = limit
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while left > 0 {
      var ends = [
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: other, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&ends, 2, -1) > 0 else { return }
      let isFromServer = ends[1].revents != 0
      let most = isFromServer ? min(left, buffer.count) : buffer.count
      let count = recv(isFromServer ? other : descriptor, &buffer, most, 0)
      guard count > 0, (isFromServer ? self : server).send(Array(buffer[..<count])) else { return }
      if isFromServer { left -= count }
    }
  }

  /// Closes the connection with a reset.
  func reset() {
    var hard = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &hard, socklen_t(MemoryLayout<linger>.size))
    // The descriptor's number must stay in use until the script returns.
    let nowhere = open("/dev/null", O_RDWR | O_CLOEXEC)
    dup2(nowhere, descriptor)
    close(nowhere)
  }
}
