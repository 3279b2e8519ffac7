// Tests of the schema, on both databases: it is applied once, by one process, and an unknown schema is reported.

import EnrollGateway
import Expectations
import Testing

@testable import EnrollGatewayStore

@Suite("The schema")
struct SchemaTests {
  @Test("migrations are applied once, in order", arguments: Database.installed)
  func once(database: Database) throws {
    let place = try database.place()
    let store = try place.open()
    try expect(store.migrate(), is: Migration.all.map(\.version))
    try expect(store.migrate(), is: [])
    try store.check()
    let again = try place.open()
    try expect(again.migrate(), is: [])
    try again.check()
  }

  @Test("versions rise, and each has statements for both databases")
  func versions() {
    expect(Migration.all.map(\.version), is: Set(Migration.all.map(\.version)).sorted())
    #expect(Migration.all.allSatisfy { !$0.sqlite.isEmpty && !$0.postgresql.isEmpty })
  }

  @Test("of eight programs that migrate at once one does it", arguments: Database.installed)
  func atOnce(database: Database) throws {
    let place = try database.place()
    let applied = try onThreads(8) { _ in
      let store = try place.open()
      defer { store.close() }
      let versions = try store.migrate()
      try store.check()
      return versions
    }
    expect(applied.flatMap { $0 }, is: Migration.all.map(\.version))
  }

  @Test("a database without tables says that it has to be migrated", arguments: Database.installed)
  func missing(database: Database) throws {
    let store = try database.place().open()
    let expected = StoreFailure.schema(found: 0, expected: Migration.current)
    #expect(throws: expected) { try store.check() }
    #expect(throws: expected) { try store.begin(Sample.session(), for: Sample.person()) }
    #expect(throws: expected) { try store.session(tokenHash: Sample.hash(), at: Sample.now) }
    #expect(throws: expected) { try store.prune(at: Sample.now) }
    // After a failed statement, the connections must still be usable.
    try expect(store.migrate(), is: Migration.all.map(\.version))
    #expect(try store.begin(Sample.session(), for: Sample.person()).isNew)
    try expect(store.session(tokenHash: Sample.hash(), at: Sample.now), is: nil)
  }

  @Test(
    "a newer schema is told, and the program from before starts and goes on working with it",
    arguments: Database.installed
  )
  func newer(database: Database) throws {
    let store = try database.store()
    _ = try store.number("INSERT INTO schema_versions VALUES (77, 0)")
    let expected = StoreFailure.schema(found: 77, expected: Migration.current)
    #expect(throws: expected) { try store.check() }
    try expect(store.migrate(), is: [])
    #expect(try store.begin(Sample.session(), for: Sample.person()).isNew)
  }

  @Test("a closed store is unavailable", arguments: Database.installed)
  func closed(database: Database) throws {
    let store = try database.store()
    let session = Sample.session()
    try store.begin(session, for: Sample.person())
    store.close()
    #expect { try store.session(tokenHash: session.tokenHash, at: Sample.now) } throws: {
      isUnavailable($0)
    }
    #expect { try store.endSession(tokenHash: session.tokenHash) } throws: { isUnavailable($0) }
    #expect { try store.check() } throws: { isUnavailable($0) }
    store.close()
  }

  @Test("deleting an account deletes everything of it", arguments: Database.installed)
  func cascade(database: Database) throws {
    let store = try database.store()
    try store.begin(Sample.session(), for: Sample.person("1"))
    _ = try store.signIn(
      Sample.person("1"), newAccountID: Sample.id(), creating: .code(Sample.code()), at: Sample.now)
    _ = try store.number("DELETE FROM accounts")
    for table in ["identities", "sessions", "app_codes"] {
      try expect(store.count(table), is: 0, "\(table)")
    }
  }
}

@Suite("The second database")
struct InstalledTests {
  @Test("PostgreSQL is installed", .enabled(if: PostgreSQLServer.isInstalled, PostgreSQLServer.absence))
  func installed() throws { _ = try PostgreSQLServer.shared.get() }
}
