// The end of a sign-in for an app (flows.md §10). The app gets a one-time code, which is useless without the app's verifier
// (RFC 8252 §8.1). With `dangerouslySendTokenInRedirect` the redirect has the session token, which other programs on the device
// can read.

import EnrollSteps
import EnrollRules
import EnrollGatewayPages
import EnrollHTTP

/// Signs a user in to the account of an identity.
struct SignInCompletion: GatewaySteps {
  let services: GatewayServices
  let store: any SessionStore
  let sessions: GatewaySessions
  let metrics: GatewayMetrics

  /// How long an app has to redeem the code of its redirect.
  static let appCodeSeconds: Int64 = 60

  /// The code or the session of an app, and the parameter of the redirect that carries it.
  struct AppCredential {
    let credential: NewCredential
    let parameter: (name: String, value: String)
  }

  /// - Parameters:
  ///   - provider: the provider with which the user signed in.
  ///   - challenge: the app's S256 challenge (RFC 7636 §4.2).
  func credential(
    for app: RegisteredApp, by provider: String, challenge: String, _ request: WebRequest
  ) throws(Interruption) -> AppCredential {
    let (text, hash) = try internalCall { () throws(EnrollError) in try RandomToken.make(random) }
    guard !app.sendsTokenInRedirect else {
      return AppCredential(
        credential: .session(try sessions.newSession(hash, app: app.id, for: request)),
        parameter: ("session_token", text))
    }
    let code = NewAppCode(
      codeHash: hash, app: app.id, provider: provider, challenge: challenge,
      expires: now + Self.appCodeSeconds)
    return AppCredential(credential: .code(code), parameter: ("code", text))
  }

  func signIn(
    _ identity: Identity, creating credential: NewCredential, for request: WebRequest
  ) throws(Interruption) -> SignedIn {
    let id: AccountID = try sessions.newID()
    let now = now
    let signedIn = try callingStore { () throws(StoreFailure) in
      try store.signIn(
        identity, newAccountID: id, creating: credential, at: now, from: AuditOrigin(of: request))
    }
    metrics.signedIn(at: identity.provider, signedIn.isNew ? .registered : .signedIn)
    log.write(
      .info,
      "\(identity.provider): account \(signedIn.account.id) \(signedIn.isNew ? "registered" : "signed in")")
    return signedIn
  }
}
