// One account as this process knows it: its sealed file, what was last read of it, and its two locks (reliability.md, Memory and
// truth). A record is served from memory for a second; then one look at the file's status tells whether another process
// changed it.

import EnrollCore
import EnrollCrypto
import Synchronization

final class AccountFile: RenewalGround, @unchecked Sendable {
  // Unchecked: `known` is only touched with `reading` held.

  /// What is known of the file.
  private struct Known {
    /// nil: there is no record.
    var document: AccountDocument?
    var generation: UInt64 = 0
    var header: [UInt8] = []
    var status: FileStatus?
    /// The file was so old when it was read that every later change shows in its status.
    var isSettled = true
    var checked: Instant
  }

  /// How long a record is served from memory (reliability.md).
  private static let trusted: Int64 = 1_000_000_000
  /// Coarser than any filesystem's time stamps.
  private static let settlingNanoseconds: Int64 = 1_000_000_000

  private let names: AccountFileNames
  private let file: SealedFile
  private let clock: any Clock
  private let writing: StoreLock
  private let gate = RenewalGate()
  private let reading = Condition()
  private var known: Known?
  /// Calls that use this object now.
  let users = Atomic<Int>(0)

  init(tag: [UInt8], folder: StoreFolder, ring: KeyRing, clock: any Clock, random: any RandomSource) {
    names = AccountFileNames(tag: tag)
    file = SealedFile(
      name: names.record, temporary: names.temporary, reserve: names.reserve, tag: tag, folder: folder,
      ring: ring,
      random: random)
    self.clock = clock
    writing = StoreLock(names.writeLock, in: folder)
  }

  // MARK: Reading

  /// - Parameter fresh: look at the disk now.
  func document(fresh: Bool) throws(EnrollError) -> AccountDocument? {
    let damage: EnrollError
    do {
      return try look(fresh: fresh)
    } catch {
      guard error.code == .storeCorrupt else { throw error }
      damage = error
    }
    // Under the lock, because only its holder may touch the file; perhaps it has mended the damage already.
    let held: StoreLock.Held
    do { held = try writing.take() } catch { throw damage }
    defer { held.release() }
    return try lookOrSetAside()
  }

  func tokenEpoch(fresh: Bool) throws(EnrollError) -> UInt64? {
    try document(fresh: fresh)?.record.tokenEpoch
  }

  /// Called with the write lock held.
  private func lookOrSetAside() throws(EnrollError) -> AccountDocument? {
    do {
      return try look(fresh: true)
    } catch {
      guard error.code == .storeCorrupt else { throw error }
      forget()
      throw file.setAside(error)
    }
  }

  private func look(fresh: Bool) throws(EnrollError) -> AccountDocument? {
    reading.lock()
    defer { reading.unlock() }
    let now = clock.instant()
    if let known, !fresh, (0..<Self.trusted).contains(now.since(known.checked)) { return known.document }
    if let known, known.isSettled, try file.folder.status(file.name).isSame(as: known.status) {
      self.known?.checked = now
      return known.document
    }
    return try reread(now)
  }

  private func reread(_ now: Instant) throws(EnrollError) -> AccountDocument? {
    let realTime = SystemClock.realTime()
    guard let content = try file.read() else {
      known = Known(checked: now)
      return nil
    }
    let age = realTime.subtractingReportingOverflow(content.status.modified)
    let isSettled = age.overflow || age.partialValue.magnitude >= Self.settlingNanoseconds.magnitude
    // The same write under the same name: nothing to open.
    if let known, let document = known.document, known.header == content.header {
      self.known?.status = content.status
      self.known?.isSettled = isSettled
      self.known?.checked = now
      return document
    }
    // Whoever wrote it may not have come to syncing the folder. What is handed out must be there after a crash (flows.md §8).
    if !isSettled { try? file.folder.sync() }
    let (plaintext, generation) = try file.open(content)
    let document = try AccountDocument(decoding: plaintext)
    if let known, let last = known.document, ASCII.equals(last.lineage, document.lineage),
      generation < known.generation
    {
      throw EnrollError(
        .storeRefused,
        "an older copy of the record was put back: it has generation \(generation), \(known.generation) was seen",
        field: "store")
    }
    known = Known(
      document: document, generation: generation, header: content.header, status: content.status,
      isSettled: isSettled, checked: now)
    return document
  }

  private func forget() {
    reading.lock()
    known = nil
    reading.unlock()
  }

  // MARK: Writing

  func update(
    _ account: AccountName, _ change: (inout AccountRecord) throws(EnrollError) -> Void
  ) throws(EnrollError) -> AccountRecord {
    let held = try writing.take()
    defer { held.release() }
    let before = try lookOrSetAside()
    var record: AccountRecord
    if let before { record = before.record } else { record = try .blank(file.random) }
    let old = record
    try change(&record)
    guard record != old else { return record }

    let lineage: String
    if let before { lineage = before.lineage } else { lineage = Base64URL.encode(try file.random.bytes(16)) }
    let document = AccountDocument(account: account, lineage: lineage, record: record)
    try save(document, changesTokens: record.tokenEpoch != old.tokenEpoch)
    gate.noteChange()
    return record
  }

  /// Called with the write lock held.
  private func save(_ document: AccountDocument, changesTokens: Bool) throws(EnrollError) {
    let plaintext = document.encoded()
    // What could not be read again must not replace what can.
    guard try AccountDocument(decoding: plaintext) == document else {
      throw EnrollError(.internal, "the record would not read back as it was written")
    }
    reading.lock()
    let last = known?.generation ?? 0
    reading.unlock()
    do {
      // The reserve is for tokens that came or have to go, never for anything that can wait.
      let saved = try file.save(plaintext, after: last, usesReserve: changesTokens)
      reading.lock()
      known = Known(
        document: document, generation: saved.generation, header: saved.header, status: saved.status,
        isSettled: false, checked: clock.instant())
      reading.unlock()
    } catch {
      // Whether the old or the new one is there now, the disk knows.
      forget()
      throw error
    }
  }

  func remove() throws(EnrollError) {
    let held = try writing.take()
    defer { held.release() }
    forget()
    for name in [names.record, names.temporary, names.reserve] { try file.folder.discard(name) }
    try file.folder.sync()
    gate.noteChange()
  }

  func reserveSpace() throws(EnrollError) {
    let held = try writing.take()
    defer { held.release() }
    let size = try file.folder.status(names.record)?.size ?? 0
    // A record grows by a token response; whatever it grows by, a record has a limit.
    try file.folder.reserve(names.reserve, min(size + (64 << 10), Int64(SealedFormat.fileLimit)))
  }

  // MARK: Renewal

  func renewalTurn(
    epoch: UInt64, deadline: Instant, _ body: () throws(EnrollError) -> Void
  ) throws(EnrollError) -> RenewalTurn {
    try gate.turn(epoch: epoch, deadline: deadline, clock: clock, ground: self) { () throws(EnrollError) in
      // The reserve was for what the turn brings.
      defer { try? file.folder.discard(names.reserve) }
      try body()
    }
  }

  func openTurnLock() throws(EnrollError) -> FileLock? {
    try FileLock(names.renewLock, in: file.folder)
  }
}

extension FileStatus? {
  /// Whether two looks at a name found the same content, as far as a status can tell.
  fileprivate func isSame(as other: FileStatus?) -> Bool {
    guard let self, let other else { return self == nil && other == nil }
    return self.inode == other.inode && self.device == other.device && self.size == other.size
      && self.modified == other.modified
  }
}
