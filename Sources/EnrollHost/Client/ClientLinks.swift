// Activation and fallback links through a client: what the engine decides, with a listener where the redirect is a
// loopback one.

public import EnrollCore

extension Client {
  /// Takes an activation or fallback link that reached the app (flows.md §3, §4).
  /// - Throws: `.redirectMismatch` when the URL is neither one of `appLinks` nor `fallbackUri`; else as
  ///   ``Engine/handleLink(_:listening:cancellation:)``.
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
    defer { outbox.sendNews() }
    return try engine.reporting { () throws(EnrollError) in
      try listening(until: deadline, cancellation) { listening, cancellation throws(EnrollError) in
        let outcome = try engine.handleLink(url, listening: listening, cancellation: cancellation)
        guard case .begun(let begun) = outcome else { return (outcome, nil) }
        return (outcome, begun)
      }
    }
  }

  /// An ordinary sign-in after a fallback that found nobody signed in at the provider; nil after anything else.
  func signIn(
    after settlement: Engine.Settlement, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Transaction? {
    try listening(until: deadline, cancellation) { listening, cancellation throws(EnrollError) in
      let begun = try engine.signIn(after: settlement, listening: listening, cancellation: cancellation)
      return (begun, begun)
    }
  }

  /// Runs a step that may begin a transaction, and opens a listener if the step asks for one. Where the transaction that
  /// the link came for is listened for, its listener serves both: the port may be the only one that the provider takes.
  private func listening<Result>(
    until deadline: Instant, _ cancellation: (any Cancellation)?,
    _ step: (Engine.Listening, any Cancellation) throws(EnrollError) -> (Result, Transaction?)
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
  /// Whether the browser comes back by the configured redirect.
  func redirects(_ configuration: Configuration) -> Bool {
    if kind == .register, case .page = configuration.registration { return false }
    return comesBackByRedirect
  }
}
