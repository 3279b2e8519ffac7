// The message after a repeated sign-in, if the provider returned the same user again without asking.

import EnrollJSON

extension SignIn {
  /// Reports that the provider returned the same user from its session in the browser. The request had `prompt`, but
  /// some providers ignore that parameter.
  func tellUnasked(_ before: JSONObject?, _ now: JSONObject, _ since: Int64) {
    // The comparison of the times tolerates a difference of a minute, because the provider's clock may be a little
    // ahead.
    guard way.again, let subject = now["sub"]?.string, subject == before?["sub"]?.string,
      let time = now["auth_time"]?.integer, time < since - 60
    else { return }
    let advice: Advice = "For another user, run \(.logout) first: it ends that session."
    errors.say(
      "The provider did not ask: its session in the browser is still that of \(Shown.person(now)).",
      in: .warning)
    errors.say("  " + advice.text(session.said))
  }
}
