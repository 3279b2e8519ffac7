// The data of a sign-in at the back end until its provider answers. It is in a sealed cookie, so that the back end
// keeps nothing: httpOnly, secure, SameSite, 10 minutes, deleted afterwards.

import EnrollCrypto
import EnrollJSON

struct PendingSignIn: Equatable {
  var identity: BFF.Identity
  /// Between the back end and the provider.
  var state: String
  var codeVerifier: String
  var expiresAt: Int64
  var app: App

  /// Where the app waits, and what it sent.
  struct App: Equatable {
    var redirectURI: String
    var state: String?
    var codeChallenge: String
  }

  static let lifetimeSeconds: Int64 = 600
  private static let associatedData = Array("enroll-sandbox bff sign-in".utf8)

  /// The cookie's value.
  func sealed(with key: Secret) throws -> String {
    let text = JSON.object([
      ("provider", .string(identity.rawValue)), ("state", .string(state)),
      ("verifier", .string(codeVerifier)), ("expires", .integer(expiresAt)),
      ("redirect", .string(app.redirectURI)), ("appState", app.state.map { .string($0) }),
      ("challenge", .string(app.codeChallenge)),
    ]).serialized()
    let nonce = try SystemRandom.bytes(AESGCM.nonceCount)
    let body = try AESGCM.seal(
      Secret(text), key: key, nonce: nonce, associatedData: Self.associatedData)
    return Encoding.base64URL(nonce + body)
  }

  /// nil for anything that was not sealed here, or not for this moment.
  init?(sealed text: String?, with key: Secret, now: Int64) {
    guard let text, let bytes = Encoding.bytes(base64URL: text[...]), bytes.count > AESGCM.nonceCount,
      let opened = try? AESGCM.open(
        Array(bytes[AESGCM.nonceCount...]), key: key, nonce: Array(bytes[..<AESGCM.nonceCount]),
        associatedData: Self.associatedData),
      let json = try? JSON.parse(opened.revealBytes()),
      let identity = json["provider"]?.string.flatMap(BFF.Identity.init),
      let state = json["state"]?.string,
      let verifier = json["verifier"]?.string, let expiresAt = json["expires"]?.integer, now <= expiresAt,
      let redirectURI = json["redirect"]?.string, let challenge = json["challenge"]?.string
    else { return nil }
    self.init(
      identity: identity, state: state, codeVerifier: verifier, expiresAt: expiresAt,
      app: App(redirectURI: redirectURI, state: json["appState"]?.string, codeChallenge: challenge))
  }

  init(
    identity: BFF.Identity, state: String, codeVerifier: String, expiresAt: Int64, app: App
  ) {
    self.identity = identity
    self.state = state
    self.codeVerifier = codeVerifier
    self.expiresAt = expiresAt
    self.app = app
  }
}
