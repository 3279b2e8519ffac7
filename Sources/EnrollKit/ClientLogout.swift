// The calls that end a session or a device's registration, or erase local data.

import EnrollRules
import EnrollHost

extension EnrollClient {
  /// Erases the session on this device, then revokes its tokens at the provider. With a `postLogoutRedirectURI`, the
  /// revocation waits for ``finishLogout(_:)`` or ``handle(_:timeout:)``, for at most 180 seconds: an earlier
  /// revocation might end the provider's session, which the browser needs for the logout. If you do not open the URL,
  /// call ``revoke()``, which ends that wait.
  /// - Returns: the URL that ends the provider's own session in the browser, and whether the provider knows
  ///   of the logout (``ProviderTold``). If the provider cannot be informed, the tokens work until they
  ///   expire.
  @discardableResult
  public func logout(localOnly: Bool = false) async throws(EnrollError) -> SignOut {
    try await offload { client, deadline, cancellation throws(EnrollError) in
      try client.beginLogout(localOnly: localOnly, until: deadline, cancellation: cancellation)
    }
  }

  /// Finishes a logout with its callback URL, and sends the revocation that waited for this URL.
  /// - Throws: `.unsolicited` if no logout of this account waits for this URL.
  public func finishLogout(_ url: String) async throws(EnrollError) {
    try await offload { client, _, _ throws(EnrollError) in try client.finishLogout(url) }
  }

  /// Logs out, erases pending transactions and resets the installation id. The tokens are revoked at once in any case.
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
