// Messages that servers have not received yet: sent when possible, kept sealed until then, dropped after 7 days (flows.md
// §5, reliability.md, The outbox). A store may serve several clients; each sends the messages that it queued itself,
// because another client may be configured for another server.

extension Engine {
  /// How the sending of one entry went.
  enum Delivery: Equatable, Sendable {
    /// The server took it, or it has become pointless.
    case done
    /// Nothing more can be done about it: why.
    case refused(String)
    /// The server could not be reached: it is tried again when there is a chance.
    case unreached
    /// The server is in trouble, or something else answered in its place: it is tried again after a pause.
    case later(retryAfterSeconds: Int64?)
  }

  /// Sends what this client queued, for whatever account, and what the rule of RevocationRule.swift does not hold back. Failures
  /// stay in the outbox; nothing is thrown, the local logout stands.
  /// - Parameters:
  ///   - asked: tokens of a user who signs out now: a sign-in that another account has begun does not hold them back.
  ///   - isRevocationsOnly: leaves the messages to the back end for later.
  /// - Returns: how each entry that was tried went.
  @discardableResult
  func deliver(
    asked: [TokenSet] = [], isRevocationsOnly: Bool = false, cancellation: (any Cancellation)?
  ) -> [(entry: OutboxEntry, delivery: Delivery)] {
    let waiting = waitingMessages().filter { !isRevocationsOnly || $0.isRevocation }
    guard waiting.contains(where: isOurs) else { return [] }
    var tried: [(entry: OutboxEntry, delivery: Delivery)] = []
    let moment = clock.moment()
    var barred = waiting.filter { $0.isPauseAsked && $0.isPaused(at: moment) }.map { place(of: $0) }
    for kept in waiting where isOurs(kept) && !kept.isPaused(at: moment) {
      if cancellation?.isCancelled ?? false { break }
      let place = place(of: kept)
      guard !barred.contains(where: { ASCII.equals($0, place) }) else { continue }
      guard let entry = take(kept, asked: asked, cancellation: cancellation) else { continue }
      defer { memory.withLock { memory in memory.sending.removeAll { $0.isSame(as: entry) } } }
      guard let delivery = send(entry, cancellation: cancellation) else {
        barred.append(place)
        continue
      }
      tried.append((entry, delivery))
      memory.withLock { $0.note(delivery, of: entry) }
      let left = entry.after(delivery, at: clock.moment(), jitter: (try? random.bytes(1).first) ?? 0)
      // Where nobody answers, the next message would wait for nothing as well.
      if delivery == .unreached || left?.isPauseAsked ?? false { barred.append(place) }
      keep(left, inPlaceOf: entry)
    }
    return tried
  }

  /// Takes a message for this thread, and looks at it again: the message before it may have taken long. While another thread of this
  /// process sends the same message, this one waits: a second copy could arrive before the first one takes effect.
  /// - Returns: nil where somebody else has sent it, or its sending might sign somebody out by now.
  private func take(
    _ kept: OutboxEntry, asked: [TokenSet], cancellation: (any Cancellation)?
  ) -> OutboxEntry? {
    let deadline = clock.instant().advanced(bySeconds: HTTPRequest.totalTimeoutSeconds)
    while !memory.withLock({ $0.beginSending(kept) }) {
      guard !(cancellation?.isCancelled ?? false), clock.instant() < deadline else { return nil }
      clock.sleep(until: clock.instant().advanced(byNanoseconds: Self.pauseSlice))
    }
    if let entry = waitingMessages().first(where: { $0.isSame(as: kept) }),
      !entry.isPaused(at: clock.moment()), !entry.isHeldBack(by: signedInUsers(), asked)
    {
      return entry
    }
    memory.withLock { memory in memory.sending.removeAll { $0.isSame(as: kept) } }
    return nil
  }

  /// The outbox, with what it did not take earlier; where it cannot be read, that alone.
  private func waitingMessages() -> [OutboxEntry] {
    let unqueued = memory.withLock { $0.unqueued }
    let waiting = try? store.updateOutbox { outbox throws(EnrollError) in
      dropOld(&outbox)
      outbox.add(unqueued)
    }
    guard let waiting else { return unqueued }
    memory.withLock { $0.unqueued.removeAll { unqueued.contains($0) } }
    return waiting
  }

  private func keep(_ left: OutboxEntry?, inPlaceOf entry: OutboxEntry) {
    let isUnqueued = memory.withLock { memory in
      guard memory.unqueued.contains(where: { $0.isSame(as: entry) }) else { return false }
      memory.unqueued.put(left, inPlaceOf: entry)
      return true
    }
    guard !isUnqueued else { return }
    _ = try? store.updateOutbox { outbox throws(EnrollError) in outbox.put(left, inPlaceOf: entry) }
  }

  /// The endpoint that a pause is about: a server that asks for a pause gets no message at it until the pause is over.
  private func place(of entry: OutboxEntry) -> String {
    entry.endpoint ?? provider.cachedMetadata?.revocationEndpoint ?? ""
  }

  /// Sends the revocations that wait, before somebody signs in: what they end must not be the session that comes.
  func sendRevocations(cancellation: (any Cancellation)?) {
    deliver(isRevocationsOnly: true, cancellation: cancellation)
  }

  /// Whether there are messages that the store did not take: this process alone can send them.
  package var hasUnqueuedMessages: Bool { memory.withLock { !$0.unqueued.isEmpty } }

  /// Sends what this client queued, for whatever account.
  public func sendOutbox(cancellation: (any Cancellation)?) { deliver(cancellation: cancellation) }

  /// Whether this client queued the entry, and may therefore send it.
  func isOurs(_ entry: OutboxEntry) -> Bool { entry.belongs(toIssuer: configuration.issuer, sender) }

  /// - Returns: nil when it was not tried.
  private func send(_ entry: OutboxEntry, cancellation: (any Cancellation)?) -> Delivery? {
    switch entry.message {
    case .revocation(let revocation):
      if let endpoint = entry.endpoint {
        return revoke(revocation, at: endpoint, cancellation: cancellation)
      }
      guard let metadata = try? provider.metadata(cancellation: cancellation) else { return nil }
      guard let endpoint = metadata.revocationEndpoint else { return .refused(Self.noRevocationEndpoint) }
      return revoke(revocation, at: endpoint, cancellation: cancellation)
    case .profile(let account): return sendProfile(of: account, entry, cancellation: cancellation)
    case .errorReport(let text): return sendReport(text, entry, cancellation: cancellation)
    }
  }

  private func revoke(
    _ revocation: OutboxEntry.Revocation, at endpoint: String, cancellation: (any Cancellation)?
  ) -> Delivery {
    // How a secret is sent is the provider's to say.
    let metadata =
      configuration.clientSecret == nil ? nil : try? provider.metadata(cancellation: cancellation)
    let client = ClientAuthentication(configuration, at: metadata)
    let (first, second) = client.ways(at: metadata?.revocationSecretMethods ?? [])
    do throws(EnrollError) {
      let plain = RevocationAnswer(
        processing: try transport.send(
          RevocationRequest.make(revocation, endpoint: endpoint, from: first), cancellation: cancellation))
      if plain.wantsBearer, let second {
        return Delivery(
          RevocationAnswer(
            processing: try transport.send(
              RevocationRequest.make(revocation, endpoint: endpoint, from: second), cancellation: cancellation
            )))
      }
      guard plain.wantsBearer, revocation.bearer != nil, !client.hasSecret else { return Delivery(plain) }
      return Delivery(
        RevocationAnswer(
          processing: try send(
            RevocationRequest.make(revocation, endpoint: endpoint, from: client, withBearer: true),
            provenBy: revocation.dpopKey, accessToken: revocation.bearer, cancellation: cancellation)))
    } catch {
      return .unreached
    }
  }

  private func dropOld(_ outbox: inout [OutboxEntry]) {
    let now = clock.wallTime()
    outbox.removeAll { now.since($0.queued) > OutboxEntry.keptSeconds }
  }
}

extension Engine.Memory {
  /// - Returns: false while another thread sends the same message.
  fileprivate mutating func beginSending(_ entry: OutboxEntry) -> Bool {
    guard !sending.contains(where: { $0.isSame(as: entry) }) else { return false }
    sending.append(entry)
    return true
  }

  /// A sign-out whose message another thread of this process was quicker to send tells how that went.
  fileprivate mutating func note(_ delivery: Engine.Delivery, of entry: OutboxEntry) {
    switch delivery {
    case .done, .refused: delivered = delivered.suffix(7) + [(entry, delivery)]
    case .unreached, .later: break
    }
  }
}

extension Engine.Delivery {
  fileprivate init(_ answer: RevocationAnswer) {
    switch answer {
    case .revoked: self = .done
    case .refused(let error): self = .refused(error.message)
    case .later(let error): self = .later(retryAfterSeconds: error.retryAfterSeconds)
    }
  }
}

extension OutboxEntry {
  /// Attempts apart, which another process may have counted meanwhile.
  func isSame(as other: OutboxEntry) -> Bool {
    message == other.message && queued == other.queued && sender == other.sender
      && issuer == other.issuer
  }
}

extension OutboxEntry {
  /// Failures before the first pause that the server did not ask for.
  private static var failuresWithoutPause: Int { 4 }

  /// Whether it is too early to send it again.
  fileprivate func isPaused(at moment: Moment) -> Bool { pause?.isPending(at: moment) ?? false }

  fileprivate var isRevocation: Bool { if case .revocation = message { true } else { false } }

  /// Whether its sending might sign somebody out.
  fileprivate func isHeldBack(by users: SignedInUsers, _ asked: [TokenSet]) -> Bool {
    guard case .revocation(let revocation) = message else { return false }
    if users.mayInclude(revocation.user) { return true }
    return users.hasOpenSignIn && !asked.contains { $0.includes(revocation.token) }
  }

  /// The entry after a sending; nil when it need not be sent again.
  fileprivate func after(_ delivery: Engine.Delivery, at moment: Moment, jitter: UInt8) -> OutboxEntry? {
    var entry = self
    entry.attempts += 1
    switch delivery {
    case .done, .refused: return nil
    case .unreached: (entry.pause, entry.isPauseAsked) = (nil, false)
    // At first any process may try again whenever it has a reason to: nothing comes back when a pause is over.
    case .later(nil) where entry.attempts < Self.failuresWithoutPause:
      (entry.pause, entry.isPauseAsked) = (nil, false)
    case .later(let wish):
      let delay = RetryPolicy.delayNanoseconds(
        attempt: entry.attempts - Self.failuresWithoutPause + 1, retryAfterSeconds: wish, jitter: jitter)
      (entry.pause, entry.isPauseAsked) = (Expiry(lifetimeNanoseconds: delay, from: moment), wish != nil)
    }
    return entry
  }
}

extension [OutboxEntry] {
  /// - Parameter left: counts on from what another process may have counted meanwhile; nil removes the entry.
  fileprivate mutating func put(_ left: OutboxEntry?, inPlaceOf entry: OutboxEntry) {
    guard let left else { return removeAll { $0.isSame(as: entry) } }
    for index in indices where self[index].isSame(as: entry) {
      let attempts = self[index].attempts
      self[index] = left
      self[index].attempts = attempts + 1
    }
  }
}
