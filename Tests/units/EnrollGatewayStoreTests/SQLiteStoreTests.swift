// Tests of failures of a SQLite store's file. Each failure has a different error.

import EnrollRules
import EnrollGateway
import Expectations
import Foundation
import Testing

@testable import EnrollGatewayStore

@Suite("The SQLite store")
struct SQLiteStoreTests {
  private func newPath() throws -> String {
    try Scratch.folder().appendingPathComponent("accounts.db").path
  }

  private func mode(_ path: String) throws -> Int {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  @Test("only the owner can read the file and its log")
  func ownFile() throws {
    let path = try newPath()
    let store = try SQLiteStore(path: path)
    _ = try store.migrate()
    for suffix in ["", "-wal", "-shm"] { try expect(mode(path + suffix), is: 0o600, "\(suffix)") }
  }

  @Test("a file that others can read is refused, and the sentence says what to do")
  func sharedFile() throws {
    let path = try newPath()
    try SQLiteStore(path: path).close()
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    #expect {
      try SQLiteStore(path: path)
    } throws: {
      isFault($0) && ($0 as? StoreFailure)?.message.contains("chmod 600 \(path)") == true
    }
  }

  @Test("changes are durable when a call returns, and references hold")
  func pragmas() throws {
    let store = try SQLiteStore(path: newPath())
    try expect(store.number("PRAGMA synchronous"), is: 2)
    try expect(store.number("PRAGMA foreign_keys"), is: 1)
    try expect(store.number("SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'"), is: 1)
  }

  @Test("what was written is there for the next program")
  func reopened() throws {
    let path = try newPath()
    let first = try SQLiteStore(path: path)
    _ = try first.migrate()
    let session = Sample.session()
    try first.begin(session, for: Sample.person())
    let second = try SQLiteStore(path: path)
    try expect(second.session(tokenHash: session.tokenHash, at: Sample.now), isNot: nil)
    first.close()
    second.close()
    let third = try SQLiteStore(path: path)
    try expect(third.session(tokenHash: session.tokenHash, at: Sample.now), isNot: nil)
  }

  @Test("a file that is no database is told, and stays as it was")
  func noDatabase() throws {
    let path = try newPath()
    let text = Data(String(repeating: "This is a letter. ", count: 1_000).utf8)
    #expect(
      FileManager.default.createFile(atPath: path, contents: text, attributes: [.posixPermissions: 0o600]))
    #expect {
      try SQLiteStore(path: path)
    } throws: {
      isFault($0) && ($0 as? StoreFailure)?.message.hasPrefix("\(path) is no SQLite database") == true
    }
    expect(FileManager.default.contents(atPath: path), is: text)
  }

  @Test(
    "a database of another program is told, and stays as it is",
    arguments: ["notes (text text)", "accounts (name text)", "schema_versions (name text)"])
  func foreign(table: String) throws {
    let path = try newPath()
    try SQLiteFile.prepare(path)
    let other = try SQLiteConnection.open(path, forWriting: true, busyMilliseconds: 20)
    try other.execute("CREATE TABLE \(table)")
    try expect(other.first("PRAGMA journal_mode = DELETE") { $0.text(0) }, is: "delete")
    other.close()
    let before = try Data(contentsOf: URL(filePath: path))
    #expect { try SQLiteStore(path: path) } throws: { error in
      let message = (error as? StoreFailure)?.message ?? ""
      return isFault(error) && message.contains("another program") && !message.contains("migrate")
    }
    try expect(Data(contentsOf: URL(filePath: path)), is: before)
  }

  @Test("a damaged database is told")
  func damaged() throws {
    let path = try newPath()
    let store = try SQLiteStore(path: path)
    _ = try store.migrate()
    try store.begin(Sample.session(), for: Sample.person())
    store.close()
    let file = try #require(FileHandle(forUpdatingAtPath: path))
    let size = try file.seekToEnd()
    try file.seek(toOffset: 4_096)
    try file.write(contentsOf: Data(repeating: 0xff, count: Int(size) - 4_096))
    try file.close()
    #expect {
      // Whether opening finds the damage depends on the contents of the first page.
      try SQLiteStore(path: path).begin(Sample.session(), for: Sample.person())
    } throws: {
      isFault($0) && ($0 as? StoreFailure)?.message.contains("damaged") == true
    }
  }

  @Test(
    "a file that is removed or replaced meanwhile is noticed: nobody signs in to it until the next start")
  func replaced() throws {
    let path = try newPath()
    let store = try SQLiteStore(path: path, readers: 1)
    _ = try store.migrate()
    let session = Sample.session()
    try store.begin(session, for: Sample.person())
    func expectUnavailable() {
      let isTold = { (error: any Error) in
        isUnavailable(error) && "\(error)".contains("removed or replaced")
      }
      #expect { try store.check() } throws: { isTold($0) }
      #expect { try store.begin(Sample.session(), for: Sample.person()) } throws: { isTold($0) }
      #expect { try store.session(tokenHash: session.tokenHash, at: Sample.now) } throws: { isTold($0) }
    }
    try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
    expectUnavailable()
    let other = try SQLiteStore(path: path)
    _ = try other.migrate()
    expectUnavailable()
    try expect(other.count("accounts"), is: 0)
    other.close()
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: path + ".old", toPath: path)
    // The write-ahead log next to the file may belong to another database now.
    expectUnavailable()
    store.close()
    try SQLiteStore(path: path).close()
  }

  @Test(
    "a write-ahead log or its index that goes is noticed, also behind a link", arguments: ["-wal", "-shm"])
  func logReplaced(suffix: String) throws {
    let path = try newPath()
    let link = path + ".link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    #expect(
      FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]))
    let store = try SQLiteStore(path: link)
    _ = try store.migrate()
    let session = Sample.session()
    try store.begin(session, for: Sample.person())
    try FileManager.default.moveItem(atPath: path + suffix, toPath: path + ".away")
    for _ in 0..<2 {
      #expect {
        try store.check()
      } throws: {
        isUnavailable($0) && "\($0)".contains("\(path)\(suffix) was removed or replaced")
      }
    }
    // The database file must have every write once the store is closed.
    store.close()
    let next = try SQLiteStore(path: path)
    defer { next.close() }
    try expect(next.session(tokenHash: session.tokenHash, at: Sample.now), isNot: nil)
  }

  @Test("programs that come and go beside it, and its own end, are no alarm")
  func noAlarm() throws {
    let path = try newPath()
    let store = try SQLiteStore(path: path)
    _ = try store.migrate()
    for _ in 0..<3 {
      let other = try SQLiteStore(path: path)
      try other.begin(Sample.session(), for: Sample.person())
      other.close()
      try store.check()
    }
    store.close()
    #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    #expect { try store.check() } throws: { "\($0)".contains("The store is closed") }
  }

  @Test("a store that another program has locked to write starts, and is checked, all the same")
  func busyStart() throws {
    let path = try newPath()
    let store = try SQLiteStore(path: path, busyMilliseconds: 20)
    _ = try store.migrate()
    let other = try SQLiteConnection.open(path, forWriting: true, busyMilliseconds: 20)
    defer { other.close() }
    try other.execute("BEGIN IMMEDIATE")
    try expect(store.migrate(), is: [])
    try store.check()
  }

  @Test("paths that name no file are refused")
  func noFile() throws {
    for path in ["", ":memory:", "a\0b"] { #expect { try SQLiteStore(path: path) } throws: { isFault($0) } }
    let folder = try Scratch.folder().path
    #expect { try SQLiteStore(path: folder) } throws: { isFault($0) }
    #expect { try SQLiteStore(path: folder + "/none/accounts.db") } throws: { isUnavailable($0) }
  }

  @Test("a file that another program holds is unavailable, and nothing happened")
  func locked() throws {
    let path = try newPath()
    let store = try SQLiteStore(path: path, busyMilliseconds: 20)
    _ = try store.migrate()
    let session = Sample.session()
    try store.begin(session, for: Sample.person())
    let other = try SQLiteConnection.open(path, forWriting: true, busyMilliseconds: 20)
    try other.execute("BEGIN IMMEDIATE")
    #expect {
      try store.begin(Sample.session(), for: Sample.person())
    } throws: {
      isUnavailable($0) && ($0 as? StoreFailure)?.message.contains("locked by another program") == true
    }
    // Sessions must still be readable. A session whose use cannot be recorded must continue.
    try expect(store.session(tokenHash: session.tokenHash, at: Sample.now + 100)?.lastSeen, is: Sample.now)
    try other.execute("ROLLBACK")
    #expect(try store.begin(Sample.session(), for: Sample.person()).isNew)
    try expect(store.count("accounts"), is: 2)
    try expect(
      store.session(tokenHash: session.tokenHash, at: Sample.now + 100)?.lastSeen, is: Sample.now + 100)
    other.close()
  }

  @Test("a full disk is told, nothing of the sign-in happened, and the store recovers")
  func full() throws {
    let store = try SQLiteStore(path: newPath())
    _ = try store.migrate()
    // SQLite returns the same error as for a full disk.
    _ = try store.number("PRAGMA max_page_count = 1")
    var failure: (any Error)?
    var accounts: Int64 = 0
    while failure == nil, accounts < 1_000 {
      do { try store.begin(Sample.session(), for: Sample.person()) } catch { failure = error }
      accounts += 1
    }
    expect(failure.map(isFull), is: true)
    expect((failure as? StoreFailure)?.message.contains("is full"), is: true)
    try expect(store.count("accounts"), is: accounts - 1)
    try expect(store.count("sessions"), is: accounts - 1)
    try expect(store.orphans, is: 0)
    _ = try store.number("PRAGMA max_page_count = 100000")
    #expect(try store.begin(Sample.session(), for: Sample.person()).isNew)
  }

  @Test("a database that cannot be written is told, and is read all the same")
  func readOnly() throws {
    let store = try SQLiteStore(path: newPath())
    _ = try store.migrate()
    let session = Sample.session()
    try store.begin(session, for: Sample.person())
    _ = try store.number("PRAGMA query_only = ON")
    #expect { try store.begin(Sample.session(), for: Sample.person()) } throws: {
      isFull($0) && ($0 as? StoreFailure)?.message.contains("cannot be written") == true
    }
    try expect(store.session(tokenHash: session.tokenHash, at: Sample.now), isNot: nil)
  }

  @Test(
    "each failure of SQLite has its kind",
    arguments: [
      (SQLiteCode.busy, 0, "unavailable"), (.full, 0, "full"), (.readOnly, 0, "full"),
      (.ioError, ENOSPC, "full"), (.ioError, EIO, "unavailable"), (.cannotOpen, EROFS, "full"),
      (.cannotOpen, ENOENT, "unavailable"), (.corrupt, 0, "fault"), (.noDatabase, 0, "fault"),
      (.constraint, 0, "fault"),
    ])
  func kinds(code: SQLiteCode, systemError: Int32, kind: String) {
    let failure = SQLiteFault.failure(
      code.rawValue, "words", systemError: systemError, path: "/accounts.db")
    #expect("\(failure)".hasPrefix("\(kind)("), "\(failure)")
    #expect(failure.message.contains("/accounts.db"))
    #expect(failure.message.contains("The store expected"))
  }

  @Test("a disk that fails while a change becomes durable leaves a doubt")
  func doubt() {
    let failure = SQLiteFault.failure(
      SQLiteCode.ioError.rawValue, "words", systemError: EIO, path: "/accounts.db", isCommitting: true)
    #expect(isUnknownOutcome(failure))
  }

  /// Result codes and extended result codes (sqlite.org/rescode.html).
  enum SQLiteCode: Int32, Sendable {
    case busy = 5
    case readOnly = 1_032
    case ioError = 778
    case corrupt = 11
    case full = 13
    case cannotOpen = 14
    case constraint = 1_555
    case noDatabase = 26
  }
}
