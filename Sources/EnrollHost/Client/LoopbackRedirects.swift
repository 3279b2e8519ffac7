// Loopback redirects under way: one listener and one thread for each, both gone when the transaction is settled, its
// deadline passes, or the client is closed (R4). A code that was sent is followed to its tokens all the same: the draining of
// the client waits for these threads.

import EnrollCore
import EnrollPosix

/// The cancellations of the listeners that are open.
struct LoopbackRedirects: Sendable {
  private var open: [(transactionID: TransactionID, redirectURI: String, cancellation: CancellationFlag)] = []
  /// The transactions whose redirect came, and whose browser has no page yet.
  private var answering: [TransactionID] = []

  mutating func add(_ begun: Transaction, _ cancellation: CancellationFlag) {
    open.append((begun.transactionID, begun.redirectURI ?? "", cancellation))
  }

  /// A settled transaction is told of once the browser has its page: a program may end with it.
  func isAnswering(_ transactionID: TransactionID) -> Bool {
    answering.contains(transactionID)
  }

  var isAnsweringAny: Bool { !answering.isEmpty }

  mutating func setAnswering(_ transactionID: TransactionID, _ isAnswering: Bool) {
    answering.removeAll { $0 == transactionID }
    if isAnswering { answering.append(transactionID) }
  }

  /// Where that transaction is listened for; nil when nobody listens.
  func redirectURI(of transactionID: TransactionID) -> String? {
    open.first { $0.transactionID == transactionID }?.redirectURI
  }

  /// Of that transaction's listener; nil when nobody listens, or its redirect has come.
  func waiting(for transactionID: TransactionID) -> CancellationFlag? {
    open.first { $0.transactionID == transactionID && !answering.contains(transactionID) }?.cancellation
  }

  /// Whether nobody listens.
  var isEmpty: Bool { open.isEmpty }

  /// Of the listeners whose redirect has not come.
  var waiting: [CancellationFlag] {
    open.filter { !answering.contains($0.transactionID) }.map { $0.cancellation }
  }

  mutating func remove(_ transactionID: TransactionID) {
    open.removeAll { $0.transactionID == transactionID }
    setAnswering(transactionID, false)
  }

  mutating func removeAll() -> [CancellationFlag] {
    defer { open = [] }
    return open.map { $0.cancellation }
  }
}

extension EnrollError {
  /// The URL is none that settles anything, now or later (R5, R6, R7, R12, R17).
  fileprivate var isAboutRedirect: Bool {
    switch code {
    case .unsolicited, .redirectMalformed, .redirectMismatch, .alreadySettled, .transactionExpired: true
    case .issuerMismatch: field.map { ASCII.equals($0, "iss") } ?? false
    default: false
    }
  }
}

extension EnrollError {
  /// The provider has nothing to do with it.
  fileprivate var isAboutStore: Bool {
    switch code {
    case .storeLocked, .storeCorrupt, .storeRefused, .storeIO, .storeFull, .storeKey, .storeVersion, .busy:
      true
    default: false
    }
  }
}

extension Client {
  /// Waits for the redirect on a thread of its own, so that nobody has to sit in a call for it.
  /// - Throws: `.busy` when no thread could be started.
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
        let reply = reply(to: url, tries: tries, cancellation: cancellation)
        if case .accepted = reply { return reply }
        if case .postponed = reply { tries += 1 }
        loopbacks.withLock { $0.setAnswering(begun.transactionID, false) }
        return reply
      }
    }
    guard isStarted else {
      loopbacks.withLock { $0.remove(begun.transactionID) }
      throw EnrollError(
        .busy,
        "no thread could be started to listen for the redirect. End other programs or raise the limit of threads (ulimit -u), then try again"
      )
    }
  }

  /// The user gave up, so a configured port is freed for the next sign-in, also of another program. A port that the system chose
  /// stays open: nobody else needs it, and a late redirect is still accepted there.
  func stopListening(for transactionID: TransactionID?) {
    guard (try? StrictURL(configuration.redirectURI))?.port != nil else { return }
    let listeners = loopbacks.withLock { redirects in
      transactionID.map { redirects.waiting(for: $0).map { [$0] } ?? [] } ?? redirects.waiting
    }
    for listener in listeners { listener.cancel() }
  }

  /// Frees a configured port on which an earlier sign-in of this client is listened for. The listener that opens there next
  /// takes that one's redirect, too: each is found by its state.
  func freeConfiguredPort(until deadline: Instant, _ cancellation: (any Cancellation)?) throws(EnrollError) {
    guard (try? StrictURL(configuration.redirectURI))?.port != nil else { return }
    for listener in loopbacks.withLock({ $0.waiting }) { listener.cancel() }
    try wait(until: deadline, cancellation) { () throws(EnrollError) in loopbacks.withLock { $0.isEmpty } }
  }

  /// The reply to the browser; a URL that settles nothing is declined, and the listener goes on waiting (R6). While the
  /// documents that the exchange needs are unavailable at the provider, the code stays unsent (R15), and the URL is
  /// tried again.
  /// - Parameter tries: how often it was tried before.
  private func reply(to url: String, tries: Int, cancellation: CancellationFlag) -> LoopbackReply {
    let language = configuration.returnPage.language
    let settlement: Engine.Settlement
    do throws(EnrollError) {
      settlement = try CallTimeout.until(cancellation: cancellation) { () throws(EnrollError) in
        try resumed(url, isReported: tries == 0, goesOn: true, cancellation)
      }
    } catch {
      guard !error.isAboutRedirect, !cancellation.isCancelled else { return .declined }
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

  /// Before a redirect is tried again, doubled each time.
  private static var retrySeconds: Int64 { 1 }
  private static var longestRetrySeconds: Int64 { 30 }
}
