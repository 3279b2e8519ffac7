// Activation and fallback links through a client: the engine decides what a link does, and the client opens a listener
// if the sign-in uses a loopback redirect.

public import EnrollRules
public import EnrollSteps

extension Client {
  /// Handles an activation or fallback link that reached the app (flows.md §3, §4).
  /// - Throws: `.redirectMismatch` if the URL is not one of `appLinks` and not `fallbackUri`; otherwise as
  ///   ``LinkStep/handleLink(_:listening:cancellation:)``.
  public func handleLink(
    _ url: String, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HandledLink {
    try requireOpen()
    try waitForPlatform(until: deadline, cancellation)
    guard let outcome = try linkOutcome(of: url, until: deadline, cancellation: cancellation) else {
      throw EnrollError(.redirectMismatch, "the URL is neither one of appLinks nor fallbackUri")
    }
    return outcome
  }

  func linkOutcome(
    of url: String, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HandledLink? {
    defer { outbox.sendToBackEnd() }
    return try engine.backEnd.reporting { () throws(EnrollError) in
      try listening(until: deadline, cancellation) { listening, cancellation throws(EnrollError) in
        let outcome = try engine.links.handleLink(url, listening: listening, cancellation: cancellation)
        guard case .begun(let begun) = outcome else { return (outcome, nil) }
        return (outcome, begun)
      }
    }
  }

  /// Begins an ordinary sign-in if a fallback ended because no user was signed in at the provider. Returns nil after
  /// any other settlement.
  func signIn(
    after settlement: Settlement, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Transaction? {
    try listening(until: deadline, cancellation) { listening, cancellation throws(EnrollError) in
      let begun = try engine.links.signIn(after: settlement, listening: listening, cancellation: cancellation)
      return (begun, begun)
    }
  }

  /// Runs a step that may begin a transaction, and opens a listener if the step asks for a listener. If a listener is
  /// already open for the transaction that the link belongs to, that listener serves both transactions: its port may be
  /// the only one that the provider accepts.
  private func listening<Result>(
    until deadline: Instant, _ cancellation: (any Cancellation)?,
    _ step: (Listening, any Cancellation) throws(EnrollError) -> (Result, Transaction?)
  ) throws(EnrollError) -> Result {
    try bounded(until: deadline, cancellation) { cancellation throws(EnrollError) in
      var listener: LoopbackListener?
      do throws(EnrollError) {
        let (result, begun) = try step(
          { origin throws(EnrollError) in
            guard configuration.usesLoopbackRedirect else { return nil }
            if let open = loopbacks.withLock({ $0.redirectURI(of: origin) }) { return open }
            let own = try LoopbackListener(redirectURI: configuration.redirectURI)
            listener = own
            return own.redirectURI
          }, cancellation)
        if let listener {
          if let begun { try listen(on: listener, for: begun) } else { listener.close() }
        }
        return result
      } catch {
        listener?.close()
        throw error
      }
    }
  }
}

extension SignInOptions {
  /// Whether a sign-in with these options ends with a redirect of the browser to the configured redirect URI.
  func redirects(_ configuration: Configuration) -> Bool {
    if kind == .register, case .page = configuration.registration { return false }
    return comesBackByRedirect
  }
}
