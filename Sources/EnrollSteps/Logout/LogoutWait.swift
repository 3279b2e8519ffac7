// The revocations of a logout wait for the browser (flows.md §5). A revocation may end the provider's session before
// the browser opens the logout page. Keycloak, for example, signs the user out at the upstream identity provider only
// while its own session exists. The messages are therefore in the outbox with a pause, which ends when the browser
// returns.

public import EnrollRules

extension OutboxStep {
  /// The longest wait for the browser's return from the logout page, in seconds. After that, the revocations are sent
  /// with the next messages of the outbox.
  static let logoutWaitSeconds: Int64 = 180

  /// The messages, changed so that they wait for the browser of this account.
  func awaitingLogout(_ entries: [OutboxEntry]) -> [OutboxEntry] {
    let moment = clock.moment()
    return entries.map { entry in
      var entry = entry
      entry.pause = Expiry(lifetimeSeconds: Self.logoutWaitSeconds, from: moment)
      entry.awaitedLogout = account.qualifiedName
      return entry
    }
  }

  /// Ends the wait of this client's messages for a browser, for this account or for all accounts.
  /// - Returns: the messages that waited, with their pause removed.
  @discardableResult
  func endLogoutWait(ofEveryAccount: Bool = false) -> [OutboxEntry] {
    var ended: [OutboxEntry] = []
    let name = account.qualifiedName
    // If the outbox cannot be changed now, the messages stay in the outbox until their pause is over.
    _ = try? store.updateOutbox { outbox throws(EnrollError) in
      for index in outbox.indices where context.isOurs(outbox[index]) {
        guard let awaited = outbox[index].awaitedLogout, ofEveryAccount || ASCII.equals(awaited, name) else {
          continue
        }
        outbox[index].endLogoutWait()
        ended.append(outbox[index])
      }
    }
    return ended
  }

  /// Remembers when the first of these messages stops waiting.
  func noteLogoutWait(of waiting: [OutboxEntry]) {
    let moment = clock.moment()
    let left = waiting.filter { $0.awaitedLogout != nil && context.isOurs($0) }
      .compactMap { $0.pause?.secondsLeft(at: moment) }.filter { $0 >= 0 }.min()
    // The time is rounded up, because a read before the end of the pause would find nothing to send.
    progress.noteLogoutWait(until: left.map { moment.instant.advanced(bySeconds: $0 + 1) })
  }

  /// When the outbox has to be sent again, because the first wait for a browser at the logout page ends. nil if no
  /// message waits, as far as this process knows.
  public var logoutWaitEnds: Instant? { progress.logoutWaitEnds }
}
