// A client of raw bytes: it sends the bytes of a test, and reads until the server closes.

import Foundation

/// A connection to the server under test.
final class Wire: Sendable {
  private let descriptor: Int32

  init?(_ port: Int, isIPv6: Bool = false) {
    descriptor = socket(
      isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var outcome: Int32
    if isIPv6 {
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = UInt16(port).bigEndian
      address.sin6_addr = in6addr_loopback
      outcome = Self.connect(descriptor, &address)
    } else {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = UInt16(port).bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      outcome = Self.connect(descriptor, &address)
    }
    if outcome != 0 {
      return nil
    }
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    // A server that neither answers nor closes makes the test fail, but does not block the test.
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  private static func connect<Address>(_ descriptor: Int32, _ address: inout Address) -> Int32 {
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
      }
    }
  }

  /// Sends the bytes. Stops without an error if the other side has closed.
  /// - Returns: whether all bytes were sent.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Foundation.send(descriptor, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  @discardableResult
  func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  /// Sends `text` again and again until something can be read.
  /// - Returns: false if nothing can be read for long.
  func sendUntilReadable(_ text: String) -> Bool {
    for _ in 0..<500 {
      if isReadable(withinMilliseconds: 10) { return true }
      send(text)
    }
    return false
  }

  /// Ends the sending direction.
  func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Makes the receive buffer small, so that the other side's kernel soon holds responses back.
  func takeLittle() {
    var size: Int32 = 2_048
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Whether something can be read within the time limit, or the other side has closed.
  func isReadable(withinMilliseconds limit: Int32) -> Bool {
    var wish = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&wish, 1, limit) > 0
  }

  /// The next bytes; empty if the other side has closed; nil after a reset, or if nothing arrives.
  func receive(_ most: Int = 16_384) -> [UInt8]? {
    var chunk = [UInt8](repeating: 0, count: most)
    let count = recv(descriptor, &chunk, chunk.count, 0)
    return count < 0 ? nil : Array(chunk[..<count])
  }

  /// Everything that arrives until the other side closes; nil if the other side does not close, or after a reset.
  func readAll() -> String? {
    var bytes: [UInt8] = []
    while let part = receive() {
      if part.isEmpty { return String(decoding: bytes, as: UTF8.self) }
      bytes += part
    }
    return nil
  }

  /// One response with its body, on a connection that stays open.
  /// - Parameters:
  ///   - isHead: the response has no body, whatever its length says.
  ///   - isOnly: true if other responses may follow; they are not read.
  func readAnswer(isHead: Bool = false, only isOnly: Bool = false) -> Answer? {
    var bytes: [UInt8] = []
    while let part = isOnly ? receive(1) : receive(), !part.isEmpty {
      bytes += part
      if let answer = Answer(bytes, isHead: isHead) { return answer }
    }
    return nil
  }
}

/// A response, parsed leniently.
struct Answer {
  var status: Int
  var headers: [(name: String, value: String)]
  var body: String

  /// nil if bytes are missing.
  init?(_ bytes: [UInt8], isHead: Bool = false) {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let end = text.range(of: "\r\n\r\n") else { return nil }
    let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
    let first = lines[0].split(separator: " ", omittingEmptySubsequences: false)
    guard first.count >= 2, let status = Int(first[1]) else { return nil }
    self.status = status
    headers = lines.dropFirst().map { line in
      let parts = line.split(separator: ":", maxSplits: 1)
      return (String(parts[0]).lowercased(), parts.count > 1 ? String(parts[1].dropFirst()) : "")
    }
    body = String(text[end.upperBound...])
    let count = header("content-length").flatMap { Int($0) } ?? 0
    guard isHead || body.utf8.count >= count else { return nil }
  }

  func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}
