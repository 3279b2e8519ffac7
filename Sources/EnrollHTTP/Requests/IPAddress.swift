// Addresses of clients and proxies as numbers, so that `::ffff:10.0.0.7` and `10.0.0.7` are one address (RFC 4291 §2.5.5.2).

import CPosix
import EnrollRules

/// An IPv6 address, or an IPv4 address in its IPv4-mapped IPv6 form.
struct IPAddress: Hashable, Sendable {
  private let high: UInt64
  private let low: UInt64

  private static let mapped: UInt64 = 0xFFFF_0000_0000

  /// - Parameter text: a numeric address without brackets, port or zone.
  init?(_ text: String) {
    guard text.utf8.count <= 45 else { return nil }
    var four: UInt32 = 0
    if inet_pton(AF_INET, text, &four) == 1 {
      high = 0
      low = Self.mapped | UInt64(UInt32(bigEndian: four))
      return
    }
    var six: InlineArray<2, UInt64> = [0, 0]
    guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
    high = UInt64(bigEndian: six[0])
    low = UInt64(bigEndian: six[1])
  }

  /// - Parameter address: the address of a socket. The initializer returns nil if this is not an IP address.
  init?(_ address: UnsafeMutablePointer<sockaddr>) {
    let raw = UnsafeRawPointer(address)
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      high = 0
      low = Self.mapped | UInt64(UInt32(bigEndian: raw.load(as: sockaddr_in.self).sin_addr.s_addr))
    case AF_INET6:
      let words = raw.load(as: sockaddr_in6.self).sin6_addr
      (high, low) = withUnsafeBytes(of: words) {
        (
          UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
          UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
      }
    default: return nil
    }
  }

  /// The port of a listening socket.
  static func port(of descriptor: Int32) -> Int? {
    var address = sockaddr_in6()
    var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let outcome = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    // This is correct for IPv4, too: the port is at the same offset in addresses of both families.
    return outcome == 0 ? Int(UInt16(bigEndian: address.sin6_port)) : nil
  }

  /// Whether a value of `Host` is `localhost` or a loopback address, with or without a port; IPv6 is in brackets (RFC 3986
  /// §3.2.2).
  static func isLoopback(host: String) -> Bool {
    let parts = host.split(separator: ":", omittingEmptySubsequences: false)
    if parts.count <= 2, ASCII.equalsIgnoringCase(String(parts[0]), "localhost") {
      return parts.count == 1 || isPort(Substring(":" + parts[1]))
    }
    // An IPv6 address without brackets is not a valid host.
    guard host.utf8.first == 0x5B || parts.count <= 2 else { return false }
    return IPAddress(forwarded: Substring(host))?.isLoopback ?? false
  }

  /// - Parameter text: an entry of `X-Forwarded-For`: an address, with or without brackets and port.
  init?(forwarded text: Substring) {
    let entry = text.trimmed
    if entry.first == "[" {
      guard let end = entry.firstIndex(of: "]"), Self.isPort(entry[entry.index(after: end)...]) else {
        return nil
      }
      self.init(String(entry[entry.index(after: entry.startIndex)..<end]))
    } else if let colon = entry.firstIndex(of: ":"), colon == entry.lastIndex(of: ":") {
      guard Self.isPort(entry[colon...]) else { return nil }
      self.init(String(entry[..<colon]))
    } else {
      self.init(String(entry))
    }
  }

  private static func isPort(_ text: Substring) -> Bool {
    let number: UInt16? = ASCII.number(text.dropFirst())
    return text.isEmpty || text.first == ":" && text.utf8.count <= 6 && number != nil
  }

  /// The network in which one client may choose its addresses: for IPv6 the /64 that contains this address (RFC 6177
  /// §2), for IPv4 only the address itself.
  var network: IPAddress { isIPv4 ? self : IPAddress(high: high, low: 0) }

  private init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// 127.0.0.0/8 or ::1 (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3).
  var isLoopback: Bool { isIPv4 ? low >> 24 & 0xFF == 127 : high == 0 && low == 1 }

  private var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }

  /// The address in its shortest form.
  var text: String {
    var characters = [CChar](repeating: 0, count: 64)
    if isIPv4 {
      var four = UInt32(truncatingIfNeeded: low).bigEndian
      inet_ntop(AF_INET, &four, &characters, 64)
    } else {
      var six: InlineArray<2, UInt64> = [high.bigEndian, low.bigEndian]
      inet_ntop(AF_INET6, &six, &characters, 64)
    }
    return String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// A network: all addresses with the same leading bits.
  struct Network: Hashable, Sendable {
    private let address: IPAddress
    private let bits: Int

    /// - Parameter text: a network such as `10.0.0.0/8` or `2001:db8::/32`, or a single address.
    init?(_ text: String) {
      let parts = text.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count <= 2, let address = IPAddress(String(parts[0])) else { return nil }
      self.address = address
      let unmapped = address.isIPv4 ? 96 : 0
      guard parts.count == 2 else {
        bits = 128
        return
      }
      guard parts[1].utf8.count <= 3, let count = UInt8(parts[1]), unmapped + Int(count) <= 128 else {
        return nil
      }
      bits = unmapped + Int(count)
    }

    func contains(_ other: IPAddress) -> Bool {
      // A shift by the full width gives 0; with a mask of 0 no bit is compared.
      let highMask = ~UInt64(0) << UInt64(64 - min(bits, 64))
      let lowMask = ~UInt64(0) << UInt64(64 - max(bits - 64, 0))
      return (address.high ^ other.high) & highMask == 0 && (address.low ^ other.low) & lowMask == 0
    }
  }
}

extension Substring {
  /// The text without surrounding blanks and tabs.
  var trimmed: Substring {
    var text = self
    while let first = text.utf8.first, first == 0x20 || first == 0x09 { text.removeFirst() }
    while let last = text.utf8.last, last == 0x20 || last == 0x09 { text.removeLast() }
    return text
  }
}
