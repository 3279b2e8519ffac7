// The databases of the conformance suite, and sample values for its tests.

import EnrollRules
import EnrollSteps
import EnrollGateway
import EnrollPosix
import Foundation
import Testing

@testable import EnrollGatewayStore

/// A store whose rows a test can count.
protocol CountedStore: AccountStore {
  func number(_ query: String) throws(StoreFailure) -> Int64
}
extension SQLiteStore: CountedStore {}
extension PostgreSQLStore: CountedStore {}

enum Database: String, CaseIterable, CustomTestStringConvertible {
  case sqlite = "SQLite"
  case postgresql = "PostgreSQL"

  static let installed: [Database] = PostgreSQLServer.isInstalled ? [.sqlite, .postgresql] : [.sqlite]

  var testDescription: String { rawValue }

  /// An empty database, which several stores can open.
  func place() throws -> Place {
    switch self {
    case .sqlite: return .file(try Scratch.folder().appendingPathComponent("accounts.db").path)
    case .postgresql:
      let base = try PostgreSQLServer.shared.get().conninfo
      let name = "test\(Sample.next())"
      let maker = try PostgreSQLStore(base, connections: 1)
      defer { maker.close() }
      _ = try maker.number("CREATE SCHEMA \(name)")
      return .schema("\(base) options='-c search_path=\(name)'")
    }
  }

  /// A store with this program's schema.
  func store() throws -> any CountedStore {
    let store = try place().open()
    _ = try store.migrate()
    return store
  }

  enum Place {
    case file(String)
    case schema(String)

    func open() throws -> any CountedStore {
      switch self {
      case .file(let path): try SQLiteStore(path: path, busyMilliseconds: 20_000)
      case .schema(let conninfo):
        try PostgreSQLStore(conninfo, statementMilliseconds: 20_000, waitMilliseconds: 20_000)
      }
    }
  }
}

enum Scratch {
  private static let base: URL = {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("enroll-stores-\(getpid())")
    atexit { try? FileManager.default.removeItem(at: Scratch.base) }
    return folder
  }()

  static func folder() throws -> URL {
    let folder = base.appendingPathComponent("\(Sample.next())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }
}

/// Sample values that differ in each call.
enum Sample {
  private static let counter = Guarded(0, by: Mutex())
  static let now = UnixTime(seconds: 1_800_000_000)
  static let day: Int64 = 86_400
  static let origin = AuditOrigin(address: "192.0.2.7", request: "0123456789abc")

  static func next() -> Int {
    counter.withLock {
      $0 += 1
      return $0
    }
  }

  /// A UUID of version 7.
  static func id<Kind>() -> RecordID<Kind> {
    let number = withUnsafeBytes(of: next().bigEndian) { $0.suffix(6) }
    return RecordID(bytes: [0x01, 0x90, 0x16, 0x3D, 0x86, 0x94, 0x73, 0x9B, 0x8E, 0x42] + number)
  }

  static func hash() -> [UInt8] {
    withUnsafeBytes(of: next().bigEndian) { [UInt8](repeating: 7, count: 24) + $0 }
  }

  static func person(_ subject: String = "subject \(next())", at provider: String = "google") -> Identity {
    Identity(
      provider: provider, subject: subject, email: "a@example.com", isEmailVerified: true, name: "Alice")
  }

  static func session(
    app: String? = nil, device: String? = "Firefox", idle: Int64 = day, absolute: Int64 = 10 * day
  )
    -> NewSession
  {
    NewSession(
      tokenHash: hash(), id: id(), app: app, device: device, idleSeconds: idle, absoluteSeconds: absolute)
  }

  static func code(provider: String = "google", app: String = "notes", lasting seconds: Int64 = 60)
    -> NewAppCode
  {
    NewAppCode(
      codeHash: hash(), app: app, provider: provider, challenge: "challenge", expires: now + seconds)
  }
}

extension RecordID {
  /// Another one each time.
  static var sample: Self { Sample.id() }
}

/// Calls with defaults for arguments that most tests do not need: the time and the address.
extension AccountStore {
  func signIn(
    _ identity: Identity, newAccountID: AccountID, creating credential: NewCredential, at now: UnixTime
  ) throws(StoreFailure) -> SignedIn {
    try signIn(
      identity, newAccountID: newAccountID, creating: credential, at: now, from: Sample.origin)
  }

  func redeem(
    codeHash: [UInt8], provider: String, challenge: String, session: NewSession, at now: UnixTime
  ) throws(StoreFailure) -> Redemption {
    try redeem(
      codeHash: codeHash, provider: provider, challenge: challenge, session: session, at: now,
      from: Sample.origin)
  }

  func endSession(tokenHash: [UInt8]) throws(StoreFailure) {
    try endSession(tokenHash: tokenHash, at: Sample.now, from: Sample.origin)
  }

  func endSession(id: SessionID, ofAccount account: AccountID) throws(StoreFailure) -> Bool {
    try endSession(id: id, ofAccount: account, at: Sample.now, from: Sample.origin)
  }

  func endSessions(ofAccount account: AccountID, exceptTokenHash: [UInt8]?) throws(StoreFailure) -> Int {
    try endSessions(
      ofAccount: account, exceptTokenHash: exceptTokenHash, at: Sample.now, from: Sample.origin)
  }
}

extension AccountStore {
  /// Begins a session for an identity.
  /// - Returns: the account whose sign-in began the session.
  @discardableResult
  func begin(
    _ session: NewSession, for person: Identity, at now: UnixTime = Sample.now
  ) throws(StoreFailure) -> SignedIn {
    try signIn(person, newAccountID: Sample.id(), creating: .session(session), at: now)
  }
}

extension CountedStore {
  var orphans: Int64 {
    get throws {
      try number("SELECT count(*) FROM accounts WHERE id NOT IN (SELECT account FROM identities)")
    }
  }
  func count(_ table: String) throws -> Int64 { try number("SELECT count(*) FROM \(table)") }
}

/// Runs a body on this many threads at once, each with its number, and waits for all.
/// - Returns: the results, in no particular order.
func onThreads<Result: Sendable>(
  _ count: Int, _ body: @escaping @Sendable (Int) throws -> Result
) throws -> [Result] {
  let ended = Condition()
  let results = Guarded<[Swift.Result<Result, any Error>]>([], by: Mutex())
  let running = Guarded(count, by: Mutex())
  for number in 0..<count {
    let isStarted = BackgroundThread.start {
      let result = Swift.Result { try body(number) }
      results.withLock { $0.append(result) }
      ended.lock()
      running.withLock { $0 -= 1 }
      ended.wakeAll()
      ended.unlock()
    }
    try #require(isStarted)
  }
  ended.lock()
  while running.withLock({ $0 }) > 0 { ended.wait() }
  ended.unlock()
  return try results.withLock { $0 }.map { try $0.get() }
}
