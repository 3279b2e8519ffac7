// The outcome of asking for a valid token as JSON (flows.md §8): a closed set, told apart by `outcome`.
// The access token leaves its Secret here, because handing it out is what the command is for; the refresh token never does.

import EnrollCore
import EnrollCrypto
import EnrollJSON

extension AccessOutcome {
  var json: JSON {
    switch self {
    case .valid(let token): return .object([("outcome", .string("valid"))] + token.members)
    case .stale(let token, let reason):
      return .object(
        [("outcome", .string("stale"))] + token.members
          + [("reason", .string(reason.code.name)), ("error", reason.json)])
    case .expired(let offlineSince, let retryAfterSeconds, let reason):
      return .object([
        ("outcome", .string("expired")), ("offlineSince", offlineSince.map { .integer($0.seconds) }),
        ("retryAfter", retryAfterSeconds.map { .integer($0) }), ("reason", .string(reason.code.name)),
        ("error", reason.json),
      ])
    case .rejected(let reason):
      return .object([
        ("outcome", .string("rejected")), ("reason", .string(reason.oauthError ?? reason.code.name)),
        ("error", reason.json),
      ])
    case .reauthenticate(let reason):
      return .object([("outcome", .string("reauthenticate")), ("reason", .string(reason))])
    case .storeLocked: return .object([("outcome", .string("storeLocked"))])
    case .busy: return .object([("outcome", .string("busy"))])
    }
  }
}

extension AccessToken {
  fileprivate var members: [(String, JSON?)] {
    [
      ("accessToken", .string(value.reveal())), ("tokenType", .string(tokenType)),
      // A stand-in token has no end.
      ("expiresAt", expiresAt.seconds == .max ? nil : .integer(expiresAt.seconds)),
    ]
  }
}

extension Schema {
  static let access = Schema(
    .anyOf([
      .object([.required("outcome", .word("valid"))] + token, "Use it."),
      .object(
        [.required("outcome", .word("stale"))] + token + [
          .required("reason", reason), .required("error", error),
        ],
        "Due, and it could not be renewed just now; it still works."),
      .object(
        [
          .required("outcome", .word("expired")), .optional("offlineSince", date("Of the first failure.")),
          .optional("retryAfter", .seconds(0 ... .max, "Until another try makes sense.")),
          .required("reason", reason), .required("error", error),
        ], "Expired, and it could not be renewed yet; waiting helps."),
      .object(
        [.required("outcome", .word("rejected")), .required("reason", reason), .required("error", error)],
        "The provider refused to renew, without ending the session."),
      .object(
        [.required("outcome", .word("reauthenticate")), .required("reason", reason)],
        "The session is over, or there never was one: sign in."),
      .object([.required("outcome", .word("storeLocked"))], "The store's key is not to be had now."),
      .object([.required("outcome", .word("busy"))], "Another one is renewing, and the deadline came first."),
    ]), "What a call for a valid access token returns."
  ).named("AccessOutcome")

  private static let token: [Property] = [
    .required(
      "accessToken",
      .text("For the Authorization header or a form body, nowhere else.", maximumBytes: 1 << 20).sensitive),
    .required("tokenType", .text("As the server spelt it: Bearer, DPoP.")),
    .optional("expiresAt", date("By this device's clock; absent for a stand-in token, which has no end.")),
  ]

  private static let reason = Schema.text("One word or a short text, for a log.", maximumBytes: 4096)
}
