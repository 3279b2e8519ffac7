// Sign-ins that wait for confirmation at another client of the resource. Further scopes may need another registered
// client (flows.md §12), which has its own account in the store. If such a sign-in stops before the user's answer, the
// configuration still has the client that the session belongs to.

public import EnrollJSON
public import EnrollRules

/// A sign-in that waits for confirmation at another client.
public struct OtherClientSignIn: Sendable {
  /// The configuration keys that name the client, and the key for the scopes if they are known.
  public var client: JSONObject
  public var waiting: WaitingSignIn
}

extension RegistrationStep {
  /// The sign-ins of this account that wait for confirmation at other clients that were registered for the resource;
  /// the sign-in at the newest client is first. Sends no request. An account that cannot be read is left out.
  public func waitingAtOtherClients() -> [OtherClientSignIn] {
    guard let registered = context.registeredClient else { return [] }
    var found: [OtherClientSignIn] = []
    for id in [registered.clientID] + registered.former.reversed() where id != configuration.clientID {
      var other = configuration
      other.clientID = id
      guard let waiting = (try? store.read(account.belonging(to: other)))?.waiting else { continue }
      var client = JSONObject()
      if id == registered.clientID {
        ResourceRegistrar.name(&client, registered)
        client["scopes"] = registered.keys?["scopes"]
      } else {
        // The store keeps no secret of a replaced client.
        client["clientId"] = .string(id.text)
      }
      found.append(OtherClientSignIn(client: client, waiting: waiting))
    }
    return found
  }
}
