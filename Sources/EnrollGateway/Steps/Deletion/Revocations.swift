// Asks providers to revoke the tokens of deleted accounts and unlinked identities. A failed revocation is repeated for seven
// days, with growing pauses. Then the token is dropped, and the audit records that.

import EnrollRules
import EnrollSteps
import EnrollGatewayPages

/// Revokes the tokens in the store's queue.
struct Revocations: GatewaySteps {
  let services: GatewayServices
  let store: any RevocationStore

  /// Tries to revoke the queued tokens whose next try is due.
  /// - Returns: how many tokens were taken; 0 if none is due.
  @discardableResult
  func revokeDue(most: Int) throws(StoreFailure) -> Int {
    let taken = try store.takeRevocations(most, leaseSeconds: RevocationTimes.leaseSeconds, at: now)
    for one in taken { try revoke(one) }
    return taken.count
  }

  /// Tries to revoke tokens directly after a change. A failure does not undo the change: the token stays in
  /// the queue.
  func revokeNow() {
    // A user waits for this answer, so only two tokens are taken; the other tokens stay for the next round.
    do throws(StoreFailure) { try revokeDue(most: 2) } catch {
      log.write(.warning, "revocations wait: \(error.message)")
    }
  }

  private func revoke(_ taken: TakenRevocation) throws(StoreFailure) {
    guard let reason = failure(toRevoke: taken) else { return try store.removeRevocation(taken.id) }
    guard now < taken.expires else {
      log.write(.error, "\(taken.provider): a token was not revoked, and is given up: \(reason)")
      return try store.dropRevocation(taken, at: now)
    }
    log.write(
      .warning, "\(taken.provider): a token was not revoked, try \(taken.attempts); it waits: \(reason)")
    try store.putOffRevocation(taken.id, until: now + RevocationTimes.pause(after: taken.attempts))
  }

  /// Asks the provider to revoke a token.
  /// - Returns: the reason why the token was not revoked; nil if the provider has revoked it.
  private func failure(toRevoke taken: TakenRevocation) -> String? {
    guard let provider = providers.first(where: { ASCII.equals($0.name, taken.provider) }) else {
      return "the provider is not configured"
    }
    // Perhaps this replica has not loaded a new key yet; another replica can try.
    guard let token = keys.open(taken.sealed, for: .providerToken) else {
      return "its key is gone from the key file"
    }
    do throws(EnrollError) { try provider.revoke(token) } catch {
      return "\(error.code.name): \(error.message)"
    }
    return nil
  }
}
