// The user's identity, the PIN over the account, and diagnostics for support.

import EnrollRules
import EnrollHost
public import EnrollJSON

extension EnrollClient {
  /// The verified claims about the user who is signed in; without a session, about the user who is asked to confirm.
  /// - Throws: `.notFound` if there is no such user.
  public func profile() async throws(EnrollError) -> JSONObject {
    try await offload { client, _, _ throws(EnrollError) in try client.profile() }
  }

  /// The current response of the userinfo endpoint. - Throws: `.profileMismatch` if it describes another user (R28).
  public func userinfo() async throws(EnrollError) -> JSONObject {
    try await offload { client, deadline, cancellation throws(EnrollError) in
      try client.userinfo(until: deadline, cancellation: cancellation)
    }
  }

  /// The stored data about the session, without the refresh token, and about a sign-in that waits for confirmation.
  public func account() async throws(EnrollError) -> AccountSnapshot {
    try await offload { client, _, _ throws(EnrollError) in try client.readAccount() }
  }

  /// Everything that support needs, as JSON for humans: versions, configuration, provider, state, expiries, store,
  /// transactions and the last errors; no token, code, key or PIN, and nothing about the user. Sends no request.
  public func diagnostics() async throws(EnrollError) -> JSONObject {
    try await offload { client, _, _ throws(EnrollError) in try client.diagnostics() }
  }
}

extension EnrollClient {
  /// Protects the account with a PIN of 4 to 64 bytes. The account stays open in this process; every other process gets
  /// `.storeLocked` until ``unlock(pin:)``. Anyone who has the store's key can try all short PINs. Completes the step
  /// `pin`: the profile that waited for this step is shown to the user or, if no confirmation is required, confirmed.
  /// - Throws: `.illegalState` if the account already has a PIN, or if nothing is stored yet; `.unsupported` for a
  ///   store in memory.
  public func setPIN(_ pin: Secret) async throws(EnrollError) {
    try await offload { client, _, _ throws(EnrollError) in try client.setPIN(pin) }
  }

  /// Opens the account in this process. A wrong PIN is a result, not an error. A wrong PIN at the last permitted
  /// attempt erases the account.
  /// - Throws: `.illegalState` if the account has no PIN.
  public func unlock(pin: Secret) async throws(EnrollError) -> PINAnswer {
    try await offload { client, _, _ throws(EnrollError) in try client.usePIN(pin, to: .unlock) }
  }

  /// Replaces the PIN. - Throws: as ``unlock(pin:)``.
  public func changePIN(_ pin: Secret, to new: Secret) async throws(EnrollError) -> PINAnswer {
    try await offload { client, _, _ throws(EnrollError) in try client.usePIN(pin, to: .replace(new)) }
  }

  /// Removes the PIN. - Throws: as ``unlock(pin:)``.
  public func removePIN(_ pin: Secret) async throws(EnrollError) -> PINAnswer {
    try await offload { client, _, _ throws(EnrollError) in try client.usePIN(pin, to: .remove) }
  }
}
