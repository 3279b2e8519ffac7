// A store that is put back from a copy must not undo a sign-out, nor give back a try at a PIN (store.md, Rollback). No
// file can tell: so how far an account had come by then is kept where its key is, in the desktop's keyring or with the host.
// A session that was live in the copy goes on: its refresh token may be spent, which is the provider's to say. A key file
// cannot do this, nor a passphrase: whoever puts the store back puts them back with it, or never had to.
//
// No call fails because of this: a keyring that is locked stores nothing and returns nothing.

import EnrollCore
import EnrollCrypto

/// How far one account had come at its last sign-out, or at the last use of its PIN.
struct RollbackAnchor {
  private static let generationCount = 8
  /// Together with the generation the 32 bytes that keepers take.
  private static let sealCount = 24
  /// 96 bits of the account's tag, as long as the names of keys.
  private static let itemCount = 12

  let keeper: any SecretStore
  let keys: StoreKeys
  /// The account's.
  let tag: [UInt8]

  private var name: SecretName {
    SecretName(
      storeID: Base64URL.encode(keys.storeID), item: Base64URL.encode(Array(tag.prefix(Self.itemCount))))
  }

  /// Records of the lineage that are older than `generation` are of no use from now on.
  func raise(to generation: UInt64, of lineage: String) {
    guard (generationKept(for: lineage) ?? 0) < generation else { return }
    let bytes = withUnsafeBytes(of: generation.bigEndian) { Array($0) }
    guard let seal = seal(bytes, lineage) else { return }
    try? keeper.save(Secret(bytes + seal), as: name)
  }

  /// The oldest generation of the lineage that is of use; nil where nothing is known.
  func generationKept(for lineage: String) -> UInt64? {
    guard let kept = try? keeper.load(name), kept.count == Self.generationCount + Self.sealCount else {
      return nil
    }
    let content = kept.revealBytes()
    let bytes = Array(content[..<Self.generationCount])
    // Another lineage's, or not ours at all.
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
