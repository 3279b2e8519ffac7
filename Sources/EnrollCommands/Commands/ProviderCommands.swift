// The check of a provider before a sign-in.

import EnrollRules
import EnrollHost
import EnrollJSON

extension CommandTable {
  static let providerCommands = [
    Command(
      "provider.check", method: "checkProvider", .blocking,
      "Reads the provider's metadata and reports what will work with this configuration. No user signs in. Client id and"
        + " redirect URI are checked only if the provider accepts pushed requests: one is pushed and never opened.",
      takes: [.timeout],
      gives: .object(
        [
          .optional(
            "provider",
            .text(
              "The value for the key provider: EnrollKit knows this provider, but the configuration does not name it."
            )
          ),
          .required(
            "findings",
            Schema(.list(finding, maximumCount: 100), "What works and what does not.")),
        ], "What will work with a provider."
      ).named("ProviderCheck"),
      fails: CommandErrors(.timeout), source: "OpenID Connect Discovery §3, RFC 8414 §2"
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      return try client.checkProvider(until: call.until(client), cancellation: call.cancellation).json
    }
  ]

  private static let finding = Schema.object(
    [
      .required(
        "subject",
        .words(
          "ProviderSubject", ProviderFinding.Subject.allCases.map { $0.rawValue },
          "Something that an app needs from its provider.")),
      .required(
        "verdict",
        .words(
          "ProviderVerdict", ProviderFinding.Verdict.allCases.map { $0.rawValue },
          "Whether it works. limited: in part, or depending on something that the provider does not announce."
        )),
      .required("text", .text("Why, in one sentence.", maximumBytes: 2048)),
      .optional("advice", .text("What to do.")),
      .optional("key", .text("The configuration key that helps.")),
    ], "One finding about a provider."
  ).named("ProviderFinding")
}

extension ProviderCheck {
  fileprivate var json: JSON {
    .object([
      ("provider", preset.map { .string($0) }),
      (
        "findings",
        .array(
          findings.map {
            .object([
              ("subject", .string($0.subject.rawValue)), ("verdict", .string($0.verdict.rawValue)),
              ("text", .string($0.text)), ("advice", $0.advice.map { .string($0) }),
              ("key", $0.key.map { .string($0) }),
            ])
          })
      ),
    ])
  }
}
