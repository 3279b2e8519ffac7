// Which client a request behind a load balancer comes from. `X-Forwarded-For` is believed from right to left, and only as far as
// the proxies that wrote it are trusted: everything further left may be the client's own invention.

/// The proxies whose word counts.
struct TrustedProxies: Sendable {
  private let networks: [IPAddress.Network]

  init(_ networks: [IPAddress.Network]) { self.networks = networks }

  func contains(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }

  /// The last hop that is not trusted, of a request that a trusted proxy handed on. An entry that is no address ends the
  /// search: the hop that wrote it is then the client.
  /// - Parameter values: of `X-Forwarded-For`.
  func client(behind proxy: IPAddress, forwarded values: [String]) -> IPAddress {
    var client = proxy
    for value in values.reversed() {
      for entry in value.split(separator: ",", omittingEmptySubsequences: false).reversed() {
        guard let hop = IPAddress(forwarded: entry) else { return client }
        client = hop
        if !contains(hop) { return client }
      }
    }
    return client
  }
}
