// This process's copy of one account: the last content of its sealed file, and the account's key if its PIN was given
// (store.md, Memory and the disk). The file's status shows whether another process has changed the file; threads that
// wait for a renewal check this status once a second. The cache takes no file lock, and does not change the file.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollPosix

/// One account's record as it was last seen.
final class RecordCache: @unchecked Sendable {
  // Unchecked: `entry`, `isAnchored` and `key` are only touched with `reading` held.

  /// The last known state of the file.
  private struct Entry {
    /// The record as read from its file; nil if there is no record.
    var document: AccountDocument?
    /// The decoded record of an account with a PIN; nil until it was decoded, while the PIN locks it, and for an
    /// account without a PIN.
    var record: AccountRecord?
    var generation: UInt64 = 0
    var header: [UInt8] = []
    var status: FileStatus?
    /// Whether the file was old enough when it was read, so that its status shows every later change.
    var isSettled = true
    var checked: Instant
  }

  /// How long a record is served from memory to threads that wait for a renewal (store.md, Memory and the disk).
  private static let trustedNanoseconds: Int64 = 1_000_000_000
  /// A file that was changed less than this time ago is read again, because its timestamps may be too coarse to show a
  /// second change.
  private static let settlingNanoseconds: Int64 = 1_000_000_000

  private let file: SealedFile
  private let clock: any Clock
  private let form: StoreForm<JSONObject>
  private let reading = Condition()
  private var entry: Entry?
  /// Whether the first record that this process read has been compared with the rollback anchor.
  private var isAnchored = false
  private var key: Secret?

  init(_ file: SealedFile, clock: any Clock, form: StoreForm<JSONObject>) {
    self.file = file
    self.clock = clock
    self.form = form
  }

  /// The account's own key; nil until the PIN was given to this process.
  var pinKey: Secret? {
    get { locked { key } }
    set { locked { key = newValue } }
  }

  /// The generation that was read or saved last; 0 without a record.
  var generation: UInt64 { locked { entry?.generation ?? 0 } }

  /// The content of the file, at most a second old.
  /// - Parameter fresh: whether the disk is read in any case, even if the content in memory is less than a second old.
  func read(fresh: Bool) throws(EnrollError) -> AccountDocument? {
    reading.lock()
    defer { reading.unlock() }
    let now = clock.instant()
    if let entry, !fresh, (0..<Self.trustedNanoseconds).contains(now.since(entry.checked)) {
      return entry.document
    }
    if let entry, entry.isSettled, try file.folder.status(file.name).isSame(as: entry.status) {
      self.entry?.checked = now
      return entry.document
    }
    return try reread(now)
  }

  private func reread(_ now: Instant) throws(EnrollError) -> AccountDocument? {
    let realTime = SystemClock.realTime()
    let found: SealedFile.Content?
    do throws(EnrollError) {
      found = try file.read()
    } catch {
      // The file cannot be read, because the process has no free descriptors, or the disk fails. But its status has
      // not changed, so the last content is still current.
      guard error.code == .storeIO, let entry, let document = entry.document,
        try file.folder.status(file.name).isSame(as: entry.status)
      else { throw error }
      return document
    }
    guard let content = found else {
      entry = Entry(checked: now)
      return nil
    }
    let age = realTime.subtractingReportingOverflow(content.status.modified)
    let isSettled = age.overflow || age.partialValue.magnitude >= Self.settlingNanoseconds.magnitude
    // The header is the same, so the content is the same and need not be decrypted.
    if let entry, let document = entry.document, entry.header == content.header {
      self.entry?.status = content.status
      self.entry?.isSettled = isSettled
      self.entry?.checked = now
      return document
    }
    // The process that wrote the file may not have synced the folder yet. Tokens that are returned must survive a crash
    // (flows.md §8).
    if !isSettled { try? file.folder.sync() }
    let (plaintext, generation) = try file.open(content)
    let document = try AccountDocument(decoding: plaintext, as: form)
    if let entry, let last = entry.document, ASCII.equals(last.lineage, document.lineage),
      generation < entry.generation
    {
      throw EnrollError(
        .storeRefused,
        "the record was replaced by an older copy: it has generation \(generation), \(entry.generation) was seen",
        field: "store")
    }
    try refuseRolledBack(document, generation)
    entry = Entry(
      document: document, generation: generation, header: content.header, status: content.status,
      isSettled: isSettled, checked: now)
    return document
  }

  /// Compares the first record that this process reads with the rollback anchor. Later records are compared with that
  /// first record.
  private func refuseRolledBack(_ document: AccountDocument, _ generation: UInt64) throws(EnrollError) {
    guard !isAnchored, document.guardsSomething else { return }
    if let kept = file.ring.anchor(for: file.tag)?.minimumGeneration(for: document.lineage), generation < kept
    {
      throw EnrollError(
        .storeCorrupt,
        "the record was replaced by a copy from before a sign-out or a PIN attempt:"
          + " expected generation \(kept) or later, got \(generation)",
        field: "store")
    }
    isAnchored = true
  }

  /// Decodes the record of an account.
  /// - Throws: `.storeLocked`, field `pin`, if the account has a PIN, and this process was not given the PIN.
  func record(of document: AccountDocument) throws(EnrollError) -> AccountRecord {
    switch document.content {
    case .open(let record): return record
    case .underPIN:
      reading.lock()
      defer { reading.unlock() }
      guard let key else { throw Self.lockedByPIN }
      if let entry, let record = entry.record, entry.document == document { return record }
      guard let record = try unsealed(document, with: key) else {
        // Another process removed the PIN and set a new one, so this key is out of date.
        self.key = nil
        throw Self.lockedByPIN
      }
      if entry?.document == document { entry?.record = record }
      return record
    }
  }

  /// Opens a record under a PIN.
  /// - Returns: nil if the record was sealed with another key, or is not under a PIN.
  func unsealed(
    _ document: AccountDocument, with key: Secret
  ) throws(EnrollError) -> AccountRecord? {
    guard case .underPIN(_, let sealed, let version) = document.content else { return nil }
    return try PINSeal.open(sealed, key: key, lineage: document.lineage).map { text throws(EnrollError) in
      try document.record(unsealed: text, version: version, as: form)
    }
  }

  static var lockedByPIN: EnrollError {
    EnrollError(.storeLocked, "the account is locked by its PIN", field: "pin")
  }

  /// Keeps the content that this process saved.
  func keep(
    _ document: AccountDocument, _ record: AccountRecord?,
    _ saved: (generation: UInt64, header: [UInt8], status: FileStatus)
  ) {
    locked {
      entry = Entry(
        document: document, record: record, generation: saved.generation, header: saved.header,
        status: saved.status, isSettled: false, checked: clock.instant())
    }
  }

  /// Forgets the content, so that the next ``read(fresh:)`` reads the file.
  func forget() {
    locked {
      entry = nil
      isAnchored = false
    }
  }

  private func locked<Value>(_ body: () -> Value) -> Value {
    reading.lock()
    defer { reading.unlock() }
    return body()
  }
}

extension FileStatus? {
  /// Whether two statuses of a name belong to the same content, as far as a status shows that.
  func isSame(as other: FileStatus?) -> Bool {
    guard let self, let other else { return self == nil && other == nil }
    return self.inode == other.inode && self.device == other.device && self.size == other.size
      && self.modified == other.modified
  }
}
