// The rollback anchor (store.md, Rollback). Restoring an older copy of the store must not undo a sign-out or give back
// attempts at a PIN. No file in the store can show that the store is an older copy. For this reason, the generation
// that an account had reached is stored in the same place as the store's key: in the desktop's keyring, or with the
// host. A session that was active in the copy continues. Its refresh token may be spent; if so, the provider refuses
// the token. With a key file or a passphrase no anchor is possible, because an attacker who restores the store can
// restore the key file, and the passphrase does not change.
//
// No call fails because of the anchor: if the keyring is locked, no anchor is stored, and none is compared.

import EnrollRules
import EnrollSteps
import EnrollCrypto

/// The anchor of one account: the generation of its record at its last sign-out, its erasure or the last use of its
/// PIN.
struct RollbackAnchor {
  private static let generationCount = 8
  /// The number of bytes of the HMAC. HMAC and generation together have 32 bytes, the size that a `SecretStore`
  /// accepts.
  private static let sealCount = 24
  /// How many bytes of the account's tag are used for the name of the anchor: 96 bits, as in the names of wrapping
  /// keys.
  private static let itemCount = 12

  let store: any SecretStore
  let keys: StoreKeys
  /// The tag of the account.
  let tag: [UInt8]

  private var name: SecretName {
    SecretName(
      storeID: Base64URL.encode(keys.storeID), item: Base64URL.encode(Array(tag.prefix(Self.itemCount))))
  }

  /// Raises the anchor: from now on, records of this lineage that are older than `generation` are refused.
  func raise(to generation: UInt64, of lineage: String) {
    guard (minimumGeneration(for: lineage) ?? 0) < generation else { return }
    let bytes = withUnsafeBytes(of: generation.bigEndian) { Array($0) }
    guard let seal = seal(bytes, lineage) else { return }
    try? store.save(Secret(bytes + seal), as: name)
  }

  /// The oldest generation of the lineage that is accepted; nil if no anchor is known.
  func minimumGeneration(for lineage: String) -> UInt64? {
    guard let kept = try? store.load(name), kept.count == Self.generationCount + Self.sealCount else {
      return nil
    }
    let content = kept.revealBytes()
    let bytes = Array(content[..<Self.generationCount])
    // The stored value is for another lineage, or EnrollKit did not write it. Such a value does not count.
    guard let seal = seal(bytes, lineage), ConstantTime.equal(seal, Array(content[Self.generationCount...]))
    else {
      return nil
    }
    return bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  private func seal(_ generation: [UInt8], _ lineage: String) -> [UInt8]? {
    let content = Array("anchor:".utf8) + tag + generation + Array(lineage.utf8)
    return (try? HMAC.sha256(key: keys.nameKey, content)).map { Array($0[..<Self.sealCount]) }
  }
}
