// A client's address for rate limits. An IPv6 customer has a network of at least /64 (RFC 6177 §2, RFC 4291 §2.5.1) and can
// choose any address in it, so the network counts as one client. An IPv4 address is one client.

import EnrollHTTP

enum ClientNetwork {
  /// - Parameter address: ``WebRequest/client``, in the shortest form (RFC 5952).
  /// - Returns: an IPv4 address unchanged; the first 64 bits of an IPv6 address, always in the same spelling.
  static func text(of address: String) -> String {
    guard address.utf8.contains(0x3A) else { return address }
    // If the IPv6 address ends with an IPv4 address, that part is after the first 64 bits, so it is not parsed here.
    let groups = address.utf8.split(separator: 0x3A, omittingEmptySubsequences: false).map { Substring($0) }
    var first: [String] = []
    for (place, group) in groups.enumerated() {
      // An empty group (`::`) means as many zero groups as the address lacks.
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
