// The PIN of an account (flows.md §9). A wrong PIN is a result, not an error.

import EnrollRules
import EnrollCrypto
import EnrollHost
import EnrollJSON

extension CommandTable {
  static let pinCommands = [
    Command(
      "pin.set", method: "setPIN", .blocking,
      "Protects the account with a PIN. The account stays open in this process. Completes the step pin.",
      takes: [.pin("pin", "The new PIN.")], fails: CommandErrors(.store, also: .illegalState)
    ) { call throws(EnrollError) in
      try call.openClient().setPIN(try call.pin("pin"))
      return .object([])
    },
    Command(
      "pin.unlock", .blocking, "Opens the account for this process.", takes: [.pin("pin", "The PIN.")],
      gives: pinAnswer,
      fails: CommandErrors(.store, also: .illegalState)
    ) { call throws(EnrollError) in
      try call.usePIN(to: .unlock)
    },
    Command(
      "pin.change", method: "changePIN", .blocking, "Replaces the PIN.",
      takes: [.pin("pin", "The current PIN."), .pin("newPin", "The new PIN.")], gives: pinAnswer,
      fails: CommandErrors(.store, also: .illegalState)
    ) { call throws(EnrollError) in
      try call.usePIN(to: .replace(try call.pin("newPin")))
    },
    Command(
      "pin.remove", method: "removePIN", .blocking, "Removes the PIN. The account is open from then on.",
      takes: [.pin("pin", "The current PIN.")], gives: pinAnswer,
      fails: CommandErrors(.store, also: .illegalState)
    ) { call throws(EnrollError) in
      try call.usePIN(to: .remove)
    },
  ]

  private static let pinAnswer = Schema.object(
    [
      .required(
        "outcome",
        .words(
          "PINOutcome", PINAnswer.Outcome.allCases.map { $0.rawValue },
          "Whether a PIN was correct: unlocked; wrong; tooSoon (not checked); erased (the last try failed, and the "
            + "account was erased).")),
      .required(
        "triesLeft", Schema(.integer(0...PINPolicy.tries), "Tries left before the account is erased.")),
      .required("retryAfter", .seconds(0...3600, "The time until the next try is checked.")),
    ], "The result of entering a PIN."
  ).named("PINAnswer")
}

extension Schema.Property {
  fileprivate static func pin(_ name: String, _ documentation: String) -> Schema.Property {
    .required(name, .text(documentation + " 4 to 64 bytes.", maximumBytes: 1024))
  }
}

extension Invocation {
  fileprivate func pin(_ name: String) throws(EnrollError) -> Secret { Secret(try requiredText(name)) }

  fileprivate func usePIN(to use: PINChange) throws(EnrollError) -> JSON {
    try openClient().usePIN(try pin("pin"), to: use).json
  }
}

extension PINAnswer {
  fileprivate var json: JSON {
    .object([
      ("outcome", .string(outcome.rawValue)), ("triesLeft", .integer(triesLeft)),
      ("retryAfter", .integer(retryAfterSeconds)),
    ])
  }
}
