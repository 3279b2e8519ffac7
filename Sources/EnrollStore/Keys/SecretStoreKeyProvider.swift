// Keeps the store's key in a `SecretStore`: the Secret Service, or the host's secret store.

public import EnrollRules
public import EnrollSteps
public import EnrollCrypto
public import EnrollJSON
public import EnrollPosix

/// Wraps the store's keys with secrets in a `SecretStore`: each slot gets a new secret, so that replacing a slot never
/// endangers the old slot.
public final class SecretStoreKeyProvider: KeyProvider {
  private static let itemCount = 12

  public let name: String
  private let store: any SecretStore
  private let random: any RandomSource
  /// The name of the `SecretStore` in error messages, such as "the Secret Service".
  private let title: String

  public init(
    name: String, title: String, store: any SecretStore, random: any RandomSource = SystemRandomSource()
  ) {
    self.name = name
    self.title = title
    self.store = store
    self.random = random
  }

  public func presence() -> KeyPresence { store.presence() }

  public var anchors: (any SecretStore)? { store }

  public func wrap(_ key: Secret, slot: KeySlot) throws(EnrollError) -> JSONObject {
    let item = SecretName(
      storeID: slot.storeID, item: Base64URL.encode(try random.bytes(Self.itemCount)))
    var material = try random.bytes(KeyWrapping.keyCount)
    defer { material.withUnsafeMutableBytes { Wipe.bytes($0) } }
    let wrappingKey = Secret(material)
    try store.save(wrappingKey, as: item)
    // A key that cannot be read back must not protect a store.
    guard try store.load(item) == wrappingKey else {
      throw EnrollError(.storeIO, "\(title) stored a secret but does not return it", field: "keys")
    }
    var wrapped = try KeyWrapping.wrap(key, under: wrappingKey, slot: slot, provider: name, random: random)
    wrapped["item"] = .string(item.item)
    return wrapped
  }

  public func unwrap(_ wrapped: JSONObject, slot: KeySlot) throws(EnrollError) -> Secret {
    let item = try itemName(wrapped, slot)
    guard let wrappingKey = try store.load(item) else {
      throw EnrollError(
        .storeLocked,
        "\(title) has no item \(item.text): restore it; without it the store cannot be opened",
        field: "keys")
    }
    guard wrappingKey.count == KeyWrapping.keyCount else {
      throw EnrollError(
        .storeKey,
        "\(title) returned \(wrappingKey.count) bytes for \(item.text); \(KeyWrapping.keyCount) were stored",
        field: "keys")
    }
    return try KeyWrapping.unwrap(wrapped, under: wrappingKey, slot: slot, provider: name)
  }

  public func discard(_ wrapped: JSONObject, slot: KeySlot) throws(EnrollError) {
    try store.remove(try itemName(wrapped, slot))
  }

  private func itemName(_ wrapped: JSONObject, _ slot: KeySlot) throws(EnrollError) -> SecretName {
    guard let item = wrapped["item"]?.string, Base64URL.decode(item)?.count == Self.itemCount else {
      throw EnrollError(.storeCorrupt, "a slot of the keys file names no item of \(title)", field: "store")
    }
    return SecretName(storeID: slot.storeID, item: item)
  }
}
