// Both ends of a sign-in's beginning as JSON: what the host asks for, and what it must do now.

import EnrollCore
import EnrollCrypto
import EnrollJSON

extension SignInOptions {
  static let schema: [Schema.Property] = [
    .optional(
      "kind", Schema(.oneOf(Transaction.Kind.allCases.map { $0.rawValue }), "What kind of transaction."),
      default: .string("signIn")),
    .optional(
      "scopes",
      Schema(
        .anyOf([
          .text("Separated by spaces.", maximumBytes: 16_384),
          Schema(.list(.text("A scope."), maximumCount: Scopes.maximumCount)),
        ]), "Instead of the configured ones.")),
    .optional("options", .object(options)),
    .optional(
      "parameters",
      Schema(
        .texts(maximumCount: 32), "The host's own authorize parameters; the protocol's names are refused.")
    ),
  ]

  private static let options: [Schema.Property] = [
    .optional("prompt", .text("none, login, consent, select_account or create.")),
    .optional("loginHint", .text("Who is likely to sign in.", maximumBytes: 512)),
    .optional(
      "maxAge", Schema(.integer(0 ... .max), "The user must have signed in at most so many seconds ago.")),
    .optional("acrValues", Schema(.list(.text("An authentication class."), maximumCount: 16))),
    .optional("uiLocales", Schema(.list(.text("A BCP 47 tag."), maximumCount: 16), "The best first.")),
    .optional("idTokenHint", .text("Whose session prompt=none is about.", maximumBytes: 65_536)),
  ]

  /// - Throws: `.unsupported` for a kind that this version does not begin.
  init(_ call: Invocation) throws(EnrollError) {
    let kind = call.text("kind").flatMap { Transaction.Kind(rawValue: $0) } ?? .signIn
    guard kind == .signIn || kind == .register else {
      throw EnrollError(
        .unsupported,
        "kind: version \(Version.string) begins signIn and register, and not yet \(kind.rawValue)",
        field: "kind")
    }
    let scopes = call.parameters["scopes"]
    self.init(kind: kind, scopes: scopes?.texts ?? scopes?.string.map { Scopes.split($0) })
    let options = call.object("options")
    prompt = options?["prompt"]?.string
    loginHint = options?["loginHint"]?.string
    maxAgeSeconds = options?["maxAge"]?.integer
    acrValues = options?["acrValues"]?.texts ?? []
    uiLocales = options?["uiLocales"]?.texts ?? []
    idTokenHint = options?["idTokenHint"]?.string.map { Secret($0) }
    for member in call.object("parameters")?.members ?? [] {
      parameters.append((member.key, member.value.string ?? ""))
    }
  }
}

extension BegunTransaction {
  static let schema = Schema.object([
    .required("transaction", .transaction),
    .required(
      "action",
      .object(
        [
          .required("type", .word("openURL")),
          .required(
            "url", .text("To be opened in the external browser; holds the state.", maximumBytes: 65_536)),
        ], "The next move is the host's.")),
    .required(
      "redirectUri", .text("As it was sent: with a loopback redirect, its port.", maximumBytes: 8192)),
    .required("expiresAt", .date("When the transaction ends by itself.")),
    .required(
      "survivesProcess",
      Schema(.boolean, "False for a loopback redirect: its listener dies with the process.")),
  ])

  var json: JSON {
    .object([
      ("transaction", .string(transactionID)), ("action", action.json), ("redirectUri", .string(redirectURI)),
      ("expiresAt", .integer(expiresAt.seconds)), ("survivesProcess", .bool(survivesProcess)),
    ])
  }
}

extension HostAction {
  fileprivate var json: JSON {
    switch self {
    case .openURL(let url): .object([("type", .string("openURL")), ("url", .string(url))])
    }
  }
}
