// The outcome of a call for a token, for scripts: the exit status, and advice on standard error.

import EnrollCore
import EnrollJSON

/// The answer of `token.access`, in its closed set of outcomes.
struct TokenReport {
  let token: String?
  let ending: CommandStatus
  private let answer: JSON

  /// - Parameter mustBeNew: a token that could not be renewed is none.
  init(_ answer: JSON, mustBeNew: Bool) {
    self.answer = answer
    let outcome = answer["outcome"]?.string.flatMap { AccessOutcome.Kind(rawValue: $0) }
    let isRefused = mustBeNew && outcome == .stale
    token = isRefused ? nil : answer["accessToken"]?.string
    guard let outcome else {
      ending = .failed
      return
    }
    let kind: AccessOutcome.Kind = isRefused ? .expired : outcome
    ending =
      switch Self.cause(answer) {
      case .oauth where isRefused, .rejected where isRefused, .unsupported where isRefused: .refused
      case .some(let code) where kind == .expired && CommandStatus(code).isOfThisMachine: CommandStatus(code)
      default: kind.status.map { CommandStatus($0) } ?? .done
      }
  }

  /// Why the renewal failed.
  private static func cause(_ answer: JSON) -> EnrollError.Code? {
    EnrollError.Code(named: answer["error"]?["status"]?.string)
  }

  /// Whether it works for whoever has it (RFC 6750).
  var isBearer: Bool { answer["tokenType"]?.string?.lowercased() != "dpop" }

  /// Whether the provider could not be reached, or was in trouble, so that another call may bring the token.
  var mayComeLater: Bool { token == nil && ending == .unreachable }

  /// Whether a longer wait may bring a new token.
  var hasTimedOut: Bool {
    Self.cause(answer) == .deadlineExceeded || token == nil && (ending == .unreachable || ending == .busy)
  }

  /// How long no request is sent.
  var retryAfterSeconds: Int64? { answer["error"]?["retryAfter"]?.integer }

  /// Seconds since 1970.
  var expiresAt: Int64? { answer["expiresAt"]?.integer }

  /// The answer; without a token, it includes advice.
  func json(_ words: Failure?, _ said: Said) -> JSON {
    guard let words, token == nil, var members = answer.object else { return answer }
    members["accessToken"] = nil
    members["advice"] = words.advice.map { .string($0.text(said)) }
    members["exitStatus"] = .integer(Int64(ending.rawValue))
    return .object(members)
  }

  /// The message to print; nil if the token needs none.
  func words(_ session: CommandSession, _ client: JSON) throws(Failure) -> Failure? {
    let reason = answer["error"]?["message"]?.string ?? answer["reason"]?.string ?? ""
    switch ending {
    case .done where answer["outcome"]?.string == "stale":
      return Failure(
        .done, "the token could not be renewed, but still works: \(reason)")
    case .done where !isBearer:
      return Failure(
        .done, "the token is bound to a key (DPoP) and is not a Bearer token",
        advice: "A configuration with \"dpop\": \"never\" gives Bearer tokens, at the next sign-in.")
    case .signInNeeded:
      // A code of the provider's, or words.
      let isCode = !reason.contains(" ")
      return Failure(
        .signInNeeded,
        isCode ? "the provider has ended the session (\(reason))" : "there is no session: \(reason)")
    case .unreachable where token == nil && answer["accessToken"] != nil:
      return Failure(
        .unreachable, "the token could not be renewed: \(reason)",
        advice: "The old one works until it expires: \(.token) prints it.")
    case .storeUnusable, .usage: return Failure(ending, "there is no new token: \(reason)")
    case .unreachable: return Failure(.unreachable, "the token expired and cannot be renewed yet: \(reason)")
    case .refused where Self.cause(answer) == .unsupported && answer["accessToken"] != nil:
      return Failure(
        .refused, "the token cannot be renewed: \(reason)",
        advice: "It works until it expires: \(.token) prints it. Then run \(.login).")
    case .refused:
      let isForgotten = answer["error"]?["field"]?.string == EnrollError.registrationField
      let words = "the provider refused to renew the token: \(reason)"
      if isForgotten { return Failure(.refused, words, advice: Failure.registration) }
      let state = try session.call("registration.state", [("client", client)])["state"]
      return Failure(
        .refused, words,
        advice: state?["remedy"]?.string == "registerAgain" ? CommandStatus.signInNeeded.advice : nil)
    case .storeLocked:
      // Reading the account says what it is that is locked.
      do throws(Failure) { _ = try session.call("account.read", [("client", client)]) } catch { return error }
      return Failure(.storeLocked, "the store is locked: its key is unavailable")
    case .busy:
      return Failure(
        .busy,
        reason.isEmpty
          ? "the token expired, and no renewal ended before the timeout"
          : "the token was not renewed: \(reason)",
        advice: answer["accessToken"] == nil
          ? nil : "Try again. The old token works until it expires: \(.token) prints it.")
    default: return ending == .done ? nil : Failure(ending, "there is no token: \(reason)")
    }
  }
}
