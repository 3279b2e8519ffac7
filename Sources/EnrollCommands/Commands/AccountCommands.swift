// What is kept about an account.

import EnrollCore
import EnrollCrypto
import EnrollHost
import EnrollJSON

extension CommandTable {
  static let accountCommands = [
    Command(
      "account.read", .blocking, "What is kept about the account; never the refresh token.",
      gives: .object([
        .optional("profile", Schema(.claims, "The proven claims about the user.")),
        .optional("idToken", .text("As the provider signed it.", maximumBytes: 1 << 20)),
        .optional(
          "accessToken",
          .text("As it is kept, due or not; token.access gives one that works.", maximumBytes: 1 << 20)),
        .optional("expiresAt", .date("When the access token ends.")),
        .optional("registrationType", Schema(.oneOf(["SOCIAL", "PASSWORDLESS"]), "Absent for other kinds.")),
      ])
    ) { call throws(EnrollError) in
      let kept = try call.openClient().readAccount()
      return .object([
        ("profile", kept.profile.map { .object($0) }), ("idToken", kept.idToken.map { .string($0.reveal()) }),
        ("accessToken", kept.accessToken.map { .string($0.reveal()) }),
        ("expiresAt", kept.expiresAt.map { .integer($0.seconds) }),
        ("registrationType", kept.registrationType.map { .string($0) }),
      ])
    },
    Command(
      "diagnostics.export", .blocking,
      "All that support needs, without secrets: versions, configuration, provider, state, store, last errors.",
      gives: .object([
        .required("diagnostics", Schema(.claims, "For people: its members may change with any version."))
      ])
    ) { call throws(EnrollError) in
      .object([("diagnostics", .object(try call.openClient().diagnostics()))])
    },
  ]
}
