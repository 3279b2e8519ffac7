// One account of a store: its sealed file, this process's copy of it, its two locks (store.md, Locks) and its PIN.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollPosix
import Synchronization

final class AccountFile: RenewableAccount, Sendable {
  /// The lineage and generation under which the record was saved.
  private struct SavedGeneration {
    var lineage: String
    var generation: UInt64
  }

  private let names: AccountFileNames
  private let file: SealedFile
  private let clock: any Clock
  private let form: StoreForm<JSONObject>
  private let writing: StoreLock
  private let gate = RenewalGate()
  private let cache: RecordCache
  /// Disk space reserved for the next save of tokens.
  private let reserved = Guarded<ReservedSpace?>(nil, by: Mutex())
  /// The number of calls that use this object now.
  let users = Atomic<Int>(0)

  init(
    tag: [UInt8], folder: StoreFolder, ring: StoreKeyRing, clock: any Clock, random: any RandomSource,
    forms: StoreForms
  ) {
    names = AccountFileNames(tag: tag)
    file = SealedFile(
      name: names.record, temporary: names.temporary, tag: tag, folder: folder, ring: ring, random: random,
      form: forms.sealed)
    self.clock = clock
    form = forms.account
    cache = RecordCache(file, clock: clock, form: forms.account)
    writing = StoreLock(names.writeLock, in: folder)
  }

  // MARK: Reading

  /// - Parameter fresh: true to read the disk in any case; false to accept content in memory that is at most a second
  ///   old.
  func document(fresh: Bool) throws(EnrollError) -> AccountDocument? {
    let damage: EnrollError
    do {
      return try cache.read(fresh: fresh)
    } catch {
      guard error.code == .storeCorrupt else { throw error }
      damage = error
    }
    // Only the holder of the write lock may rename the file. The file is read again under the lock, because the
    // previous holder of the lock may have replaced the damaged file.
    let held: StoreLock.Held
    do { held = try writing.acquire() } catch { throw damage }
    defer { held.release() }
    return try readOrSetAside()
  }

  /// Reads the document from the disk. A damaged file is not set aside.
  func documentOnDisk() throws(EnrollError) -> AccountDocument? { try cache.read(fresh: true) }

  /// - Throws: `.storeLocked` with field `pin` if the account has a PIN and this process did not get the PIN.
  func record(fresh: Bool) throws(EnrollError) -> AccountRecord? {
    try document(fresh: fresh).map { document throws(EnrollError) in try cache.record(of: document) }
  }

  func tokenEpoch(fresh: Bool) throws(EnrollError) -> UInt64? { try record(fresh: fresh)?.tokenEpoch }

  /// Reads the document, or sets the file aside if it is damaged. Called with the write lock held.
  private func readOrSetAside() throws(EnrollError) -> AccountDocument? {
    do {
      return try cache.read(fresh: true)
    } catch {
      guard error.code == .storeCorrupt else { throw error }
      cache.forget()
      throw file.setAside(error)
    }
  }

  /// Raises the rollback anchor: from now on an older copy of the record is refused (store.md, Rollback).
  private func raiseAnchor(to saved: SavedGeneration) {
    file.ring.anchor(for: file.tag)?.raise(to: saved.generation, of: saved.lineage)
  }

  // MARK: Writing

  func update(
    _ account: AccountName, _ change: (inout AccountRecord) throws(EnrollError) -> Void
  ) throws(EnrollError) -> AccountRecord {
    let (record, signedOut) = try changed(account, change)
    // The anchor is saved after the lock is released, because a keyring may be slow.
    if let signedOut { raiseAnchor(to: signedOut) }
    return record
  }

  /// - Returns: the record; if the change removed its tokens, also the lineage and generation of the save.
  private func changed(
    _ account: AccountName, _ change: (inout AccountRecord) throws(EnrollError) -> Void
  ) throws(EnrollError) -> (record: AccountRecord, signedOut: SavedGeneration?) {
    let held = try writing.acquire()
    defer { held.release() }
    let before = try readOrSetAside()
    var record: AccountRecord
    if let before { record = try cache.record(of: before) } else { record = try .blank(file.random) }
    let old = record
    try change(&record)
    guard record != old else { return (record, nil) }

    var document = AccountDocument(account: account, lineage: before?.lineage ?? "", record: record)
    if before == nil { document.lineage = Base64URL.encode(try file.random.bytes(16)) }
    if case .underPIN(let envelope, _, _) = before?.content { try sealUnderPIN(&document, record, envelope) }
    let saved = try save(document, record, changesTokens: record.tokenEpoch != old.tokenEpoch)
    gate.noteChange()
    return (record, old.hasTokens && !record.hasTokens ? saved : nil)
  }

  /// Seals the record with the PIN's key, and puts it into the document. Called with the write lock held.
  private func sealUnderPIN(
    _ document: inout AccountDocument, _ record: AccountRecord, _ envelope: PINEnvelope
  ) throws(EnrollError) {
    guard let key = cache.pinKey else { throw RecordCache.lockedByPIN }
    document.content = .underPIN(
      envelope,
      sealed: try PINSeal.seal(record, key: key, lineage: document.lineage, random: file.random),
      form: form.newest)
  }

  /// Saves the document. Called with the write lock held.
  @discardableResult
  private func save(
    _ document: AccountDocument, _ record: AccountRecord?, changesTokens: Bool
  ) throws(EnrollError) -> SavedGeneration {
    let plaintext = document.encoded(as: form)
    // This check exists because bytes that cannot be decoded again must not replace a readable file.
    guard try AccountDocument(decoding: plaintext, as: form) == document else {
      throw EnrollError(.internal, "the record would not read back as it was written")
    }
    do {
      // Only saves that store or remove tokens may use the reserved space. Any other save may fail on a full disk,
      // because it can be repeated later.
      let saved = try file.save(
        plaintext, after: cache.generation, reserve: changesTokens ? reserved.withLock { $0 } : nil)
      cache.keep(document, record, saved)
      return SavedGeneration(lineage: document.lineage, generation: saved.generation)
    } catch {
      // After a failed save, either the old or the new file may be on disk, so the next read must not use the copy in
      // memory.
      cache.forget()
      throw error
    }
  }

  /// Seals the file again with the current key. A file that cannot be opened is left as it is.
  func reseal() throws(EnrollError) {
    let held = try writing.acquire()
    defer { held.release() }
    do throws(EnrollError) {
      guard let content = try file.read() else { return }
      let (plaintext, generation) = try file.open(content)
      _ = try file.save(plaintext, after: generation)
      cache.forget()
    } catch {
      guard error.code == .storeCorrupt || error.code == .storeKey else { throw error }
    }
  }

  func remove() throws(EnrollError) {
    let last = try removed()
    if var last {
      last.generation &+= 1
      raiseAnchor(to: last)
    }
  }

  /// - Returns: the lineage and the generation of the last save; nil if there is no readable record.
  private func removed() throws(EnrollError) -> SavedGeneration? {
    let held = try writing.acquire()
    defer { held.release() }
    let document = try? cache.read(fresh: true)
    let last = document.map { SavedGeneration(lineage: $0.lineage, generation: cache.generation) }
    try erase()
    return last
  }

  /// Erases the account. Called with the write lock held.
  private func erase() throws(EnrollError) {
    cache.pinKey = nil
    cache.forget()
    reserved.withLock { $0 = nil }
    for name in [names.record, names.temporary, names.reserve] { try file.folder.discard(name) }
    try file.folder.sync()
    gate.noteChange()
  }

  func reserveSpace() throws(EnrollError) {
    let held = try writing.acquire()
    defer { held.release() }
    let space = try file.folder.reserve(names.reserve, try reserveSize())
    reserved.withLock { $0 = space }
    held.keepFileOpen()
  }

  /// The number of bytes to reserve: the record's size plus 64 KiB for a token response, but at most the size limit of
  /// a sealed file.
  private func reserveSize() throws(EnrollError) -> Int64 {
    min((try file.folder.status(names.record)?.size ?? 0) + (64 << 10), Int64(SealedFormat.fileLimit))
  }

  /// Checks that a save would find enough disk space: reserves the space, and frees it again. The check uses the name
  /// of the temporary file, because another process's renewal may be using the file that is meant for reserved space.
  func requireSpace() throws(EnrollError) {
    let held = try writing.acquire()
    defer { held.release() }
    _ = try file.folder.reserve(names.temporary, try reserveSize())
    try file.folder.discard(names.temporary)
  }

  /// Frees the reserved space. Called when the renewal lock is released.
  private func endReserve() {
    reserved.withLock { $0 = nil }
    writing.closeWhileUnlocked()
    try? file.folder.discard(names.reserve)
  }

  /// Removes the temporary file and the reserve that a process left behind when it died.
  func removeLeftovers() { file.folder.removeLeftovers([names.temporary, names.reserve]) }

  // MARK: PIN

  /// Whether this process has the PIN's key; nil if the account has no PIN.
  func isUnlocked() throws(EnrollError) -> Bool? {
    guard case .underPIN = try document(fresh: true)?.content else { return nil }
    return cache.pinKey != nil
  }

  func setPIN(_ pin: Secret) throws(EnrollError) {
    let held = try writing.acquire()
    defer { held.release() }
    guard var document = try readOrSetAside() else {
      throw EnrollError(.illegalState, "there is nothing yet for a PIN to protect", field: "pin")
    }
    guard case .open(let record) = document.content else {
      throw EnrollError(.illegalState, "the account has a PIN already: change it", field: "pin")
    }
    let key = try PINSeal.makeKey(file.random)
    let envelope = try PINSeal.wrap(key, under: pin, lineage: document.lineage, random: file.random)
    cache.pinKey = key
    do {
      try sealUnderPIN(&document, record, envelope)
      raiseAnchor(to: try save(document, record, changesTokens: false))
    } catch {
      cache.pinKey = nil
      throw error
    }
    gate.noteChange()
  }

  func usePIN(_ pin: Secret, to change: PINChange) throws(EnrollError) -> PINAnswer {
    let held = try writing.acquire()
    defer { held.release() }
    guard var document = try readOrSetAside(),
      case .underPIN(var envelope, let sealed, let version) = document.content
    else { throw EnrollError(.illegalState, "the account has no PIN", field: "pin") }
    let moment = clock.moment()
    let wait = envelope.secondsToWait(at: moment)
    guard wait == 0 else {
      return PINAnswer(.tooSoon, triesLeft: envelope.triesLeft, retryAfterSeconds: wait)
    }

    // The attempt is counted on disk before the PIN is checked, so that nobody gains an attempt by killing the
    // process.
    envelope.count(at: moment)
    document.content = .underPIN(envelope, sealed: sealed, form: version)
    raiseAnchor(to: try save(document, nil, changesTokens: false))
    guard let key = try PINSeal.unwrap(envelope, with: pin, lineage: document.lineage) else {
      if envelope.triesLeft > 0 {
        return PINAnswer(
          .wrong, triesLeft: envelope.triesLeft,
          retryAfterSeconds: PINPolicy.pauseSeconds(afterTries: envelope.tries))
      }
      try erase()
      return PINAnswer(.erased, triesLeft: 0)
    }

    guard let record = try cache.unsealed(document, with: key) else {
      throw EnrollError(
        .storeCorrupt, "the PIN is right, but the account that it seals does not open", field: "pin")
    }
    cache.pinKey = key
    envelope.forgive()
    switch change {
    case .unlock: document.content = .underPIN(envelope, sealed: sealed, form: version)
    case .replace(let new):
      document.content = .underPIN(
        try PINSeal.wrap(key, under: new, lineage: document.lineage, random: file.random), sealed: sealed,
        form: version)
    case .remove: document.content = .open(record)
    }
    try save(document, record, changesTokens: false)
    if change == .remove { cache.pinKey = nil }
    gate.noteChange()
    return PINAnswer(.unlocked, triesLeft: PINPolicy.tries)
  }

  // MARK: Renewal

  func withRenewalLock(
    epoch: UInt64, deadline: Instant, cancellation: (any Cancellation)?,
    _ body: () throws(EnrollError) -> Void
  ) throws(EnrollError) -> RenewalLockResult {
    try gate.withLock(
      epoch: epoch, deadline: deadline, cancellation: cancellation, clock: clock, account: self
    ) {
      () throws(EnrollError) in
      // If the renewal lock stays held, some tokens are not saved yet, so the reserved space is kept for them.
      defer { if !gate.isKept { endReserve() } }
      try body()
    }
  }

  /// See `TokenStore.keepRenewalLock`.
  func keepRenewalLock(_ isKept: Bool) {
    if gate.keep(isKept) { endReserve() }
  }

  /// Whether the object must stay in memory, because a call uses it, or because its renewal lock stays held.
  var isInUse: Bool { users.load(ordering: .acquiring) > 0 || gate.isKept }

  func openRenewalLock() throws(EnrollError) -> FileLock? {
    try FileLock(names.renewLock, in: file.folder)
  }
}
