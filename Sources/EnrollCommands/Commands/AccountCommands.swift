// The data kept about an account.

import EnrollRules
import EnrollHost
import EnrollJSON

extension CommandTable {
  static let accountCommands = [
    Command(
      "account.read", method: "account", .blocking,
      "Reads the stored data about the account, but never the refresh token.",
      gives: .object(
        [
          .optional("profile", .profile.as("The verified claims about the user.")),
          .optional(
            "idToken", .text("The id_token as the provider signed it.", maximumBytes: 1 << 20).sensitive),
          .optional(
            "accessToken",
            .text(
              "The stored access token, even if it has expired; token.access returns one that works.",
              maximumBytes: 1 << 20
            )
            .sensitive),
          .optional("expiresAt", .date("When the access token expires.")),
          .optional(
            "renews",
            Schema(
              .boolean,
              "Whether the session renews its access token. Without, the user signs in again when the token expires. Absent if no user is signed in."
            )),
          .optional(
            "renewableUntil",
            .date(
              "When the refresh token expires unless a renewal replaces it. Absent if the provider does not say."
            )),
          .optional(
            "missingScopes",
            .text(
              "The scopes that were requested and that the provider did not grant, separated by spaces. Absent if it granted all, or does not say.",
              maximumBytes: 16_448)),
          .optional("registrationType", registrationType),
          .optional("waiting", waiting),
        ],
        "The stored data about an account, without the refresh token. Everything but waiting belongs to the confirmed session, and is absent without one."
      ).named("Account"),
      fails: CommandErrors(.store)
    ) { call throws(EnrollError) in
      try call.openClient().readAccount().json
    },
    Command(
      "diagnostics.export", method: "diagnostics", .blocking,
      "Collects what support needs, without secrets: versions, configuration, provider, state, store, last errors.",
      gives: .object([
        .required("diagnostics", Schema(.claims, "For humans: its members may change with any version."))
      ])
    ) { call throws(EnrollError) in
      .object([("diagnostics", .object(try call.openClient().diagnostics()))])
    },
  ]

  private static let registrationType = Schema.words(
    "RegistrationType", ["SOCIAL", "PASSWORDLESS"],
    "How the account was registered; absent for any other way.")

  private static let waiting = Schema.object(
    [
      .required(
        "transaction",
        .transaction.as("The transaction that brought its tokens; registration.confirm names it.")),
      .required(
        "profile",
        .profile.as("The user who is to confirm; empty if the provider does not say who it is.")),
      .optional("registrationType", registrationType),
    ],
    "The sign-in that waits for the user's confirmation, beside the session or without one. Its tokens are not handed out."
  ).named("WaitingSignIn")
}
