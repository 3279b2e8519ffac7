// One sealed file of the store: how it is read and opened, sealed and replaced, or set aside if it is damaged.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollPosix

/// A sealed file with a fixed name. The methods do not decode the content, and take no lock.
struct SealedFile: Sendable {
  let name: String
  let temporary: String
  /// The tag that the file must have.
  let tag: [UInt8]
  let folder: StoreFolder
  let ring: StoreKeyRing
  let random: any RandomSource
  let form: StoreForm<SealedBytes>

  /// The bytes that were read, still sealed.
  struct Content {
    var bytes: [UInt8]
    var status: FileStatus

    /// The header, which differs between any two writes.
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
    // Since the content was read, another process may have replaced the data key, and sealed the file with the new key.
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

  /// Seals the content and saves it durably. Called with the lock of the file held.
  /// - Parameters:
  ///   - last: the generation that is being replaced, 0 for a new file.
  ///   - reserve: reserved space, which is used if the disk is full or the process has no free descriptor.
  /// - Returns: the generation, header and status of the new file.
  func save(
    _ plaintext: Secret, after last: UInt64, reserve: ReservedSpace? = nil
  ) throws(EnrollError) -> (generation: UInt64, header: [UInt8], status: FileStatus) {
    let (generation, overflow) = last.addingReportingOverflow(1)
    guard !overflow else { throw EnrollError(.storeIO, "\(name) has run out of generations", field: "store") }
    let sealed = try SealedFormat.seal(
      plaintext, tag: tag, generation: generation, keys: try ring.keysForSealing(), random: random,
      as: form)
    let status = try folder.replace(
      name, with: sealed, temporary: temporary, reserve: reserve)
    return (generation, Array(sealed[..<SealedHeader.count]), status)
  }

  /// Renames the damaged file. Called with the lock of the file held.
  /// - Returns: the error for the caller: the damage, and the file's new name.
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
