// Where a person goes in the end, through all the forms on the way: to an app that waits, to the address of a list, to the account
// page. Forms carry it sealed, so that no address comes from a request and none is echoed; a link that is mailed has it in
// the store, so that it leads there from any browser.

import EnrollCore
import EnrollCrypto
import EnrollJSON

struct Visit: Equatable {
  /// The app that waits for a one-time code, bound to its challenge.
  var app: Attempt.App?
  /// The app that was named by `clientId`, and is returned to by its fallback address.
  var clientID: String?
  /// An address of the configuration's list.
  var returnTo: String?
  /// The issuer's authorize request that continues with a session, checked when it came.
  var fromURI: String?

  /// nil for the account page.
  var json: JSON? {
    guard self != Visit() else { return nil }
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

  /// - Parameter text: as ``text`` wrote it; nil, or anything else, is the account page.
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

extension Visit {
  /// The value of a form's field; nil for the account page.
  func sealed(with keys: KeyRing, at now: UnixTime, random: any RandomSource) throws(EnrollError) -> String? {
    guard let text else { return nil }
    return try keys.seal(Secret(text), for: .visit, at: now, random: random)
  }

  /// nil for a field that no key of ours sealed.
  init?(sealed field: String?, with keys: KeyRing) {
    guard let field else {
      self.init()
      return
    }
    guard let opened = keys.open(field, for: .visit) else { return nil }
    self.init(text: opened.reveal())
  }
}
