// Sign-ins that wait for confirmation at another client of the resource. Further scopes may require another registered
// client (flows.md §12), and each client has its own account in the store. If the sign-in at the other client stops
// before the user has answered, the configuration still names the client to which the existing session belongs.

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
  /// the sign-in at the newest client is first. This method sends no request. If the account at a client cannot be
  /// read, its sign-in is left out.
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
        // Only the client id is named, because the store does not keep the secret of a replaced client.
        client["clientId"] = .string(id.text)
      }
      found.append(OtherClientSignIn(client: client, waiting: waiting))
    }
    return found
  }
}
