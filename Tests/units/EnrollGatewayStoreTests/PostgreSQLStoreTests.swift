// Failures of a PostgreSQL store's connections, and their effect on callers.

import EnrollRules
import EnrollSteps
import EnrollGateway
import EnrollPosix
import Expectations
import Foundation
import Testing

@testable import EnrollGatewayStore

@Suite("The PostgreSQL store", .enabled(if: PostgreSQLServer.isInstalled, PostgreSQLServer.absence))
struct PostgreSQLStoreTests {
  private func conninfo() throws -> String {
    guard case .schema(let conninfo) = try Database.postgresql.place() else { throw CancellationError() }
    return conninfo
  }

  /// A connection that belongs to no store, with which tests prepare data.
  private func connection(_ conninfo: String) throws -> PostgreSQLConnection {
    let functions = try PostgreSQLLibrary.functions()
    return try PostgreSQLConnection.open(
      functions, ConnectionString(conninfo, by: functions), statementMilliseconds: 20_000)
  }

  private func pool(of store: PostgreSQLStore) throws -> ConnectionPool<PostgreSQLConnection> {
    try #require(store.database as? PostgreSQLDatabase).pool
  }

  private func parameters(_ text: String) throws -> [String: String] {
    let string = try ConnectionString(text, by: PostgreSQLLibrary.functions())
    return Dictionary(string.parameters.map { ($0.keyword, $0.value) }) { $1 }
  }

  // MARK: The connection string

  @Test(
    "several hosts, writes, and a dead server noticed within five seconds, unless the string says otherwise"
  )
  func defaults() throws {
    let plain = try parameters("host=a,b user=gateway")
    expect(plain["host"], is: "a,b")
    expect(plain["target_session_attrs"], is: "read-write")
    expect(plain["tcp_user_timeout"], is: "4000")
    expect(plain["keepalives_idle"], is: "1")
    expect(plain["connect_timeout"], is: "3")
    let own = try parameters(
      "postgresql://gateway@a:5440,b:5441/db?target_session_attrs=any&connect_timeout=9&client_encoding=LATIN1"
    )
    expect(own["port"], is: "5440,5441")
    expect(own["target_session_attrs"], is: "any")
    expect(own["connect_timeout"], is: "9")
    expect(own["client_encoding"], is: "UTF8")
  }

  @Test(
    "no error has a part of the password",
    arguments: [
      "host=127.0.0.1 port=1 password=hunter22 user=gateway", "host=127.0.0.1 password hunter22",
      "host=127.0.0.1 password='hunter22", "postgresql://gateway:hunter22@127.0.0.1:1/db",
      "postgresql://gateway:one@hunter22@127.0.0.1:1/db",
      "postgresql://gateway:hunter22/two@127.0.0.1:1/db",
      "postgresql://gateway:12/hunter22@127.0.0.1:1/db", "postgresql://gateway:hunter22%zz@127.0.0.1:1/db",
      "host=127.0.0.1 port=1 password=x sslpassword=hunter22 hunter22=y", "host=127.0.0.1 port=hunter22",
    ])
  func password(conninfo: String) {
    do {
      try PostgreSQLStore(conninfo).check()
      Issue.record("it did not fail")
    } catch {
      #expect(!error.message.contains("hunter22"), "\(error.message)")
      #expect(error.message.contains("The store expect"))
    }
  }

  @Test("libpq's words are shown on one line, without the password")
  func redaction() throws {
    let string = try ConnectionString("host=a password=secret-1", by: PostgreSQLLibrary.functions())
    expect(string.redacted("no \"secret-1\" here\n\tsecret-1\n"), is: "no \"…\" here; \t…")
  }

  // MARK: Connecting

  @Test("a server that is not there is unavailable; the next host is tried")
  func hosts() throws {
    let nobody = try PostgreSQLServer.freePort()
    let store = try PostgreSQLStore("host=127.0.0.1 port=\(nobody) user=gateway dbname=postgres")
    #expect { try store.check() } throws: { isUnavailable($0) }
    #expect { try store.begin(Sample.session(), for: Sample.person()) } throws: { isUnavailable($0) }
    let port = try PostgreSQLServer.shared.get().port
    let both = try PostgreSQLStore(
      "host=127.0.0.1,127.0.0.1 port=\(nobody),\(port) user=gateway dbname=postgres")
    try expect(both.number("SELECT 1::bigint"), is: 1)
  }

  @Test("a server that takes no writes is not used")
  func readOnlyServer() throws {
    let base = try PostgreSQLServer.shared.get().conninfo
    let store = try PostgreSQLStore("\(base) options='-c default_transaction_read_only=on'")
    #expect { try store.check() } throws: { isUnavailable($0) && "\($0)".contains("read-only") }
  }

  @Test("a database without one of the tables is not used")
  func missingTable() throws {
    let place = try conninfo()
    let store = try PostgreSQLStore(place)
    _ = try store.migrate()
    try store.check()
    let admin = try connection(place)
    defer { admin.close() }
    try admin.execute("ALTER TABLE sessions RENAME TO sessions_of_another_day")
    #expect { try store.check() } throws: { "\($0)".contains("change 1 of the") }
  }

  @Test("a database of another encoding is refused")
  func encoding() throws {
    let base = try PostgreSQLServer.shared.get().conninfo
    let admin = try connection(base)
    defer { admin.close() }
    try admin.execute(
      "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    let store = try PostgreSQLStore(base.replacing("dbname=postgres", with: "dbname=latin"))
    #expect { try store.check() } throws: { isFault($0) && "\($0)".contains("LATIN1") }
  }

  @Test("a call waits for a free connection, but not for ever")
  func exhausted() throws {
    let store = try PostgreSQLStore(conninfo(), connections: 1, waitMilliseconds: 20)
    _ = try store.migrate()
    let pool = try pool(of: store)
    let taken = try pool.acquire()
    #expect { try store.count("accounts") } throws: { isUnavailable($0) && "\($0)".contains("in use") }
    // The check succeeds even if all connections are busy.
    try store.check()
    pool.release(taken)
    try expect(store.count("accounts"), is: 0)
  }

  // MARK: Losing connections

  @Test("when the server has ended every connection, no call notices")
  func ended() throws {
    let conninfo = try conninfo()
    let store = try PostgreSQLStore("\(conninfo) application_name=ended")
    _ = try store.migrate()
    let session = Sample.session()
    let person = Sample.person()
    let account = try store.begin(session, for: person).account.id
    let admin = try connection(conninfo)
    defer { admin.close() }
    func endAll() throws {
      // Several connections are broken: a call that retried on another idle connection would get a broken
      // connection again.
      let pool = try pool(of: store)
      let several = try (0..<4).map { _ in try pool.acquire() }
      for connection in several { pool.release(connection) }
      try expect(
        admin.number(
          "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE application_name = 'ended'"
        ), is: 4)
    }
    try endAll()
    try expect(store.session(tokenHash: session.tokenHash, at: Sample.now), isNot: nil)
    try endAll()
    #expect(try !store.begin(Sample.session(), for: person).isNew)
    try endAll()
    #expect(try store.endSession(id: session.id, ofAccount: account))
    try endAll()
    try expect(store.endSessions(ofAccount: account, exceptTokenHash: nil), is: 1)
    try endAll()
    try expect(store.migrate(), is: [])
  }

  /// Runs a call that waits for the locks of `blocking`, ends its connection meanwhile, and then releases the
  /// locks.
  private func cut<Result: Sendable>(
    _ name: String, _ conninfo: String, blocking: String, cuts: Int = 1,
    _ call: @escaping @Sendable () throws -> Result
  ) throws -> Swift.Result<Result, any Error> {
    let blocker = try connection(conninfo)
    let admin = try connection(conninfo)
    defer {
      blocker.close()
      admin.close()
    }
    try blocker.execute("BEGIN; \(blocking)")
    let done = Event()
    let outcome = Guarded<Swift.Result<Result, any Error>?>(nil, by: Mutex())
    try #require(
      BackgroundThread.start {
        let result = Swift.Result { try call() }
        outcome.withLock { $0 = result }
        done.set()
      })
    let waiting = "FROM pg_stat_activity WHERE application_name = '\(name)' AND wait_event_type = 'Lock'"
    for _ in 0..<cuts {
      while try admin.number("SELECT count(pg_terminate_backend(pid, 5000)) \(waiting)") == 0 {
        try #require(!done.isSet)
      }
    }
    try blocker.execute("COMMIT")
    done.wait()
    return try #require(outcome.withLock { $0 })
  }

  @Test("a sign-in whose connection is lost is made once more, and begins one session")
  func lostSignIn() throws {
    let conninfo = try conninfo()
    let store = try PostgreSQLStore("\(conninfo) application_name=lost")
    _ = try store.migrate()
    let person = Sample.person()
    try store.begin(Sample.session(), for: person)
    let session = Sample.session()
    let result = try cut("lost", conninfo, blocking: "SELECT 1 FROM identities FOR UPDATE") {
      try store.begin(session, for: person)
    }
    #expect(try !result.get().isNew)
    try expect(store.count("sessions"), is: 2)
    let second = try cut("lost", conninfo, blocking: "SELECT 1 FROM identities FOR UPDATE", cuts: 2) {
      try store.begin(Sample.session(), for: person)
    }
    #expect { try second.get() } throws: { isUnknownOutcome($0) }
    try expect(store.count("sessions"), is: 2)
  }

  @Test("a change whose answer cannot be had again has an unknown outcome")
  func lostEnding() throws {
    let conninfo = try conninfo()
    let store = try PostgreSQLStore("\(conninfo) application_name=ending")
    _ = try store.migrate()
    let link = try Sample.link(.reset)
    try store.keep(link, mail: nil, replacingOlder: true, at: Sample.now)
    let result = try cut("ending", conninfo, blocking: "SELECT 1 FROM mail_links FOR UPDATE") {
      try store.spendLink(tokenHash: link.tokenHash, purpose: .reset, at: Sample.now)
    }
    #expect { try result.get() } throws: { isUnknownOutcome($0) }
    #expect(try store.spendLink(tokenHash: link.tokenHash, purpose: .reset, at: Sample.now))
  }

  @Test("a transaction whose connection is lost before its end has changed nothing, and is made once more")
  func lostTransaction() throws {
    let conninfo = try conninfo()
    let store = try PostgreSQLStore("\(conninfo) application_name=transaction")
    _ = try store.migrate()
    let session = Sample.session()
    let account = try store.begin(session, for: Sample.person()).account.id
    let result = try cut("transaction", conninfo, blocking: "SELECT 1 FROM sessions FOR UPDATE") {
      try store.endSessions(ofAccount: account, exceptTokenHash: nil)
    }
    try expect(result.get(), is: 1)
    try expect(store.count("sessions"), is: 0)
    try expect(store.number("SELECT count(*) FROM audit WHERE event = 'sessions_ended'"), is: 1)
  }

  @Test("a session ends in one statement, which writes the audit entry; a lost call is made once more")
  func oneStatement() throws {
    let conninfo = try conninfo()
    let store = try PostgreSQLStore("\(conninfo) application_name=single", connections: 1)
    _ = try store.migrate()
    let admin = try connection(conninfo)
    defer { admin.close() }
    let (first, second, person) = (Sample.session(), Sample.session(), Sample.person())
    let account = try store.begin(first, for: person).account.id
    try store.begin(second, for: person)
    func lastStatements(_ text: String) throws -> Int64 {
      try admin.number(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'single' AND query LIKE '\(text)%'")
    }
    try store.endSession(tokenHash: first.tokenHash)
    try expect(lastStatements("WITH ended"), is: 1)
    let result = try cut("single", conninfo, blocking: "SELECT 1 FROM sessions FOR UPDATE") {
      try store.endSession(id: second.id, ofAccount: account)
    }
    #expect(try result.get())
    try expect(lastStatements("WITH ended"), is: 1)
    try expect(store.count("sessions"), is: 0)
    let ended = try store.audit(ofAccount: account, limit: 10).filter { $0.event == .sessionEnded }
    expect(ended.map(\.detail), is: [second.id.text, first.id.text])
    expect(ended.map(\.origin), is: [Sample.origin, Sample.origin])
  }

  @Test("a session's use is noted after its connection is free again: one connection is enough")
  func oneConnection() throws {
    let store = try PostgreSQLStore(conninfo(), connections: 1, waitMilliseconds: 20)
    _ = try store.migrate()
    let session = Sample.session()
    try store.begin(session, for: Sample.person())
    let live = try store.session(tokenHash: session.tokenHash, at: Sample.now + 60)
    expect(live?.lastSeen, is: Sample.now + 60)
    try expect(store.number("SELECT last_seen FROM sessions"), is: Sample.now.seconds + 60)
  }

  @Test("a redemption whose answer was lost is found to be its own")
  func lostRedemption() throws {
    let store = try PostgreSQLStore(conninfo())
    _ = try store.migrate()
    let code = Sample.code()
    let person = Sample.person()
    let account = try store.signIn(
      person, newAccountID: Sample.id(), creating: .code(code), at: Sample.now
    ).account
    let session = Sample.session()
    func redeem() throws(StoreFailure) -> Redemption {
      try store.redeem(
        codeHash: code.codeHash, provider: "google", challenge: "challenge", session: session,
        at: Sample.now)
    }
    // The first answer arrives, but the test drops it. For the caller, the connection ended just before the
    // answer.
    var isFirst = true
    let answer = try store.database.perform(.repeatable) {
      (connection, isRepeated) throws(SQLFailure) -> Bool in
      if isFirst {
        isFirst = false
        do { try expect(redeem(), is: .created(account)) } catch { Issue.record(error) }
        throw .postgresql(.lost("gone", mayHaveHappened: true))
      }
      let own = try connection.first(.isOwnSession, [.bytes(code.codeHash), .bytes(session.tokenHash)]) {
        $0.integer(0)
      }
      return isRepeated && own == 1
    }
    #expect(answer)
    let foreign = try store.database.perform(.reading) { (connection, _) throws(SQLFailure) in
      try connection.first(.isOwnSession, [.bytes(code.codeHash), .bytes(Sample.hash())]) { $0.integer(0) }
    }
    expect(foreign, is: nil)
  }

  @Test("a statement that takes too long is ended, and nothing happened")
  func statementTimeout() throws {
    let conninfo = try conninfo()
    let store = try PostgreSQLStore(conninfo, statementMilliseconds: 50)
    _ = try store.migrate()
    let session = Sample.session()
    let account = try store.begin(session, for: Sample.person()).account.id
    let blocker = try connection(conninfo)
    try blocker.execute("BEGIN; SELECT 1 FROM sessions FOR UPDATE")
    #expect { try store.endSession(id: session.id, ofAccount: account) } throws: {
      isUnavailable($0) && "\($0)".contains("statement timeout")
    }
    blocker.close()
    try expect(store.count("sessions"), is: 1)
  }

  @Test(
    "a server that has stopped without closing its connections is noticed, and another connection answers")
  func hung() throws {
    let store = try PostgreSQLStore(conninfo(), statementMilliseconds: 100)
    _ = try store.migrate()
    let backend = pid_t(try store.number("SELECT pg_backend_pid()::bigint"))
    kill(backend, SIGSTOP)
    defer { kill(backend, SIGCONT) }
    try expect(store.count("accounts"), is: 0)
    try expect(store.number("SELECT pg_backend_pid()::bigint"), isNot: Int64(backend))
  }

  @Test(
    "a change that the server does not answer in time is not made again, and the server is told to end it")
  func stalledStandby() throws {
    // The test uses a separate server, because this server waits for a standby that does not exist.
    let server = try PostgreSQLServer()
    defer { try? server.stop() }
    let store = try PostgreSQLStore(
      "\(server.conninfo) application_name=stalled", statementMilliseconds: 100)
    defer { store.close() }
    _ = try store.migrate()
    let admin = try connection(server.conninfo)
    defer { admin.close() }
    try admin.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    try admin.execute("SELECT pg_reload_conf()")
    let waiting = "FROM pg_stat_activity WHERE application_name = 'stalled' AND wait_event = 'SyncRep'"
    // The server applies the settings some time later.
    for _ in 0..<2_000 {
      do { try store.begin(Sample.session(), for: Sample.person()) } catch { break }
    }
    for _ in 0..<3 {
      #expect { try store.begin(Sample.session(), for: Sample.person()) } throws: { isUnknownOutcome($0) }
    }
    var left: Int64 = -1
    for _ in 0..<2_000 where left != 0 {
      left = try admin.number("SELECT count(*) \(waiting)")
      if left != 0 { try admin.execute("SELECT pg_sleep(0.01)") }
    }
    expect(left, is: 0, "the server keeps the connections of calls that were given up")
    var calls = 0
    #expect {
      try store.database.perform(.repeatable) { (_, _) throws(SQLFailure) in
        calls += 1
        throw .postgresql(.timedOut(mayHaveHappened: true))
      }
    } throws: {
      isUnknownOutcome($0)
    }
    expect(calls, is: 1)
  }

  @Test("a role that may read and write rows alone is enough for a schema that is there")
  func rowsOnly() throws {
    let conninfo = try conninfo()
    let store = try PostgreSQLStore(conninfo)
    _ = try store.migrate()
    let admin = try connection(conninfo)
    defer { admin.close() }
    let schema = try #require(conninfo.split(separator: "search_path=").last?.dropLast())
    try admin.execute(
      """
      CREATE ROLE rows_only LOGIN; GRANT USAGE ON SCHEMA \(schema) TO rows_only;
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO rows_only
      """)
    let humble = try PostgreSQLStore(conninfo.replacing("user=gateway", with: "user=rows_only"))
    try expect(humble.migrate(), is: [])
    try humble.check()
    #expect(try humble.begin(Sample.session(), for: Sample.person()).isNew)
    #expect { try humble.number("CREATE TABLE more ()") } throws: { isFull($0) }
    for table in PostgreSQLDatabase.tables {
      for right in ["SELECT", "INSERT", "UPDATE", "DELETE"] {
        try admin.execute("REVOKE \(right) ON \(table) FROM rows_only")
        #expect("\(right) on \(table)") { try humble.check() } throws: { isFull($0) }
        try admin.execute("GRANT \(right) ON \(table) TO rows_only")
      }
    }
    try humble.check()
    try expect(
      admin.number(
        "SELECT count(*) FROM pg_tables WHERE schemaname = '\(schema)' AND tablename <> 'schema_versions'"),
      is: Int64(PostgreSQLDatabase.tables.count))
  }

  @Test("the database's own isolation level does not make sign-ins fail")
  func isolation() throws {
    let conninfo = try conninfo().replacing(
      "options='", with: "options='-c default_transaction_isolation=serializable ")
    let store = try PostgreSQLStore(conninfo)
    _ = try store.migrate()
    let person = Sample.person()
    _ = try onThreads(8) { _ in for _ in 0..<10 { try store.begin(Sample.session(), for: person) } }
    try expect(store.count("sessions"), is: 80)
  }

  @Test(
    "each refusal of PostgreSQL has its kind",
    arguments: [
      ("53100", "full"), ("25006", "full"), ("42501", "full"), ("57014", "unavailable"),
      ("53300", "unavailable"),
      ("55P03", "unavailable"), ("40P01", "unavailable"), ("26000", "fault"), ("23502", "fault"),
    ])
  func kinds(state: String, kind: String) {
    let failure = PostgreSQLError.refused(state: state, text: "words").failure
    #expect("\(failure)".hasPrefix("\(kind)("), "\(failure)")
    #expect(failure.message.contains("The store expect"))
  }
}
