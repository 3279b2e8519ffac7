// The end of a sign-in: the question whether the user is the one of the profile, and what the user is told. `--yes` puts nobody in
// another user's place but with the sign-in of its own command.

import EnrollCore
import EnrollJSON

extension SignIn {
  /// - Parameters:
  ///   - asked: the state whose profile the user is asked about, and which the answer names.
  ///   - own: the transaction that this command began.
  func confirm(_ client: JSON, _ asked: JSON?, of own: JSON? = nil) throws(Failure) -> CommandStatus {
    let answer = [("client", client), ("transaction", asked?["transaction"])]
    let isAnswered = try isAnswered(client, asked, of: own)
    guard isAnswered || Terminal.hasPerson else {
      throw Failure(
        .notFinished,
        "an earlier sign-in, of \(Shown.person(asked?["profile"])), waits for confirmation, and another user is signed in: --yes does not answer for it",
        advice: "Run \(.login) at a terminal to answer.")
    }
    if !isAnswered {
      let question = Shown.question(asked?["profile"])
      let choice =
        session.waits.isInterrupted ? .interrupted : Prompt.choice(question, default: true, session.waits)
      if choice != .interrupted {
        // The answer is about whoever was named; another terminal may have confirmed, or signed in, meanwhile.
        let now = try stateNow(client)
        switch now?["state"]?.string {
        case "awaitingConfirmation" where now?["transaction"] != asked?["transaction"]:
          errors.say("Another sign-in has finished in the meantime.", in: .warning)
          return try confirm(client, now)
        case "active": return try stay(client, now)
        default: break
        }
      }
      switch choice {
      case .yes: break
      case .no:
        _ = try session.call("registration.retry", answer, saying: "Revoking the tokens")
        throw Failure(
          .notFinished, "not confirmed: the new tokens were revoked",
          advice: "Run \(.loginAsSomebodyElse) to sign in as another user.")
      case .interrupted:
        throw Failure(
          .interrupted, "stopped before you confirmed", advice: "Run \(.login) to be asked again.")
      }
    }
    let confirmed = try session.call("registration.confirm", answer, saying: "Confirming")
    return try welcome(client, confirmed["state"])
  }

  /// Whether `--yes` answers: for the sign-in that this command began, and for another one that takes no other user's place.
  private func isAnswered(_ client: JSON, _ asked: JSON?, of own: JSON?) throws(Failure) -> Bool {
    guard way.yes else { return false }
    if own != nil, asked?["transaction"] == own { return true }
    let kept = try session.call("account.read", [("client", client)])
    guard kept["expiresAt"] != nil else { return true }
    return kept["profile"]?["sub"] != nil && kept["profile"]?["sub"] == asked?["profile"]?["sub"]
  }

  func stay(_ client: JSON, _ state: JSON?) throws(Failure) -> CommandStatus {
    try tell(client, state, "already signed in as", "To sign in again: \(.loginAgain)")
  }

  func welcome(_ client: JSON, _ state: JSON?) throws(Failure) -> CommandStatus {
    try tell(client, state, "signed in as", "A token for scripts: \(.token)")
  }

  private func tell(
    _ client: JSON, _ state: JSON?, _ words: String, _ next: Advice
  ) throws(Failure) -> CommandStatus {
    becomeCurrent()
    let kept = try session.call("account.read", [("client", client)])
    if session.isJSON {
      Output.json(
        .object([
          ("account", .string(session.place.account)), ("state", state), ("profile", kept["profile"]),
          ("expiresAt", kept["expiresAt"]),
        ]))
    } else {
      errors.say("\(errors.signs.good) \(words) \(Shown.person(kept["profile"]))", in: .good)
      errors.say("  " + next.text(session.said))
    }
    return .done
  }
}
