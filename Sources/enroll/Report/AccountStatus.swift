// A registration state in people's words: a headline, what becomes of the token, and what to do. Pure.

import EnrollCore
import EnrollJSON

/// Where an account stands.
struct AccountStatus {
  let ending: CommandStatus
  let headline: String
  let token: String
  /// The next step for the user; nil if there is none.
  let advice: Advice?
  let colour: Terminal.Colour

  /// - Parameters:
  ///   - state: as the manifest describes it.
  ///   - kept: what `account.read` gives.
  ///   - now: seconds since 1970.
  ///   - obstacle: why the store cannot be used, as an error in JSON; nil when it can.
  init(_ state: JSON, kept: JSON, obstacle: JSON? = nil, now: Int64) {
    let person = Shown.person(kept["profile"])
    let waiting = kept["waiting"].map { Shown.person($0["profile"]) }
    let left = kept["expiresAt"]?.integer.map { $0 - now }
    let reason = state["error"]?["message"]?.string.map { Shown.text($0) } ?? ""
    let lives = left.map { $0 > 0 ? "expires in \(Shown.span(seconds: $0))" : "expired" }
    switch state["state"]?.string {
    case "active":
      ending = .done
      headline = "Signed in as \(person)"
      let how = state["reason"]?.string == "renewed" ? "renewed just now" : "valid"
      token = [how, lives].compactMap { $0 }.joined(separator: ", ") + "; \(Self.renewal(kept, now: now))"
      (advice, colour) = (nil, .good)
    // Beside the session of a user who may be another one: its token is used as before.
    case "awaitingConfirmation" where left != nil:
      ending = .done
      headline = "Signed in as \(person)"
      token = [lives, "the sign-in of \(waiting ?? "another user") waits for your confirmation"].compactMap {
        $0
      }
      .joined(separator: "; ")
      (advice, colour) = ("Run \(.login) to confirm or reject it.", .warning)
    case "awaitingConfirmation":
      ending = .signInNeeded
      headline = "The sign-in of \(waiting ?? Shown.person(state["profile"])) is not confirmed"
      token = "waiting for your confirmation"
      (advice, colour) = ("Run \(.login) to confirm.", .warning)
    case "authenticating":
      ending = .signInNeeded
      headline = "A sign-in is in progress"
      token = "none yet"
      (advice, colour) = ("It ends without further action; \(.login) begins another.", .warning)
    case "failed" where state["remedy"]?.string == "registerAgain":
      ending = .signInNeeded
      headline = "The session has ended"
      token = "cannot be renewed: \(reason)"
      (advice, colour) = (CommandStatus.signInNeeded.advice, .bad)
    case "failed" where state["reason"]?.string == "renewal":
      let isUsable = state["tokenUsable"]?.bool ?? false
      let cause = EnrollError.Code(named: state["error"]?["status"]?.string).map { CommandStatus($0) }
      let failure = cause.flatMap { $0.isOfThisMachine ? $0 : nil } ?? .unreachable
      ending = isUsable ? .done : failure
      headline = "Signed in as \(person)"
      token = "\(isUsable ? "still works" : "expired"), and could not be renewed: \(reason)"
      (advice, colour) = (failure.advice, .warning)
    case "failed":
      ending = .signInNeeded
      headline = "The last sign-in failed"
      token = "none: \(reason)"
      (advice, colour) = (CommandStatus.signInNeeded.advice, .bad)
    // Another process holds a lock, and does not go on.
    case "starting" where left != nil && obstacle?["status"]?.string == EnrollError.Code.busy.name:
      ending = (left ?? 0) > 0 ? .done : .busy
      headline = "Signed in as \(person)"
      let reason = obstacle?["message"]?.string.map { Shown.text($0) } ?? ""
      token = [lives, reason].compactMap { $0 }.joined(separator: "; ")
      (advice, colour) = (CommandStatus.busy.advice, .warning)
    // A renewal is under way, and the provider has not answered in the time that was given.
    case "starting" where left != nil:
      ending = (left ?? 0) > 0 ? .done : .unreachable
      headline = "Signed in as \(person)"
      token = [lives, "the provider has not answered its renewal yet"].compactMap { $0 }.joined(
        separator: "; ")
      (advice, colour) = (CommandStatus.unreachable.advice, .warning)
    default:
      ending = .signInNeeded
      headline = "No user is signed in"
      token = "none"
      (advice, colour) = (CommandStatus.signInNeeded.advice, .warning)
    }
  }

  /// Whether and how long the session renews its token.
  private static func renewal(_ kept: JSON, now: Int64) -> String {
    guard kept["renews"]?.bool ?? true else {
      return "the provider gave no refresh token, so it is not renewed"
    }
    guard let end = kept["renewableUntil"]?.integer, end > now else { return "renewed on use when due" }
    return
      "renewed on use when due; without use it ends at \(TokenFormat.date(end)), in \(Shown.span(seconds: end - now))"
  }

  func sign(_ signs: Signs) -> String {
    switch colour {
    case .good, .strong: signs.good
    case .warning: signs.warning
    case .bad: signs.bad
    }
  }
}
