// What servers still have to be told: sent when there is a chance, kept sealed until then, dropped after 7 days
// (flows.md §5, reliability.md, Outbox).

extension Engine {
  /// Sends what the outbox holds for any account. Failures stay in it; nothing is thrown, the local logout stands.
  public func sendOutbox(cancellation: (any Cancellation)?) {
    guard let waiting = try? store.updateOutbox(dropOld) else { return }
    for entry in waiting {
      if cancellation?.isCancelled ?? false { return }
      guard let isDone = send(entry, cancellation: cancellation) else { continue }
      _ = try? store.updateOutbox { outbox throws(EnrollError) in
        if isDone { outbox.removeAll { $0.isSame(as: entry) } } else { outbox.countAttempt(entry) }
      }
    }
  }

  /// - Returns: whether nothing more can be done about it; nil when it was not tried.
  private func send(_ entry: OutboxEntry, cancellation: (any Cancellation)?) -> Bool? {
    switch entry.message {
    case .revocation(let revocation):
      guard let endpoint = endpoint(for: entry, cancellation: cancellation) else { return nil }
      return revoke(revocation, at: endpoint, cancellation: cancellation)
    case .profile(let account): return sendProfile(of: account, entry, cancellation: cancellation)
    case .errorReport(let text): return sendReport(text, entry, cancellation: cancellation)
    }
  }

  private func revoke(
    _ revocation: OutboxEntry.Revocation, at endpoint: String, cancellation: (any Cancellation)?
  ) -> Bool {
    do throws(EnrollError) {
      let plain = RevocationAnswer(
        processing: try transport.send(
          RevocationRequest.make(revocation, endpoint: endpoint), cancellation: cancellation))
      guard plain.wantsBearer, revocation.bearer != nil else { return plain.isFinal }
      return RevocationAnswer(
        processing: try send(
          RevocationRequest.make(revocation, endpoint: endpoint, withBearer: true),
          provenBy: revocation.dpopKey, accessToken: revocation.bearer, cancellation: cancellation)
      ).isFinal
    } catch {
      return false
    }
  }

  /// nil when it is another issuer's business, or cannot be found out now.
  private func endpoint(for entry: OutboxEntry, cancellation: (any Cancellation)?) -> String? {
    if let endpoint = entry.endpoint { return endpoint }
    guard ASCII.equals(entry.issuer, configuration.issuer) else { return nil }
    return (try? provider.metadata(cancellation: cancellation))?.revocationEndpoint
  }

  private func dropOld(_ outbox: inout [OutboxEntry]) {
    let now = clock.wallTime()
    outbox.removeAll { now.since($0.queued) > OutboxEntry.keptSeconds }
  }
}

extension OutboxEntry {
  /// Attempts apart, which another process may have counted meanwhile.
  fileprivate func isSame(as other: OutboxEntry) -> Bool {
    message == other.message && queued == other.queued
  }
}

extension [OutboxEntry] {
  fileprivate mutating func countAttempt(_ entry: OutboxEntry) {
    for index in indices where self[index].isSame(as: entry) { self[index].attempts += 1 }
  }
}
