// A browser of raw bytes: it connects to a loopback address and sends the bytes of a test.

import Foundation

final class RawClient: Sendable {
  private let descriptor: Int32

  /// Connects to the port; nil if no program listens on it.
  init?(port: UInt16, isIPv6: Bool = false) {
    let family = isIPv6 ? AF_INET6 : AF_INET
    descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var outcome: Int32
    if isIPv6 {
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      address.sin6_addr = in6addr_loopback
      outcome = Self.connect(descriptor, &address)
    } else {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      outcome = Self.connect(descriptor, &address)
    }
    if outcome != 0 { return nil }
  }

  deinit { close(descriptor) }

  /// Whether no program listens on the port. If another test has got the port meanwhile, this waits until that test has
  /// released it.
  static func isFree(_ port: UInt16) -> Bool {
    for _ in 0..<3000 {
      if RawClient(port: port) == nil, RawClient(port: port, isIPv6: true) == nil { return true }
      usleep(10_000)
    }
    return false
  }

  private static func connect<Address>(_ descriptor: Int32, _ address: inout Address) -> Int32 {
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
      }
    }
  }

  @discardableResult
  func send(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.withUnsafeBytes {
      Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    } == bytes.count
  }

  /// Everything that was received until the other side closed or reset the connection.
  func readAll() -> String {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = recv(descriptor, &chunk, chunk.count, 0)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += chunk[..<count]
    }
  }

  /// Sends one request on its own connection, and returns the page to which it is redirected.
  static func get(_ target: String, host: String? = nil, port: UInt16, isIPv6: Bool = false) -> String {
    guard let client = RawClient(port: port, isIPv6: isIPv6) else { return "" }
    let host = host ?? (isIPv6 ? "[::1]:\(port)" : "127.0.0.1:\(port)")
    client.send("GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
    let answer = client.readAll()
    guard answer.hasPrefix("HTTP/1.1 303"), let query = target.firstIndex(of: "?") else { return answer }
    return get(String(target[..<query]), host: host, port: port, isIPv6: isIPv6)
  }
}
