// What servers still have to be told: sent when there is a chance, kept sealed until then, dropped after 7 days
// (flows.md §5, reliability.md, The outbox). A store may serve several clients; each sends what it queued itself, because
// another one may take another server for the one that was meant.

extension Engine {
  /// How the sending of one entry went.
  enum Delivery: Equatable, Sendable {
    /// The server took it, or it has become pointless.
    case done
    /// Nothing more can be done about it: why.
    case refused(String)
    /// The server could not be reached, or is in trouble: it is tried again.
    case later
  }

  /// Sends what this client queued, for whatever account. Failures stay in the outbox; nothing is thrown, the local
  /// logout stands.
  /// - Returns: how each entry that was tried went.
  @discardableResult
  func deliver(cancellation: (any Cancellation)?) -> [(entry: OutboxEntry, delivery: Delivery)] {
    guard let waiting = try? store.updateOutbox(dropOld) else { return [] }
    var tried: [(entry: OutboxEntry, delivery: Delivery)] = []
    for entry in waiting where isOurs(entry) {
      if cancellation?.isCancelled ?? false { break }
      guard let delivery = send(entry, cancellation: cancellation) else { continue }
      tried.append((entry, delivery))
      _ = try? store.updateOutbox { outbox throws(EnrollError) in
        if delivery == .later {
          outbox.countAttempt(entry)
        } else {
          outbox.removeAll { $0.isSame(as: entry) }
        }
      }
    }
    return tried
  }

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
    do throws(EnrollError) {
      let plain = RevocationAnswer(
        processing: try transport.send(
          RevocationRequest.make(revocation, endpoint: endpoint), cancellation: cancellation))
      guard plain.wantsBearer, revocation.bearer != nil else { return Delivery(plain) }
      return Delivery(
        RevocationAnswer(
          processing: try send(
            RevocationRequest.make(revocation, endpoint: endpoint, withBearer: true),
            provenBy: revocation.dpopKey, accessToken: revocation.bearer, cancellation: cancellation)))
    } catch {
      return .later
    }
  }

  private func dropOld(_ outbox: inout [OutboxEntry]) {
    let now = clock.wallTime()
    outbox.removeAll { now.since($0.queued) > OutboxEntry.keptSeconds }
  }
}

extension Engine.Delivery {
  fileprivate init(_ answer: RevocationAnswer) {
    switch answer {
    case .revoked: self = .done
    case .refused(let error): self = .refused(error.message)
    case .later: self = .later
    }
  }
}

extension OutboxEntry {
  /// Attempts apart, which another process may have counted meanwhile.
  func isSame(as other: OutboxEntry) -> Bool {
    message == other.message && queued == other.queued && sender == other.sender
      && ASCII.equals(issuer, other.issuer)
  }
}

extension [OutboxEntry] {
  fileprivate mutating func countAttempt(_ entry: OutboxEntry) {
    for index in indices where self[index].isSame(as: entry) { self[index].attempts += 1 }
  }
}
