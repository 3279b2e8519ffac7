// The user's identity, and logging out (flows.md §5, §7, §11).

import EnrollRules
import EnrollHost
import EnrollJSON

extension CommandTable {
  static let identityCommands = [
    Command(
      "identity.profile", .blocking,
      "Reads the stored, verified claims about the user who is signed in; without a session, about the one who is asked to confirm.",
      gives: claims,
      fails: CommandErrors(.store, also: .notFound), source: "OpenID Connect Core §5.1"
    ) { call throws(EnrollError) in
      .object([("claims", .object(try call.openClient().profile()))])
    },
    Command(
      "identity.userinfo", .blocking,
      "Fetches the claims from the provider, if there is a valid access token. Claims about another user are rejected. A 401 renews the token once, as token.rejected does.",
      takes: [.timeout], gives: claims,
      fails: CommandErrors(.access, .network, .store, .timeout, also: .profileMismatch, .oauth),
      source: "OpenID Connect Core §5.3"
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      let told = try client.userinfo(until: call.until(client), cancellation: call.cancellation)
      return .object([("claims", .object(told))])
    },
    Command(
      "logout.begin", method: "logout", .blocking,
      "Erases the tokens here, revokes them at the provider, and returns the URL that ends the provider's session in the browser. With postLogoutRedirectUri the revocation waits for logout.resume or url.handle, for at most 180 seconds; token.revoke ends that wait.",
      takes: [
        .optional("localOnly", Schema(.boolean, "Sends nothing and returns no URL."), default: .bool(false)),
        .timeout,
      ],
      gives: .object(
        [
          .optional(
            "url",
            .uri("The URL to open in the external browser. Absent if the provider has no such page.")
              .sensitive
          ),
          .providerTold, .notToldReason,
        ], "The result of a logout."
      ).named("SignOut"),
      fails: CommandErrors(.store, .timeout), source: "RFC 7009, OpenID Connect RP-Initiated Logout 1.0"
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      return try client.beginLogout(
        localOnly: call.flag("localOnly"), until: call.until(client), cancellation: call.cancellation
      ).json
    },
    Command(
      "logout.resume", method: "finishLogout", .blocking,
      "Finishes a logout with the redirect from the provider's logout page, and sends the revocation that waited for it.",
      takes: [.required("url", .url)], gives: .object([.required("done", Schema(.boolean, "Always true."))]),
      fails: CommandErrors(.store, also: .unsolicited, .redirectMalformed),
      source: "OpenID Connect RP-Initiated Logout 1.0, §3"
    ) { call throws(EnrollError) in
      try call.openClient().finishLogout(try call.requiredText("url"))
      return .object([("done", .bool(true))])
    },
  ]

  private static let claims = Schema.object([
    .required("claims", .profile.as("OpenID Connect Core §5.1."))
  ])
}

extension SignOut {
  /// The result of every command that signs out.
  var json: JSON {
    .object([
      ("url", url.map { .string($0) }), ("providerTold", providerTold.map { .string($0.name) }),
      ("reason", providerTold?.reason.map { .string($0) }),
    ])
  }
}

extension Schema.Property {
  static let providerTold = Schema.Property.optional(
    "providerTold",
    .words(
      "ProviderTold", ProviderTold.names,
      "Whether the provider knows of a sign-out: told; queued (the revocation waits for the browser's return, or is retried for at most 7 days); "
        + "notPossible (the tokens work until they expire). Absent if there was nothing to tell."))
  static let notToldReason = Schema.Property.optional(
    "reason", .text("Why the tokens cannot be revoked at the provider.", maximumBytes: 4096))
}
