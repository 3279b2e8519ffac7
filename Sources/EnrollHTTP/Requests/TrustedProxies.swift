// Finds the client of a request behind a load balancer. `X-Forwarded-For` is read from right to left, and only as far as the
// proxies that wrote it are trusted: the client may have invented everything further left.

/// The proxies whose `X-Forwarded-For` is trusted.
struct TrustedProxies: Sendable {
  private let networks: [IPAddress.Network]

  init(_ networks: [IPAddress.Network]) { self.networks = networks }

  func contains(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }

  /// The client of a request that a trusted proxy forwarded: the first hop from the right that is not trusted. An invalid entry
  /// ends the search: the client is then the hop that wrote it.
  /// - Parameter values: the values of `X-Forwarded-For`.
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
