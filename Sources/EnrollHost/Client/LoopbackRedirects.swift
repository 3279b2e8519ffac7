// Open loopback redirects: each has a listener and a thread, which end when the transaction is settled, its deadline
// passes, or the client is closed (R4). If a thread has already sent a code, it still finishes the exchange for tokens:
// draining the client waits for these threads.

import EnrollRules
import EnrollSteps
import EnrollPosix

/// The open listeners, with their cancellations.
struct LoopbackRedirects: Sendable {
  private var open: [(transactionID: TransactionID, redirectURI: String, cancellation: CancellationFlag)] = []
  /// The transactions whose redirect has arrived, but whose browser has not received its page yet.
  private var answering: [TransactionID] = []
  /// The errors of redirects that have arrived and could not be processed yet.
  private var postponements: [(transactionID: TransactionID, error: EnrollError)] = []

  /// The reason why the transaction's redirect was postponed; nil if it was not postponed.
  func postponement(of transactionID: TransactionID) -> EnrollError? {
    postponements.first { $0.transactionID == transactionID }?.error
  }

  mutating func note(_ error: EnrollError, of transactionID: TransactionID) {
    postponements.removeAll { $0.transactionID == transactionID }
    postponements.append((transactionID, error))
  }

  mutating func add(_ begun: Transaction, _ cancellation: CancellationFlag) {
    open.append((begun.transactionID, begun.redirectURI ?? "", cancellation))
  }

  /// Whether the browser still waits for its page. The transaction is reported as settled only after the browser has
  /// received the page, because the program may end as soon as it gets that report.
  func isAnswering(_ transactionID: TransactionID) -> Bool {
    answering.contains(transactionID)
  }

  var isAnsweringAny: Bool { !answering.isEmpty }

  mutating func setAnswering(_ transactionID: TransactionID, _ isAnswering: Bool) {
    answering.removeAll { $0 == transactionID }
    if isAnswering { answering.append(transactionID) }
  }

  /// The redirect URI of the transaction's listener; nil if the transaction has no listener.
  func redirectURI(of transactionID: TransactionID) -> String? {
    open.first { $0.transactionID == transactionID }?.redirectURI
  }

  /// The cancellation of the transaction's listener; nil if the transaction has no listener, or if its redirect has
  /// arrived.
  func waiting(for transactionID: TransactionID) -> CancellationFlag? {
    open.first { $0.transactionID == transactionID && !answering.contains(transactionID) }?.cancellation
  }

  /// Whether no listener is open.
  var isEmpty: Bool { open.isEmpty }

  /// The cancellations of the listeners whose redirect has not arrived.
  var waiting: [CancellationFlag] {
    open.filter { !answering.contains($0.transactionID) }.map { $0.cancellation }
  }

  mutating func remove(_ transactionID: TransactionID) {
    open.removeAll { $0.transactionID == transactionID }
    postponements.removeAll { $0.transactionID == transactionID }
    setAnswering(transactionID, false)
  }

  mutating func removeAll() -> [CancellationFlag] {
    defer { open = [] }
    return open.map { $0.cancellation }
  }
}

extension EnrollError {
  /// Whether the error means that the URL settles no transaction, neither now nor later (R5, R6, R7, R12, R17).
  fileprivate var isAboutRedirect: Bool {
    switch code {
    case .unsolicited, .redirectMalformed, .redirectMismatch, .alreadySettled, .transactionExpired: true
    case .issuerMismatch: field.map { ASCII.equals($0, "iss") } ?? false
    default: false
    }
  }
}

extension EnrollError {
  /// Whether the error comes from the store, not from the provider.
  fileprivate var isAboutStore: Bool {
    switch code {
    case .storeLocked, .storeCorrupt, .storeRefused, .storeIO, .storeFull, .storeKey, .storeVersion, .busy:
      true
    default: false
    }
  }
}

extension Client {
  /// Waits for the redirect on its own thread, so that no call needs to wait for it.
  /// - Throws: `.busy` if no thread could be started.
  func listen(on listener: LoopbackListener, for begun: Transaction) throws(EnrollError) {
    let cancellation = CancellationFlag()
    loopbacks.withLock { $0.add(begun, cancellation) }
    let deadline = clock.instant().advanced(bySeconds: begun.expiresAt.since(clock.wallTime()))
    let isStarted = threads.start { [self] in
      defer {
        listener.close()
        loopbacks.withLock { $0.remove(begun.transactionID) }
        hub.announceChange()
      }
      var tries = 0
      _ = try? listener.wait(deadline: deadline, clock: clock, cancellation: cancellation) {
        url in
        loopbacks.withLock { $0.setAnswering(begun.transactionID, true) }
        let reply = reply(to: url, of: begun.transactionID, tries: tries, cancellation: cancellation)
        if case .accepted = reply { return reply }
        if case .postponed = reply { tries += 1 }
        loopbacks.withLock { $0.setAnswering(begun.transactionID, false) }
        return reply
      }
    }
    guard isStarted else {
      loopbacks.withLock { $0.remove(begun.transactionID) }
      throw EnrollError.noThread(" to listen for the redirect")
    }
  }

  /// Called when the user cancels: frees a configured port for the next sign-in of this or another program. A port that
  /// the system chose stays open for a late redirect, because no other program needs that port.
  func stopListening(for transactionID: TransactionID?) {
    guard (try? StrictURL(configuration.redirectURI))?.port != nil else { return }
    let listeners = loopbacks.withLock { redirects in
      transactionID.map { redirects.waiting(for: $0).map { [$0] } ?? [] } ?? redirects.waiting
    }
    for listener in listeners { listener.cancel() }
  }

  /// Frees a configured port on which a listener of this client waits for an earlier sign-in. The next listener on that
  /// port also receives the earlier sign-in's redirect: each redirect is assigned by its `state`.
  func freeConfiguredPort(until deadline: Instant, _ cancellation: (any Cancellation)?) throws(EnrollError) {
    guard (try? StrictURL(configuration.redirectURI))?.port != nil else { return }
    for listener in loopbacks.withLock({ $0.waiting }) { listener.cancel() }
    try wait(until: deadline, cancellation) { () throws(EnrollError) in loopbacks.withLock { $0.isEmpty } }
  }

  /// The reply to the browser. A URL that settles no transaction is declined, and the listener keeps waiting (R6). If
  /// the provider does not deliver a document that the exchange of the code needs, the code is not sent (R15), and the
  /// URL is processed again later.
  /// - Parameter tries: how often this URL was processed before.
  private func reply(
    to url: String, of transactionID: TransactionID, tries: Int, cancellation: CancellationFlag
  ) -> LoopbackReply {
    let language = configuration.returnPage.language
    let settlement: Settlement
    do throws(EnrollError) {
      settlement = try CallTimeout.until(cancellation: cancellation) { () throws(EnrollError) in
        try resumed(url, isReported: tries == 0, mayContinueInBrowser: true, cancellation)
      }
    } catch {
      guard !error.isAboutRedirect, !cancellation.isCancelled else { return .declined }
      loopbacks.withLock { $0.note(error, of: transactionID) }
      let pause = max(Self.retrySeconds << Int64(min(tries, 5)), error.retryAfterSeconds ?? 0)
      return .postponed(
        error.isAboutStore ? .unsaved(language) : .postponed(language),
        seconds: min(pause, Self.longestRetrySeconds))
    }
    if let next = settlement.nextURL { return .redirected(next) }
    _ = try? remember(settlement)
    switch settlement.ending {
    case .succeeded: return .accepted(.signedIn(language))
    case .failed: return .accepted(.failed(language))
    }
  }

  /// The pause before a redirect is processed for the second time. The pause doubles before each further attempt.
  private static var retrySeconds: Int64 { 1 }
  private static var longestRetrySeconds: Int64 { 30 }
}
