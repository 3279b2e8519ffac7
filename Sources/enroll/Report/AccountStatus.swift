// A registration state as text for people: a headline, the state of the token, and advice. The text depends only on the
// arguments.

import EnrollRules

/// The status of an account.
struct AccountStatus {
  let ending: CommandStatus
  let headline: String
  let token: String
  /// The next step for the user; nil if there is no next step.
  let advice: Advice?
  let colour: Terminal.Colour

  /// The status of an account in this state.
  /// - Parameters:
  ///   - kept: the stored data about the account.
  ///   - now: seconds since 1970.
  ///   - obstacle: why the store cannot be used; nil if the store can be used.
  init(
    _ state: RegistrationState, kept: AccountSnapshot, obstacle: EnrollError? = nil, now: Int64
  ) {
    let signedIn = "Signed in as \(Shown.person(kept.profile))"
    let waiting = kept.waiting.map { Shown.person($0.profile) }
    let left = kept.expiresAt.map { $0.seconds - now }
    let lives = left.map { $0 > 0 ? "expires in \(Shown.span(seconds: $0))" : "expired" }
    switch state {
    case .active(let activation):
      ending = .done
      headline = signedIn
      let how = activation == .renewed ? "renewed just now" : "valid"
      // If the token seems to have expired, the time is left out: the library, which decided that the token is valid,
      // corrects this machine's date by the provider's date.
      let span = (left ?? 0) > 0 ? lives : nil
      let asks = waiting.map { "the sign-in of \($0) waits for your confirmation" }
      token = Self.joined([Self.joined([how, span], ", "), Self.renewal(kept, now: now), asks])
      // A sign-in that waits here belongs to another client, because `state` is the state of the profile's client.
      (advice, colour) = asks == nil ? (nil, .good) : (Self.answering, .warning)
    // Another user may have signed in during this session. The session's token is still used.
    case .awaitingConfirmation where left != nil:
      ending = .done
      headline = signedIn
      token = Self.joined(
        [lives, "the sign-in of \(waiting ?? "another user") waits for your confirmation"])
      (advice, colour) = (Self.answering, .warning)
    case .awaitingConfirmation(_, let profile):
      ending = .signInNeeded
      headline = "The sign-in of \(waiting ?? Shown.person(profile)) is not confirmed"
      token = "waiting for your confirmation"
      (advice, colour) = ("Run \(.login) to confirm.", .warning)
    case .unregistered where waiting != nil:
      ending = .signInNeeded
      headline = "The sign-in of \(waiting ?? "") is not confirmed"
      token = "waiting for your confirmation"
      (advice, colour) = ("Run \(.login) to confirm.", .warning)
    case .authenticating:
      ending = .signInNeeded
      headline = "A sign-in is in progress"
      token = "none yet"
      (advice, colour) = ("It ends without further action; \(.login) begins another.", .warning)
    case .renewalFailed(let failure):
      let reason = Shown.message(failure.error.message)
      switch failure.remedy {
      case .registerAgain:
        ending = .signInNeeded
        headline = "The session has ended"
        token = "cannot be renewed: \(reason)"
        (advice, colour) = (CommandStatus.signInNeeded.advice, .bad)
      case .retry, .wait:
        let cause = CommandStatus(failure.error)
        // As in ``TokenReport``, only an error code of the provider means a refusal: an error without such a code may
        // come from an intermediary.
        let isRefused = failure.error.code == .oauth && failure.error.oauthError != nil
        let status: CommandStatus = cause.isOfThisMachine ? cause : isRefused ? .refused : .unreachable
        ending = failure.isTokenUsable ? .done : status
        headline = signedIn
        token =
          "\(failure.isTokenUsable ? "still works" : "expired"), and could not be renewed: \(reason)"
        let isForgotten = failure.error.field == EnrollError.registrationField
        (advice, colour) = (isForgotten ? Failure.registration : status.advice, .warning)
      }
    case .registrationFailed(let error):
      ending = .signInNeeded
      headline = "The last sign-in failed"
      token = "none: \(Shown.message(error.message))"
      (advice, colour) = (CommandStatus.signInNeeded.advice, .bad)
    case .starting where left != nil:
      let left = left ?? 0
      let isBusy = obstacle?.code == .busy
      let status: CommandStatus = isBusy ? .busy : .unreachable
      ending = left > 0 ? .done : status
      headline = signedIn
      // Either another process does not release a lock, or a renewal is running, and the provider did not respond in
      // time.
      let reason =
        isBusy
        ? Shown.message(obstacle?.message ?? "") : "the provider has not answered its renewal yet"
      token = Self.joined([lives, reason])
      (advice, colour) = (status.advice, .warning)
    case .starting, .unregistered:
      ending = .signInNeeded
      headline = "No user is signed in"
      token = "none"
      (advice, colour) = (CommandStatus.signInNeeded.advice, .warning)
    }
  }

  private static let answering: Advice = "Run \(.login) to confirm or reject it."

  private static func joined(_ parts: [String?], _ separator: String = "; ") -> String {
    parts.compactMap { $0 }.joined(separator: separator)
  }

  /// A text that says whether the session renews its token, and for how long.
  private static func renewal(_ kept: AccountSnapshot, now: Int64) -> String {
    guard kept.renews ?? true else {
      return "the provider gave no refresh token, so it is not renewed"
    }
    guard let end = kept.renewableUntil?.seconds, end > now else { return "renewed on use when due" }
    return
      "renewed on use when due; without use it ends at \(InternetDate.text(end)), in \(Shown.span(seconds: end - now))"
  }

  func sign(_ signs: Signs) -> String {
    switch colour {
    case .good, .strong: signs.good
    case .warning: signs.warning
    case .bad: signs.bad
    }
  }
}
