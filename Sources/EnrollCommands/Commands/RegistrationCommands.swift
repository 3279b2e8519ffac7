// The registration: begin, the redirect back by whatever way it comes, and the state (flows.md §2, §7).

import EnrollCore
import EnrollCrypto
import EnrollHost
import EnrollJSON

extension CommandTable {
  static let registrationCommands = [
    Command(
      "registration.state", .waiting, "Where the registration stands; asking starts it.",
      takes: [
        .optional(
          "wait",
          Schema(
            .boolean,
            "Answer once the state has settled. A sign-in that an earlier run left in the browser is waited for, too."
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
      "registration.begin", .blocking, "Begins a transaction and says what the host must do now.",
      takes: SignInOptions.schema + [.timeout], gives: Transaction.schema,
      fails: CommandErrors(.network, .store, .timeout, also: .illegalState, .oauth)
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      let options = try SignInOptions(call)
      return try client.begin(options, until: call.until(client), cancellation: call.cancellation).json
    },
    Command(
      "registration.resume", .blocking, "Takes the redirect back and carries its transaction to its end.",
      takes: [
        .required("url", .url),
        .optional(
          "transaction",
          .transaction.as(
            "Whose return it is; needed only for one without state when several are pending.")),
        .timeout,
      ], gives: stateAnswer, fails: CommandErrors(.redirect, .network, .store, .timeout, also: .notFound)
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      let url = try call.requiredText("url")
      return answer(
        try client.resume(
          url, transactionID: call.text("transaction"), until: call.until(client),
          cancellation: call.cancellation), client)
    },
    Command(
      "registration.handleLink", .blocking,
      "Takes an activation or fallback link, and says what the host must do now.",
      takes: [.required("url", .url), .timeout], gives: HandledLink.schema,
      fails: CommandErrors(
        .network, .store, .timeout, also: .redirectMalformed, .redirectMismatch, .illegalState)
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      let url = try call.requiredText("url")
      return try client.handleLink(url, until: call.until(client), cancellation: call.cancellation).json
    },
    Command(
      "registration.awaitOutcome", .waiting,
      "Waits until a transaction is settled: by its loopback redirect, by another call or another process, or, with a device code, by the user elsewhere.",
      takes: [.required("transaction", .transaction), .timeout], gives: stateAnswer,
      fails: CommandErrors(.redirect, .network, .store, .timeout, also: .notFound)
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      let transaction = try call.requiredText("transaction")
      return answer(
        try client.awaitTransaction(
          transaction, until: call.until(client), cancellation: call.cancellation), client)
    },
    Command(
      "registration.submitCode", .blocking, "Takes the one-time code that the user typed.",
      takes: [
        .required("transaction", .transaction),
        .required("code", .text("As the user typed it.", maximumBytes: 64).sensitive), .timeout,
      ], gives: stateAnswer,
      fails: CommandErrors(
        .network, .store, .timeout, also: .codeRejected, .accessDenied, .oauth, .notFound, .alreadySettled,
        .transactionExpired, .illegalState, .idTokenInvalid, .keysUnavailable)
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      let transaction = try call.requiredText("transaction")
      let code = Secret(try call.requiredText("code"))
      return answer(
        try client.submitCode(
          code, transactionID: transaction, until: call.until(client), cancellation: call.cancellation),
        client)
    },
    Command(
      "registration.confirm", .blocking,
      "The user's yes to the profile: G to H, after the verified address and the registration check that are required.",
      takes: [.timeout], gives: stateAnswer,
      fails: CommandErrors(
        .network, .store, .timeout, also: .illegalState, .emailNotVerified, .unknownAccount, .profileMismatch,
        .oauth)
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      return answer(try client.confirm(until: call.until(client), cancellation: call.cancellation), client)
    },
    Command(
      "registration.retry", .blocking,
      "Another try: provisional tokens are revoked and cleared, an earlier confirmed set survives.",
      takes: [.timeout], gives: stateAnswer, fails: CommandErrors(.store, .timeout, also: .illegalState)
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      return answer(try client.retry(until: call.until(client), cancellation: call.cancellation), client)
    },
    Command(
      "registration.cancel", .blocking,
      "The user left the browser: a hint, a late valid redirect still wins; a registration waits for its e-mail's link.",
      takes: [.optional("transaction", .transaction.as("Which one; without it, all."))], gives: stateAnswer,
      fails: CommandErrors(.store, also: .notFound)
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      return answer(try client.cancel(call.text("transaction")), client)
    },
    Command(
      "registration.otherAppMissing", .blocking,
      "The other app's link could not be opened: its transaction is over, with F.",
      takes: [.required("transaction", .transaction)], gives: stateAnswer,
      fails: CommandErrors(
        .store, also: .notFound, .illegalState, .alreadySettled, .transactionExpired)
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      return answer(try client.otherAppMissing(call.requiredText("transaction")), client)
    },
    Command(
      "registration.clear", .blocking, "Empties local state alone; no server is told.", gives: stateAnswer,
      fails: CommandErrors(.store)
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      return answer(try client.clear(), client)
    },
    Command(
      "registration.deregister", .blocking,
      "A logout that forgets the device too: pending transactions are cleared, the installation id is reset.",
      takes: [.timeout],
      gives: .object(
        [
          .required("state", .state),
          .optional(
            "url",
            .uri(
              "Ends the provider's session in the browser, as from logout.begin; absent when there is none."
            )
            .sensitive), .providerTold, .notToldReason,
        ], "A logout that forgot the device."
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
      "url.handle", method: "handleURL", .blocking, "One door for every URL that reaches an app.",
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
        .object([.required("kind", .word("registration")), .required("state", .state)], "It was a redirect.")
          .named("Redirected"),
        .object([.required("kind", .word("logout"))], "It was the logout callback; the logout is finished.")
          .named("LoggedOut"),
      ] + HandledLink.begun + HandledLink.refused), "What a URL that reached the app turned out to be."
  ).named("HandledURL")
}

extension Schema {
  /// Longer ones are refused as URLs (R9), in those words.
  static let url = Schema.uri("As it reached the host.").sensitive
}
