// Which client a request behind a load balancer comes from. `X-Forwarded-For` is believed from right to left, and only as far as
// the proxies that wrote it are trusted: everything further left may be the client's own invention.

import EnrollCore

/// The proxies whose word counts.
struct TrustedProxies: Sendable {
  private let networks: [IPAddress.Network]

  init(_ networks: [IPAddress.Network]) { self.networks = networks }

  func contains(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }

  /// The last hop that is not trusted, of a request that a trusted proxy handed on. An entry that is no address ends the
  /// search: the hop that wrote it is then the client.
  func client(behind proxy: IPAddress, headers: [HTTPHeader]) -> IPAddress {
    var client = proxy
    for header in headers.reversed() where ASCII.equalsIgnoringCase(header.name, "X-Forwarded-For") {
      for entry in header.value.split(separator: ",", omittingEmptySubsequences: false).reversed() {
        guard let hop = IPAddress(forwarded: entry) else { return client }
        client = hop
        if !contains(hop) { return client }
      }
    }
    return client
  }
}
