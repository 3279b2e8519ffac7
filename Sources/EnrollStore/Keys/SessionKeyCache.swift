// An opened key is remembered for a while outside the process, so that the next one need not ask the user again. In front of
// a provider, never instead of one: what is remembered can vanish at any moment, and nothing is lost.

public import EnrollCore
public import EnrollCrypto
public import EnrollJSON

/// Where opened keys are remembered.
public protocol SessionKeyMemory: AnyObject, Sendable {
  func presence() -> KeyPresence
  /// nil if there is no key, or if it cannot be read.
  func recall(_ name: String) -> Secret?
  /// May fail without a word: it is asked for nothing that matters.
  func remember(_ secret: Secret, as name: String, seconds: Int64)
  func forget(_ name: String)
}

/// A provider whose opened keys are remembered.
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
    // A caller that wraps a key anew checks that the provider opens it, not this cache.
    memory.forget(place(slot))
    return try provider.wrap(key, slot: slot)
  }

  public func unwrap(_ wrapped: JSONObject, slot: KeySlot) throws(EnrollError) -> Secret {
    let place = place(slot)
    if let key = memory.recall(place).flatMap({ Self.key(in: $0, place) }) { return key }
    let key = try provider.unwrap(wrapped, slot: slot)
    if let content = Self.content(key, place) { memory.remember(content, as: place, seconds: seconds) }
    return key
  }

  public func renew() throws(EnrollError) { try provider.renew() }

  public func tidy() { provider.tidy() }

  public var anchors: (any SecretStore)? { provider.anchors }

  public func discard(_ wrapped: JSONObject, slot: KeySlot) throws(EnrollError) {
    memory.forget(place(slot))
    try provider.discard(wrapped, slot: slot)
  }

  /// By provider too: who moves a store to another one wants the old one's memory gone with it.
  private func place(_ slot: KeySlot) -> String {
    "enrollkit:" + name + ":" + slot.storeID + ":" + slot.keyID
  }

  /// Checksummed, so that what is not ours is not taken for a key. Nobody but the same user could have put it there.
  private static func content(_ key: Secret, _ place: String) -> Secret? {
    guard let checksum = checksum(key, place) else { return nil }
    return key.withBytes { bytes in
      var content = Array(bytes)
      defer { content.withUnsafeMutableBytes { Wipe.bytes($0) } }
      content += checksum
      return Secret(content)
    }
  }

  private static func key(in content: Secret, _ place: String) -> Secret? {
    guard content.count > checksumCount else { return nil }
    let key = content.withBytes { Secret(UnsafeRawBufferPointer(rebasing: $0.dropLast(checksumCount))) }
    guard let expected = checksum(key, place),
      content.withBytes({ ConstantTime.equal(Array($0.suffix(checksumCount)), expected) })
    else { return nil }
    return key
  }

  private static func checksum(_ key: Secret, _ place: String) -> [UInt8]? {
    (try? HMAC.sha256(key: key, Array(place.utf8))).map { Array($0[..<checksumCount]) }
  }
}
