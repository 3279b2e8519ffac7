// The user's identity, the account's data, diagnostics and logout.

public import CEnroll
import EnrollRules
import EnrollCrypto
import EnrollHost
import EnrollJSON

/// Runs the body of a function whose output is claims.
private func returningClaims(
  _ client: Handle?, _ claims: BufferOut?, _ error: ErrorOut?,
  _ body: (ClientHandle) throws(EnrollError) -> JSONObject
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let handle = try ClientHandle.find(client)
    let claims = try require(claims, "claims")
    claims.pointee = try enroll_buf(JSON.object(try body(handle)).serialized())
  }
}

@_cdecl("enroll_identity_profile") @implementation
public func enroll_identity_profile(_ client: Handle?, _ claims: BufferOut?, _ error: ErrorOut?)
  -> enroll_status
{
  returningClaims(client, claims, error) { handle throws(EnrollError) in try handle.client.profile() }
}

@_cdecl("enroll_identity_userinfo") @implementation
public func enroll_identity_userinfo(
  _ client: Handle?, _ timeout_ms: Int64, _ claims: BufferOut?, _ error: ErrorOut?
) -> enroll_status {
  returningClaims(client, claims, error) { handle throws(EnrollError) in
    try handle.client.userinfo(until: try handle.deadline(timeout_ms), cancellation: handle.closing)
  }
}

@_cdecl("enroll_account_read") @implementation
public func enroll_account_read(
  _ client: Handle?, _ profile: BufferOut?, _ id_token: BufferOut?, _ access_token: BufferOut?,
  _ registration_type: BufferOut?,
  _ expires_at: Int64Out?, _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let account = try ClientHandle.find(client).client.readAccount()
    let known = account.profile.map { JSON.object($0).serialized() } ?? []
    let places = [profile, id_token, access_token, registration_type]
    let contents = [
      Secret(known), account.idToken, account.accessToken, account.registrationType.map { Secret($0) },
    ]
    let outputs = try enroll_buf.all(
      zip(places, contents).map { place, content in place.map { _ in content ?? Secret([]) } })
    for (place, output) in zip(places, outputs) { place?.pointee = output }
    expires_at?.pointee = account.expiresAt?.seconds ?? 0
  }
}

@_cdecl("enroll_account_renewal") @implementation
public func enroll_account_renewal(
  _ client: Handle?, _ renews: Int32Out?, _ renewable_until: Int64Out?, _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let account = try ClientHandle.find(client).client.readAccount()
    guard let doesRenew = account.renews else { throw EnrollError(.notFound, "no user is signed in") }
    renews?.pointee = doesRenew ? 1 : 0
    renewable_until?.pointee = account.renewableUntil?.seconds ?? 0
  }
}

@_cdecl("enroll_diagnostics_export") @implementation
public func enroll_diagnostics_export(_ client: Handle?, _ diagnostics: BufferOut?, _ error: ErrorOut?)
  -> enroll_status
{
  reporting(to: error) { () throws(EnrollError) in
    let handle = try ClientHandle.find(client)
    let output = try require(diagnostics, "diagnostics")
    output.pointee = try enroll_buf(JSON.object(try handle.client.diagnostics()).serialized())
  }
}

@_cdecl("enroll_logout_begin") @implementation
public func enroll_logout_begin(
  _ client: Handle?, _ local_only: Int32, _ timeout_ms: Int64, _ url: BufferOut?, _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let handle = try ClientHandle.find(client)
    let url = try require(url, "url")
    let ended = try handle.client.beginLogout(
      localOnly: local_only != 0, until: try handle.deadline(timeout_ms), cancellation: handle.closing)
    url.pointee = try enroll_buf(ended.url ?? "")
  }
}

extension ProviderTold {
  fileprivate var number: Int32 {
    switch self {
    case .told: ENROLL_TOLD
    case .queued: ENROLL_TOLD_QUEUED
    case .notPossible: ENROLL_TOLD_NOT_POSSIBLE
    }
  }
}

@_cdecl("enroll_logout_told") @implementation
public func enroll_logout_told(
  _ client: Handle?, _ told: Int32Out?, _ reason: BufferOut?, _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let handle = try ClientHandle.find(client)
    let output = try require(told, "told")
    let known = handle.client.providerTold
    if let reason { reason.pointee = try enroll_buf(known?.reason ?? "") }
    output.pointee = known?.number ?? ENROLL_TOLD_NOTHING
  }
}

@_cdecl("enroll_logout_resume") @implementation
public func enroll_logout_resume(_ client: Handle?, _ url: TextIn?, _ url_size: Int, _ error: ErrorOut?)
  -> enroll_status
{
  reporting(to: error) { () throws(EnrollError) in
    let handle = try ClientHandle.find(client)
    try handle.client.finishLogout(try TextInput(url, url_size, "url").requiredText(limit: TextLimit.url))
  }
}
