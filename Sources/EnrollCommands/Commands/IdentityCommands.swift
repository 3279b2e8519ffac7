// Who the user is, and logging out (flows.md §5, §7, §11).

import EnrollCore
import EnrollHost
import EnrollJSON

extension CommandTable {
  static let identityCommands = [
    Command(
      "identity.profile", .blocking, "The proven claims about the user, as they are kept.", gives: claims,
      fails: CommandErrors(.store, also: .notFound)
    ) { call throws(EnrollError) in
      .object([("claims", .object(try call.openClient().profile()))])
    },
    Command(
      "identity.userinfo", .blocking,
      "The claims that the provider tells now, discarded unless they are about the same user.",
      takes: [.timeout], gives: claims,
      fails: CommandErrors(.access, .network, .store, .timeout, also: .profileMismatch)
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      let told = try client.userinfo(until: call.until(client), cancellation: call.cancellation)
      return .object([("claims", .object(told))])
    },
    Command(
      "logout.begin", method: "logout", .blocking,
      "Erases the tokens here first, tells the provider, and gives the URL that ends its session in the browser.",
      takes: [
        .optional("localOnly", Schema(.boolean, "Nothing is sent, no URL is given."), default: .bool(false)),
        .timeout,
      ],
      gives: .object(
        [
          .optional(
            "url", .uri("To be opened in the external browser; absent when there is none.").sensitive),
          .providerTold, .notToldReason,
        ], "How a logout went on."
      ).named("SignOut"),
      fails: CommandErrors(.store, .timeout)
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      return try client.beginLogout(
        localOnly: call.flag("localOnly"), until: call.until(client), cancellation: call.cancellation
      ).json
    },
    Command(
      "logout.resume", method: "finishLogout", .blocking,
      "Takes the browser's answer to that URL back: the logout is finished.",
      takes: [.required("url", .url)], gives: .object([.required("done", Schema(.boolean, "Always true."))]),
      fails: CommandErrors(.store, also: .unsolicited, .redirectMalformed)
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
  /// The answer of every command that signs out.
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
      "Whether the provider knows of a sign-out: told, queued (it is told later, for at most 7 days), notPossible (its "
        + "tokens work until they end by themselves). Absent if there was nothing to tell."))
  static let notToldReason = Schema.Property.optional(
    "reason", .text("Why it is not possible to tell the provider.", maximumBytes: 4096))
}
