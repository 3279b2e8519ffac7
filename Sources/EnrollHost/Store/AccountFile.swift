// One account as this process knows it: its sealed file, what was last read of it, and its two locks (reliability.md, Memory and
// truth). A record is served from memory for a second; then one look at the file's status tells whether another process
// changed it.

import EnrollCore
import EnrollCrypto
import EnrollJSON
import Synchronization

final class AccountFile: RenewalGround, @unchecked Sendable {
  // Unchecked: `known`, `isAnchored` and `pinKey` are only touched with `reading` held.

  /// What is known of the file.
  private struct Known {
    /// nil: there is no record.
    var document: AccountDocument?
    /// The document's, once it was opened; nil too while a PIN keeps it shut.
    var record: AccountRecord?
    var generation: UInt64 = 0
    var header: [UInt8] = []
    var status: FileStatus?
    /// The file was so old when it was read that every later change shows in its status.
    var isSettled = true
    var checked: Instant
  }

  /// One save of the record.
  private struct Milestone {
    var lineage: String
    var generation: UInt64
  }

  /// How long a record is served from memory (reliability.md).
  private static let trusted: Int64 = 1_000_000_000
  /// Coarser than any filesystem's time stamps.
  private static let settlingNanoseconds: Int64 = 1_000_000_000

  private let names: AccountFileNames
  private let file: SealedFile
  private let clock: any Clock
  private let form: StoreForm<JSONObject>
  private let writing: StoreLock
  private let gate = RenewalGate()
  private let reading = Condition()
  private var known: Known?
  /// Whether the record that was there first is known not to be one that was put back.
  private var isAnchored = false
  /// The account's own key, since its PIN was given to this process.
  private var pinKey: Secret?
  /// Calls that use this object now.
  let users = Atomic<Int>(0)

  init(
    tag: [UInt8], folder: StoreFolder, ring: KeyRing, clock: any Clock, random: any RandomSource,
    forms: StoreForms
  ) {
    names = AccountFileNames(tag: tag)
    file = SealedFile(
      name: names.record, temporary: names.temporary, reserve: names.reserve, tag: tag, folder: folder,
      ring: ring, random: random, form: forms.sealed)
    self.clock = clock
    form = forms.account
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

  /// - Throws: `.storeLocked`, field `pin`, while its PIN was not given to this process.
  func record(fresh: Bool) throws(EnrollError) -> AccountRecord? {
    try document(fresh: fresh).map { document throws(EnrollError) in try record(of: document) }
  }

  func tokenEpoch(fresh: Bool) throws(EnrollError) -> UInt64? { try record(fresh: fresh)?.tokenEpoch }

  private func record(of document: AccountDocument) throws(EnrollError) -> AccountRecord {
    switch document.content {
    case .open(let record): return record
    case .underPIN:
      reading.lock()
      defer { reading.unlock() }
      guard let pinKey else { throw Self.isShut }
      if let known, let record = known.record, known.document == document { return record }
      guard let record = try unsealed(document, with: pinKey) else {
        // Another process took the PIN away and set a new one: this key is no more.
        self.pinKey = nil
        throw Self.isShut
      }
      if known?.document == document { known?.record = record }
      return record
    }
  }

  /// - Returns: nil when it was sealed with another key, or not at all.
  private func unsealed(
    _ document: AccountDocument, with key: Secret
  ) throws(EnrollError) -> AccountRecord? {
    guard case .underPIN(_, let sealed, let version) = document.content else { return nil }
    return try PINSeal.open(sealed, key: key, lineage: document.lineage).map { text throws(EnrollError) in
      try document.record(unsealed: text, version: version, as: form)
    }
  }

  private static var isShut: EnrollError {
    EnrollError(.storeLocked, "the account is shut by its PIN", field: "pin")
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
    let document = try AccountDocument(decoding: plaintext, as: form)
    if let known, let last = known.document, ASCII.equals(last.lineage, document.lineage),
      generation < known.generation
    {
      throw EnrollError(
        .storeRefused,
        "an older copy of the record was put back: it has generation \(generation), \(known.generation) was seen",
        field: "store")
    }
    try refuseRolledBack(document, generation)
    known = Known(
      document: document, generation: generation, header: content.header, status: content.status,
      isSettled: isSettled, checked: now)
    return document
  }

  /// The record that a process finds, held against what its key's provider knows. Later ones are held against that one.
  private func refuseRolledBack(_ document: AccountDocument, _ generation: UInt64) throws(EnrollError) {
    guard !isAnchored, document.guardsSomething else { return }
    if let kept = file.ring.anchor(for: file.tag)?.generationKept(for: document.lineage), generation < kept {
      throw EnrollError(
        .storeCorrupt,
        "the record was put back from a copy that is older than a sign-out or a try at the PIN:"
          + " it has generation \(generation), at least \(kept) was expected",
        field: "store")
    }
    isAnchored = true
  }

  /// From now on no copy of what was there before is of use.
  private func anchor(_ milestone: Milestone) {
    file.ring.anchor(for: file.tag)?.raise(to: milestone.generation, of: milestone.lineage)
  }

  private var lastGeneration: UInt64 {
    reading.lock()
    defer { reading.unlock() }
    return known?.generation ?? 0
  }

  private func forget() {
    reading.lock()
    known = nil
    isAnchored = false
    reading.unlock()
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
    if let before { record = try self.record(of: before) } else { record = try .blank(file.random) }
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
    reading.lock()
    let key = pinKey
    reading.unlock()
    guard let key else { throw Self.isShut }
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
    // What could not be read again must not replace what can.
    guard try AccountDocument(decoding: plaintext, as: form) == document else {
      throw EnrollError(.internal, "the record would not read back as it was written")
    }
    do {
      // The reserve is for tokens that came or have to go, never for anything that can wait.
      let saved = try file.save(plaintext, after: lastGeneration, usesReserve: changesTokens)
      reading.lock()
      known = Known(
        document: document, record: record, generation: saved.generation, header: saved.header,
        status: saved.status, isSettled: false, checked: clock.instant())
      reading.unlock()
      return Milestone(lineage: document.lineage, generation: saved.generation)
    } catch {
      // Whether the old or the new one is there now, the disk knows.
      forget()
      throw error
    }
  }

  /// Seals what is there with the key that seals now.
  /// - Returns: false for what cannot be opened, which is left as it is.
  func reseal() throws(EnrollError) -> Bool {
    let held = try writing.take()
    defer { held.release() }
    do throws(EnrollError) {
      guard let content = try file.read() else { return true }
      let (plaintext, generation) = try file.open(content)
      _ = try file.save(plaintext, after: generation)
      forget()
      return true
    } catch {
      guard error.code == .storeCorrupt || error.code == .storeKey else { throw error }
      return false
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
    let document = try? look(fresh: true)
    let last = document.map { Milestone(lineage: $0.lineage, generation: lastGeneration) }
    try erase()
    return last
  }

  /// Called with the write lock held.
  private func erase() throws(EnrollError) {
    open(with: nil)
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

  // MARK: PIN

  /// nil without a PIN.
  func isUnlocked() throws(EnrollError) -> Bool? {
    guard case .underPIN = try document(fresh: true)?.content else { return nil }
    reading.lock()
    defer { reading.unlock() }
    return pinKey != nil
  }

  func setPIN(_ pin: Secret) throws(EnrollError) {
    let held = try writing.take()
    defer { held.release() }
    guard var document = try lookOrSetAside() else {
      throw EnrollError(.illegalState, "there is nothing yet that a PIN could guard", field: "pin")
    }
    guard case .open(let record) = document.content else {
      throw EnrollError(.illegalState, "the account has a PIN already: it can be changed", field: "pin")
    }
    let key = try PINSeal.makeKey(file.random)
    let envelope = try PINSeal.wrap(key, under: pin, lineage: document.lineage, random: file.random)
    open(with: key)
    do {
      try shut(&document, record, envelope)
      anchor(try save(document, record, changesTokens: false))
    } catch {
      open(with: nil)
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

    guard let record = try unsealed(document, with: key) else {
      throw EnrollError(.storeCorrupt, "the PIN is right, and what it seals does not open", field: "pin")
    }
    open(with: key)
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
    if change == .remove { open(with: nil) }
    gate.noteChange()
    return PINAnswer(.unlocked, triesLeft: PINPolicy.tries)
  }

  private func open(with key: Secret?) {
    reading.lock()
    pinKey = key
    reading.unlock()
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
  func isSame(as other: FileStatus?) -> Bool {
    guard let self, let other else { return self == nil && other == nil }
    return self.inode == other.inode && self.device == other.device && self.size == other.size
      && self.modified == other.modified
  }
}
