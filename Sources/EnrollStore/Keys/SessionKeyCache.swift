// Remembers an opened key for a limited time outside the process, so that the next process need not ask the user again.
// The cache is used in addition to a provider. A cached key can vanish at any moment without loss.

public import EnrollRules
public import EnrollSteps
public import EnrollCrypto
public import EnrollJSON

/// Storage outside the process that remembers opened keys.
public protocol SessionKeyMemory: AnyObject, Sendable {
  func presence() -> KeyPresence
  /// The remembered key; nil if there is no key, or if it cannot be read.
  func recall(_ name: String) -> Secret?
  /// Remembers a key. Errors are ignored, because nothing depends on the cache.
  func remember(_ secret: Secret, as name: String, seconds: Int64)
  func forget(_ name: String)
}

/// A key provider with a cache of its opened keys.
public final class SessionKeyCache: KeyProvider {
  private static let checksumCount = 8

  public var name: String { provider.name }
  private let provider: any KeyProvider
  private let memory: any SessionKeyMemory
  private let seconds: Int64

  public init(_ provider: any KeyProvider, in memory: any SessionKeyMemory, seconds: Int64) {
    self.provider = provider
    self.memory = memory
    self.seconds = seconds
  }

  public func presence() -> KeyPresence { provider.presence() }

  public func wrap(_ key: Secret, slot: KeySlot) throws(EnrollError) -> JSONObject {
    // The cached key is forgotten, so that the caller's test, which reads the new slot back, asks the provider and not
    // the cache.
    memory.forget(memoryName(slot))
    return try provider.wrap(key, slot: slot)
  }

  public func unwrap(_ wrapped: JSONObject, slot: KeySlot) throws(EnrollError) -> Secret {
    let memoryName = memoryName(slot)
    if let key = memory.recall(memoryName).flatMap({ Self.key(in: $0, memoryName) }) { return key }
    let key = try provider.unwrap(wrapped, slot: slot)
    if let content = Self.content(key, memoryName) {
      memory.remember(content, as: memoryName, seconds: seconds)
    }
    return key
  }

  public func renew() throws(EnrollError) { try provider.renew() }

  public func removeLeftovers() { provider.removeLeftovers() }

  public var anchors: (any SecretStore)? { provider.anchors }

  public func discard(_ wrapped: JSONObject, slot: KeySlot) throws(EnrollError) {
    memory.forget(memoryName(slot))
    try provider.discard(wrapped, slot: slot)
  }

  /// The name under which a key is cached. It includes the provider, so that a move to another provider also forgets
  /// the cached key of the old provider.
  private func memoryName(_ slot: KeySlot) -> String {
    "enrollkit:" + name + ":" + slot.storeID + ":" + slot.keyID
  }

  /// The content of the cache for a key: the key and a checksum, so that other content is not mistaken for a key. Only
  /// the same user can put content there.
  private static func content(_ key: Secret, _ memoryName: String) -> Secret? {
    guard let checksum = checksum(key, memoryName) else { return nil }
    return key.withBytes { bytes in
      var content = Array(bytes)
      defer { content.withUnsafeMutableBytes { Wipe.bytes($0) } }
      content += checksum
      return Secret(content)
    }
  }

  private static func key(in content: Secret, _ memoryName: String) -> Secret? {
    guard content.count > checksumCount else { return nil }
    let key = content.withBytes { Secret(UnsafeRawBufferPointer(rebasing: $0.dropLast(checksumCount))) }
    guard let expected = checksum(key, memoryName),
      content.withBytes({ ConstantTime.equal(Array($0.suffix(checksumCount)), expected) })
    else { return nil }
    return key
  }

  private static func checksum(_ key: Secret, _ memoryName: String) -> [UInt8]? {
    (try? HMAC.sha256(key: key, Array(memoryName.utf8))).map { Array($0[..<checksumCount]) }
  }
}
