// The user's identity, and diagnostics for support.

public import EnrollCore
import EnrollHost
public import EnrollJSON

extension EnrollClient {
  /// The verified claims about the user who is signed in or waits for confirmation.
  /// - Throws: `.notFound` if there is no such user.
  public func profile() async throws(EnrollError) -> JSONObject {
    try await offload { client, _, _ throws(EnrollError) in try client.profile() }
  }

  /// The userinfo endpoint's current answer. - Throws: `.profileMismatch` if it describes another user (R28).
  public func userinfo() async throws(EnrollError) -> JSONObject {
    try await offload { client, deadline, cancellation throws(EnrollError) in
      try client.userinfo(until: deadline, cancellation: cancellation)
    }
  }

  /// The data kept about the account; never the refresh token.
  public func account() async throws(EnrollError) -> AccountSnapshot {
    try await offload { client, _, _ throws(EnrollError) in try client.readAccount() }
  }

  /// Everything that support needs, as JSON for people: versions, configuration, provider, state, expiries, store,
  /// transactions and the last errors; no token, code, key or PIN, and nothing about the user. Sends no request.
  public func diagnostics() async throws(EnrollError) -> JSONObject {
    try await offload { client, _, _ throws(EnrollError) in try client.diagnostics() }
  }
}
