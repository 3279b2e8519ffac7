// This process's copy of one account: the last content of its sealed file, and the key derived from its PIN (store.md,
// Memory and the disk). The file's status shows whether another process has changed it; threads that wait for a renewal
// check it once a second. Takes no lock on the file, and changes nothing there.

import EnrollCore
import EnrollCrypto
import EnrollJSON
import EnrollPosix

/// One account's record as it was last seen.
final class RecordCache: @unchecked Sendable {
  // Unchecked: `known`, `isAnchored` and `key` are only touched with `reading` held.

  /// The known state of the file.
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

  /// How long a record is served from memory to threads that wait for a renewal (store.md, Memory and the disk).
  private static let trusted: Int64 = 1_000_000_000
  /// Coarser than any filesystem's time stamps.
  private static let settlingNanoseconds: Int64 = 1_000_000_000

  private let file: SealedFile
  private let clock: any Clock
  private let form: StoreForm<JSONObject>
  private let reading = Condition()
  private var known: Known?
  /// Whether the record that was there first is known not to be one that was put back.
  private var isAnchored = false
  private var key: Secret?

  init(_ file: SealedFile, clock: any Clock, form: StoreForm<JSONObject>) {
    self.file = file
    self.clock = clock
    self.form = form
  }

  /// The account's own key, since its PIN was given to this process.
  var pinKey: Secret? {
    get { locked { key } }
    set { locked { key = newValue } }
  }

  /// Of what was read or saved last; 0 without a record.
  var generation: UInt64 { locked { known?.generation ?? 0 } }

  /// The content of the file, at most a second old.
  /// - Parameter fresh: look at the disk now.
  func look(fresh: Bool) throws(EnrollError) -> AccountDocument? {
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
    let found: SealedFile.Content?
    do throws(EnrollError) {
      found = try file.read()
    } catch {
      // A process without descriptors, or a disk in trouble: what was read last still is what is there.
      guard error.code == .storeIO, let known, let document = known.document,
        try file.folder.status(file.name).isSame(as: known.status)
      else { throw error }
      return document
    }
    guard let content = found else {
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
    // The process that wrote the file may not have synced the folder yet. Tokens that are handed out must survive a crash
    // (flows.md §8).
    if !isSettled { try? file.folder.sync() }
    let (plaintext, generation) = try file.open(content)
    let document = try AccountDocument(decoding: plaintext, as: form)
    if let known, let last = known.document, ASCII.equals(last.lineage, document.lineage),
      generation < known.generation
    {
      throw EnrollError(
        .storeRefused,
        "the record was replaced by an older copy: it has generation \(generation), \(known.generation) was seen",
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
        "the record was replaced by a copy from before a sign-out or a PIN attempt:"
          + " expected generation \(kept) or later, got \(generation)",
        field: "store")
    }
    isAnchored = true
  }

  /// - Throws: `.storeLocked`, field `pin`, while its PIN was not given to this process.
  func record(of document: AccountDocument) throws(EnrollError) -> AccountRecord {
    switch document.content {
    case .open(let record): return record
    case .underPIN:
      reading.lock()
      defer { reading.unlock() }
      guard let key else { throw Self.isShut }
      if let known, let record = known.record, known.document == document { return record }
      guard let record = try unsealed(document, with: key) else {
        // Another process took the PIN away and set a new one: this key is no more.
        self.key = nil
        throw Self.isShut
      }
      if known?.document == document { known?.record = record }
      return record
    }
  }

  /// - Returns: nil when it was sealed with another key, or not at all.
  func unsealed(
    _ document: AccountDocument, with key: Secret
  ) throws(EnrollError) -> AccountRecord? {
    guard case .underPIN(_, let sealed, let version) = document.content else { return nil }
    return try PINSeal.open(sealed, key: key, lineage: document.lineage).map { text throws(EnrollError) in
      try document.record(unsealed: text, version: version, as: form)
    }
  }

  static var isShut: EnrollError {
    EnrollError(.storeLocked, "the account is locked by its PIN", field: "pin")
  }

  /// Keeps the content that this process saved.
  func keep(
    _ document: AccountDocument, _ record: AccountRecord?,
    _ saved: (generation: UInt64, header: [UInt8], status: FileStatus)
  ) {
    locked {
      known = Known(
        document: document, record: record, generation: saved.generation, header: saved.header,
        status: saved.status, isSettled: false, checked: clock.instant())
    }
  }

  /// The next look reads the file.
  func forget() {
    locked {
      known = nil
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
  /// Whether two looks at a name found the same content, as far as a status can tell.
  func isSame(as other: FileStatus?) -> Bool {
    guard let self, let other else { return self == nil && other == nil }
    return self.inode == other.inode && self.device == other.device && self.size == other.size
      && self.modified == other.modified
  }
}
