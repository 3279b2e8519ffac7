// A key that is derived from a passphrase: scrypt (RFC 7914) with N = 2^17, r = 8, p = 1, which takes almost a second
// and 128 MiB. Nothing is stored on the machine. An attacker who copies the store has to guess the passphrase, at that
// cost for each guess.

public import EnrollRules
public import EnrollSteps
public import EnrollCrypto
public import EnrollJSON
public import EnrollPosix

/// Wraps the store's keys with a passphrase.
public final class PassphraseKeyProvider: KeyProvider {
  public static let providerName = "passphrase"

  private static let saltCount = 32
  /// The cost of new keys: the logarithm of scrypt's N to the base 2.
  private static let cost: Int64 = 17
  /// The costs that are accepted. EnrollKit writes no higher cost (2^18 needs 256 MiB); a lower cost would not protect
  /// the key.
  private static let costs: ClosedRange<Int64> = 14...18

  private struct Derived {
    var salt: [UInt8]
    var cost: Int64
    var key: Secret
  }

  public let name = PassphraseKeyProvider.providerName
  private let passphrase: Secret?
  private let random: any RandomSource
  /// The last derived key. The key is remembered, because making a store and then opening the store need the same key.
  private let derived = Guarded<Derived?>(nil, by: Mutex())

  /// Makes a provider for this passphrase.
  /// - Parameter passphrase: nil if the host has no passphrase. A store with a passphrase then stays locked.
  public init(_ passphrase: Secret?, random: any RandomSource = SystemRandomSource()) {
    self.passphrase = passphrase
    self.random = random
  }

  public func presence() -> KeyPresence {
    passphrase == nil ? .absent("no passphrase was given") : .present
  }

  public func wrap(_ key: Secret, slot: KeySlot) throws(EnrollError) -> JSONObject {
    guard let passphrase, !passphrase.isEmpty else {
      throw EnrollError(.invalidArgument, "expected a passphrase of at least one byte", field: "keys")
    }
    let salt = try random.bytes(Self.saltCount)
    let wrappingKey = try derive(salt, Self.cost)
    var wrapped = try KeyWrapping.wrap(key, under: wrappingKey, slot: slot, provider: name, random: random)
    wrapped["scryptSalt"] = .string(Base64URL.encode(salt))
    wrapped["scryptCost"] = .integer(Self.cost)
    return wrapped
  }

  public func unwrap(_ wrapped: JSONObject, slot: KeySlot) throws(EnrollError) -> Secret {
    guard let salt = wrapped["scryptSalt"]?.string.flatMap({ Base64URL.decode($0) }),
      salt.count == Self.saltCount, let cost = wrapped["scryptCost"]?.integer, Self.costs.contains(cost)
    else {
      throw EnrollError(.storeCorrupt, "the passphrase's slot in the keys file is damaged", field: "store")
    }
    let wrappingKey = try derive(salt, cost)
    do {
      return try KeyWrapping.unwrap(wrapped, under: wrappingKey, slot: slot, provider: name)
    } catch {
      guard error.code == .storeKey else { throw error }
      throw EnrollError(
        .storeKey, "the passphrase is not the store's: ask the user again",
        field: EnrollError.passphraseField)
    }
  }

  private func derive(_ salt: [UInt8], _ cost: Int64) throws(EnrollError) -> Secret {
    guard let passphrase else {
      throw EnrollError(
        .storeLocked,
        "the store is locked with a passphrase: ask the user for it, and open the store with it",
        field: "keys")
    }
    if let last = derived.withLock({ $0 }), last.cost == cost, last.salt == salt { return last.key }
    let key = try SealedFormat.crypto { () throws(CryptoError) in
      try Scrypt.derive(
        password: passphrase, salt: salt, n: 1 << UInt64(cost), r: 8, p: 1, count: KeyWrapping.keyCount)
    }
    derived.withLock { $0 = Derived(salt: salt, cost: cost, key: key) }
    return key
  }
}
