// Hashes passwords with scrypt (RFC 7914). The parameters are stored with the hash, so that a later version can raise
// the cost. A hash takes 32 MiB and about 65 ms of one core (measured). Because of the memory, a gate limits how many
// hashes run at once. Checking a password takes the same time if the user has no password or does not exist.

public import EnrollRules
public import EnrollSteps
public import EnrollCrypto

/// Limits how much work runs at once; further work waits.
public protocol WorkGate: AnyObject, Sendable {
  /// Waits for a free slot and takes it.
  /// - Returns: false if no slot became free in time. Do not call ``release()`` then.
  func acquire() -> Bool
  func release()
}

public final class PasswordHasher: Sendable {
  private let gate: any WorkGate
  private let random: any RandomSource

  /// log2 of the cost N.
  private static let cost: UInt64 = 15
  private static let blockSize: UInt32 = 8
  private static let parallelism: UInt32 = 1
  private static let saltCount = 16
  private static let hashCount = 32
  /// The hash against which an entered password is checked if the user has no password. No password has this hash.
  private static let nobody =
    "$scrypt$15$8$1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

  public init(gate: any WorkGate, random: any RandomSource) {
    self.gate = gate
    self.random = random
  }

  /// Hashes a password with a new salt.
  /// - Returns: `$scrypt$log2 N$r$p$salt$hash`; salt and hash are in base64url.
  /// - Throws: `.busy` if too many passwords are being hashed.
  public func hash(_ password: Secret) throws(EnrollError) -> String {
    let salt = try random.bytes(Self.saltCount)
    let hash = try derive(
      password, salt: salt, cost: Self.cost, blockSize: Self.blockSize, parallelism: Self.parallelism,
      count: Self.hashCount)
    return "$scrypt$\(Self.cost)$\(Self.blockSize)$\(Self.parallelism)$\(Base64URL.encode(salt))$"
      + Base64URL.encode(hash.revealBytes())
  }

  /// Whether the password has the stored hash.
  /// - Parameter stored: the text of ``hash(_:)``; nil if there is no user or no password.
  /// - Throws: `.busy`; `.internal` if the stored text is invalid.
  public func verify(_ password: Secret, against stored: String?) throws(EnrollError) -> Bool {
    let parts = (stored ?? Self.nobody).utf8.split(separator: 0x24, omittingEmptySubsequences: false)
      .map { String(Substring($0)) }
    guard parts.count == 7, ASCII.equals(parts[1], "scrypt"), let cost = UInt64(parts[2]), cost < 32,
      let blockSize = UInt32(parts[3]), let parallelism = UInt32(parts[4]),
      let salt = Base64URL.decode(parts[5]), let hash = Base64URL.decode(parts[6]), !hash.isEmpty
    else { throw EnrollError(.internal, "a stored password has an unknown form") }
    let derived = try derive(
      password, salt: salt, cost: cost, blockSize: blockSize, parallelism: parallelism, count: hash.count)
    return derived == Secret(hash) && stored != nil
  }

  private func derive(
    _ password: Secret, salt: [UInt8], cost: UInt64, blockSize: UInt32, parallelism: UInt32, count: Int
  ) throws(EnrollError) -> Secret {
    guard gate.acquire() else {
      throw EnrollError(.busy, "too many passwords are checked at this moment")
    }
    defer { gate.release() }
    do throws(CryptoError) {
      return try Scrypt.derive(
        password: password, salt: salt, n: 1 << cost, r: blockSize, p: parallelism, count: count)
    } catch {
      throw EnrollError(error, "scrypt failed")
    }
  }
}
