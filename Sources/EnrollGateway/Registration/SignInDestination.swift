// The destination after a sign-in by e-mail: an app that waits, a URL of the configured list, or a page of the account.
// Every form of the sign-in contains the sealed destination, so that no unchecked URL is taken from a request, and no
// URL is shown. For a mailed link the store keeps the destination, so that the link works in any browser.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON

struct SignInDestination: Equatable {
  /// The name of the form field, and of the URL parameter, that carries the sealed destination.
  static let field = "visit"

  /// The app that waits for a one-time code, which is bound to the app's challenge.
  var app: Attempt.App?
  /// The app that `clientId` names; the browser goes to its fallback URI.
  var clientID: String?
  /// A URL of the configured `returnTo` list, or the path of a page that required a recent sign-in.
  var returnTo: String?
  /// The URL of the issuer's authorization request, which continues once the browser has a session. The URL
  /// was checked when it arrived.
  var fromURI: String?

  /// The destination as JSON; nil for the account page.
  var json: JSON? {
    guard self != SignInDestination() else { return nil }
    return .object([
      (
        "app",
        app.map {
          .object([
            ("id", .string($0.id)), ("redirect", .string($0.redirectURI)),
            ("state", $0.state.map { .string($0) }), ("challenge", .string($0.challenge)),
          ])
        }
      ),
      ("client", clientID.map { .string($0) }), ("returnTo", returnTo.map { .string($0) }),
      ("from", fromURI.map { .string($0) }),
    ])
  }

  var text: String? { json.map { String(decoding: $0.serialized(), as: UTF8.self) } }

  /// - Parameter text: the value of ``text``; nil or an invalid text means the account page.
  init(text: String?) {
    guard let text, let json = try? JSON.parse(Array(text.utf8)) else { return }
    clientID = json["client"]?.string
    returnTo = json["returnTo"]?.string
    fromURI = json["from"]?.string
    guard let app = json["app"], let id = app["id"]?.string, let redirect = app["redirect"]?.string,
      let challenge = app["challenge"]?.string
    else { return }
    self.app = Attempt.App(id: id, redirectURI: redirect, state: app["state"]?.string, challenge: challenge)
  }

  init(
    app: Attempt.App? = nil, clientID: String? = nil, returnTo: String? = nil, fromURI: String? = nil
  ) {
    self.app = app
    self.clientID = clientID
    self.returnTo = returnTo
    self.fromURI = fromURI
  }
}

extension SignInDestination {
  /// The value of the form field; nil for the account page.
  func sealed(with keys: KeyRing, at now: UnixTime, random: any RandomSource) throws(EnrollError) -> String? {
    guard let text else { return nil }
    return try keys.seal(Secret(text), for: .destination, at: now, random: random)
  }

  /// Opens the sealed form field; nil if none of `keys` sealed the field.
  init?(sealed field: String?, with keys: KeyRing) {
    guard let field else {
      self.init()
      return
    }
    guard let opened = keys.open(field, for: .destination) else { return nil }
    self.init(text: opened.reveal())
  }
}
