// The outcome of a call for a token, for scripts: the exit status, and advice on standard error.

import EnrollCommands
import EnrollRules
import EnrollCrypto
import EnrollHost
import EnrollJSON

/// The outcome of a call for a token, as this program reports it.
struct TokenReport {
  let ending: CommandStatus
  private let outcome: AccessOutcome
  /// Whether the outcome has a token that is not printed, because the user wants a new token.
  private let isTokenOld: Bool

  /// The report about an outcome.
  /// - Parameter mustBeNew: true to print no token if the token could not be renewed.
  init(_ outcome: AccessOutcome, mustBeNew: Bool) {
    self.outcome = outcome
    isTokenOld = mustBeNew && outcome.kind == .stale
    ending = Self.status(outcome, isTokenOld: isTokenOld)
  }

  private static func status(_ outcome: AccessOutcome, isTokenOld: Bool) -> CommandStatus {
    switch outcome {
    case .valid: return .done
    case .stale(_, let reason):
      guard isTokenOld else { return .done }
      switch reason.code {
      // With this field, the error means that the library cannot send requests, for example because libcurl is missing.
      case .unsupported where reason.field == EnrollError.transportField: return unavailable(reason)
      // Only an error code of the provider means a refusal: without such a code, an intermediary may have answered.
      case .oauth where reason.oauthError != nil: return .refused
      case .rejected, .unsupported: return .refused
      default: return unavailable(reason)
      }
    case .expired(_, _, let reason): return unavailable(reason)
    case .rejected: return .refused
    case .reauthenticate: return .signInNeeded
    case .storeLocked: return .storeLocked
    case .busy: return .busy
    }
  }

  /// The status for a renewal that failed for this reason, and may succeed later.
  private static func unavailable(_ reason: EnrollError) -> CommandStatus {
    // No request was sent, so the provider is not to blame.
    if reason.code == .deadlineExceeded, reason.isUnsent { return .busy }
    let status = CommandStatus(reason)
    return status.isOfThisMachine ? status : .unreachable
  }

  /// The outcome's token, fresh or not; nil if the outcome has no token.
  private var held: AccessToken? {
    switch outcome {
    case .valid(let token), .stale(let token, _): token
    case .expired, .rejected, .reauthenticate, .storeLocked, .busy: nil
    }
  }

  /// The token to print; nil if there is no token, or if the token is too old.
  var token: String? { isTokenOld ? nil : held?.value.reveal() }

  /// Whether the token works for anyone who has it (RFC 6750).
  var isBearer: Bool { held?.tokenType.lowercased() != "dpop" }

  /// Whether the provider could not be reached, or had a problem, so that a later call may return the token.
  var mayComeLater: Bool { token == nil && ending == .unreachable }

  /// Whether a longer timeout could have returned a new token.
  var hasTimedOut: Bool {
    outcome.renewalFailure?.code == .deadlineExceeded
      || token == nil && (ending == .unreachable || ending == .busy)
  }

  /// The pause before the next request, in seconds.
  var retryAfterSeconds: Int64? { outcome.renewalFailure?.retryAfterSeconds }

  /// Seconds since 1970; nil if the token does not expire.
  var expiresAt: Int64? { held?.expirySeconds }

  /// The outcome as JSON. If the outcome has no token, the JSON includes the advice and the exit status.
  func json(_ words: Failure?, _ said: Said) -> JSON {
    guard let words, token == nil else { return .object(outcome.object()) }
    var members = outcome.object(showsToken: false)
    members["advice"] = words.advice.map { .string($0.text(said)) }
    members["exitStatus"] = .integer(Int64(ending.rawValue))
    return .object(members)
  }

  /// The message to print; nil if the token needs no message.
  func words(_ session: CommandSession, _ client: Client) throws(Failure) -> Failure? {
    switch outcome {
    case .valid(let token): return remark(about: token)
    case .stale(_, let reason) where isTokenOld: return try refusal(reason, session, client)
    case .stale(_, let reason):
      return Failure(
        .done, "the token could not be renewed, but still works: \(reason.message)")
    case .expired(_, _, let reason), .rejected(let reason): return try refusal(reason, session, client)
    case .reauthenticate(let reason, _):
      // The reason is either an error code of the provider or a sentence.
      let isCode = !reason.contains(" ")
      return Failure(
        .signInNeeded,
        isCode ? "the provider has ended the session (\(reason))" : "there is no valid token: \(reason)")
    case .storeLocked:
      // The error of this read says what is locked.
      do throws(Failure) { _ = try session.read(client) } catch { return error }
      return Failure(.storeLocked, "the store is locked: its key is unavailable")
    case .busy: return Failure(.busy, "the token expired, and no renewal ended before the timeout")
    }
  }

  private func remark(about token: AccessToken) -> Failure? {
    if let deviation = token.deviation {
      return Failure(.done, "this is not the token that was requested: \(deviation)")
    }
    guard !isBearer else { return nil }
    return Failure(
      .done, "the token is bound to a key (DPoP) and is not a Bearer token",
      advice: "Run \(.loginForBearer) for Bearer tokens.")
  }

  /// The message about a token that was not renewed.
  private func refusal(
    _ error: EnrollError, _ session: CommandSession, _ client: Client
  ) throws(Failure) -> Failure {
    let reason = error.message
    switch ending {
    case .storeUnusable, .usage:
      return Failure(
        ending, "there is no new token: \(reason)",
        advice: isTokenOld && ending == .usage ? Self.oldToken : nil)
    case .busy:
      return Failure(
        .busy, busyWords(reason),
        advice: isTokenOld ? "Try again. The old token works until it expires: \(.token) prints it." : nil)
    case .unreachable where isTokenOld:
      return Failure(
        .unreachable, "the token could not be renewed: \(reason)",
        advice: Self.oldToken)
    case .unreachable:
      return Failure(.unreachable, "the token expired and cannot be renewed yet: \(reason)")
    case .refused where isTokenOld && error.code == .unsupported:
      return Failure(
        .refused, "the token cannot be renewed: \(reason)",
        advice: "It works until it expires: \(.token) prints it. Then run \(.login).")
    case .refused:
      let words = "the provider refused to renew the token: \(reason)"
      if error.field == EnrollError.registrationField {
        return Failure(.refused, words, advice: Failure.registration)
      }
      return Failure(
        .refused, words,
        advice: try hasEnded(session, client) ? CommandStatus.signInNeeded.advice : nil)
    case .done, .failed, .signInNeeded, .storeLocked, .notFinished, .interrupted:
      return Failure(ending, "there is no token: \(reason)")
    }
  }

  private static let oldToken: Advice = "The old one works until it expires: \(.token) prints it."

  private func busyWords(_ reason: String) -> String {
    reason.isEmpty
      ? "the token expired, and no renewal ended before the timeout" : "the token was not renewed: \(reason)"
  }

  /// Whether the user has to sign in again.
  private func hasEnded(_ session: CommandSession, _ client: Client) throws(Failure) -> Bool {
    switch try session.state(client, within: 30) {
    case .renewalFailed(let failure): failure.remedy == .registerAgain
    case .starting, .unregistered, .authenticating, .awaitingConfirmation, .active, .registrationFailed: false
    }
  }
}
