// Sign-ins that stopped before the user confirmed. Such a sign-in is in the account of the profile's client, or, if
// it was for further scopes, in the account of another client of the same resource. The profile gets the other client
// only after the user has confirmed.

import EnrollHost
import EnrollJSON
import EnrollRules
import EnrollSteps

/// A sign-in that waits for confirmation at another client than the profile's.
struct OtherWaitingSignIn {
  /// The profile with that client.
  let configuration: ConfigurationDocument
  let waiting: WaitingSignIn
}

extension CommandSession {
  /// The sign-ins that wait at other clients of the profile's resource, the newest first.
  /// - Parameter client: opened with `profile`.
  func waitingElsewhere(
    _ client: Client, _ profile: ConfigurationDocument
  ) throws(Failure) -> [OtherWaitingSignIn] {
    guard profile.resource != nil else { return [] }
    let found = try run { _ throws(EnrollError) in try client.waitingAtOtherClients() }
    return found.map { other in
      let named = ConfigurationDocument(.object(other.client))
      var configuration = profile.withClient(of: named)
      if let scopes = named.scopes { configuration.scopes = scopes }
      return OtherWaitingSignIn(configuration: configuration, waiting: other.waiting)
    }
  }

  /// The stored data about the account. `waiting` may be a sign-in at another client.
  func readWithWaiting(
    _ client: Client, _ profile: ConfigurationDocument
  ) throws(Failure) -> AccountSnapshot {
    var kept = try read(client)
    if kept.waiting == nil { kept.waiting = try waitingElsewhere(client, profile).first?.waiting }
    return kept
  }

  /// Whether a user is signed in, and no sign-in waits for an answer.
  func isSignedIn() throws(Failure) -> Bool {
    // With a PIN from a descriptor the check is skipped: the sign-in needs the PIN again, and a descriptor can be
    // read only once.
    guard pinFD == nil, try place.hasConfiguration(), try place.hasStore() else {
      return false
    }
    let client = try open(asksPIN: false)
    defer { close(client) }
    do throws(Failure) {
      guard try readWithWaiting(client, try configuration()).waiting == nil else {
        return false
      }
      let state = try self.state(client, within: 15, saying: "Looking at the account")
      if case .active = state { return true } else { return false }
    } catch {
      // The sign-in itself reports a locked store, and may ask for a PIN.
      guard error.ending == .storeLocked else { throw error }
      return false
    }
  }

  /// Drops every sign-in of the account that waits for confirmation, and revokes its tokens: no other sign-in can
  /// begin while one waits for confirmation.
  /// - Returns: the sign-ins that were dropped.
  func dropWaiting(
    _ client: Client, _ profile: ConfigurationDocument
  ) throws(Failure) -> [WaitingSignIn] {
    var dropped: [WaitingSignIn] = []
    if let waiting = try read(client).waiting {
      try drop(waiting, client)
      dropped.append(waiting)
    }
    for other in try waitingElsewhere(client, profile) {
      let client = try open(other.configuration)
      defer { close(client) }
      try drop(other.waiting, client)
      dropped.append(other.waiting)
    }
    return dropped
  }

  private func drop(_ waiting: WaitingSignIn, _ client: Client) throws(Failure) {
    _ = try run(saying: "Dropping an earlier sign-in") { cancellation throws(EnrollError) in
      try client.retry(
        waiting.transactionID, startsOver: false, until: client.usualDeadline, cancellation: cancellation)
    }
  }
}
