// Makes the revocations of a logout wait for the browser (flows.md §5): otherwise a revocation might end the provider's
// session before the browser opens the logout page. The logout page needs this session: Keycloak, for example, signs
// the user out at the upstream identity provider only while Keycloak's own session exists. The messages are therefore
// in the outbox with a pause, which ends when the browser returns.

public import EnrollRules

extension OutboxStep {
  /// The longest wait for the browser's return from the logout page, in seconds. After that, the revocations are sent
  /// with the next messages of the outbox.
  static let logoutWaitSeconds: Int64 = 180

  /// Returns the messages with a pause, so that they wait for the return of this account's browser.
  func awaitingLogout(_ entries: [OutboxEntry]) -> [OutboxEntry] {
    let moment = clock.moment()
    return entries.map { entry in
      var entry = entry
      entry.pause = Expiry(lifetimeSeconds: Self.logoutWaitSeconds, from: moment)
      entry.awaitedLogout = account.qualifiedName
      return entry
    }
  }

  /// Makes this client's messages stop waiting for a browser: the messages of this account, or of all accounts.
  /// - Returns: the messages that waited, with their pause removed.
  @discardableResult
  func endLogoutWait(ofEveryAccount: Bool = false) -> [OutboxEntry] {
    var ended: [OutboxEntry] = []
    let name = account.qualifiedName
    // If the outbox cannot be changed now, the error is ignored: the messages are sent later, when their pause is over.
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

  /// Remembers when the wait of the first of these messages ends.
  func noteLogoutWait(of waiting: [OutboxEntry]) {
    let moment = clock.moment()
    let left = waiting.filter { $0.awaitedLogout != nil && context.isOurs($0) }
      .compactMap { $0.pause?.secondsLeft(at: moment) }.filter { $0 >= 0 }.min()
    // The time is rounded up, because the outbox has nothing to send before the end of the pause.
    progress.noteLogoutWait(until: left.map { moment.instant.advanced(bySeconds: $0 + 1) })
  }

  /// The time at which the outbox has to be sent again, because a message then stops waiting for the browser. nil if,
  /// as far as this process knows, no message waits.
  public var logoutWaitEnds: Instant? { progress.logoutWaitEnds }
}
