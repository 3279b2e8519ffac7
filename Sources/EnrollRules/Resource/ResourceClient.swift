// The result of a registration for a resource (flows.md §12): a complete configuration, and how the app became a client
// of the server.

public import EnrollJSON

/// How the app became a client.
public enum ClientOrigin: String, Sendable, CaseIterable {
  /// The client id that the host gave.
  case configured
  /// The URL of the client id metadata document that the host gave.
  case metadataDocument
  /// A client that was registered.
  case registered
}

/// A client for a resource.
public struct ResourceClient: Sendable {
  /// A complete configuration, by key.
  public let keys: JSONObject
  /// How the app became a client.
  public let origin: ClientOrigin
  /// Whether this call registered the client.
  public let isNew: Bool

  package init(keys: JSONObject, origin: ClientOrigin, isNew: Bool) {
    self.keys = keys
    self.origin = origin
    self.isNew = isNew
  }

  /// - Parameter more: configuration keys from the host, which replace keys with the same names.
  /// - Throws: `.configuration` for a wrong key in `more`.
  public func configuration(
    adding more: JSONObject = JSONObject()
  ) throws(EnrollError) -> Configuration {
    var keys = keys
    for member in more.members { keys[member.key] = member.value }
    return try Configuration(json: .object(keys))
  }
}
