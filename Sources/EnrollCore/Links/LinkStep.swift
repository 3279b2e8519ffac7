// Links that reach the app: the one in the e-mail of a registration (flows.md §3), and the fallback of a gateway that
// could not find its way back (flows.md §4). A link never completes anything by itself: it makes a URL for the browser,
// and only while a transaction of ours waits for it.

extension Engine {
  /// Where a loopback redirect is listened for, asked only when one is needed: for the transaction that the link came
  /// for; nil with any other redirect.
  public typealias Listening = (_ origin: TransactionID) throws(EnrollError) -> String?

  /// Takes an activation or fallback link.
  /// - Returns: nil when the URL is neither one of `appLinks` nor `fallbackUri`. Nothing changed then, nor with
  ///   ``HandledLink/refused(_:)``.
  /// - Throws: `.redirectMalformed` (R9, R11); `.illegalState` while a profile waits for confirmation; `.network` and its
  ///   kin when the provider cannot be asked: the link is not used up then; store errors.
  public func handleLink(
    _ url: String, listening: Listening, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HandledLink? {
    try requireNative()
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
      // The same link in two processes at once: one of them won.
      guard error.code == .alreadySettled else { throw error }
      return .refused(.activation(.used))
    }
  }

  /// The welcome page in the tab; it returns by the fallback link.
  private func openPage(
    of template: LinkTemplate, with token: ActivationToken, hash: String, for waiting: TransactionRecord
  ) throws(EnrollError) -> Transaction {
    try store.update(account) { record throws(EnrollError) in
      try record.spend(hash, on: waiting.id)
      record.change(waiting.id) { $0.setInBrowser(true) }
    }
    try apply(.begun(transactionID: waiting.id, step: .browser))
    let page = configuration.welcomePage ?? template
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

  /// After a fallback that found nobody signed in at the provider: an ordinary sign-in in its place (flows.md §4). It
  /// belongs to the same chain, in which no further fallback is taken.
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
    if state == .starting { _ = try settleBesideSession() }
    try require(.begun(transactionID: "", step: .browser))
  }

  /// A new authorize request in the place of `before`, asking for what that one asked for.
  private func authorize(
    following before: TransactionRecord, by source: LinkCause.Source, prompt: String?,
    token: ActivationToken?,
    _ listening: Listening, _ cancellation: (any Cancellation)?,
    also change: (inout AccountRecord) throws(EnrollError) -> Void
  ) throws(EnrollError) -> Transaction {
    let metadata = try provider.metadata(cancellation: cancellation)
    let origin =
      if let cause = before.cause, cause.source == .fallback { cause.origin } else { before.id }
    let request = try AuthorizationRequest.make(
      configuration: configuration, metadata: metadata,
      options: SignInOptions(
        scopes: before.scopes, prompt: prompt, maxAgeSeconds: before.demands.maxAgeSeconds,
        acrValues: before.demands.acrValues),
      redirectURI: try listening(origin), activationToken: token, dpopKey: try newDPoPKey(metadata),
      at: clock.moment(),
      random: try random.bytes(AuthorizationRequest.randomByteCount))
    var sent = request.sent
    sent.expectedSubject = before.codeRequest?.expectedSubject
    var transaction = request.transaction
    transaction.flow = .signIn(
      .init(sent, cause: LinkCause(source, for: origin), hasFallenBack: source == .fallback))
    let url = try browserURL(of: request, metadata: metadata, cancellation: cancellation)
    try remember(transaction) { record throws(EnrollError) in
      try change(&record)
      if source == .activation { record.forgetAttempts(at: origin) }
    }
    return Transaction(of: transaction, action: .openURL(url))
  }
}

extension AccountRecord {
  /// - Throws: `.alreadySettled` when it was spent meanwhile.
  fileprivate mutating func spend(_ hash: String, on transactionID: TransactionID) throws(EnrollError) {
    guard !transactions.contains(where: { $0.hasSpent(hash) }) else {
      throw EnrollError(.alreadySettled, "the link was used before")
    }
    change(transactionID) { $0.spend(hash) }
  }

  /// - Throws: `.alreadySettled` when it was taken meanwhile.
  fileprivate mutating func fallBack(from transactionID: TransactionID) throws(EnrollError) {
    guard let pending = transactions.named(transactionID), pending.isOpen, pending.hasFallenBack == false
    else {
      throw EnrollError(.alreadySettled, "the fallback link was used before")
    }
    change(transactionID) { $0.fallBack() }
  }

  /// Of the links that arrive for one wait only the newest has a sign-in in progress: a forged link replaces the
  /// sign-in of that wait, and of no other transaction.
  fileprivate mutating func forgetAttempts(at origin: TransactionID) {
    // A transaction that follows another stands behind it.
    var chain = [origin]
    for transaction in transactions {
      guard let before = transaction.cause?.origin, chain.contains(before)
      else { continue }
      chain.append(transaction.id)
    }
    let attempts = chain.dropFirst()
    transactions.removeAll { $0.isOpen && attempts.contains($0.id) }
  }
}

extension TransactionRecord {
  /// Asks nobody anything: a fallback's way to find out whether the user is signed in.
  var isSilentFallback: Bool {
    cause?.source == .fallback && (codeRequest?.prompt.map { ASCII.equals($0, "none") } ?? false)
  }

  /// Why it failed, for the host to know what to offer.
  func explained(_ error: EnrollError) -> EnrollError {
    guard cause?.source == .activation else { return error }
    return EnrollError(
      .activationFailed, "after the link of an e-mail, " + error.message, oauthError: error.oauthError)
  }
}

extension EnrollError {
  /// `prompt=none` found that the user is needed (OpenID Connect Core §3.1.2.6).
  var asksForUser: Bool {
    code == .loginRequired || code == .interactionRequired || code == .consentRequired
  }
}
