// Passwords become scrypt hashes (RFC 7914), with the parameters beside them, so that a later version can raise the cost. 32 MiB and
// about 65 ms of one core each, measured; a gate lets few in at once, because memory is the price. A person without a
// password, and nobody at all, cost the same as somebody.

public import EnrollCore
public import EnrollCrypto

/// Lets so many in at once; the others wait.
public protocol WorkGate: AnyObject, Sendable {
  /// - Returns: false if there was no place in time. Then nothing is to be left.
  func enter() -> Bool
  func leave()
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
  /// What is verified where there is no password. No password has this hash.
  private static let nobody =
    "$scrypt$15$8$1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

  public init(gate: any WorkGate, random: any RandomSource) {
    self.gate = gate
    self.random = random
  }

  /// `$scrypt$log2 N$r$p$salt$hash`, the latter two in base64url.
  /// - Throws: `.busy` when too many passwords are checked at this moment.
  public func hash(_ password: Secret) throws(EnrollError) -> String {
    let salt = try random.bytes(Self.saltCount)
    let hash = try derive(
      password, salt: salt, cost: Self.cost, blockSize: Self.blockSize, parallelism: Self.parallelism,
      count: Self.hashCount)
    return "$scrypt$\(Self.cost)$\(Self.blockSize)$\(Self.parallelism)$\(Base64URL.encode(salt))$"
      + Base64URL.encode(hash.revealBytes())
  }

  /// - Parameter stored: as ``hash(_:)`` wrote it; nil: nobody's.
  /// - Throws: `.busy`; `.internal` for a stored text that is none.
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
    guard gate.enter() else {
      throw EnrollError(.busy, "too many passwords are checked at this moment")
    }
    defer { gate.leave() }
    do throws(CryptoError) {
      return try Scrypt.derive(
        password: password, salt: salt, n: 1 << cost, r: blockSize, p: parallelism, count: count)
    } catch {
      throw EnrollError(error, "scrypt failed")
    }
  }
}
