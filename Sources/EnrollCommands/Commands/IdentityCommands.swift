// Who the user is, and logging out (flows.md §5, §7, §11).

import EnrollCore
import EnrollHost
import EnrollJSON

extension CommandTable {
  static let identityCommands = [
    Command(
      "identity.profile", .blocking, "The proven claims about the user, as they are kept.", gives: claims
    ) { call throws(EnrollError) in
      .object([("claims", .object(try call.openClient().profile()))])
    },
    Command(
      "identity.userinfo", .blocking,
      "The claims that the provider tells now, discarded unless they are about the same user.",
      takes: [.timeout], gives: claims
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      let told = try client.userinfo(until: call.until(client), cancellation: call.cancellation)
      return .object([("claims", .object(told))])
    },
    Command(
      "logout.begin", .blocking,
      "Erases the tokens here first, tells the provider, and gives the URL that ends its session in the browser.",
      takes: [
        .optional("localOnly", Schema(.boolean, "Nothing is sent, no URL is given."), default: .bool(false)),
        .timeout,
      ],
      gives: .object([
        .optional(
          "url",
          .text("To be opened in the external browser; absent when there is none.", maximumBytes: 65_536)
        ), .providerTold, .notToldReason,
      ])
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      return try client.beginLogout(
        localOnly: call.flag("localOnly"), until: call.until(client), cancellation: call.cancellation
      ).json
    },
    Command(
      "logout.resume", .blocking, "Takes the browser's answer to that URL back: the logout is finished.",
      takes: [.required("url", .url)], gives: .object([.required("done", Schema(.boolean, "Always true."))])
    ) { call throws(EnrollError) in
      try call.openClient().finishLogout(try call.requiredText("url"))
      return .object([("done", .bool(true))])
    },
  ]

  private static let claims = Schema.object([
    .required("claims", Schema(.claims, "OpenID Connect Core §5.1."))
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
    Schema(
      .oneOf(ProviderTold.names),
      "Whether the provider knows: told, queued (it is told later, for at most 7 days), notPossible (its tokens work "
        + "until they end by themselves). Absent where there was nothing to tell."))
  static let notToldReason = Schema.Property.optional(
    "reason", .text("Why it is not possible to tell the provider.", maximumBytes: 4096))
}
