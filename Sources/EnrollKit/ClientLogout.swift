// The end of a session, of a device, and of what is kept here.

public import EnrollCore
import EnrollHost

extension EnrollClient {
  /// Erases the session here, then tells the provider.
  /// - Returns: the URL that ends the provider's own session in the browser, and whether the provider knows
  ///   (``ProviderTold``): where it cannot be told, its tokens work until they end by themselves.
  @discardableResult
  public func logout(localOnly: Bool = false) async throws(EnrollError) -> SignOut {
    try await offload { client, deadline, cancellation throws(EnrollError) in
      try client.beginLogout(localOnly: localOnly, until: deadline, cancellation: cancellation)
    }
  }

  /// The logout callback came back. - Throws: `.unsolicited` when no logout of ours waits for it.
  public func finishLogout(_ url: String) async throws(EnrollError) {
    try await offload { client, _, _ throws(EnrollError) in try client.finishLogout(url) }
  }

  /// A logout that forgets the device too: pending transactions are cleared, the installation id is reset.
  /// - Returns: as ``logout(localOnly:)``.
  @discardableResult
  public func deregister() async throws(EnrollError) -> SignOut {
    try await offload { client, deadline, cancellation throws(EnrollError) in
      try client.deregister(until: deadline, cancellation: cancellation)
    }
  }

  /// Forgets the installation id of the store: the next use makes another.
  public func resetInstallation() async throws(EnrollError) {
    try await offload { client, _, _ throws(EnrollError) in try client.resetInstallation() }
  }

  /// Empties local state alone; no server is told.
  @discardableResult
  public func clear() async throws(EnrollError) -> RegistrationState {
    try await offload { client, _, _ throws(EnrollError) in try client.clear() }
  }
}
