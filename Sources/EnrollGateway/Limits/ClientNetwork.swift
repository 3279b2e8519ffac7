// A client's address as limits count it. One customer has a whole IPv6 network of at least 64 bits (RFC 6177 §2, RFC 4291 §2.5.1), so the
// address below is the client's to choose. An IPv4 address is one client.

import EnrollCore
import EnrollHTTP

enum ClientNetwork {
  /// - Parameter address: as ``WebRequest/client`` has it, in the shortest form (RFC 5952).
  /// - Returns: an IPv4 address as it is; of an IPv6 address the first 64 bits, always spelled alike.
  static func text(of address: String) -> String {
    guard address.utf8.contains(0x3A) else { return address }
    // An IPv4 address at the end lies beyond the first 64 bits.
    let groups = address.utf8.split(separator: 0x3A, omittingEmptySubsequences: false).map { Substring($0) }
    var first: [String] = []
    for (place, group) in groups.enumerated() {
      // Two colons stand for so many zeros that eight groups come about.
      guard group.isEmpty else {
        first.append(String(group).lowercased())
        continue
      }
      if place == 0 || place == groups.count - 1 { continue }
      let written = groups.reduce(0) { $0 + ($1.isEmpty ? 0 : $1.utf8.contains(0x2E) ? 2 : 1) }
      first += [String](repeating: "0", count: max(0, 8 - written))
    }
    return first.prefix(4).joined(separator: ":") + "::/64"
  }
}
