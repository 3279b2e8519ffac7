// The end of a sign-in for an app (flows.md §10). The app gets a one-time code, which works with the app's own verifier (RFC 8252 §8.1).
// With `dangerouslySendTokenInRedirect` it gets the session token, which other programs on the device can read.

import EnrollCore
import EnrollGatewayPages
import EnrollHTTP

extension Gateway {
  /// The code or the session of an app, and the parameter of the redirect that carries it.
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
