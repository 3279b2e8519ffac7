// Providers are asked to revoke the tokens of accounts that were deleted and of identities that were taken away. A
// revocation that fails is tried again for seven days, with longer and longer pauses. Then it is dropped, and the audit says so.

import EnrollCore
import EnrollGatewayPages

extension Gateway {
  /// Revokes tokens that are due.
  /// - Returns: how many were taken; 0: nothing is due.
  @discardableResult
  public func revokeDue(most: Int = 16) throws(StoreFailure) -> Int {
    let taken = try store.takeRevocations(most, leaseSeconds: RevocationTimes.leaseSeconds, at: now)
    for one in taken { try revoke(one) }
    return taken.count
  }

  /// After a change: at once, where the provider answers. A failure undoes nothing: the token waits in the store.
  func revokeNow() {
    // Somebody waits for the page: tokens of others that wait, too, are left to the next round.
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

  /// - Returns: nil: the provider has revoked it.
  private func failure(toRevoke taken: TakenRevocation) -> String? {
    guard let provider = providers.first(where: { ASCII.equals($0.name, taken.provider) }) else {
      return "the provider is not configured"
    }
    // A replica that was not told of a new key yet leaves it to the others.
    guard let token = keys.open(taken.sealed, for: .providerToken) else {
      return "its key is gone from the key file"
    }
    do throws(EnrollError) { try provider.revoke(token) } catch {
      return "\(error.code.name): \(error.message)"
    }
    return nil
  }
}
