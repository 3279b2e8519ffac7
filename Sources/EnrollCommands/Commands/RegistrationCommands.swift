// The commands of a registration: to begin it, to process its redirect in any form, and to read its state (flows.md §2,
// §7).

import EnrollRules
import EnrollCrypto
import EnrollHost
import EnrollJSON

extension CommandTable {
  static let registrationCommands = [
    Command(
      "registration.state", .waiting, "Reads the state of the registration. The first call starts it.",
      takes: [
        .optional(
          "wait",
          Schema(
            .boolean,
            "Whether to wait until the state no longer changes by itself, and until a sign-in that an earlier run began has an outcome."
          ), default: .bool(false)),
        .timeout,
      ], gives: stateAnswer, fails: CommandErrors(.store, .timeout)
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      return answer(
        try client.registrationState(
          wait: call.flag("wait"), until: call.until(client), cancellation: call.cancellation), client)
    },
    Command(
      "registration.begin", .blocking, "Begins a transaction and returns what the host has to do next.",
      takes: SignInOptions.schema + [.timeout], gives: Transaction.schema,
      fails: CommandErrors(.network, .store, .timeout, also: .illegalState, .oauth),
      source: "RFC 6749 §4.1.1, RFC 7636, RFC 8252, RFC 9126"
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      let options = try SignInOptions(call)
      return try client.begin(options, until: call.until(client), cancellation: call.cancellation).json
    },
    Command(
      "registration.resume", .blocking, "Completes a transaction with its redirect.",
      takes: [
        .required("url", .url),
        .optional(
          "transaction",
          .transaction.as(
            "The transaction of the redirect. Needed only if the URL has no state and several transactions are pending."
          )),
        .timeout,
      ], gives: stateAnswer, fails: CommandErrors(.redirect, .network, .store, .timeout, also: .notFound),
      source: "RFC 6749 §4.1.2, RFC 9207, OpenID Connect Core §3.1.3.7"
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      let url = try call.requiredText("url")
      return answer(
        try client.resume(
          url, transactionID: call.transactionID, until: call.until(client),
          cancellation: call.cancellation), client)
    },
    Command(
      "registration.handleLink", .blocking,
      "Handles an activation or fallback link and returns what the host has to do next.",
      takes: [.required("url", .url), .timeout], gives: HandledLink.schema,
      fails: CommandErrors(
        .network, .store, .timeout, also: .redirectMalformed, .redirectMismatch, .illegalState),
      source: "RFC 9700 §4.11"
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      let url = try call.requiredText("url")
      return try client.handleLink(url, until: call.until(client), cancellation: call.cancellation).json
    },
    Command(
      "registration.awaitOutcome", .waiting,
      "Waits until a transaction has an outcome: through its loopback redirect, another call or process, or the user on another device.",
      takes: [.required("transaction", .transaction), .timeout], gives: stateAnswer,
      fails: CommandErrors(.redirect, .network, .store, .timeout, also: .notFound),
      source: "RFC 8252 §7.3, RFC 8628 §3.5"
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      let transaction = try call.requiredTransactionID()
      return answer(
        try client.awaitTransaction(
          transaction, until: call.until(client), cancellation: call.cancellation), client)
    },
    Command(
      "registration.submitCode", .blocking, "Submits the one-time code that the user typed.",
      takes: [
        .required("transaction", .transaction),
        .required("code", .text("The code as the user typed it.", maximumBytes: 64).sensitive), .timeout,
      ], gives: stateAnswer,
      fails: CommandErrors(
        .network, .store, .timeout, also: .codeRejected, .accessDenied, .oauth, .notFound, .alreadySettled,
        .transactionExpired, .illegalState, .idTokenInvalid, .keysUnavailable)
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      let transaction = try call.requiredTransactionID()
      let code = Secret(try call.requiredText("code"))
      return answer(
        try client.submitCode(
          code, transactionID: transaction, until: call.until(client), cancellation: call.cancellation),
        client)
    },
    Command(
      "registration.confirm", .blocking,
      "Confirms the profile for the user: G to H, after the required checks of the e-mail address and the registration.",
      takes: [
        .optional(
          "transaction",
          .transaction.as(
            "The transaction of the profile that the user confirms. By default the only one that this client has shown; if it has shown several, or if another one waits, the command fails and nothing changes."
          )), .timeout,
      ], gives: stateAnswer,
      fails: CommandErrors(
        .network, .store, .timeout, also: .illegalState, .emailNotVerified, .unknownAccount, .profileMismatch,
        .oauth)
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      return answer(
        try client.confirm(call.transactionID, until: call.until(client), cancellation: call.cancellation),
        client)
    },
    Command(
      "registration.retry", .blocking,
      "Rejects the profile or starts over: erases unconfirmed tokens, and keeps confirmed ones.",
      takes: [
        .optional(
          "transaction",
          .transaction.as(
            "The transaction of the profile that the user rejects; if another one waits, the command fails and nothing changes. By default it starts over, whatever waits."
          )), .timeout,
      ], gives: stateAnswer, fails: CommandErrors(.store, .timeout, also: .illegalState)
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      return answer(
        try client.retry(call.transactionID, until: call.until(client), cancellation: call.cancellation),
        client)
    },
    Command(
      "registration.cancel", .blocking,
      "Reports that the user left the browser. A valid redirect that arrives later still counts; a registration then waits for the link in its e-mail.",
      takes: [
        .optional("transaction", .transaction.as("The transaction; all pending transactions by default."))
      ],
      gives: stateAnswer,
      fails: CommandErrors(.store, also: .notFound)
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      return answer(try client.cancel(call.transactionID), client)
    },
    Command(
      "registration.otherAppMissing", .blocking,
      "Reports that the other app's link could not be opened. Its transaction fails (F).",
      takes: [.required("transaction", .transaction)], gives: stateAnswer,
      fails: CommandErrors(
        .store, also: .notFound, .illegalState, .alreadySettled, .transactionExpired)
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      return answer(try client.otherAppMissing(call.requiredTransactionID()), client)
    },
    Command(
      "registration.clear", .blocking, "Erases the local state only. Sends nothing.", gives: stateAnswer,
      fails: CommandErrors(.store)
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      return answer(try client.clear(), client)
    },
    Command(
      "registration.deregister", .blocking,
      "Logs out, erases pending transactions and resets the installation id.",
      takes: [.timeout],
      gives: .object(
        [
          .required("state", .state),
          .optional(
            "url",
            .uri(
              "The URL that ends the provider's session in the browser, as in logout.begin. Absent if there is none."
            )
            .sensitive), .providerTold, .notToldReason,
        ], "The result of a logout that forgets the device."
      ).named("Deregistration"),
      fails: CommandErrors(.store, .timeout)
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      let ended = try client.deregister(until: call.until(client), cancellation: call.cancellation)
      var answer = ended.json.object ?? JSONObject()
      answer["state"] = json(client.lastKnownState, client)
      return .object(answer)
    },
    Command(
      "url.handle", method: "handleURL", .blocking,
      "Handles any URL that reaches the app: a redirect, a logout callback or a link.",
      takes: [.required("url", .url), .timeout], gives: handled,
      fails: CommandErrors(
        .redirect, .network, .store, .timeout, except: .unsolicited, .redirectMismatch)
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      let url = try call.requiredText("url")
      switch try client.handle(url, until: call.until(client), cancellation: call.cancellation) {
      case .registration(let state):
        return .object([("kind", .string("registration")), ("state", json(state, client))])
      case .logoutFinished: return .object([("kind", .string("logout"))])
      case .begun(let begun): return begun.taggedJSON
      case .refused(let refusal): return refusal.json
      case .unsolicited: return .object([("kind", .string("unsolicited"))])
      }
    },
  ]

  private static func json(_ state: RegistrationState, _ client: Client) -> JSON {
    state.json(choices: client.configuration.choices)
  }

  private static func answer(_ state: RegistrationState, _ client: Client) -> JSON {
    .object([("state", json(state, client))])
  }

  private static let stateAnswer = Schema.object([.required("state", .state)])

  private static let handled = Schema(
    .anyOf(
      [
        .object(
          [.required("kind", .word("registration")), .required("state", .state)], "The URL was a redirect."
        )
        .named("Redirected"),
        .object(
          [.required("kind", .word("logout"))], "The URL was the logout callback; the logout is finished."
        )
        .named("LoggedOut"),
      ] + HandledLink.begun + HandledLink.refused), "The meaning of a URL that reached the app."
  ).named("HandledURL")
}

extension Schema {
  /// The URL that reached the app. If it is too long, the check of URLs (R9) refuses it, with the error text of that
  /// check.
  static let url = Schema.uri("The URL as the host received it.").sensitive
}
