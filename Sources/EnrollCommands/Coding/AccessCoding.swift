// The outcome of a call for a valid token as JSON (flows.md §8): an object whose member `outcome` names its kind; no
// other kinds exist. The access token is taken out of its Secret here, because the command returns it. The refresh
// token is never taken out.

import EnrollRules
import EnrollCrypto
package import EnrollJSON

extension AccessOutcome {
  var json: JSON { .object(object()) }

  /// - Parameter showsToken: whether the access token is included, if there is one.
  package func object(showsToken: Bool = true) -> JSONObject {
    let outcome: (String, JSON?) = ("outcome", .string(kind.rawValue))
    switch self {
    case .valid(let token): return JSONObject([outcome] + token.members(showsToken))
    case .stale(let token, let reason):
      return JSONObject(
        [outcome] + token.members(showsToken) + [
          ("reason", .string(reason.code.name)), ("error", reason.json),
        ])
    case .expired(let offlineSince, let retryAfterSeconds, let reason):
      return JSONObject([
        outcome, ("offlineSince", offlineSince.map { .integer($0.seconds) }),
        ("retryAfter", retryAfterSeconds.map { .integer($0) }), ("reason", .string(reason.code.name)),
        ("error", reason.json),
      ])
    case .rejected(let reason):
      return JSONObject([
        outcome, ("reason", .string(reason.oauthError ?? reason.code.name)), ("error", reason.json),
      ])
    case .reauthenticate(let reason, let words):
      return JSONObject([
        outcome, ("reason", .string(reason)), ("oauthErrorDescription", words.map { .string($0) }),
      ])
    case .storeLocked, .busy: return JSONObject([outcome])
    }
  }
}

extension AccessToken {
  /// When the token expires, in seconds since 1970; nil for a stand-in token, which does not expire.
  package var expirySeconds: Int64? { expiresAt.seconds == .max ? nil : expiresAt.seconds }

  fileprivate func members(_ showsToken: Bool) -> [(String, JSON?)] {
    [
      ("accessToken", showsToken ? .string(value.reveal()) : nil), ("tokenType", .string(tokenType)),
      ("expiresAt", expirySeconds.map { .integer($0) }),
      ("scope", scopes.map { .string(Scopes.joined($0)) }),
      ("deviation", deviation.map { .string($0) }),
    ]
  }
}

extension KeptToken {
  package var json: JSON {
    let asked = audience?.scopes ?? []
    return .object([
      ("resource", audience?.resource.map { .string($0) }),
      ("scope", asked.isEmpty ? nil : .string(Scopes.joined(asked))),
      ("granted", .string(Scopes.joined(scopes))), ("tokenType", .string(tokenType)),
      ("expiresAt", .integer(expiresAt.seconds)), ("deviation", deviation.map { .string($0) }),
    ])
  }
}

extension Schema {
  static let access = Schema(
    .anyOf([
      .object([outcome(.valid)] + token, "The token is valid: use it."),
      .object(
        [outcome(.stale)] + token + [
          .required("reason", reason), .required("error", error),
        ],
        "The token is due and could not be renewed; it still works."),
      .object(
        [
          outcome(.expired), .optional("offlineSince", date("When the first renewal failed.")),
          .optional("retryAfter", .seconds(0 ... .max, "The time to wait before another try.")),
          .required("reason", reason), .required("error", error),
        ], "The token has expired and could not be renewed yet; retry later."),
      .object(
        [outcome(.rejected), .required("reason", reason), .required("error", error)],
        "The provider refused to renew, or to issue a token for that audience, without ending the session."),
      .object(
        [
          outcome(.reauthenticate), .required("reason", reason),
          .optional("oauthErrorDescription", providerWords),
        ],
        "There is no session, or it has ended: sign in."),
      .object([outcome(.storeLocked)], "The store is locked: its key is unavailable."),
      .object(
        [outcome(.busy)], "Another renewal is in progress and did not end before the timeout."),
    ]), "The outcome of a call for a valid access token."
  ).named("AccessOutcome")

  private static func outcome(_ kind: AccessOutcome.Kind) -> Property {
    .required("outcome", .word(kind.rawValue))
  }

  private static let token: [Property] = [
    .required(
      "accessToken",
      .text("For the Authorization header or a form body, and nowhere else.", maximumBytes: 1 << 20).sensitive
    ),
    .required("tokenType", .text("The type as the server spells it: Bearer, DPoP.")),
    .optional(
      "expiresAt",
      date(
        "When the token expires, by this device's clock; absent for a stand-in token, which does not expire.")
    ),
    .optional(
      "scope",
      .text(
        "The granted scopes, separated by spaces; there may be fewer than were requested. Those that were requested if the provider does not say. Absent for a stand-in token.",
        maximumBytes: 16_448)),
    .optional("deviation", deviation),
  ]

  private static let deviation = Schema.text(
    "For a token that was requested with resource or scope: how it differs from that, in words, because the provider ignored it. Absent if nothing shows a difference."
  )

  static let keptToken = Schema.object(
    [
      .optional(
        "resource",
        .uri(
          "The resource server that the token is for.", maximumBytes: TokenAudience.maximumResourceBytes)),
      .optional("scope", .text("The requested scopes, separated by spaces.", maximumBytes: 16_448)),
      .required("granted", .text("The granted scopes, separated by spaces.", maximumBytes: 16_448)),
      .required("tokenType", .text("The type as the server spells it: Bearer, DPoP.")),
      .required("expiresAt", date("When the token expires, by this device's clock; it may have expired.")),
    ], "A stored access token, without its secret. The session's own token has neither resource nor scope."
  ).named("KeptToken")

  private static let reason = Schema.text("A word or a short text, for a log.", maximumBytes: 4096)
}
