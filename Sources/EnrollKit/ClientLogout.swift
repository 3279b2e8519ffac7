// The end of a session, of a device, and of what is kept here.

public import EnrollCore
import EnrollHost

extension EnrollClient {
  /// Erases the session on this device, then revokes its tokens at the provider.
  /// - Returns: the URL that ends the provider's own session in the browser, and whether the provider was told
  ///   (``ProviderTold``). If it cannot be told, the tokens work until they expire.
  @discardableResult
  public func logout(localOnly: Bool = false) async throws(EnrollError) -> SignOut {
    try await offload { client, deadline, cancellation throws(EnrollError) in
      try client.beginLogout(localOnly: localOnly, until: deadline, cancellation: cancellation)
    }
  }

  /// Finishes a logout with its callback URL. - Throws: `.unsolicited` if no logout of this account waits for it.
  public func finishLogout(_ url: String) async throws(EnrollError) {
    try await offload { client, _, _ throws(EnrollError) in try client.finishLogout(url) }
  }

  /// Logs out, erases pending transactions and resets the installation id.
  /// - Returns: as ``logout(localOnly:)``.
  @discardableResult
  public func deregister() async throws(EnrollError) -> SignOut {
    try await offload { client, deadline, cancellation throws(EnrollError) in
      try client.deregister(until: deadline, cancellation: cancellation)
    }
  }

  /// Erases the installation id of the store; the next use makes a new one.
  public func resetInstallation() async throws(EnrollError) {
    try await offload { client, _, _ throws(EnrollError) in try client.resetInstallation() }
  }

  /// Erases the local state only; sends nothing.
  @discardableResult
  public func clear() async throws(EnrollError) -> RegistrationState {
    try await offload { client, _, _ throws(EnrollError) in try client.clear() }
  }
}
