// Links that the app receives: the link in the e-mail of a registration (flows.md §3), and the fallback link of a
// gateway that could not return to the sign-in itself (flows.md §4). A link never completes a sign-in. The app gets a
// URL for the browser in return, but only while a transaction waits for the link.

public import EnrollRules

/// Returns the redirect URI of a loopback listener for a new sign-in; `origin` is the transaction that waited for the
/// link. The result is nil if the configured redirect URI is not a loopback URI. The function is called only if a
/// listener is needed.
public typealias Listening = (_ origin: TransactionID) throws(EnrollError) -> String?

/// Handles the links that the app receives.
public final class LinkStep: StateChangingStep {
  let context: EngineContext
  let machine: StateMachine
  private let requests: ClientRequests
  private let registration: RegistrationStep
  private let transactions: TransactionStep
  private let authorization: AuthorizationStep

  init(
    _ context: EngineContext, machine: StateMachine, requests: ClientRequests, registration: RegistrationStep,
    transactions: TransactionStep, authorization: AuthorizationStep
  ) {
    self.context = context
    self.machine = machine
    self.requests = requests
    self.registration = registration
    self.transactions = transactions
    self.authorization = authorization
  }

  /// Handles an activation or fallback link.
  /// - Returns: nil if the URL is neither one of `appLinks` nor `fallbackUri`. If the result is nil or
  ///   ``HandledLink/refused(_:)``, nothing has changed.
  /// - Throws: `.redirectMalformed` (R9, R11); `.illegalState` while a profile waits for confirmation; `.network` and
  ///   related errors if the provider cannot be reached (the link can then be used again); the errors of the store.
  public func handleLink(
    _ url: String, listening: Listening, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HandledLink? {
    try context.requireNative()
    switch try ReceivedLink.read(url, configuration: configuration) {
    case nil: return nil
    case .activation(let token, let template):
      return try activate(token, template, listening, cancellation)
    case .fallback: return try fallBack(listening, cancellation)
    }
  }

  private func activate(
    _ token: ActivationToken, _ template: LinkTemplate, _ listening: Listening,
    _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HandledLink {
    let transactions = try store.read(account)?.transactions ?? []
    let hash = try token.hash()
    let moment = clock.moment()
    if transactions.contains(where: { $0.hasSpent(hash) }) {
      return .refused(.activation(.used))
    }
    guard let waiting = transactions.last(where: { $0.isRegistration && $0.isLive(at: moment) }) else {
      let wasAwaited = transactions.contains { $0.isRegistration && $0.isOpen }
      return .refused(.activation(wasAwaited ? .expired : .unsolicited))
    }
    try requireBegin()
    do throws(EnrollError) {
      switch configuration.activation {
      case .authorize:
        return .begun(
          try authorize(
            following: waiting, by: .activation, prompt: nil, token: token, listening, cancellation
          ) { record throws(EnrollError) in try record.spend(hash, on: waiting.id) })
      case .openPage:
        return .begun(try openPage(of: template, with: token, hash: hash, for: waiting))
      }
    } catch {
      // Two processes opened the same link at once, and the other process was first.
      guard error.code == .alreadySettled else { throw error }
      return .refused(.activation(.used))
    }
  }

  /// Opens the welcome page, built from the configured template and the checked token (R10). The page returns through
  /// the fallback link.
  private func openPage(
    of template: LinkTemplate, with token: ActivationToken, hash: String, for waiting: TransactionRecord
  ) throws(EnrollError) -> Transaction {
    try store.update(account) { record throws(EnrollError) in
      try record.spend(hash, on: waiting.id)
      record.change(waiting.id) { $0.setInBrowser(true) }
    }
    try apply(.begun(transactionID: waiting.id, step: .browser))
    let page = configuration.welcomeTemplate ?? template
    return Transaction(of: waiting, action: .openURL(page.filled(with: token)))
  }

  private func fallBack(
    _ listening: Listening, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HandledLink {
    let moment = clock.moment()
    let open = (try store.read(account)?.transactions ?? []).filter { $0.takesFallback }
    let live = open.filter { $0.isLive(at: moment) }
    guard !live.isEmpty else { return .refused(.fallback(open.isEmpty ? .unsolicited : .expired)) }
    guard let pending = live.last(where: { $0.hasFallenBack == false }) else {
      return .refused(.fallback(.used))
    }
    try requireBegin()
    do throws(EnrollError) {
      return .begun(
        try authorize(
          following: pending, by: .fallback, prompt: "none", token: nil, listening, cancellation
        ) { record throws(EnrollError) in try record.fallBack(from: pending.id) })
    } catch {
      guard error.code == .alreadySettled else { throw error }
      return .refused(.fallback(.used))
    }
  }

  /// Begins an ordinary sign-in after a fallback that found no user signed in at the provider (flows.md §4). The new
  /// sign-in belongs to the same chain of sign-ins, in which no second fallback is allowed.
  /// - Returns: nil for any other settlement.
  public func signIn(
    after settlement: Settlement, listening: Listening, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Transaction? {
    guard let silent = settlement.silentFallback else { return nil }
    try requireBegin()
    return try authorize(
      following: silent, by: .fallback, prompt: nil, token: nil, listening, cancellation
    ) { _ throws(EnrollError) in }
  }

  private func requireBegin() throws(EnrollError) {
    if state == .starting { _ = try registration.settleBesideSession() }
    try require(.begun(transactionID: "", step: .browser))
  }

  /// A new authorize request in place of `before`, with the same scopes and requirements.
  private func authorize(
    following before: TransactionRecord, by source: LinkCause.Source, prompt: String?,
    token: ActivationToken?,
    _ listening: Listening, _ cancellation: (any Cancellation)?,
    also change: (inout AccountRecord) throws(EnrollError) -> Void
  ) throws(EnrollError) -> Transaction {
    try requests.requireUsableKey()
    let metadata = try provider.metadata(cancellation: cancellation)
    let origin =
      if let cause = before.cause, cause.source == .fallback { cause.origin } else { before.id }
    let request = try AuthorizationRequest.make(
      configuration: configuration, metadata: metadata,
      options: SignInOptions(
        scopes: before.scopes, prompt: prompt, maxAgeSeconds: before.demands.maxAgeSeconds,
        acrValues: before.demands.acrValues),
      redirectURI: try listening(origin), wantsConsent: authorization.wantsConsent(), activationToken: token,
      dpopKey: try requests.newDPoPKey(metadata),
      at: clock.moment(),
      random: try random.bytes(AuthorizationRequest.randomByteCount))
    var sent = request.sent
    sent.expectedSubject = before.codeRequest?.expectedSubject
    var transaction = request.transaction
    transaction.flow = .signIn(
      .init(sent, cause: LinkCause(source, for: origin), hasFallenBack: source == .fallback))
    let url = try authorization.browserURL(of: request, metadata: metadata, cancellation: cancellation)
    try transactions.remember(transaction) { record throws(EnrollError) in
      try change(&record)
      if source == .activation { record.removeOpenSignIns(ofRegistration: origin) }
    }
    return Transaction(of: transaction, opening: url)
  }
}
