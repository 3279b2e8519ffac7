// The browser step as an interface (flows.md §7), so that a host defines once how its browser is opened, and its tests
// can use a fake instead.

import EnrollRules
public import EnrollJSON

/// An external browser: ASWebAuthenticationSession, a desktop's default browser, the fake of `EnrollTesting`. Never a
/// web view inside the app (R1, RFC 8252 §8.12).
public protocol UserAgent: Sendable {
  /// Opens `url` and waits until the user returns.
  /// - Parameters:
  ///   - url: the whole URL to open.
  ///   - redirectURI: the beginning of the URL that returns to the app; nil if `url` is a link to another app.
  func open(_ url: String, redirectURI: String?) async -> UserAgentAnswer
}

/// How the user returned from the browser.
public enum UserAgentAnswer: Equatable, Sendable {
  /// The user returned with this whole URL.
  case returned(String)
  /// The user returned without a URL: the user closed the tab.
  case dismissed
  /// The agent does not learn how the user returned: the URL arrives at the loopback listener, or through
  /// ``EnrollClient/handle(_:timeout:)``.
  case elsewhere
}

private struct ShowingAgent: UserAgent {
  let show: @Sendable (String) async -> Void

  func open(_ url: String, redirectURI: String?) async -> UserAgentAnswer {
    await show(url)
    return .elsewhere
  }
}

extension EnrollClient {
  /// Signs in with a closure that shows the URL; the redirect arrives at the loopback listener, or through
  /// ``handle(_:timeout:)``:
  /// ```swift
  /// let state = try await client.signIn { url in
  ///   print("Open this in your browser: \(url)")
  /// } confirming: { profile in
  ///   profile["email"]?.string == "alice@example.com"
  /// }
  /// ```
  /// If a sign-in already waits for confirmation, no URL is shown, and the user is asked about that sign-in's
  /// profile: an earlier process may have ended before the user answered.
  /// - Parameters:
  ///   - options: as for ``begin(_:timeout:)``.
  ///   - timeout: how long the user may take.
  ///   - show: opens the URL in the external browser, or shows it to the user.
  ///   - confirm: whether this profile is the user's: true confirms, false revokes the tokens. nil leaves the
  ///     confirmation to ``confirm(_:)``.
  /// - Throws: as ``signIn(using:_:timeout:)``; `.illegalState` if another sign-in arrived while the user was asked.
  public func signIn(
    _ options: SignInOptions = SignInOptions(), timeout: Duration = .seconds(600),
    showing show: @escaping @Sendable (String) async -> Void,
    confirming confirm: (@Sendable (JSONObject) async -> Bool)? = nil
  ) async throws(EnrollError) -> RegistrationState {
    let state = try await signIn(using: ShowingAgent(show: show), options, timeout: timeout)
    guard let confirm, case .awaitingConfirmation(let transactionID, let profile) = state else {
      return state
    }
    return await confirm(profile)
      ? try await self.confirm(transactionID) : try await retry(transactionID)
  }

  /// Runs a complete sign-in or registration, up to the user's confirmation: begins it, opens the browser and processes
  /// the redirect. If an earlier sign-in waits for confirmation, or for its PIN, no browser opens.
  /// - Returns: `awaitingConfirmation` or, without confirmation, `active`; after a dismissal, the state as it would be
  ///   without this attempt. A valid redirect that arrives later still counts, through
  ///   ``resume(_:transactionID:timeout:)``. Cancelling the task while the redirect is awaited is a dismissal, too.
  /// - Throws: the errors of ``begin(_:timeout:)`` and ``resume(_:transactionID:timeout:)``; `.unsupported` for a kind that has
  ///   no browser step.
  public func signIn(
    using agent: some UserAgent, _ options: SignInOptions = SignInOptions(),
    timeout: Duration = .seconds(600)
  ) async throws(EnrollError) -> RegistrationState {
    let begun: Transaction
    do throws(EnrollError) {
      begun = try await begin(options)
    } catch {
      guard error.code == .illegalState, let open = try await stateOfPendingUser() else { throw error }
      return open
    }
    let url: String
    switch begun.action {
    case .openURL(let link), .openOtherApp(let link): url = link
    case .enterCode, .awaitLink, .showDeviceCode:
      _ = try await cancel(begun)
      throw EnrollError(
        .unsupported, "a transaction of kind \(options.kind.rawValue) has no browser step", field: "kind")
    }
    switch await agent.open(url, redirectURI: begun.redirectURI) {
    case .returned(let url): return try await resume(url)
    case .dismissed: return try await cancel(begun)
    case .elsewhere:
      do throws(EnrollError) {
        return try await awaitOutcome(of: begun, timeout: timeout)
      } catch {
        // Cancels the transaction in a separate task, because the current task may be cancelled. Cancelling the
        // transaction is only a hint: if it fails, nothing is lost.
        if error.code == .cancelled { _ = await Task { try await cancel(begun) }.result }
        throw error
      }
    }
  }

  /// The state if tokens already wait for the user's confirmation or PIN, so that no sign-in can begin; nil
  /// otherwise. An earlier process may have left these tokens.
  private func stateOfPendingUser() async throws(EnrollError) -> RegistrationState? {
    let state = try await state()
    switch state {
    case .awaitingConfirmation, .authenticating(_, .pin): return state
    case .starting, .unregistered, .authenticating, .active, .renewalFailed, .registrationFailed: return nil
    }
  }
}
