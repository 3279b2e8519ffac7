// What an app gets for a sign-in that it waits for (flows.md §10): a one-time code for its own verifier (RFC 8252 §8.1), or, where the
// operator accepts that other programs on the device can read it, the session token itself.

import EnrollCore
import EnrollGatewayPages

extension Gateway {
  /// What a sign-in begins for an app, and the parameter of the redirect that tells the app.
  struct AppBeginning {
    let beginning: Beginning
    let parameter: (name: String, value: String)
  }

  /// - Parameters:
  ///   - provider: by which the person signed in.
  ///   - challenge: the app's S256 challenge (RFC 7636 §4.2).
  func beginning(
    for app: RegisteredApp, by provider: String, challenge: String, _ request: WebRequest
  ) throws(Interruption) -> AppBeginning {
    let (text, hash) = try owned { () throws(EnrollError) in try OneTimeText.make(random) }
    guard !app.sendsTokenInRedirect else {
      return AppBeginning(
        beginning: .session(try newSession(hash, app: app.id, for: request)),
        parameter: ("session_token", text))
    }
    let code = NewAppCode(
      codeHash: hash, app: app.id, provider: provider, challenge: challenge,
      expires: now + Self.appCodeSeconds)
    return AppBeginning(beginning: .code(code), parameter: ("code", text))
  }
}
