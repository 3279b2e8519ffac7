// Messages that servers have not received yet. They are sent when possible, kept sealed until then, and dropped after
// 7 days (flows.md §5, reliability.md, The outbox). A store may serve several clients; each client sends only the
// messages that it queued itself, because another client may be configured for another server.

import EnrollCrypto
import EnrollRules

/// Sends the messages that servers have not received yet.
public final class OutboxStep: EngineStep {
  let context: EngineContext
  let progress: OutboxProgress
  private let requests: ClientRequests
  private let backEnd: BackEndStep

  init(_ context: EngineContext, progress: OutboxProgress, requests: ClientRequests, backEnd: BackEndStep) {
    self.context = context
    self.progress = progress
    self.requests = requests
    self.backEnd = backEnd
  }

  /// Sends the messages that this client queued for any account, except those that RevocationRule.swift holds back.
  /// Failed messages stay in the outbox. The method throws no error, because the local logout is complete already.
  /// - Parameters:
  ///   - asked: tokens of a user who signs out now. A sign-in that began for another account does not delay their
  ///     revocation.
  ///   - isRevocationsOnly: leaves the messages to the back end for later.
  /// - Returns: the result of each entry that was tried.
  @discardableResult
  func deliver(
    asked: [Secret] = [], isRevocationsOnly: Bool = false, cancellation: (any Cancellation)?
  ) -> [(entry: OutboxEntry, delivery: OutboxEntry.Delivery)] {
    let asked = asked + progress.takeSignedOut()
    let waiting = waitingMessages().filter { !isRevocationsOnly || $0.isRevocation }
    guard waiting.contains(where: context.isOurs) else { return [] }
    var tried: [(entry: OutboxEntry, delivery: OutboxEntry.Delivery)] = []
    let moment = clock.moment()
    var barred = waiting.filter { $0.isPauseAsked && $0.isPaused(at: moment) }.map { place(of: $0) }
    for kept in waiting where context.isOurs(kept) && !kept.isPaused(at: moment) {
      if cancellation?.isCancelled ?? false { break }
      let place = place(of: kept)
      guard !barred.contains(where: { ASCII.equals($0, place) }) else { continue }
      guard let entry = take(kept, asked: asked, cancellation: cancellation) else { continue }
      defer { progress.endSending(entry) }
      guard let delivery = send(entry, cancellation: cancellation) else {
        barred.append(place)
        continue
      }
      tried.append((entry, delivery))
      progress.note(delivery, of: entry)
      let left = entry.after(delivery, at: clock.moment(), jitter: (try? random.bytes(1).first) ?? 0)
      // An endpoint that does not respond, or that asks for a pause, gets no more messages in this run: its next
      // message would most likely fail as well.
      if delivery == .unreached || left?.isPauseAsked ?? false { barred.append(place) }
      keep(left, inPlaceOf: entry)
    }
    return tried
  }

  /// Claims a message for this thread, and reads the message again: its entry may have changed while the message before
  /// it was sent. While another thread of this process sends the same message, this thread waits, because a second copy
  /// could arrive before the first copy has an effect.
  /// - Returns: nil if another thread or process has sent the message, or if sending it might sign a user out now.
  private func take(
    _ kept: OutboxEntry, asked: [Secret], cancellation: (any Cancellation)?
  ) -> OutboxEntry? {
    let deadline = clock.instant().advanced(bySeconds: HTTPRequest.totalTimeoutSeconds)
    while !progress.beginSending(kept) {
      guard !(cancellation?.isCancelled ?? false), clock.instant() < deadline else { return nil }
      clock.sleep(until: clock.instant().advanced(byNanoseconds: ClientRequests.pauseSlice))
    }
    if let entry = waitingMessages().first(where: { $0.isSame(as: kept) }),
      !entry.isPaused(at: clock.moment()), !entry.isHeldBack(by: context.signedInUsers(), asked)
    {
      return entry
    }
    progress.endSending(kept)
    return nil
  }

  /// The messages of the outbox, and the messages that the outbox did not accept earlier. If the outbox cannot be read,
  /// the result has only the messages that the outbox did not accept.
  private func waitingMessages() -> [OutboxEntry] {
    let unqueued = progress.unqueued
    let waiting = try? store.updateOutbox { outbox throws(EnrollError) in
      dropOld(&outbox)
      outbox.add(unqueued)
    }
    guard let waiting else { return unqueued }
    progress.removeUnqueued { unqueued.contains($0) }
    noteLogoutWait(of: waiting)
    return waiting
  }

  /// Puts messages into the outbox. If the store does not accept them, this process keeps them and sends them.
  func queue(_ entries: [OutboxEntry]) {
    guard !entries.isEmpty else { return }
    do throws(EnrollError) {
      try store.updateOutbox { outbox throws(EnrollError) in outbox.add(entries) }
    } catch {
      // Messages that are only in memory are sent at once, without waiting for a browser: if the process ended during
      // the wait, they would be lost.
      let entries = entries.map { entry in
        var entry = entry
        if entry.awaitedLogout != nil { entry.endLogoutWait() }
        return entry
      }
      progress.addUnqueued(entries)
    }
  }

  private func keep(_ left: OutboxEntry?, inPlaceOf entry: OutboxEntry) {
    guard !progress.replaceUnqueued(entry, by: left) else { return }
    _ = try? store.updateOutbox { outbox throws(EnrollError) in outbox.put(left, inPlaceOf: entry) }
  }

  /// The endpoint of a message. If a server asks for a pause, its endpoint gets no message until the pause has ended.
  private func place(of entry: OutboxEntry) -> String {
    entry.endpoint ?? provider.cachedMetadata?.revocationEndpoint ?? ""
  }

  /// Sends the waiting revocations before a user signs in, because a later revocation could end the new session.
  /// Revocations that wait for a browser's return from the logout page are sent as well.
  func sendRevocations(cancellation: (any Cancellation)?) {
    endLogoutWait(ofEveryAccount: true)
    deliver(isRevocationsOnly: true, cancellation: cancellation)
  }

  /// Whether there are messages that the store did not accept. Only this process can send them.
  package var hasUnqueuedMessages: Bool { !progress.unqueued.isEmpty }

  /// Whether the store did not accept the message that revokes this token.
  func isUnqueued(_ token: Secret) -> Bool { progress.unqueued.contains { $0.revokes(token) } }

  /// The last messages that servers accepted or refused, whichever thread sent them.
  var delivered: [OutboxProgress.Delivered] { progress.delivered }

  /// The reason why the provider refused a revocation, from its last answer to a revocation. nil if the provider
  /// accepted that revocation, or if it has not answered any revocation.
  package var revocationRefusal: String? {
    let last = delivered.last { $0.entry.revokedToken != nil }
    if case .refused(let reason) = last?.delivery { return reason }
    return nil
  }

  /// Notes tokens whose revocation must not wait for a sign-in that another account has begun.
  func noteSignedOut(_ tokens: [Secret]) { progress.addSignedOut(tokens) }

  /// Removes waiting messages.
  func remove(where isRemoved: (OutboxEntry) -> Bool) {
    progress.removeUnqueued(where: isRemoved)
    _ = try? store.updateOutbox { outbox throws(EnrollError) in outbox.removeAll(where: isRemoved) }
  }

  /// Sends the messages that this client queued for any account.
  public func sendOutbox(cancellation: (any Cancellation)?) { deliver(cancellation: cancellation) }

  /// - Returns: the result; nil if no attempt was made to send the entry.
  private func send(_ entry: OutboxEntry, cancellation: (any Cancellation)?) -> OutboxEntry.Delivery? {
    switch entry.message {
    case .revocation(let revocation):
      if let endpoint = entry.endpoint {
        return revoke(revocation, at: endpoint, cancellation: cancellation)
      }
      guard let metadata = try? provider.metadata(cancellation: cancellation) else { return nil }
      guard let endpoint = metadata.revocationEndpoint else {
        return .refused(RevocationStep.noRevocationEndpoint)
      }
      return revoke(revocation, at: endpoint, cancellation: cancellation)
    case .profile(let account): return backEnd.sendProfile(of: account, entry, cancellation: cancellation)
    case .errorReport(let text): return backEnd.sendReport(text, entry, cancellation: cancellation)
    }
  }

  private func revoke(
    _ revocation: OutboxEntry.Revocation, at endpoint: String, cancellation: (any Cancellation)?
  ) -> OutboxEntry.Delivery {
    // A client that is not public needs the provider's metadata, which says how a client authenticates.
    let metadata = context.isPublicClient ? nil : try? provider.metadata(cancellation: cancellation)
    do throws(EnrollError) {
      let plain = RevocationAnswer(
        processing: try requests.sendAsClient(
          RevocationRequest.make(revocation, endpoint: endpoint), to: .revocation, of: metadata,
          cancellation: cancellation))
      guard plain.wantsBearer, revocation.bearer != nil, context.isPublicClient else {
        return OutboxEntry.Delivery(plain)
      }
      let proven = ClientAuthentication(naming: configuration.clientID)
        .adding(to: RevocationRequest.make(revocation, endpoint: endpoint, withBearer: true))
      return OutboxEntry.Delivery(
        RevocationAnswer(
          processing: try requests.send(
            proven, provenBy: revocation.dpopKey, accessToken: revocation.bearer, cancellation: cancellation
          )))
    } catch {
      return .unreached
    }
  }

  private func dropOld(_ outbox: inout [OutboxEntry]) {
    let now = clock.wallTime()
    outbox.removeAll { now.since($0.queued) > OutboxEntry.keptSeconds }
  }
}

extension OutboxEntry.Delivery {
  fileprivate init(_ answer: RevocationAnswer) {
    switch answer {
    case .revoked: self = .done
    case .refused(let error): self = .refused(error.message)
    case .later(let error): self = .later(retryAfterSeconds: error.retryAfterSeconds)
    }
  }
}

extension OutboxEntry {
  /// After this number of failures, EnrollKit pauses before the next attempt, even if the server did not ask for a
  /// pause.
  private static var failuresWithoutPause: Int { 4 }

  /// Whether the entry's pause has not ended yet.
  fileprivate func isPaused(at moment: Moment) -> Bool { pause?.isPending(at: moment) ?? false }

  fileprivate var isRevocation: Bool { if case .revocation = message { true } else { false } }

  /// Whether the entry is not sent now, because sending it might sign a user out.
  fileprivate func isHeldBack(by users: SignedInUsers, _ asked: [Secret]) -> Bool {
    guard case .revocation(let revocation) = message else { return false }
    if users.mayInclude(revocation.user) { return true }
    return users.hasOpenSignIn && !asked.contains(revocation.token)
  }

  /// The entry after an attempt to send it; nil when it need not be sent again.
  fileprivate func after(_ delivery: OutboxEntry.Delivery, at moment: Moment, jitter: UInt8) -> OutboxEntry? {
    var entry = self
    entry.attempts += 1
    entry.awaitedLogout = nil
    switch delivery {
    case .done, .refused: return nil
    case .unreached: (entry.pause, entry.isPauseAsked) = (nil, false)
    // The first few failures cause no pause, so that every process may try again as soon as it has an opportunity.
    // After a pause the next attempt may come late, because nothing wakes a process when a pause ends.
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
