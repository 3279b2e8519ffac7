// One account of a store: its sealed file, what this process knows of it, its two locks (store.md, Locks), its PIN.

import EnrollCore
import EnrollCrypto
import EnrollJSON
import EnrollPosix
import Synchronization

final class AccountFile: RenewalGround, Sendable {
  /// One save of the record.
  private struct Milestone {
    var lineage: String
    var generation: UInt64
  }

  private let names: AccountFileNames
  private let file: SealedFile
  private let clock: any Clock
  private let form: StoreForm<JSONObject>
  private let writing: StoreLock
  private let gate = RenewalGate()
  private let known: RecordCache
  /// Disk space reserved for the next save of tokens.
  private let reserved = Guarded<ReservedSpace?>(nil, by: Mutex())
  /// Calls that use this object now.
  let users = Atomic<Int>(0)

  init(
    tag: [UInt8], folder: StoreFolder, ring: KeyRing, clock: any Clock, random: any RandomSource,
    forms: StoreForms
  ) {
    names = AccountFileNames(tag: tag)
    file = SealedFile(
      name: names.record, temporary: names.temporary, tag: tag, folder: folder, ring: ring, random: random,
      form: forms.sealed)
    self.clock = clock
    form = forms.account
    known = RecordCache(file, clock: clock, form: forms.account)
    writing = StoreLock(names.writeLock, in: folder)
  }

  // MARK: Reading

  /// - Parameter fresh: look at the disk now.
  func document(fresh: Bool) throws(EnrollError) -> AccountDocument? {
    let damage: EnrollError
    do {
      return try known.look(fresh: fresh)
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

  /// As it is on the disk now; damage is left where it is.
  func present() throws(EnrollError) -> AccountDocument? { try known.look(fresh: true) }

  /// - Throws: `.storeLocked`, field `pin`, while its PIN was not given to this process.
  func record(fresh: Bool) throws(EnrollError) -> AccountRecord? {
    try document(fresh: fresh).map { document throws(EnrollError) in try known.record(of: document) }
  }

  func tokenEpoch(fresh: Bool) throws(EnrollError) -> UInt64? { try record(fresh: fresh)?.tokenEpoch }

  /// Called with the write lock held.
  private func lookOrSetAside() throws(EnrollError) -> AccountDocument? {
    do {
      return try known.look(fresh: true)
    } catch {
      guard error.code == .storeCorrupt else { throw error }
      known.forget()
      throw file.setAside(error)
    }
  }

  /// From now on no copy of what was there before is of use.
  private func anchor(_ milestone: Milestone) {
    file.ring.anchor(for: file.tag)?.raise(to: milestone.generation, of: milestone.lineage)
  }

  // MARK: Writing

  func update(
    _ account: AccountName, _ change: (inout AccountRecord) throws(EnrollError) -> Void
  ) throws(EnrollError) -> AccountRecord {
    let (record, signedOut) = try changed(account, change)
    // A keyring takes its time: nobody waits for the lock meanwhile.
    if let signedOut { anchor(signedOut) }
    return record
  }

  /// - Returns: the record, and as what it was saved if that took its tokens away.
  private func changed(
    _ account: AccountName, _ change: (inout AccountRecord) throws(EnrollError) -> Void
  ) throws(EnrollError) -> (record: AccountRecord, signedOut: Milestone?) {
    let held = try writing.take()
    defer { held.release() }
    let before = try lookOrSetAside()
    var record: AccountRecord
    if let before { record = try known.record(of: before) } else { record = try .blank(file.random) }
    let old = record
    try change(&record)
    guard record != old else { return (record, nil) }

    var document = AccountDocument(account: account, lineage: before?.lineage ?? "", record: record)
    if before == nil { document.lineage = Base64URL.encode(try file.random.bytes(16)) }
    if case .underPIN(let envelope, _, _) = before?.content { try shut(&document, record, envelope) }
    let saved = try save(document, record, changesTokens: record.tokenEpoch != old.tokenEpoch)
    gate.noteChange()
    return (record, old.hasTokens && !record.hasTokens ? saved : nil)
  }

  /// Called with the write lock held.
  private func shut(
    _ document: inout AccountDocument, _ record: AccountRecord, _ envelope: PINEnvelope
  ) throws(EnrollError) {
    guard let key = known.pinKey else { throw RecordCache.isShut }
    document.content = .underPIN(
      envelope,
      sealed: try PINSeal.seal(record, key: key, lineage: document.lineage, random: file.random),
      form: form.newest)
  }

  /// Called with the write lock held.
  @discardableResult
  private func save(
    _ document: AccountDocument, _ record: AccountRecord?, changesTokens: Bool
  ) throws(EnrollError) -> Milestone {
    let plaintext = document.encoded(as: form)
    // Bytes that could not be read again must not replace a readable file.
    guard try AccountDocument(decoding: plaintext, as: form) == document else {
      throw EnrollError(.internal, "the record would not read back as it was written")
    }
    do {
      // The reserve is for tokens that came or have to go, never for anything that can wait.
      let saved = try file.save(
        plaintext, after: known.generation, reserve: changesTokens ? reserved.withLock { $0 } : nil)
      known.keep(document, record, saved)
      return Milestone(lineage: document.lineage, generation: saved.generation)
    } catch {
      // Whether the old or the new one is there now, the disk knows.
      known.forget()
      throw error
    }
  }

  /// Seals the file again with the current key. A file that cannot be opened is left as it is.
  func reseal() throws(EnrollError) {
    let held = try writing.take()
    defer { held.release() }
    do throws(EnrollError) {
      guard let content = try file.read() else { return }
      let (plaintext, generation) = try file.open(content)
      _ = try file.save(plaintext, after: generation)
      known.forget()
    } catch {
      guard error.code == .storeCorrupt || error.code == .storeKey else { throw error }
    }
  }

  func remove() throws(EnrollError) {
    let last = try removed()
    if var last {
      last.generation &+= 1
      anchor(last)
    }
  }

  /// - Returns: as what it was saved last; nil where that cannot be told.
  private func removed() throws(EnrollError) -> Milestone? {
    let held = try writing.take()
    defer { held.release() }
    let document = try? known.look(fresh: true)
    let last = document.map { Milestone(lineage: $0.lineage, generation: known.generation) }
    try erase()
    return last
  }

  /// Called with the write lock held.
  private func erase() throws(EnrollError) {
    known.pinKey = nil
    known.forget()
    reserved.withLock { $0 = nil }
    for name in [names.record, names.temporary, names.reserve] { try file.folder.discard(name) }
    try file.folder.sync()
    gate.noteChange()
  }

  func reserveSpace() throws(EnrollError) {
    let held = try writing.take()
    defer { held.release() }
    let space = try file.folder.reserve(names.reserve, try room())
    reserved.withLock { $0 = space }
    held.keepFileOpen()
  }

  /// A record grows by a token response; whatever it grows by, a record has a limit.
  private func room() throws(EnrollError) -> Int64 {
    min((try file.folder.status(names.record)?.size ?? 0) + (64 << 10), Int64(SealedFormat.fileLimit))
  }

  /// Nothing is kept: another process's renewal may have reserved its own.
  func requireSpace() throws(EnrollError) {
    let held = try writing.take()
    defer { held.release() }
    _ = try file.folder.reserve(names.temporary, try room())
    try file.folder.discard(names.temporary)
  }

  /// Frees the space that was reserved for a turn that is over.
  private func endReserve() {
    reserved.withLock { $0 = nil }
    writing.closeBetweenTakings()
    try? file.folder.discard(names.reserve)
  }

  /// Removes what a process that died left behind.
  func tidy() { file.folder.tidy([names.temporary, names.reserve]) }

  // MARK: PIN

  /// nil without a PIN.
  func isUnlocked() throws(EnrollError) -> Bool? {
    guard case .underPIN = try document(fresh: true)?.content else { return nil }
    return known.pinKey != nil
  }

  func setPIN(_ pin: Secret) throws(EnrollError) {
    let held = try writing.take()
    defer { held.release() }
    guard var document = try lookOrSetAside() else {
      throw EnrollError(.illegalState, "there is nothing yet for a PIN to protect", field: "pin")
    }
    guard case .open(let record) = document.content else {
      throw EnrollError(.illegalState, "the account has a PIN already: change it", field: "pin")
    }
    let key = try PINSeal.makeKey(file.random)
    let envelope = try PINSeal.wrap(key, under: pin, lineage: document.lineage, random: file.random)
    known.pinKey = key
    do {
      try shut(&document, record, envelope)
      anchor(try save(document, record, changesTokens: false))
    } catch {
      known.pinKey = nil
      throw error
    }
    gate.noteChange()
  }

  func usePIN(_ pin: Secret, to change: PINChange) throws(EnrollError) -> PINAnswer {
    let held = try writing.take()
    defer { held.release() }
    guard var document = try lookOrSetAside(),
      case .underPIN(var envelope, let sealed, let version) = document.content
    else { throw EnrollError(.illegalState, "the account has no PIN", field: "pin") }
    let moment = clock.moment()
    let wait = envelope.secondsToWait(at: moment)
    guard wait == 0 else {
      return PINAnswer(.tooSoon, triesLeft: envelope.triesLeft, retryAfterSeconds: wait)
    }

    // Counted first, and on disk: killing the process gains nobody a try.
    envelope.count(at: moment)
    document.content = .underPIN(envelope, sealed: sealed, form: version)
    anchor(try save(document, nil, changesTokens: false))
    guard let key = try PINSeal.unwrap(envelope, with: pin, lineage: document.lineage) else {
      if envelope.triesLeft > 0 {
        return PINAnswer(
          .wrong, triesLeft: envelope.triesLeft,
          retryAfterSeconds: PINPolicy.pauseSeconds(afterTries: envelope.tries))
      }
      try erase()
      return PINAnswer(.erased, triesLeft: 0)
    }

    guard let record = try known.unsealed(document, with: key) else {
      throw EnrollError(
        .storeCorrupt, "the PIN is right, but the account that it seals does not open", field: "pin")
    }
    known.pinKey = key
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
    if change == .remove { known.pinKey = nil }
    gate.noteChange()
    return PINAnswer(.unlocked, triesLeft: PINPolicy.tries)
  }

  // MARK: Renewal

  func renewalTurn(
    epoch: UInt64, deadline: Instant, cancellation: (any Cancellation)?,
    _ body: () throws(EnrollError) -> Void
  ) throws(EnrollError) -> RenewalTurn {
    try gate.turn(epoch: epoch, deadline: deadline, cancellation: cancellation, clock: clock, ground: self) {
      () throws(EnrollError) in
      // The reserve was for what the turn brings, unless that still waits for the disk.
      defer { if !gate.isKept { endReserve() } }
      try body()
    }
  }

  /// See `TokenStore.keepTurn`.
  func keepTurn(_ isKept: Bool) {
    if gate.keep(isKept) { endReserve() }
  }

  /// Whether it must not be forgotten.
  var isInUse: Bool { users.load(ordering: .acquiring) > 0 || gate.isKept }

  func openTurnLock() throws(EnrollError) -> FileLock? {
    try FileLock(names.renewLock, in: file.folder)
  }
}
