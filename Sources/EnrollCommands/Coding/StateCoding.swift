// A registration state as a JSON object (flows.md §7). The member `state`, in some states together with `reason`, says
// which state it is.

package import EnrollRules
package import EnrollJSON

extension RegistrationState {
  /// - Parameter choices: the configured ways to register, which are part of the state `unregistered` (D).
  package func json(choices: [RegistrationChoice]) -> JSON {
    .object(members(choices))
  }

  private func members(_ choices: [RegistrationChoice]) -> JSONObject {
    switch self {
    case .starting: return JSONObject([("state", .string("starting"))])
    case .unregistered:
      return JSONObject([
        ("state", .string("unregistered")),
        ("choices", choices.isEmpty ? nil : .array(choices.map { $0.json })),
      ])
    case .authenticating(let transactionID, let step):
      return JSONObject([
        ("state", .string("authenticating")), ("transaction", .string(transactionID.text)),
        ("step", .string(step.rawValue)),
      ])
    case .awaitingConfirmation(let transactionID, let profile):
      return JSONObject([
        ("state", .string("awaitingConfirmation")), ("transaction", .string(transactionID.text)),
        ("profile", .object(profile)),
      ])
    case .active(let activation):
      return JSONObject([
        ("state", .string("active")), ("reason", .string(activation.rawValue)),
      ])
    case .renewalFailed(let failure):
      return JSONObject([
        ("state", .string("failed")), ("reason", .string("renewal")),
        ("error", failure.error.json), ("remedy", .string(failure.remedy.rawValue)),
        ("tokenUsable", .bool(failure.isTokenUsable)),
      ])
    case .registrationFailed(let error):
      return JSONObject([
        ("state", .string("failed")), ("reason", .string("registration")),
        ("error", error.json),
      ])
    }
  }
}

extension RegistrationChoice {
  fileprivate var json: JSON {
    .object([
      ("kind", .string(kind)), ("connection", connection.map { .string($0) }), ("label", .string(label)),
      ("guidance", guidance.map { .string($0) }),
    ])
  }
}

extension Schema {
  static let state = Schema(
    .anyOf([
      .object(
        [.required("state", .word("starting"))],
        "The state has not been requested yet, or the platform is not ready."),
      .object(
        [
          .required("state", .word("unregistered")),
          .optional("choices", Schema(.list(choice, maximumCount: 1024), "The configured ways to register.")),
        ], "There are no tokens: offer the ways to register."),
      .object(
        [
          .required("state", .word("authenticating")), .required("transaction", transaction),
          .required(
            "step",
            .words(
              "Step", RegistrationState.Step.allCases.map { $0.rawValue },
              "The step that a transaction in progress waits for.")),
        ], "A transaction is in progress."),
      .object(
        [
          .required("state", .word("awaitingConfirmation")),
          .required(
            "transaction", transaction.as("The transaction that brought the tokens; the answer names it.")),
          .required(
            "profile",
            .profile.as("The user to whom the tokens belong; empty if the provider does not say who it is.")),
        ], "The tokens wait for the user's confirmation."),
      .object(
        [
          .required("state", .word("active")),
          .required(
            "reason",
            .words(
              "ActiveReason", RegistrationState.Activation.allCases.map { $0.rawValue },
              "How a registration became active.")),
        ], "There is an access token."),
      .object(
        [
          .required("state", .word("failed")),
          .required("reason", .word("renewal")), .required("error", error),
          .required(
            "remedy",
            .words(
              "Remedy", RegistrationState.RenewalFailure.Remedy.allCases.map { $0.rawValue },
              "The remedy after a failed renewal.")),
          .required("tokenUsable", Schema(.boolean, "Whether the access token still works.")),
        ], "The token was due and could not be renewed."
      ).named("RenewalFailed"),
      .object(
        [
          .required("state", .word("failed")),
          .required("reason", .word("registration")), .required("error", error),
        ], "The browser, link, app or code step failed."
      ).named("RegistrationFailed"),
    ]), "The state of a registration."
  ).named("State")

  static let transaction = Schema.text("The id of a transaction.", maximumBytes: 64).named("TransactionID")

  private static let choice = Schema.object(
    [
      .required(
        "kind", .text("The host's own name for this way to register: google, email, …", maximumBytes: 65_536)),
      .optional("connection", .text("The provider's name for the connection.", maximumBytes: 65_536)),
      .required("label", .text("The text that the user sees.", maximumBytes: 65_536)),
      .optional("guidance", .text("An additional explanation that the user sees.", maximumBytes: 65_536)),
    ], "A configured way to register."
  ).named("RegistrationChoice")
}
