// Which `prompt` a request carries (OpenID Connect Core §3.1.2.1): what the host asks for, and the log-in that is due
// after a logout or a retry, so that another account can be chosen (flows.md §5). Refused: a silent sign-in where a
// log-in is due.

/// The `prompt` of one request.
struct RequestedPrompt {
  /// nil where nothing is asked for.
  let value: String?
  /// A log-in is due, and the provider announces no value that asks for one.
  let lacksLogin: Bool

  /// - Parameters:
  ///   - host: what the host or the registration asks for; it is sent in any case.
  ///   - asksForLogin: a log-in is due.
  ///   - logins: the values that let another account be chosen, the wanted one first.
  ///   - announced: the provider's values; nil where it says nothing.
  /// - Throws: `.loginRequired` for `none` where a log-in is due: the provider's own session may still be that of the
  ///   user who left.
  init(
    host: String?, asksForLogin: Bool, logins: [String], announced: [String]?
  ) throws(EnrollError) {
    let asked = host.map { Scopes.split($0) } ?? []
    guard asksForLogin else {
      value = host
      lacksLogin = false
      return
    }
    guard !Scopes.contains("none", in: asked) else {
      throw EnrollError(
        .loginRequired,
        "prompt=none was requested after a logout or a retry. A silent sign-in could bring back the account that the user left. Begin without prompt=none",
        field: "prompt")
    }
    // A user who makes a new account does not come back as the old one.
    guard !asked.contains(where: { Scopes.contains($0, in: logins + ["create"]) }) else {
      value = host
      lacksLogin = false
      return
    }
    let login = announced.map { known in logins.first { Scopes.contains($0, in: known) } } ?? logins.first
    let values = (login.map { [$0] } ?? []) + asked
    value = values.isEmpty ? nil : Scopes.joined(values)
    lacksLogin = login == nil
  }

  /// The warning for the log when ``lacksLogin``.
  var warning: EnrollError? {
    guard lacksLogin else { return nil }
    return EnrollError(
      .unsupported,
      "a new login is due after a logout or a retry, and the provider announces neither prompt=login nor prompt=select_account. The request goes without, so the provider may sign in the same user again. End the provider's own session to prevent that",
      field: "prompt")
  }
}
