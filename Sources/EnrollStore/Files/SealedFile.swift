// One sealed file of the store: read and opened, sealed and replaced, set aside when it is damaged.

import EnrollCore
import EnrollCrypto
import EnrollPosix

/// A sealed file under a fixed name. Knows nothing of what is inside, and takes no lock.
struct SealedFile: Sendable {
  let name: String
  let temporary: String
  /// The tag that the file must have.
  let tag: [UInt8]
  let folder: StoreFolder
  let ring: KeyRing
  let random: any RandomSource
  let form: StoreForm<SealedBytes>

  /// The bytes that were read, still sealed.
  struct Content {
    var bytes: [UInt8]
    var status: FileStatus

    /// Differs between any two writes.
    var header: [UInt8] { Array(bytes.prefix(SealedHeader.count)) }
  }

  func read() throws(EnrollError) -> Content? {
    try folder.read(name, limit: SealedFormat.fileLimit).map { Content(bytes: $0.bytes, status: $0.status) }
  }

  func open(_ content: Content) throws(EnrollError) -> (plaintext: Secret, generation: UInt64) {
    do {
      return try SealedFormat.open(content.bytes, tag: tag, keys: try ring.open(), as: form)
    } catch {
      guard error.code == .storeKey else { throw error }
    }
    // Another process may have put a new key in place, and sealed the file anew since it was read.
    var content = content
    while true {
      do throws(EnrollError) {
        return try SealedFormat.open(content.bytes, tag: tag, keys: try ring.reopen(), as: form)
      } catch {
        guard error.code == .storeKey, let newer = try read(), newer.header != content.header else {
          throw error
        }
        content = newer
      }
      try CallTimeout.check("while another process replaced the store's keys")
    }
  }

  /// Seals and saves durably, under the lock that guards the file.
  /// - Parameters:
  ///   - last: the generation that is being replaced, 0 for none.
  ///   - reserve: what was kept for this, for a disk that is full or a process without descriptors.
  /// - Returns: the generation, header and status of the new file.
  func save(
    _ plaintext: Secret, after last: UInt64, reserve: ReservedSpace? = nil
  ) throws(EnrollError) -> (generation: UInt64, header: [UInt8], status: FileStatus) {
    let (generation, overflow) = last.addingReportingOverflow(1)
    guard !overflow else { throw EnrollError(.storeIO, "\(name) has run out of generations", field: "store") }
    let sealed = try SealedFormat.seal(
      plaintext, tag: tag, generation: generation, keys: try ring.forSealing(), random: random,
      as: form)
    let status = try folder.replace(
      name, with: sealed, temporary: temporary, reserve: reserve)
    return (generation, Array(sealed[..<SealedHeader.count]), status)
  }

  /// Gives the damaged file another name, under the lock that guards it.
  /// - Returns: what to tell: the damage, and where the file is now.
  func setAside(_ damage: EnrollError) -> EnrollError {
    do {
      let other = StoreNames.setAside(name, try random.bytes(8))
      try folder.setAside(name, as: other)
      return EnrollError(.storeCorrupt, "\(damage.message); it was set aside as \(other)", field: "store")
    } catch {
      return EnrollError(
        .storeCorrupt, "\(damage.message); it could not be set aside: \(error.message)", field: "store")
    }
  }
}
