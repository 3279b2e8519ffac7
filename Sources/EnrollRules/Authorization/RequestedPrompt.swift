// The `prompt` of a request (OpenID Connect Core §3.1.2.1), from three sources: the host; the login that is due after a
// logout or a retry, so that another account can be chosen (flows.md §5); the consent without which some providers
// issue no refresh token (§11). A silent sign-in (`none`) is refused if a login is due.

/// The `prompt` of one request.
struct RequestedPrompt {
  /// The value of `prompt`; nil if the request has no `prompt`.
  let value: String?
  /// Whether a login is due, although the provider announces no value that asks for a login.
  let lacksLogin: Bool

  /// - Parameters:
  ///   - host: the prompt of the host or the registration; it is always sent.
  ///   - asksForLogin: whether a login is due.
  ///   - asksForConsent: whether a refresh token needs consent; ignored if the prompt is `none`.
  ///   - logins: the values that let the user choose another account, the preferred one first.
  ///   - announced: the values that the provider announces; nil if the provider announces nothing.
  /// - Throws: `.loginRequired` for `none` if a login is due: the provider's own session may still belong to
  ///   the user who signed out.
  init(
    host: String?, asksForLogin: Bool, asksForConsent: Bool = false, logins: [String],
    announced: [String]?
  ) throws(EnrollError) {
    var asked = host.map { Scopes.split($0) } ?? []
    if asksForConsent, !Scopes.contains("none", in: asked) { asked = Scopes.adding("consent", to: asked) }
    let sent = asked.isEmpty ? nil : Scopes.joined(asked)
    guard asksForLogin else {
      value = sent
      lacksLogin = false
      return
    }
    guard !Scopes.contains("none", in: asked) else {
      throw EnrollError(
        .loginRequired,
        "prompt=none was requested after a logout or a retry. A silent sign-in could bring back the account that the user left. Begin without prompt=none",
        field: "prompt")
    }
    // No value for a login is added if the prompt already contains such a value, or if the user creates a new account.
    guard !asked.contains(where: { Scopes.contains($0, in: logins + ["create", "registration"]) }) else {
      value = sent
      lacksLogin = false
      return
    }
    let login = announced.map { known in logins.first { Scopes.contains($0, in: known) } } ?? logins.first
    let values = (login.map { [$0] } ?? []) + asked
    value = values.isEmpty ? nil : Scopes.joined(values)
    lacksLogin = login == nil
  }

  /// The warning for the log if ``lacksLogin`` is true.
  var warning: EnrollError? {
    guard lacksLogin else { return nil }
    return EnrollError(
      .unsupported,
      "a new login is due after a logout or a retry, and the provider announces neither prompt=login nor prompt=select_account. The request goes without, so the provider may sign in the same user again. End the provider's own session to prevent that",
      field: "prompt")
  }
}

extension EnrollError {
  /// Whether `prompt=none` failed because the provider needs the user (OpenID Connect Core §3.1.2.6).
  package var asksForUser: Bool {
    code == .loginRequired || code == .interactionRequired || code == .consentRequired
  }
}
